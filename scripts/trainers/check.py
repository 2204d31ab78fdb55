"""Says which records a trainer took before they were compressed and does not take after: exit code 1 if there is one.

Usage: check.py INPUT OUTPUT --trainer NAME [--mode MODE]

INPUT and OUTPUT are JSON Lines files of as many records in the same order (what `trajfit compress` read and wrote), or folders
of such files with the same names. The trainer's own code decides, record by record, in its environment under target/trainers
(scripts/fetch-trainers.sh). `--trainer datasets` reads both with `datasets.load_dataset` instead, as files and as folders.
"""

import argparse
import collections
import importlib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from adapters import TRAINERS  # noqa: E402
from run import environment, one_line, quiet  # noqa: E402

def files(path):
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix in (".jsonl", ".json"))
    return [path]


def records(path):
    for file in files(path):
        with open(file, encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"{file.name}:{number}", json.loads(line)


def judge(encode, record):
    outcome = encode(record)
    if outcome.status == "accepted" and not outcome.ids:
        outcome.status, outcome.message = "empty", "accepted, but nothing is rendered"
    return outcome


def compare(before, after, encode):
    """Counts and the records that are newly refused: each record is judged by itself, an unchanged one only once."""
    counts, losses = collections.Counter(), []
    for (place, old), (_, new) in zip(records(before), records(after), strict=True):
        was = judge(encode, old)
        now = was if new == old else judge(encode, new)
        counts[f"{was.status} before, {now.status} after"] += 1
        if was.status == "accepted" != now.status:
            losses.append((place, now.status, one_line(now.message)))
    return counts, losses


def load_whole(path, sort):
    """The files as a trainer loads them: all of a folder at once, and each by itself."""
    from datasets import load_dataset
    try:
        if sort == "folder":
            return len(load_dataset(str(path), split="train"))
        return sum(len(load_dataset("json", data_files=str(file), split="train")) for file in files(path))
    except Exception as error:
        return f"{type(error).__name__}: {error} ({error.__cause__})"


def check_loading(before, after):
    failed = False
    for sort in ["file", "folder"] if after.is_dir() else ["file"]:
        was, now = load_whole(before, sort), load_whole(after, sort)
        print(f"as a {sort}: before {one_line(was)}, after {one_line(now)}")
        failed |= isinstance(was, int) and was != now
    return 1 if failed else 0


def inside(options):
    quiet()
    if options.trainer == "datasets":
        return check_loading(options.input, options.output)
    adapter = importlib.import_module(f"adapters.{TRAINERS[options.trainer][1]}")
    encode = adapter.make(options.mode, str(ROOT / "target" / "tokenizers" / "qwen3"))
    counts, losses = compare(options.input, options.output, encode)
    for outcome, count in sorted(counts.items()):
        print(f"{count:6} {outcome}")
    for place, status, message in losses:
        print(f"{place}: {status} after compression: {message}")
    print(f"{options.trainer}: {len(losses)} records are newly refused")
    return 1 if losses else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--trainer", required=True, choices=sorted(TRAINERS))
    parser.add_argument("--mode", default="default")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    tokenizer = ROOT / "target" / "tokenizers" / "qwen3"
    if not tokenizer.exists():
        sys.exit(f"check: {tokenizer} is missing: run scripts/fetch-tokenizers.sh")
    python = ROOT / "target" / "trainers" / TRAINERS[options.trainer][0] / "bin" / "python"
    if not python.exists():
        sys.exit(f"check: {python} is missing: run scripts/fetch-trainers.sh {TRAINERS[options.trainer][0]}")
    command = [python, __file__, "--inside", *sys.argv[1:]]
    ended = subprocess.run(command, env=environment(), stderr=subprocess.PIPE, text=True, errors="replace")
    # Trainers log every record that they skip; what ended the check itself is the last line.
    if "Traceback" in ended.stderr:
        sys.exit(f"check: {ended.stderr.strip().splitlines()[-1]}")
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
