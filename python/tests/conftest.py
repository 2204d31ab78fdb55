"""The program that the package is held against, and records to fit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "fixtures" / "agent_runs.jsonl"


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
