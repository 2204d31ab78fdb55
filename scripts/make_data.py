#!/usr/bin/env python3
"""Writes invented agent trajectories as JSONL: `make_data.py --bytes 250M -o runs.jsonl`.

The same arguments give the same bytes, whatever the number of processes: each record has its own seed, made of
`--seed` and its number. Needs nothing but Python's standard library (3.9 or newer).
"""

import argparse
import multiprocessing
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from datagen import coding, research, shapes, support  # noqa: E402
from datagen.dice import Dice  # noqa: E402

KINDS = {"coding": coding, "support": support, "research": research}
# coding agents make up most of what people collect
MIX = ("coding", "coding", "coding", "research", "support", "coding", "support", "research", "coding", "coding")
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
# every 18th record is short, and every 25th holds one turn that fits no usual budget
SHORT_EVERY, SHORT_AT, HUGE_EVERY, HUGE_AT = 18, 7, 25, 13
HUGE_CHARS = 64_000
BLOCK = 16


def number_of_bytes(text):
    unit = text[-1:].upper() if text[-1:].isalpha() else ""
    try:
        return int(float(text[: len(text) - len(unit)]) * UNITS[unit])
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 250M, 1G or a number of bytes") from None


def record(index, args):
    """The record with this number, as one line without its newline."""
    dice = Dice((args.seed << 40) | index)
    kind = args.kind if args.kind != "mixed" else MIX[index // 2 % len(MIX)]
    # JSON inside JSON needs escapes, about a twelfth on top of what the trajectories count
    if args.around is None:
        tokens = dice.size(args.median_tokens, args.spread, args.min_tokens, args.max_tokens)
    elif index % 2:
        tokens = int(args.around * (0.97 + 0.06 * dice.random()))
    else:
        tokens = dice.size(args.around / 7, 0.6, 500, args.around / 2)
    target = tokens * 4 * 11 // 12
    if index % SHORT_EVERY == SHORT_AT:
        target = 4 * dice.n(500, 1200)
    huge = index % HUGE_EVERY == HUGE_AT
    trace = KINDS[kind].trajectory(dice, None, 8_000 if huge else target)
    if huge and (index // HUGE_EVERY) % 2 == 0:
        at = next(i for i, turn in enumerate(trace.turns) if turn[0] == "human")
        text = trace.turns[at][1] + "\n\nHere is the whole log:\n\n" + coding.dump(dice, HUGE_CHARS)
        trace.turns[at] = ("human", text)
    elif huge:
        last = trace.turns.pop()
        name, arguments = ("terminal", {"command": "cat debug.log"}) if kind == "coding" else ("export_case_log", {"case_id": f"CS-{dice.digits(6)}"})
        trace.step("Last, the whole log.", (name, arguments, coding.dump(dice, HUGE_CHARS)))
        trace.turns.append(last)
    # the format has dice of its own, so that both formats of one seed tell the same story
    return shapes.line(trace, Dice((args.seed << 40) | index | 1 << 39), args.format)


def block(job):
    """Lines of one stretch of record numbers, as bytes."""
    start, stop, args = job
    return [record(index, args).encode("utf-8") + b"\n" for index in range(start, stop)]


def blocks(args):
    """All blocks in order, from as many processes as asked for."""
    limit = args.records if args.records is not None else sys.maxsize
    starts = range(0, limit, BLOCK)
    if args.jobs == 1 or limit <= BLOCK:
        for start in starts:
            yield block((start, min(start + BLOCK, limit), args))
        return
    with multiprocessing.Pool(args.jobs) as pool:
        ahead = []
        for start in starts:
            ahead.append(pool.apply_async(block, ((start, min(start + BLOCK, limit), args),)))
            if len(ahead) >= 2 * args.jobs:
                yield ahead.pop(0).get()
        for result in ahead:
            yield result.get()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default="-", help="file to write, - for stdout (default)")
    parser.add_argument("--format", choices=("sharegpt", "messages", "mixed"), default="mixed")
    parser.add_argument("--kind", choices=(*KINDS, "mixed"), default="mixed")
    parser.add_argument("--bytes", type=number_of_bytes, help="stop after the record that reaches this size (250M, 1G)")
    parser.add_argument("--records", type=int, help="stop after so many records (100 if --bytes is absent too)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--median-tokens", type=int, default=12_000, help="median length in tokens of four characters (12000)")
    parser.add_argument("--spread", type=float, default=1.0, help="sigma of the log-normal lengths (1.0)")
    parser.add_argument("--around", type=int, help="every second record a little over so many tokens, the others far below")
    parser.add_argument("--min-tokens", type=int, default=500)
    parser.add_argument("--max-tokens", type=int, default=90_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (all cores)")
    args = parser.parse_args()
    if args.seed < 0:
        parser.error("--seed must not be negative")
    if args.bytes is None and args.records is None:
        args.records = 100
    written = 0
    with open(sys.stdout.fileno() if args.output == "-" else args.output, "wb", closefd=args.output != "-") as out:
        try:
            for lines in blocks(args):
                for line in lines:
                    if args.bytes is not None and written >= args.bytes:
                        return
                    out.write(line)
                    written += len(line)
        except BrokenPipeError:
            # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
