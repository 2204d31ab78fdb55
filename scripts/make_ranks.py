#!/usr/bin/env python3
"""Turns a `.tiktoken` rank file into the compact form that is built into the program.

Usage: make_ranks.py NAME.tiktoken NAME.ranks

The result: the number of tokens (u32, little-endian), the 256 tokens of one byte in rank order,
then five bytes for every other token: the ranks of the two tokens that it is merged from
(little-endian, left in the lower 20 bits, right in the upper 20). The two are what merging by lower
ranks leaves of the token's bytes. Prints the SHA-256 of the rank file, which src/tokens/builtin.rs
holds and a test derives again from the compact form.
"""

import base64
import hashlib
import struct
import sys


def halves(ranks, token, rank):
    """What the merges of lower rank leave of a token: two parts, or the file is no vocabulary."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        pairs = ((ranks.get(left + right, rank), i) for i, (left, right) in enumerate(zip(parts, parts[1:])))
        lowest, i = min(pairs)
        if lowest >= rank:
            sys.exit(f"rank {rank}: {token!r} is not merged from lower ranks")
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return ranks[parts[0]], ranks[parts[1]]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as source:
        text = source.read()
    tokens = []
    for number, line in enumerate(text.splitlines()):
        token, rank = line.split()
        if int(rank) != number:
            sys.exit(f"{sys.argv[1]}:{number + 1}: rank {rank.decode()}, expected {number}")
        tokens.append(base64.b64decode(token, validate=True))
    if sorted(tokens[:256]) != [bytes([byte]) for byte in range(256)]:
        sys.exit(f"{sys.argv[1]}: the first 256 tokens are not the bytes")
    ranks = {token: rank for rank, token in enumerate(tokens)}
    with open(sys.argv[2], "wb") as target:
        target.write(struct.pack("<I", len(tokens)) + b"".join(tokens[:256]))
        for rank, token in enumerate(tokens[256:], 256):
            left, right = halves(ranks, token, rank)
            target.write((left | right << 20).to_bytes(5, "little"))
    print(hashlib.sha256(text).hexdigest(), len(tokens), sys.argv[2])


main()
