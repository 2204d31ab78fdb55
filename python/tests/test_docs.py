"""The examples of docs/python.md run in the order in which they stand, and print what the page says."""

import contextlib
import io
import re
import shutil

from conftest import FIXTURE, ROOT

BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    shutil.copy(FIXTURE, tmp_path / "runs.jsonl")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    names, printed, run = {"__name__": "__main__"}, None, 0
    for language, text in BLOCK.findall(page):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "docs/python.md", "exec"), names)
            printed, run = out.getvalue(), run + 1
        else:
            assert printed == text
    assert run >= 5
