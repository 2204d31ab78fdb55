#!/usr/bin/env python3
"""Writes secrets in realistic surroundings, and look-alikes that are no secrets, as JSON Lines.

    python3 scripts/make_secrets.py --seed 1 --count 4000 > cases.jsonl

A line is {"text", "secret", "family", "known_by", "class"}. Of the class `must_go`, the secret stands in the text and has
to be gone after redaction; of `must_stay`, the text has to stay as it is. `known_by` is `form` where the token itself
tells, `context` where what stands around it does. All families have the same number of cases, within one.

Odd seeds and even seeds draw from disjoint halves of the surroundings: rules that were improved with the one are measured
with the other. The same arguments give the same bytes.
"""

import argparse
import json
import sys

from secretgen import context, forms, stay
from secretgen.dice import Dice

GROUPS = [
    ("form", "must_go", forms.FORMS, forms.case),
    ("context", "must_go", context.FAMILIES, context.case),
    ("context", "must_stay", stay.STAY, stay.case),
]


def cases(seed, count):
    """That many cases, in rounds: each round has one case of every family, in random order."""
    dice = Dice(seed, (seed + 1) % 2)
    families = [(known_by, kind, row, make) for known_by, kind, rows, make in GROUPS for row in rows]
    # No secret is another one with a mark at its end, so that each is looked for on its own.
    seen = set()
    while count > 0:
        dice.random.shuffle(families)
        for known_by, kind, row, make in families[:count]:
            text, secret = make(dice, row)
            while kind == "must_go" and secret.strip("!?.*$") in seen:
                text, secret = make(dice, row)
            seen.add(secret.strip("!?.*$"))
            assert secret in text, f"{row[0]}: the secret is not in its text"
            yield {"text": text, "secret": secret, "family": row[0], "known_by": known_by, "class": kind}
        count -= len(families)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="odd and even seeds use disjoint surroundings (default 1)")
    parser.add_argument("--count", type=int, default=4000, help="number of cases (default 4000)")
    parser.add_argument("--families", action="store_true", help="print the number of families of each group and stop")
    options = parser.parse_args()
    if options.families:
        for known_by, kind, rows, _ in GROUPS:
            print(f"{kind} {known_by}: {len(rows)}")
        return
    for case in cases(options.seed, options.count):
        print(json.dumps(case, ensure_ascii=False))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stderr.close()
