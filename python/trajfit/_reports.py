"""Metrics, rejects and totals of records that the workers of an engine fitted."""

import json
import os

METRICS, REJECTS, SUMMARY = "metrics.csv", "rejects.jsonl", "summary.json"


def gather(fitter, notes, folder=None):
    """The totals of notes in the order of the records, as `.summary.json` of a run; `folder` gets the files of a run too."""
    gathering = fitter._native.gathering()
    if folder is None:
        for line, note in enumerate(notes, 1):
            gathering.add(note, line)
    else:
        os.makedirs(folder, exist_ok=True)
        _write(gathering, notes, folder)
    report = json.loads(gathering.report())
    # The time of gathering says nothing about the time of fitting.
    report.pop("timing", None)
    if folder is not None:
        with _Output(folder, SUMMARY) as summary:
            summary.write(json.dumps(report, indent=2, ensure_ascii=False).encode() + b"\n")
    return report


def _write(gathering, notes, folder):
    with _Output(folder, METRICS) as metrics, _Output(folder, REJECTS, is_optional=True) as rejects:
        metrics.write(gathering.header())
        for line, note in enumerate(notes, 1):
            row, reject = gathering.add(note, line)
            metrics.write(row)
            if reject is not None:
                rejects.write(reject)


class _Output:
    """A file that appears when it is complete; an optional one only with content."""

    def __init__(self, folder, name, is_optional=False):
        self._path, self._is_optional = os.path.join(folder, name), is_optional

    def __enter__(self):
        self._file = open(f"{self._path}.partial", "wb")
        return self._file

    def __exit__(self, kind, error, trace):
        is_empty = self._file.tell() == 0
        self._file.close()
        if kind is not None or (self._is_optional and is_empty):
            os.unlink(f"{self._path}.partial")
            if kind is None and os.path.exists(self._path):
                os.unlink(self._path)
        else:
            os.replace(f"{self._path}.partial", self._path)

