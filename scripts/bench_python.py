#!/usr/bin/env python3
"""Measures the processor time of trajfit.Fitter.fit on lines of bytes beside that of the program on the same file.

    target/python/bin/python scripts/bench_python.py target/release/trajfit FILE... [--rounds 5] [--copies 1]

Both read the file, fit every record, and write output and nothing else that the other does not write too; the package also
makes every row a dict with --rows. The lesser of all rounds counts, the rounds alternate. Ends with 1 if the bytes differ or the
ratio is over --bar.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = """
import sys, trajfit
fitter = trajfit.Fitter(max_tokens=int(sys.argv[3]))
rows = []
with open(sys.argv[1], "rb") as lines, open(sys.argv[2], "wb") as out:
    for result in fitter.fit(lines):
        if result.rejected is None:
            out.write(result.record + b"\\n")
        if sys.argv[4] == "rows":
            rows.append(result.row)
"""


def seconds(words):
    """User and system time of a process and its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(words, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ran.returncode in (0, 3), words
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=1, help="write each file so many times over into the input")
    parser.add_argument("--max-tokens", default="8000")
    parser.add_argument("--rows", action="store_true", help="make a dict of every row")
    parser.add_argument("--bar", type=float, default=1.1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        data = folder / "in.jsonl"
        lines = [line for path in arguments.files for line in path.read_bytes().splitlines() if line.strip()]
        data.write_bytes(b"\n".join(lines * arguments.copies) + b"\n")
        one, other = folder / "program.jsonl", folder / "package.jsonl"
        with_rows = "rows" if arguments.rows else "none"
        program = [arguments.program, "compress", data, "-o", one, "--max-tokens", arguments.max_tokens, "--force", "--quiet"]
        program += ["--output-format", "same"]
        package = [sys.executable, "-c", PACKAGE, data, other, arguments.max_tokens, with_rows]
        times = [(seconds(program), seconds(package)) for _ in range(arguments.rounds)]
        is_same = one.read_bytes() == other.read_bytes()
        megabytes = os.path.getsize(data) / 1e6
    best = [min(column) for column in zip(*times)]
    ratio = best[1] / best[0]
    print(f"{megabytes:.0f} MB, {len(lines) * arguments.copies} records, bytes {'equal' if is_same else 'DIFFER'}")
    print(f"program {best[0]:.2f} s, Fitter.fit {best[1]:.2f} s of processor time: {ratio:.3f} (at most {arguments.bar})")
    return 0 if is_same and ratio <= arguments.bar else 1


if __name__ == "__main__":
    sys.exit(main())
