#!/usr/bin/env python3
"""Readings: lines of summaries that people labelled against the trajectory, and how often each label stands.

    readings.py lines PROGRAM FILE [--budget N] [--record N]   the lines of the summaries of a file, to be read and labelled
    readings.py rates [LABELS.csv]                             how often each label stands, by reading and by source
    readings.py now PROGRAM FOLDER                             the same for the labelled lines that the program still writes

A line is one line of a summary; a heading with the quotation under it, in a fence, is one line. Headings of sections and blank lines are
none. `hash` is the start of the SHA-256 of the line, so that labels refer to texts that are not copied here. Needs Python 3.9 and nothing else.
"""

import argparse
import collections
import csv
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LABELS = ROOT / "fixtures/readings/labels.csv"
KINDS = ("true", "noise", "misleading", "false")
BARS = {"noise": 15.0, "misleading": 2.0, "false": 0.5}
MARKER, END = "[CONTEXT SUMMARY]:", "[END OF CONTEXT SUMMARY]"
SECTION = re.compile(r"^[A-Z][A-Za-z, ]+:$")


def texts(value):
    """All strings of a record, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def summary_of(record):
    """The summary in a record, without its markers."""
    found = (text for text in texts(record) if MARKER in text)
    text = next(found, None)
    return text and text.split(MARKER, 1)[1].split(END, 1)[0].strip("\n")


def lines_of(summary):
    """The lines of a summary with their numbers; the line of the marker has the number 0."""
    fence, found = None, []
    for number, line in enumerate(summary.split("\n"), 1):
        opening = re.match(r"^`{3,}", line)
        if fence is not None:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line)
            fence = None if line.rstrip() == fence else fence
        elif opening and found:
            fence = opening.group()
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line)
        elif line.strip() and not SECTION.match(line):
            found.append((number, line))
    return [(number, text.rstrip()) for number, text in found]


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def summaries(program, path, budget):
    """The summaries of a file's records under a budget, by line of the file."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.jsonl"
        command = [program, "compress", path, "-o", out, "--target-max-tokens", budget]
        subprocess.run([str(part) for part in command], stderr=subprocess.DEVNULL, check=False)
        with open(path, encoding="utf-8") as before, open(out, encoding="utf-8") as after:
            for number, (old, new) in enumerate(zip(before, after), 1):
                summary = old != new and summary_of(json.loads(new))
                if summary:
                    yield number, summary


def read_labels(path=LABELS):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(rows, key):
    """Prints how often each label stands in each group of rows."""
    groups = collections.defaultdict(collections.Counter)
    for row in rows:
        groups[row[key]][row["label"]] += 1
    groups["all"] = sum(groups.values(), collections.Counter())
    print(f"| {key} | lines | " + " | ".join(KINDS) + " |\n" + "|---" * (len(KINDS) + 2) + "|")
    for group, counts in groups.items():
        total = sum(counts.values())
        shares = (f"{counts[kind]} ({100 * counts[kind] / total:.1f} %)" for kind in KINDS)
        print(f"| {group} | {total} | " + " | ".join(shares) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    lines = commands.add_parser("lines")
    lines.add_argument("program")
    lines.add_argument("file")
    lines.add_argument("--budget", type=int, default=8000)
    lines.add_argument("--record", type=int)
    rates = commands.add_parser("rates")
    rates.add_argument("labels", nargs="?", default=LABELS)
    now = commands.add_parser("now")
    now.add_argument("program")
    now.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()

    if arguments.command == "lines":
        for record, summary in summaries(arguments.program, arguments.file, arguments.budget):
            if arguments.record in (None, record):
                for number, text in lines_of(summary):
                    print(f"{record}\t{arguments.budget}\t{number}\t{hash_of(text)}\t{text}")
    elif arguments.command == "rates":
        rows = read_labels(arguments.labels)
        for reading in sorted({row["reading"] for row in rows}):
            print(f"Reading {reading}; at most: {BARS}")
            table([row for row in rows if row["reading"] == reading], "source")
    else:
        rows = read_labels()
        kept = []
        for source, budget in sorted({(row["source"], row["budget"]) for row in rows}):
            path = arguments.folder / f"{source}.jsonl"
            if path.exists():
                written = {number: summary for number, summary in summaries(arguments.program, path, budget)}
                hashes = {(record, hash_of(text)) for record, summary in written.items() for _, text in lines_of(summary)}
                of_source = (row for row in rows if (row["source"], row["budget"]) == (source, budget))
                kept += [row for row in of_source if (int(row["record"]), row["hash"]) in hashes]
        print(f"{len(kept)} of {len(rows)} labelled lines are still written")
        table(kept, "source")


if __name__ == "__main__":
    sys.exit(main())
