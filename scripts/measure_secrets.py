#!/usr/bin/env python3
"""Measures how many of the secrets of make_secrets.py leave the program in its requests, by its public interface only.

    python3 scripts/make_secrets.py --seed 1 > cases.jsonl
    python3 scripts/measure_secrets.py cases.jsonl target/debug/trajfit --leaks leaks.jsonl

Each case is a turn of a record, an answer of a tool or a message of a person by turns, between the protected ends. The
records are compressed with `--summarizer command`; the command (this file) keeps the requests that it receives. A secret
leaks if it stands word for word anywhere in a request of its record; `half` counts those of which half or more of the
characters stand there in one piece. A look-alike is redacted falsely if its turn is not as it was.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

MARK = "Record {}, step {}."
MARKED = re.compile(r"Record (\d+), step \d+\.")
CALL = '{}\n<tool_call>\n{{"name": "terminal", "arguments": {{"command": "next"}}}}\n</tool_call>'


def record_of(number, cases):
    """A record that holds the cases, and the cases by the index of their turn."""
    turns = [("system", "You are a helpful assistant."), ("human", "Please go through the notes."), ("gpt", "I start.")]
    places = {}
    for step, case in enumerate(cases):
        if step % 2:
            turns += [("human", case["text"]), ("gpt", MARK.format(number, step))]
            places[len(turns) - 2] = case
        else:
            turns += [("gpt", CALL.format(MARK.format(number, step))), ("tool", case["text"])]
            places[len(turns) - 1] = case
    # The last turn before the protected end is long, so that the region cannot end before it.
    turns += [("human", "And so on. " * 200), ("gpt", "That was all.")]
    turns += [("human", "Thanks."), ("gpt", "You are welcome."), ("human", "Bye."), ("gpt", "Bye.")]
    return {"conversations": [{"from": role, "value": text} for role, text in turns]}, places


def strings(value):
    """All strings inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def answer_requests(folder):
    """The summarizer: keeps every request and answers it with a short summary."""
    with open(pathlib.Path(folder) / f"requests-{os.getpid()}.jsonl", "a", encoding="utf-8") as kept:
        for line in sys.stdin:
            kept.write(line)
            kept.flush()
            print(json.dumps({"id": json.loads(line)["id"], "summary": "The notes were read."}), flush=True)


def run(program, folder, records):
    """The requests that the program makes for the records."""
    source = folder / "in.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    command = shlex.join([sys.executable, os.path.abspath(__file__), "--answer", str(folder)])
    options = ["--target-max-tokens", "200", "--summary-target-tokens", "50", "--no-cache", "--quiet"]
    arguments = [program, "compress", str(source), "-o", str(folder / "out.jsonl"), "--summarizer", "command", "--command", command]
    ended = subprocess.run(arguments + options, capture_output=True, text=True, check=False)
    requests = []
    for file in sorted(folder.glob("requests-*.jsonl")):
        requests += [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if not requests:
        sys.exit(f"error: the program made no request (exit code {ended.returncode})\n{ended.stderr}")
    return requests


def half_stands(secret, text):
    size = max(8, (len(secret) + 1) // 2)
    return any(secret[start : start + size] in text for start in range(len(secret) - size + 1))


def judge(requests, places):
    """For each case: whether it was seen, and whether it leaked, by half, or was changed."""
    verdicts = {id(case): {"seen": False, "bad": False, "half": False} for record in places for case in record.values()}
    for request in requests:
        number = int(MARKED.search("\n".join(strings(request["turns"])))[1])
        # Joined by a character that no case holds.
        everything = "\0".join(strings(request))
        turns = {turn["index"]: "\0".join(strings(turn)) for turn in request["turns"]}
        for index, case in places[number].items():
            verdict = verdicts[id(case)]
            if case["class"] == "must_go":
                verdict["seen"] |= index in turns
                verdict["bad"] |= case["secret"] in everything
                verdict["half"] |= half_stands(case["secret"], everything)
            elif index in turns:
                verdict["seen"] = True
                verdict["bad"] |= case["text"].strip() not in turns[index]
                verdict["turn"] = turns[index]
    return verdicts


def measure(program, cases, per_record):
    """The cases, each with its verdict. The classes have records of their own, so that they cannot touch each other."""
    groups = [[case for case in cases if case["class"] == kind] for kind in ("must_go", "must_stay")]
    chunks = [group[start : start + per_record] for group in groups for start in range(0, len(group), per_record)]
    built = [record_of(number, chunk) for number, chunk in enumerate(chunks)]
    with tempfile.TemporaryDirectory() as folder:
        requests = run(program, pathlib.Path(folder), [record for record, _ in built])
    places = [places for _, places in built]
    verdicts = judge(requests, places)
    return [(case, verdicts[id(case)]) for case in cases]


def tally(judged):
    """Counts for each family, and for each of the three groups."""
    families, groups = collections.OrderedDict(), collections.OrderedDict()
    for case, verdict in judged:
        group = case["known_by"] if case["class"] == "must_go" else "must_stay"
        for table, key in ((families, (group, case["family"])), (groups, group)):
            row = table.setdefault(key, {"cases": 0, "bad": 0, "half": 0})
            row["cases"] += 1
            row["bad"] += verdict["bad"]
            row["half"] += verdict["half"]
    for row in list(families.values()) + list(groups.values()):
        row["percent"] = round(100 * row["bad"] / row["cases"], 2)
    return families, groups


def table(families, groups):
    lines = [f"{'group':10} {'family':28} {'cases':>6} {'bad':>6} {'half':>6} {'%':>7}"]
    order = ["form", "context", "must_stay"]
    rows = sorted(families.items(), key=lambda item: (order.index(item[0][0]), -item[1]["percent"], item[0][1]))
    for (group, family), row in rows:
        if row["bad"] or row["half"]:
            lines.append(f"{group:10} {family:28} {row['cases']:6} {row['bad']:6} {row['half']:6} {row['percent']:7.2f}")
    for group in order:
        if group in groups:
            row = groups[group]
            clean = sum(1 for (other, _), counts in families.items() if other == group and not counts["bad"])
            of = sum(1 for other, _ in families if other == group)
            lines.append(f"{group:10} {f'all ({clean} of {of} families clean)':28} {row['cases']:6} {row['bad']:6} {row['half']:6} {row['percent']:7.2f}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="?", help="output of make_secrets.py, or - for standard input")
    parser.add_argument("program", nargs="?", help="path of the trajfit program")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--leaks", metavar="FILE", help="write the cases that leaked or were redacted falsely, as JSON Lines")
    parser.add_argument("--per-record", type=int, default=40, metavar="N", help="cases in a record (default 40)")
    parser.add_argument("--answer", metavar="DIR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        return answer_requests(options.answer)
    if not options.program:
        parser.error("name the file of cases and the program")
    with sys.stdin if options.cases == "-" else open(options.cases, encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    judged = measure(options.program, cases, options.per_record)
    unseen = sum(not verdict["seen"] for _, verdict in judged)
    if unseen:
        sys.exit(f"error: {unseen} of {len(judged)} cases stand in no request, so nothing can be said of them")
    families, groups = tally(judged)
    if options.leaks:
        with open(options.leaks, "w", encoding="utf-8") as file:
            for case, verdict in judged:
                if verdict["bad"]:
                    extra = {"turn": verdict["turn"]} if "turn" in verdict else {}
                    file.write(json.dumps({**case, **extra}, ensure_ascii=False) + "\n")
    if options.json:
        rows = [{"group": group, "family": family, **row} for (group, family), row in families.items()]
        print(json.dumps({"groups": groups, "families": rows}, indent=1))
    else:
        print(table(families, groups))
    return None


if __name__ == "__main__":
    main()
