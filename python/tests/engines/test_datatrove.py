"""DataTrove: order, bytes, reports, and a worker that is killed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import trajfit
import trajfit.datatrove as blocks
from datatrove.executor import LocalPipelineExecutor
from engine_run import BUDGET, Killing, Program, input_lines, same_reports, write_lines

TASKS = 3

PIPELINE = '''
import json, sys
import trajfit, trajfit.datatrove as blocks
from datatrove.executor import LocalPipelineExecutor

def pipeline(keys):
    return [
        blocks.LineReader("parts"),
        blocks.Fit(trajfit.Fitter(**keys), "notes", cache="cache", exclusion_writer=blocks.LineWriter("rejected")),
        blocks.LineWriter("out"),
    ]

if __name__ == "__main__":
    LocalPipelineExecutor(pipeline(json.loads(sys.argv[1])), tasks=3, workers=2, logging_dir="logs").run()
'''


@pytest.fixture
def lines(tmp_path):
    """Lines in one file, and in one for each task."""
    lines = input_lines()
    write_lines(tmp_path / "in.jsonl", lines)
    (tmp_path / "parts").mkdir()
    size = -(-len(lines) // TASKS)
    for task in range(TASKS):
        write_lines(tmp_path / "parts" / f"{task}.jsonl", lines[task * size : (task + 1) * size])
    return lines


def written(folder):
    return [line for path in sorted(folder.iterdir()) for line in path.read_bytes().splitlines()]


def test_lines_are_those_of_the_program_in_their_order(tmp_path, lines):
    program = Program(tmp_path)
    fitter = trajfit.Fitter(max_tokens=BUDGET)
    pipeline = [
        blocks.LineReader(str(tmp_path / "parts")),
        blocks.Fit(fitter, str(tmp_path / "notes"), exclusion_writer=blocks.LineWriter(str(tmp_path / "rejected"))),
        blocks.LineWriter(str(tmp_path / "out")),
    ]
    LocalPipelineExecutor(pipeline, tasks=TASKS, workers=2, logging_dir=str(tmp_path / "logs")).run()
    assert written(tmp_path / "out") == program.records()
    assert [line.decode() for line in written(tmp_path / "rejected")] == [line for line in lines if line.endswith("cut")]
    report = blocks.report(str(tmp_path / "notes"), fitter, tmp_path / "reports")
    same_reports(program, report, tmp_path / "reports")
    stats = json.loads((tmp_path / "logs" / "stats.json").read_bytes())
    counted = next(step["stats"] for step in stats if "TRAJFIT" in step["name"])
    assert counted["total"] == len(lines) and counted["dropped"] == 1


def test_a_run_whose_worker_was_killed_is_run_again_and_nothing_is_paid_twice(tmp_path, lines):
    killing = Killing(tmp_path)
    (tmp_path / "pipeline.py").write_text(PIPELINE)
    run = [sys.executable, "pipeline.py", json.dumps({"max_tokens": BUDGET, **killing.keys})]
    # A pool does not notice that a worker died, so whoever started it ends it: here by its process group.
    first = subprocess.Popen(run, cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    done = tmp_path / "logs" / "completions"
    while killing.victim.exists() or len(list(done.glob("*")) if done.exists() else []) < TASKS - 1:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    fitter = trajfit.Fitter(max_tokens=BUDGET, **killing.keys)
    subprocess.run(run, cwd=tmp_path, check=True, timeout=60, stderr=subprocess.DEVNULL)
    assert written(tmp_path / "out") == killing.program.records()
    killing.check(workers=2 + 1)
    same_reports(killing.program, blocks.report(str(tmp_path / "notes"), fitter, tmp_path / "reports"), tmp_path / "reports")


def test_notes_of_unfinished_runs_are_refused(tmp_path):
    (tmp_path / "00000-of-00002.notes").touch()
    with pytest.raises(trajfit.TrajfitError, match="not the notes of all tasks"):
        blocks.report(str(tmp_path), trajfit.Fitter())
