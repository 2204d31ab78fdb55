"""Datasets of Ray Data, fitted."""

from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Tuple, Union

import ray.data

from . import Fitter, _reports
from ._ray_lines import read_lines, write_lines
from ._tables import NOTE, REJECTED, ROWS, TableWorker, metrics_of, metrics_schema

__all__ = ["Fitted", "fit", "read_lines", "write_lines"]


@dataclass(frozen=True)
class Fitted:
    """All fitted rows, kept in the object store; `data`, `rejects` and `metrics` are lazy views of them, in the order of the rows."""

    rows: ray.data.Dataset
    _fitter: Fitter = field(repr=False)

    @property
    def data(self) -> ray.data.Dataset:
        """The fitted rows."""
        return self.rows.map_batches(_kept, batch_format="pyarrow")

    @property
    def rejects(self) -> ray.data.Dataset:
        """The rejected rows as they were, with their `reason`."""
        return self.rows.map_batches(_rejected, batch_format="pyarrow")

    @property
    def metrics(self) -> ray.data.Dataset:
        """A row of the metrics for each row."""
        schema = metrics_schema(self._fitter)
        return self.rows.select_columns([NOTE]).map_batches(_metrics, fn_args=[schema], batch_format="pyarrow")

    def report(self, folder: Optional[str] = None) -> Dict[str, Any]:
        """The totals. `folder` gets the files of a run: metrics.csv, summary.json and, if records were rejected, rejects.jsonl."""
        batches = self.rows.select_columns([NOTE]).iter_batches(batch_format="pyarrow", batch_size=None)
        notes = (note for batch in batches for note in batch.column(NOTE).to_pylist())
        return _reports.gather(self._fitter, notes, folder)


def fit(
    dataset: ray.data.Dataset,
    fitter: Fitter,
    *,
    column: Optional[str] = None,
    cache: Optional[str] = None,
    concurrency: Union[int, Tuple[int, int], None] = None,
    num_cpus: int = 1,
    batch_size: int = ROWS,
    **ray_remote_args: Any,
) -> Fitted:
    """Fits the rows of a dataset in a pool of actors, and waits for them.

    A row is a record, or has it as JSON in `column`. Other columns, and rows that need not change, keep their values. Rows keep
    their order: `preserve_order` is set for this dataset and those made of it. `concurrency` is the number of actors, or its least and
    most, and `num_cpus` what each takes. `cache` is a folder that all machines see, for the answers of language models.
    """
    dataset.context.execution_options.preserve_order = True
    rows = dataset.map_batches(
        _Actor,
        fn_constructor_args=[TableWorker(fitter, column, jobs=max(int(num_cpus), 1), cache=cache)],
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=_pool(concurrency),
        num_cpus=num_cpus,
        **ray_remote_args,
    )
    return Fitted(rows.materialize(), fitter)


def _pool(concurrency):
    if isinstance(concurrency, int):
        return ray.data.ActorPoolStrategy(size=concurrency)
    least, most = concurrency or (1, None)
    return ray.data.ActorPoolStrategy(min_size=least, max_size=most)


class _Actor:
    def __init__(self, worker):
        worker.fitter()
        self._worker = worker

    def __call__(self, table):
        return self._worker.fit(table)


def _kept(table):
    kept = table.filter(table.column(REJECTED).is_null())
    return kept.drop_columns([NOTE, REJECTED])


def _rejected(table):
    rejected = table.filter(table.column(REJECTED).is_valid()).drop_columns([NOTE])
    return rejected.rename_columns([*rejected.column_names[:-1], "reason"])


def _metrics(table, schema):
    return metrics_of(table.column(NOTE).to_pylist(), schema)
