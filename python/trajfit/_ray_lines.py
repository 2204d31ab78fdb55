"""Files of lines for Ray Data, which keep their bytes: Ray's own reader ends lines at U+2028 too."""

from typing import Any, List, Union

import pyarrow as pa
import ray.data
from ray.data.datasource import BlockBasedFileDatasink, FileBasedDatasource

# The column that holds lines.
LINE = "line"

# Bytes that are read at once; a block has the lines of one read, and the rest of the line in which it ends.
READ = 1 << 24


class _LineSource(FileBasedDatasource):
    def _read_stream(self, f, path):
        rest = b""
        while True:
            data = f.read(READ)
            lines = (rest + data).split(b"\n")
            # The last one goes on in the next read, or ends the file.
            rest = lines.pop() if data else b""
            lines = [line for line in lines if line.strip()]
            if lines:
                yield pa.table({LINE: pa.array(lines, pa.binary())})
            if not data:
                return


class _LineSink(BlockBasedFileDatasink):
    def __init__(self, path: str, column: str) -> None:
        super().__init__(path, file_format="jsonl")
        self._column = column

    def write_block_to_file(self, block, file):
        for line in block.to_arrow().column(self._column).to_pylist():
            file.write((line if isinstance(line, bytes) else line.encode()) + b"\n")


def read_lines(paths: Union[str, List[str]], **options: Any) -> ray.data.Dataset:
    """The lines of files as a dataset with the column `line`, byte for byte, without their ends. Blank lines are left out.

    `options` are those of `ray.data.read_datasource`.
    """
    return ray.data.read_datasource(_LineSource(paths), **options)


def write_lines(dataset: ray.data.Dataset, path: str, *, column: str = LINE) -> None:
    """Writes a column as lines into files of a folder; in the order of their names they have the rows in theirs."""
    dataset.write_datasink(_LineSink(path, column))
