#!/usr/bin/env python3
"""Compares ways to bring trajectories within a budget, on the same records, and prints a table for the README and docs/strategies.md.

    scripts/compare.py [INPUT ...] [--max-tokens 16000] [--program target/release/trajfit]

Without inputs it reads the project's fixture. Compared are:

- dropping: records over the budget are left out;
- cutting: what comes after the budget is cut off, as trainers do;
- the program's strategies;
- unrolling, which makes several records of one.

Counted are the records over the budget. All tokens are the program's own counts (`trajfit count --per-record`). Calls without an answer are
its own as well (`unanswered_calls`): each record is given a closing human turn first, so that a call at a cut end counts. Those that
the original has already are not counted. Only the standard library is needed.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

FIXTURE = "fixtures/agent_runs.jsonl"
STRATEGIES = ["summarize", "mask", "mask-then-summarize"]
UNROLLED = {"trajfit unroll": [], "trajfit unroll, `--overlap none`": ["--overlap", "none"]}
ASSISTANT = {"gpt", "assistant", "ai", "model", "function_call"}


def turns_key(record: dict) -> str:
    """The field that holds the turns."""
    return "conversations" if "conversations" in record else "messages"


def is_assistant(turn: object) -> bool:
    """Whether the assistant speaks."""
    return isinstance(turn, dict) and turn.get("from", turn.get("role")) in ASSISTANT


def count(program: str, path: pathlib.Path) -> list[dict]:
    """A measure for each record."""
    counted = subprocess.run([program, "count", str(path), "--per-record"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in counted.stdout.splitlines()]


def unanswered(program: str, records: list[dict], scratch: pathlib.Path) -> list[int]:
    """The calls of each record that nobody answers, those at its end included."""
    path = scratch / "closed.jsonl"
    with path.open("w") as file:
        for record in records:
            key = turns_key(record)
            closing = {"from": "human", "value": "."} if key == "conversations" else {"role": "user", "content": "."}
            file.write(json.dumps({**record, key: [*record[key], closing]}) + "\n")
    rows = scratch / "closed.csv"
    command = [program, "compress", str(path), "--dry-run", "--max-tokens", "1000000000", "--metrics", str(rows), "--force", "--quiet"]
    subprocess.run(command, check=True)
    with rows.open(newline="") as file:
        return [int(row["unanswered_calls"]) for row in csv.DictReader(file)]


def cut(record: dict, measure: dict, budget: int) -> tuple[dict, int, bool]:
    """The record up to the turn in which the budget ends, the assistant's tokens within it, and whether its last turn is whole."""
    key = turns_key(record)
    spent = measure["tokens"] - sum(measure["turn_tokens"])
    kept, assistant = [], 0
    for turn, tokens in zip(record[key], measure["turn_tokens"]):
        if spent >= budget:
            break
        if is_assistant(turn):
            assistant += min(tokens, budget - spent)
        spent += tokens
        kept.append(turn)
    return {**record, key: kept}, assistant, spent <= budget


def last_answer(record: dict) -> str:
    """The last turn of the assistant, as JSON."""
    said = [turn for turn in record[turns_key(record)] if is_assistant(turn)]
    return json.dumps(said[-1], sort_keys=True) if said else ""


def share(part: int, whole: int) -> str:
    """A part in percent."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


def millions(tokens: int) -> str:
    """Tokens, in millions from a million on."""
    return f"{tokens / 1e6:.1f} million" if tokens >= 1e6 else f"{tokens:,}"


def unrolled(program: str, source: pathlib.Path, flags: list[str], budget: int) -> list[list[dict]]:
    """The records that each trajectory of a file becomes, in order, each with its trained turns by index."""
    out = source.with_name("unrolled.jsonl")
    command = [program, "unroll", str(source), "-o", str(out), "--max-tokens", str(budget), "--mark", "none", "--force", "--quiet", *flags]
    subprocess.run(command, check=True)
    # The proof that every assistant turn is trained once.
    subprocess.run([program, "check", "--unrolled-from", str(source), str(out), "--mark", "none"], check=True, stdout=subprocess.DEVNULL)
    with out.open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    for record, measure in zip(records, count(program, out)):
        record["measure"] = measure
    trajectories: list[list[dict]] = []
    for record in records:
        if record.get("segment", 1) == 1:
            trajectories.append([])
        trajectories[-1].append(record)
    return trajectories


def row_of_unrolled(program: str, way: str, trajectories: list[list[dict]], before: dict, scratch: pathlib.Path) -> list[str]:
    """The row of the table about what trajectories were unrolled into."""
    records = [record for trajectory in trajectories for record in trajectory]
    fit = sum(record["measure"]["tokens"] <= before["budget"] for record in records)
    trained = sum(
        tokens
        for record in records
        for index, (turn, tokens) in enumerate(zip(record[turns_key(record)], record["measure"]["turn_tokens"]))
        if is_assistant(turn) and index in record.get("trained_turns", range(1 << 30))
    )
    same = sum(last_answer(trajectory[-1]) == end for trajectory, end in zip(trajectories, before["ends"]))
    was = [calls for trajectory, calls in zip(trajectories, before["calls"]) for _ in trajectory]
    bare = [{key: value for key, value in record.items() if key != "measure"} for record in records]
    dangling = sum(max(new - old, 0) for new, old in zip(unanswered(program, bare, scratch), was))
    number = len(trajectories)
    read = millions(sum(record["measure"]["tokens"] for record in records))
    kept = f"100 %, as {len(records):,}"
    return [way, kept, share(fit, len(records)), share(trained, before["assistant"]), share(same, number), f"{dangling:,}", read]


def rows_of(program: str, inputs: list[pathlib.Path], budget: int, scratch: pathlib.Path) -> tuple[int, int, list[list[str]]]:
    """How many records there are, how many are over the budget, and the rows of the table."""
    records, measures = [], []
    for path in inputs:
        with path.open(encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
        records += lines
        measures += count(program, path)
    assert len(records) == len(measures), "a record cannot be read"
    over = [at for at, measure in enumerate(measures) if measure["tokens"] > budget]
    before = [records[at] for at in over]
    assistant = sum(measures[at]["parts"]["assistant"] for at in over)
    ends = [last_answer(record) for record in before]
    calls = unanswered(program, before, scratch)
    number = len(over)

    cuts = [cut(records[at], measures[at], budget) for at in over]
    kept = sum(tokens for _, tokens, _ in cuts)
    same = sum(whole and last_answer(record) == end for (record, _, whole), end in zip(cuts, ends))
    dangling = sum(max(now - then, 0) for now, then in zip(unanswered(program, [record for record, _, _ in cuts], scratch), calls))
    rows = [
        ["drop records over the budget", "0 %", "-", "0 %", "0 %", "0", "0"],
        ["cut them at the budget", "100 %", "100 %", share(kept, assistant), share(same, number), f"{dangling:,}", millions(number * budget)],
    ]

    source = scratch / "over.jsonl"
    source.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in before), encoding="utf-8")
    for strategy in STRATEGIES:
        out = scratch / f"{strategy}.jsonl"
        command = [program, "compress", str(source), "-o", str(out), "--strategy", strategy, "--max-tokens", str(budget)]
        subprocess.run([*command, "--force", "--quiet"], check=True)
        with out.open(encoding="utf-8") as file:
            after = [json.loads(line) for line in file]
        assert len(after) == number, "a record was rejected"
        now = count(program, out)
        fit = sum(measure["tokens"] <= budget for measure in now)
        same = sum(last_answer(record) == end for record, end in zip(after, ends))
        dangling = sum(max(new - old, 0) for new, old in zip(unanswered(program, after, scratch), calls))
        kept = sum(measure["parts"]["assistant"] for measure in now)
        read = millions(sum(measure["tokens"] for measure in now))
        way = f"trajfit compress, `{strategy}`"
        rows.append([way, "100 %", share(fit, number), share(kept, assistant), share(same, number), f"{dangling:,}", read])
    facts = {"budget": budget, "ends": ends, "calls": calls, "assistant": assistant}
    for way, flags in UNROLLED.items():
        rows.append(row_of_unrolled(program, way, unrolled(program, source, flags, budget), facts, scratch))
    return len(records), number, rows


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="*", type=pathlib.Path, default=[pathlib.Path(FIXTURE)], help="files of JSON Lines, or folders")
    parser.add_argument("--max-tokens", type=int, default=16_000)
    parser.add_argument("--program", default="target/release/trajfit")
    arguments = parser.parse_args()
    inputs = []
    for path in arguments.inputs:
        inputs += sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    with tempfile.TemporaryDirectory() as scratch:
        total, over, rows = rows_of(arguments.program, inputs, arguments.max_tokens, pathlib.Path(scratch))
    print(f"{over:,} of {total:,} records have more than {arguments.max_tokens:,} tokens.\n")
    print(
        "| way | records kept | of these within the budget | assistant's tokens trained on | last answer kept "
        "| calls left without an answer | tokens a trainer reads |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print("|", " | ".join(row), "|")


if __name__ == "__main__":
    main()
