#!/usr/bin/env python3
"""Checks a finished run from outside: `check_run.py OUT INPUT...`, OUT a file or a directory of the inputs' names.

Every record has a row, in order; none failed or was rejected; what was not compressed is the same bytes; what was
compressed has fewer tokens, keeps its other fields, and its turns outside the region are the original ones; files of
unfinished runs are gone. Knows nothing of the program but its documented formats."""

import csv
import json
import os
import sys


def check(condition, message):
    if not condition:
        sys.exit(f"check_run: {message}")


def unique(pairs):
    keys = [key for key, _ in pairs]
    check(len(keys) == len(set(keys)), f"a key stands twice among {keys}")
    return dict(pairs)


def turns_of(record):
    return record.get("conversations") or record.get("messages")


def text_of(turn):
    content = turn.get("value", turn.get("content"))
    parts = content if isinstance(content, list) else [content]
    texts = [text_of_part(part) if isinstance(part, dict) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def text_of_part(part):
    if part.get("type") == "tool_result":
        # A summary may stand at the end of what the result brought back.
        return json.dumps({key: part[key] for key in part if key != "content"}) + text_of(part)
    return part.get("text", json.dumps(part))


def compressed(row, before, after):
    """One compressed record against its original."""
    before, after = json.loads(before), json.loads(after)
    where = f"{row['source']}:{row['line']}"
    old, new = turns_of(before), turns_of(after)
    start, end = int(row["region_start"]), int(row["region_end"])
    check(int(row["compressed_tokens"]) < int(row["original_tokens"]), f"{where} has not fewer tokens")
    check(0 <= start < end <= len(old), f"{where} has no region")
    check(len(new) == int(row["compressed_turns"]), f"{where}: turns are miscounted")
    summary_turns = len(new) - len(old) + (end - start)
    check(summary_turns in (0, 1), f"{where} has {summary_turns} turns in place of its region")
    kept = list(zip(old[:start], new[:start])) + list(zip(old[end:], new[start + summary_turns:]))
    # The system turn may have gained the notice; the row says which turn beside the region took in the summary, if any did.
    host = {"own": None, "human-after": start}.get(row["placement"], start - 1)
    check((host is None) == (summary_turns == 1), f"{where}: its placement is {row['placement']}")
    for index, (left, right) in enumerate(kept):
        check(left == right or index in (0, host), f"{where}: kept turn {index} changed")
    check("[CONTEXT SUMMARY]:" in json.dumps(new[start if host is None else host]), f"{where} has no summary")
    if host is not None:
        said, says = text_of(kept[host][0]), text_of(kept[host][1])
        stays = says.endswith(said) if host == start else says.startswith(said)
        check(stays, f"{where}: what the summary was put beside changed")
    for record in (before, after):
        for key in ("conversations", "messages", "compression_metrics"):
            record.pop(key, None)
    # A top-level system prompt may have gained the notice.
    check({**before, "system": 0} == {**after, "system": 0}, f"{where}: a field beside the turns changed")


def main():
    out, inputs = sys.argv[1], sys.argv[2:]
    stem = out[: -len(".jsonl")] if out.endswith(".jsonl") else out
    with open(f"{stem}.metrics.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open(f"{stem}.summary.json", encoding="utf-8") as file:
        totals = json.load(file, object_pairs_hook=unique)
    statuses = {}
    at = 0
    for name in inputs:
        with open(name, "rb") as file:
            before = [line for line in file.read().split(b"\n") if line.strip()]
        with open(os.path.join(out, os.path.basename(name)) if os.path.isdir(out) else out, "rb") as file:
            after = [line for line in file.read().split(b"\n") if line.strip()]
        check(len(before) == len(after), f"{name}: {len(before)} records in, {len(after)} out")
        of_file = rows[at : at + len(before)]
        at += len(before)
        check(len(of_file) == len(before), f"{name}: {len(before)} records, {len(of_file)} rows")
        check(all(row["source"] == name for row in of_file), f"{name}: its rows are of another file")
        for row, left, right in zip(of_file, before, after):
            statuses[row["status"]] = statuses.get(row["status"], 0) + 1
            if row["was_compressed"] == "true":
                compressed(row, left, right)
            else:
                check(left == right, f"{name}:{row['line']} was not compressed, and changed")
    check(at == len(rows), f"{len(rows)} rows for {at} records")
    check(not statuses.keys() & {"failed", "rejected"}, f"records that failed or were rejected: {statuses}")
    check(statuses.get("compressed", 0) > 0, "nothing was compressed")
    told = {status: count for status, count in totals["records_by_status"].items() if count}
    check(totals["schema"] == "trajfit.summary/1", f"the totals have the schema {totals['schema']}")
    reasons = {}
    for row in rows:
        check(row["reason"] or not row["reason_detail"], f"{row['source']}:{row['line']} has details of no reason")
        if row["reason"]:
            reasons[row["reason"]] = reasons.get(row["reason"], 0) + 1
    check(totals["reasons"] == reasons, f"the totals give the reasons {totals['reasons']}, the rows {reasons}")
    check(totals["records"] == len(rows) and told == statuses, f"the totals say {told}, the rows {statuses}")
    most = max((int(row["original_tokens"]) for row in rows), default=0)
    check(totals["original_token_percentiles"]["max"] == most, "the totals' percentiles are not those of the rows")
    check(totals["degraded"] == 0, f"{totals['degraded']} records degraded")
    folder = os.path.dirname(os.path.abspath(out))
    left_over = [name for name in os.listdir(folder) if name.endswith((".partial", ".checkpoint"))]
    check(not left_over, f"left behind: {left_over}")
    print(f"checked {len(rows)} records: {statuses}")


main()
