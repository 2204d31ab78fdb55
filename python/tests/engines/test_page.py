"""The examples of docs/engines.md run in the order in which they stand, print what the page says, and write what the program writes."""

import os
import sys

import datasets
import ray
from conftest import FIXTURE, ROOT, run_blocks
from engine_run import Program


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    for name in ("runs.jsonl", "in.jsonl"):
        (tmp_path / name).write_bytes(FIXTURE.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    datasets.disable_progress_bars()
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        names = run_blocks(ROOT / "docs" / "engines.md")
        names["spark"].stop()
    finally:
        ray.shutdown()
    expected = Program(tmp_path).output.read_bytes()
    for folder in ("fitted", "spark-fitted", "trove-fitted"):
        parts = [path for path in sorted((tmp_path / folder).iterdir()) if path.name[0] not in "._"]
        assert b"".join(path.read_bytes() for path in parts) == expected, folder
    for folder in ("reports", "ray-reports", "spark-reports", "trove-reports"):
        assert sorted(os.listdir(tmp_path / folder)) == ["metrics.csv", "summary.json"]
