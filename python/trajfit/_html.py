"""Rows of the metrics as a table for notebooks."""

from html import escape

# Columns that are shown of each row, and after them those that say something.
FIRST = ["source", "line", "id", "status", "reason"]
DULL = {"", 0, 0.0, None, False, -1}


def table(rows):
    """An HTML table: a line for each row, without columns that say nothing in any of them."""
    columns = [column for column in (rows[0] if rows else {})]
    shown = [column for column in columns if column in FIRST or any(row[column] not in DULL for row in rows)]
    head = "".join(f"<th>{escape(column)}</th>" for column in shown)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row[column]))}</td>" for column in shown) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _cell(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)
