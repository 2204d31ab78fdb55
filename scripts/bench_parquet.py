#!/usr/bin/env python3
"""Time and memory of Parquet in and out, beside the same records as JSON Lines; needs pyarrow, and a program with the feature.

    scripts/bench_parquet.py target/release/trajfit [--rows 10000 100000] [--keep FOLDER]

The rows are those of the fixture, over and over, with a number each. Memory is the largest that the program had at once: it must not
grow with the rows. The records of both outputs are compared.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scale import RUN

FIXTURE = Path(__file__).resolve().parents[1] / "fixtures" / "agent_runs.jsonl"
CHUNK = 1000

# Memory that may come with ten times the rows: allocators keep some of what they have freed.
MOST_GROWTH = 1.25


def make(rows, folder):
    """The rows as Parquet and as JSON Lines."""
    records = [json.loads(line) for line in FIXTURE.read_bytes().splitlines()]
    table = pa.Table.from_pylist([{"n": 0, **record} for record in records])
    with pq.ParquetWriter(folder / "in.parquet", table.schema) as parquet, open(folder / "in.jsonl", "w") as lines:
        for start in range(0, rows, CHUNK):
            numbers = range(start, min(start + CHUNK, rows))
            taken = table.take([number % len(records) for number in numbers])
            parquet.write_table(taken.set_column(0, "n", pa.array(numbers)), row_group_size=CHUNK)
            for number in numbers:
                record = {"n": number, **records[number % len(records)]}
                lines.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


def run(program, *words):
    """Seconds, seconds of processor time and megabytes of memory of a command."""
    ran = subprocess.run([sys.executable, "-c", RUN, program, *map(str, words)], capture_output=True, check=True)
    *figures, status = json.loads(ran.stdout)
    if status not in (0, 3):
        sys.exit(f"{words} ended with {status}")
    return figures


def same(folder):
    """Compares the records of both outputs."""
    with open(folder / "out_lines.jsonl") as lines:
        for batch in pq.ParquetFile(folder / "out.parquet").iter_batches(100):
            for row in batch.to_pylist():
                if {key: value for key, value in row.items() if value is not None} != json.loads(next(lines)):
                    sys.exit(f"the records differ: row {row['n']}")
        if next(lines, None) is not None:
            sys.exit("rows are missing")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--keep", help="folder for the files, which are large [default: a temporary one]")
    options = parser.parse_args()
    print("| rows | command | seconds | processor | memory |\n|---|---|---|---|---|")
    memory = []
    for rows in options.rows:
        with tempfile.TemporaryDirectory(dir=options.keep) as folder:
            folder = Path(folder)
            make(rows, folder)
            sizes = [(folder / name).stat().st_size / 1e6 for name in ("in.parquet", "in.jsonl")]
            for name, words in {
                f"compress {sizes[1]:,.0f} MB of lines to lines": ["compress", folder / "in.jsonl", "-o", folder / "out_lines.jsonl", "--quiet"],
                f"compress {sizes[0]:,.0f} MB of Parquet to Parquet": ["compress", folder / "in.parquet", "-o", folder / "out.parquet", "--quiet"],
                "count lines": ["count", folder / "in.jsonl"],
                "count Parquet": ["count", folder / "in.parquet"],
            }.items():
                seconds, processor, megabytes = run(options.program, *words)
                print(f"| {rows:,} | {name} | {seconds:.1f} s | {processor:.1f} s | {megabytes:,.0f} MB |", flush=True)
                if name.endswith("Parquet to Parquet"):
                    memory.append(megabytes)
            same(folder)
    if memory[-1] > memory[0] * MOST_GROWTH:
        sys.exit(f"memory grows with the rows: {memory}")


if __name__ == "__main__":
    main()
