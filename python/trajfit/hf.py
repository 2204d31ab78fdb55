"""Datasets of the library `datasets`, fitted."""

from dataclasses import dataclass, field
from typing import Any, Dict, Optional

import datasets

from . import Fitter, _reports
from ._tables import NOTE, REJECTED, ROWS, TableWorker, check_column, metrics_of, metrics_schema

__all__ = ["Fitted", "fit"]


@dataclass(frozen=True)
class Fitted:
    """Fitted rows, rejected rows with their `reason`, and a row of the metrics for each, in the order of the rows."""

    data: datasets.Dataset
    rejects: datasets.Dataset
    metrics: datasets.Dataset
    _fitter: Fitter = field(repr=False)
    _notes: datasets.Dataset = field(repr=False)

    def report(self, folder: Optional[str] = None) -> Dict[str, Any]:
        """The totals. `folder` gets the files of a run: metrics.csv, summary.json and, if records were rejected, rejects.jsonl."""
        return _reports.gather(self._fitter, _texts(self._notes, NOTE), folder)


def fit(
    dataset: datasets.Dataset,
    fitter: Fitter,
    *,
    column: Optional[str] = None,
    batch_size: int = ROWS,
    num_proc: Optional[int] = None,
) -> Fitted:
    """Fits the rows of a dataset on all cores, or in `num_proc` processes.

    A row is a record, or has it as JSON in `column`. Other columns, and rows that need not change, keep their values. The result is
    cached as that of `Dataset.map`.
    """
    if not isinstance(dataset, datasets.Dataset):
        raise TypeError(
            f"dataset must be a datasets.Dataset, not {type(dataset).__name__}; fit each split by itself, and rows of a stream "
            "with Fitter.fit"
        )
    check_column(column, dataset.column_names)
    text = datasets.Value("string")
    worker = TableWorker(fitter, column, jobs=None if num_proc is None else 1)
    features = datasets.Features({**dataset.features, NOTE: text, REJECTED: text})
    if len(dataset) == 0:
        # Functions are not called for it, and their columns would be missing.
        fitted = _empty(features)
    else:
        fitted = dataset.with_format("arrow").map(
            worker.fit,
            batched=True,
            batch_size=batch_size,
            num_proc=num_proc,
            features=features,
            desc="Fitting",
        )
    reasons = list(_texts(fitted, REJECTED))
    rejected = [row for row, reason in enumerate(reasons) if reason is not None]
    rows = fitted.remove_columns(NOTE)
    data = rows.remove_columns(REJECTED)
    if rejected:
        data = data.select([row for row, reason in enumerate(reasons) if reason is None])
    notes = fitted.select_columns(NOTE)
    schema = metrics_schema(fitter)
    if len(dataset) == 0:
        metrics = _empty(datasets.Features.from_arrow_schema(schema))
    else:
        metrics = notes.map(
            lambda table: metrics_of(table.column(NOTE).to_pylist(), schema),
            batched=True,
            remove_columns=NOTE,
            desc="Metrics",
        )
    return Fitted(
        data.with_format(**dataset.format),
        rows.select(rejected).rename_column(REJECTED, "reason").with_format(None),
        metrics.with_format(None),
        fitter,
        notes,
    )


def _empty(features):
    return datasets.Dataset.from_dict({name: [] for name in features}, features=features).with_format("arrow")


def _texts(dataset, column):
    for table in dataset.select_columns(column).iter(batch_size=1000):
        yield from table.column(column).to_pylist()
