"""The examples of docs/python.md run in the order in which they stand, and print what the page says."""

import shutil

from conftest import FIXTURE, ROOT, run_blocks


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    shutil.copy(FIXTURE, tmp_path / "runs.jsonl")
    monkeypatch.chdir(tmp_path)
    run_blocks(ROOT / "docs" / "python.md")
