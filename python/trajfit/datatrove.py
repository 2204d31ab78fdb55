"""Blocks for pipelines of DataTrove: documents whose text is a record as JSON, fitted, and files of lines as they are."""

import contextlib
import os
import re
from collections import deque
from typing import Any, Dict, Optional

from datatrove.io import DataFolderLike, get_datafolder
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.readers.base import BaseDiskReader
from datatrove.pipeline.writers.disk_base import DiskWriter
from datatrove.utils.typeshelper import StatHints

from . import Fitter, TrajfitError, _reports
from ._worker import Worker

__all__ = ["Fit", "LineReader", "LineWriter", "report"]

# Notes of a task: its rank and the number of tasks.
NOTES = re.compile(r"(\d+)-of-(\d+)\.notes")


class LineReader(BaseDiskReader):
    """Reads files of lines; the text of a document is the line, byte for byte, without its end. Blank lines are left out."""

    name = "trajfit lines"

    def __init__(self, data_folder: DataFolderLike, compression: Optional[str] = "infer", **options: Any) -> None:
        super().__init__(data_folder, **options)
        self.compression = compression

    def read_file(self, filepath):
        with self.data_folder.open(filepath, "rb", compression=self.compression) as lines:
            for number, line in enumerate(lines, 1):
                text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
                if text.strip():
                    with self.track_time():
                        document = self.get_document_from_dict({self.text_key: text}, filepath, number)
                    if document is not None:
                        yield document


class LineWriter(DiskWriter):
    """Writes the text of each document as a line."""

    name = "trajfit lines"
    default_output_filename = "${rank}.jsonl"

    def __init__(self, output_folder: DataFolderLike, output_filename: Optional[str] = None, **options: Any) -> None:
        super().__init__(output_folder, output_filename, mode="wb", **options)

    def _write(self, document, file_handler, _filename):
        file_handler.write(document["text"].encode("utf-8", "surrogateescape") + b"\n")


class Fit(PipelineStep):
    """Fits documents whose text is a record as JSON; they keep their order.

    `reports` is a folder for notes on all records, of which `report` makes metrics, rejects and totals. Rejected documents go to
    `exclusion_writer`. `cache` is a folder that all machines see, for the answers of language models.
    """

    type = "🫳 - TRAJFIT"
    name = "fit"

    def __init__(
        self,
        fitter: Fitter,
        reports: DataFolderLike,
        *,
        exclusion_writer: Optional[DiskWriter] = None,
        cache: Optional[str] = None,
    ) -> None:
        super().__init__()
        self.reports = get_datafolder(reports)
        self.exclusion_writer = exclusion_writer
        self._fitter, self._cache = fitter, cache
        # Says now if it is no fitter.
        Worker(fitter)

    def run(self, data, rank=0, world_size=1):
        cpus = int(os.environ.get("DATATROVE_CPUS_PER_TASK") or 1)
        fitter = Worker(self._fitter, jobs=max(cpus, 1), cache=self._cache).fitter()
        waiting = deque()

        def records():
            for document in data:
                waiting.append(document)
                yield document.text.encode("utf-8", "surrogateescape")

        # A task that is run again writes its notes anew.
        notes = self.reports.open(f"{rank:05d}-of-{world_size:05d}.notes", "wt")
        with notes, self.exclusion_writer or contextlib.nullcontext() as excluded:
            for result in fitter.fit(records()):
                document = waiting.popleft()
                notes.write(f"{result._note}\n")
                self.stat_update(StatHints.total)
                if result.rejected is not None:
                    self.stat_update(StatHints.dropped, f"dropped_{result.rejected.partition(':')[0]}")
                    if excluded is not None:
                        document.metadata["filter_reason"] = result.rejected
                        excluded.write(document, rank)
                    continue
                if not result.is_unchanged:
                    self.stat_update("changed")
                    document.text = result.record.decode()
                self.stat_update(StatHints.forwarded)
                self.update_doc_stats(document)
                yield document


def report(reports: DataFolderLike, fitter: Fitter, folder: Optional[str] = None) -> Dict[str, Any]:
    """The totals of all tasks, whose notes are in `reports`.

    `folder` gets the files of a run: metrics.csv, summary.json and, if records were rejected, rejects.jsonl.
    """
    source = get_datafolder(reports)
    found = sorted(name for name in source.list_files(recursive=False) if NOTES.fullmatch(name))
    tasks = {NOTES.fullmatch(name)[2] for name in found}
    if len(tasks) != 1 or len(found) != int(next(iter(tasks))):
        raise TrajfitError(f"{source.path} has not the notes of all tasks of one run: {', '.join(found) or 'none'}")

    def notes():
        for name in found:
            with source.open(name, "rt") as lines:
                yield from lines

    return _reports.gather(fitter, notes(), folder)
