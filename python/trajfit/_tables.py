"""Tables fitted in a worker of an engine: the rows, and a note on each for the reports."""

import json

import pyarrow as pa

from . import TrajfitError
from ._worker import Worker

# Columns that a fitted table has beside those of its rows: the note on the row, and the reason why it was rejected.
NOTE = "_trajfit_note"
REJECTED = "_trajfit_rejected"

# Rows that are fitted at once: enough for all threads of a worker, few enough to be held some times over.
ROWS = 256

# A record whose row of the metrics names the columns.
EXAMPLE = b'{"conversations": [{"from": "human", "value": ""}]}'


class TableWorker(Worker):
    """Fits tables whose rows are records, or have them as JSON in a column."""

    def __init__(self, fitter, column=None, jobs=None, cache=None):
        super().__init__(fitter, jobs, cache)
        self._column = column

    def fit(self, table):
        """The rows of a table, fitted and in order, with the columns NOTE and REJECTED. Rejected rows are as they were."""
        if table.num_rows == 0:
            return _with_notes(table, [], [])
        if self._column is None:
            return _fit_rows(self.fitter(), table)
        return _fit_lines(self.fitter(), table, self._column)

    def fit_batches(self, batches):
        """The same of record batches, as record batches."""
        for batch in batches:
            for start in range(0, batch.num_rows, ROWS):
                yield from self.fit(pa.Table.from_batches([batch.slice(start, ROWS)])).to_batches()


def check_column(column, names):
    """Raises an error if rows with columns of these names have none of that name."""
    if column is not None and column not in names:
        raise TrajfitError(f'the rows have no column "{column}"; they have {", ".join(names)}')


def _fit_lines(fitter, table, column):
    """Rows with a record as JSON in one column."""
    check_column(column, table.column_names)
    index = table.schema.get_field_index(column)
    kind = table.schema.field(index).type
    is_text = not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
    old = table.column(index).to_pylist()
    new, notes, reasons, is_changed = [], [], [], False
    for line, result in zip(old, fitter.fit("" if line is None else line for line in old)):
        if not result.is_unchanged and result.rejected is None:
            line, is_changed = result.record.decode() if is_text else result.record, True
        new.append(line)
        notes.append(result._note)
        reasons.append(result.rejected)
    if is_changed:
        table = table.set_column(index, table.schema.field(index), pa.array(new, kind))
    return _with_notes(table, notes, reasons)


def _fit_rows(fitter, table):
    """Rows that are records."""
    gathered, fitted = fitter.fit(table)._gathered()
    fitted = pa.table(fitted)
    notes, reasons = [note for note, _ in gathered], [reason for _, reason in gathered]
    rejected = [row for row, reason in enumerate(reasons) if reason is not None]
    if len(rejected) == table.num_rows:
        return _with_notes(table, notes, reasons)
    _check_columns(table.schema, fitted.schema)
    if rejected:
        kept, gone = iter(range(fitted.num_rows)), iter(range(fitted.num_rows, table.num_rows))
        order = [next(kept if reason is None else gone) for reason in reasons]
        fitted = pa.concat_tables([fitted, table.take(rejected).cast(fitted.schema)]).take(order)
    return _with_notes(fitted, notes, reasons)


def _check_columns(before, after):
    """An engine knows the columns before the first row, so a record can bring no new ones."""
    for field in after:
        index = before.get_field_index(field.name)
        if index < 0 or before.field(index).type != field.type:
            is_new = "a column" if index < 0 else "other values in the column"
            raise TrajfitError(
                f'fitted records have {is_new} "{field.name}" ({field.type}), and an engine has the same columns before and '
                "after; add it to the rows with this type, or keep records as JSON in one column"
            )


def _with_notes(table, notes, reasons):
    table = table.append_column(NOTE, pa.array(notes, pa.string()))
    return table.append_column(REJECTED, pa.array(reasons, pa.string()))


def metrics_schema(fitter):
    """The columns of the metrics with their types."""
    row = next(fitter.fit([EXAMPLE])).row
    types = {bool: pa.bool_(), float: pa.float64(), str: pa.string()}
    return pa.schema([(name, types.get(type(value), pa.int64())) for name, value in row.items()])


def metrics_of(notes, schema):
    """Rows of the metrics as a table."""
    return pa.Table.from_pylist([json.loads(note)["row"] for note in notes], schema=schema)
