"""Data frames of Spark, fitted."""

from dataclasses import dataclass, field
from typing import Any, Dict, Optional

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from . import Fitter, _reports
from ._tables import NOTE, REJECTED, TableWorker, check_column, metrics_of, metrics_schema

__all__ = ["Fitted", "fit"]


@dataclass(frozen=True)
class Fitted:
    """All fitted rows, persisted when they are first made; `data`, `rejects` and `metrics` are views of them, in the order of the rows."""

    rows: DataFrame
    _fitter: Fitter = field(repr=False)

    @property
    def data(self) -> DataFrame:
        """The fitted rows."""
        return self.rows.where(F.col(REJECTED).isNull()).drop(NOTE, REJECTED)

    @property
    def rejects(self) -> DataFrame:
        """The rejected rows as they were, with their `reason`."""
        return self.rows.where(F.col(REJECTED).isNotNull()).drop(NOTE).withColumnRenamed(REJECTED, "reason")

    @property
    def metrics(self) -> DataFrame:
        """A row of the metrics for each row."""
        schema = metrics_schema(self._fitter)
        columns = ", ".join(f"`{column.name}` {_type(column.type)}" for column in schema)
        return self.rows.select(NOTE).mapInArrow(_Metrics(schema), columns)

    def report(self, folder: Optional[str] = None) -> Dict[str, Any]:
        """The totals. `folder` gets the files of a run: metrics.csv, summary.json and, if records were rejected, rejects.jsonl."""
        rows = self.rows.select(NOTE).toLocalIterator(prefetchPartitions=True)
        return _reports.gather(self._fitter, (row[0] for row in rows), folder)

    def unpersist(self) -> None:
        """Gives the storage of the rows back."""
        self.rows.unpersist()


def fit(
    df: DataFrame,
    fitter: Fitter,
    *,
    column: Optional[str] = None,
    cache: Optional[str] = None,
    storage: StorageLevel = StorageLevel.MEMORY_AND_DISK,
) -> Fitted:
    """Fits the rows of a data frame, when they are first asked for.

    A row is a record, or has it as JSON in `column`. Other columns, and rows that need not change, keep their values, and rows their
    order and partition. The rows are persisted in `storage`, so that they are fitted once for data, rejects and metrics. `cache` is
    a folder that all machines see, for the answers of language models.
    """
    check_column(column, df.columns)
    cpus = int(df.sparkSession.conf.get("spark.task.cpus", "1"))
    worker = TableWorker(fitter, column, jobs=cpus, cache=cache)
    nullable = [StructField(field.name, field.dataType, True, field.metadata) for field in df.schema]
    text = StringType()
    schema = StructType([*nullable, StructField(NOTE, text), StructField(REJECTED, text)])
    return Fitted(df.mapInArrow(worker.fit_batches, schema).persist(storage), fitter)


class _Metrics:
    def __init__(self, schema):
        self._schema = schema

    def __call__(self, batches):
        for batch in batches:
            yield from metrics_of(batch.column(0).to_pylist(), self._schema).to_batches()


def _type(kind):
    return {pa.bool_(): "boolean", pa.float64(): "double", pa.string(): "string"}.get(kind, "bigint")
