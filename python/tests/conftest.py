"""The program that the package is held against, records to fit, and examples of pages to run."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "fixtures" / "agent_runs.jsonl"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_blocks(page):
    """Runs the Python blocks of a page in the order in which they stand; a text block after one is what it prints.

    Returns the names that they defined.
    """
    names, printed, run = {"__name__": "__main__"}, None, 0
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, page.name, "exec"), names)
            printed, run = out.getvalue(), run + 1
        elif printed is not None:
            assert printed == text
    assert run >= 4
    return names


def environment():
    """The environment without settings of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAJFIT_")}
    return {**kept, "HF_HUB_OFFLINE": "1", "NO_COLOR": "1"}


@pytest.fixture(scope="session")
def program():
    """The path of the program that cargo built."""
    path = os.environ.get("PROGRAM")
    if path is None:
        pytest.fail("scripts/wheel.sh runs these tests: they need PROGRAM, the path of the program")
    return path


@pytest.fixture(scope="session")
def command():
    """The command that the package installs."""
    return str(Path(sys.executable).with_name("trajfit"))


@pytest.fixture
def run(tmp_path):
    """Runs a program in a folder of its own."""

    def run_in_folder(*arguments, **options):
        return subprocess.run(
            [str(argument) for argument in arguments],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            timeout=120,
            **options,
        )

    return run_in_folder


@pytest.fixture(scope="session")
def lines():
    """The lines of the demo, without their ends."""
    return FIXTURE.read_bytes().splitlines()
