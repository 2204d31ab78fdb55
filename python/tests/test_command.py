"""The command is the program: the same help, messages, files and exit codes."""

import importlib.metadata
import signal
import subprocess
import time

import pytest
import trajfit
from conftest import FIXTURE, environment

COMMANDS = [
    ["--version"],
    ["--help"],
    ["compress", "--help"],
    ["merge", "-h"],
    [],
    ["compres"],
    ["count", FIXTURE, "--json"],
    ["count", "missing.jsonl"],
    ["check", FIXTURE, "--quiet"],
    ["check", FIXTURE, "--max-tokens", "40000"],
    ["compress", FIXTURE, "-o", "out.jsonl", "--quiet"],
    ["compress", FIXTURE, "-o", "-", "--quiet"],
    ["compress", "broken.jsonl", "-o", "out.jsonl", "--quiet"],
    ["compress", "broken.jsonl", "-o", "out.jsonl", "--on-invalid", "fail", "--quiet"],
    ["compress", FIXTURE, "-o", "out.jsonl", "--fail-over-limit", "--quiet"],
    ["explain", FIXTURE, "--line", "2"],
    ["config", "--max-tokens", "16k"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(map(str, words))[-60:])
def test_the_command_is_the_program(words, program, command, tmp_path):
    ran = []
    for index, executable in enumerate([program, command]):
        folder = tmp_path / str(index)
        folder.mkdir()
        (folder / "broken.jsonl").write_text("no json\n")
        ended = subprocess.run([executable, *words], cwd=folder, env=environment(), capture_output=True, timeout=120)
        data = {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}
        ran.append((ended.returncode, ended.stdout, ended.stderr, data))
    assert ran[0] == ran[1]


def test_an_interrupted_run_ends_with_130_and_can_be_resumed(program, command, tmp_path):
    (tmp_path / "many.jsonl").write_bytes(FIXTURE.read_bytes() * 200)
    words = ["compress", "many.jsonl", "-o", "out.jsonl", "--quiet"]
    child = subprocess.Popen([command, *words], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE)
    while not (tmp_path / "out.jsonl.partial").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130, errors
    assert b"--resume" in errors
    for executable in (command, program):
        assert subprocess.run([executable, *words, "--resume"], cwd=tmp_path, env=environment()).returncode == 0


def test_a_closed_pipe_ends_it_quietly(command):
    script = '"$0" compress "$1" -o - --quiet | head -c 10 >/dev/null'
    ran = subprocess.run(["sh", "-c", script, command, FIXTURE], env=environment(), capture_output=True, timeout=60)
    assert ran.stderr == b""


def test_the_version_is_the_crates(program):
    printed = subprocess.run([program, "-V"], capture_output=True, text=True).stdout.split()[1]
    assert printed == trajfit.__version__ == importlib.metadata.version("trajfit")
