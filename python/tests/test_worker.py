"""The fitter of a worker: made once a process, with the answers that other machines have."""

import socket
import sys

import pytest
import trajfit
from conftest import FIXTURE
from trajfit._worker import Worker

SUMMARIZER = """
import json, sys
for line in sys.stdin:
    open(sys.argv[1], "a").write("asked\\n")
    print(json.dumps({"summary": "They worked."}), flush=True)
"""


@pytest.fixture
def asked(tmp_path):
    return tmp_path / "asked.log"


@pytest.fixture
def fitter(tmp_path, asked):
    script = tmp_path / "summarizer.py"
    script.write_text(SUMMARIZER)
    return trajfit.Fitter(max_tokens=15250, summarizer="command", command=f"{sys.executable} {script} {asked}")


def fitted(worker):
    return [result.record for result in worker.fitter().fit(FIXTURE.open("rb"))]


def test_a_worker_has_the_answers_of_other_machines(fitter, asked, tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    records = []
    for host in ("one", "two"):
        monkeypatch.setattr(socket, "gethostname", lambda: host)
        # Another number of threads: a process keeps one fitter for the same settings.
        records.append(fitted(Worker(fitter, jobs=1 + len(records), cache=str(shared))))
    assert records[0] == records[1] and any(b"They worked." in record for record in records[0])
    assert sorted(path.name for path in shared.iterdir()) == ["one", "two"]
    assert asked.read_text().count("asked") == 19


def test_a_process_has_one_fitter_for_the_same_settings(fitter):
    assert Worker(fitter, jobs=1).fitter() is Worker(fitter, jobs=1).fitter()
    assert Worker(fitter, jobs=2).fitter() is not Worker(fitter, jobs=1).fitter()


def test_threads_that_a_fitter_names_are_kept():
    worker = Worker(trajfit.Fitter(jobs=3), jobs=1)
    assert "jobs=3" in repr(worker.fitter())


def test_caches_that_cannot_be_merged_are_an_error(fitter, tmp_path):
    other = tmp_path / "shared" / "other"
    other.mkdir(parents=True)
    (other / "answers.sqlite").write_text("no database")
    with pytest.raises(trajfit.TrajfitError, match="cannot merge the caches"):
        Worker(fitter, jobs=1, cache=str(tmp_path / "shared")).fitter()
