#!/usr/bin/env python3
"""Turns a `.tiktoken` rank file into the compact form that is built into the program.

Usage: make_ranks.py NAME.tiktoken NAME.ranks

The result: the number of tokens (u32, little-endian), one byte a token that gives its length,
then the bytes of all tokens end to end, in rank order. Prints the SHA-256 of the rank file, which
src/tokens/builtin.rs holds and a test derives again from the compact form.
"""

import base64
import hashlib
import struct
import sys


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
    if max(map(len, tokens)) > 255 or min(map(len, tokens)) == 0:
        sys.exit(f"{sys.argv[1]}: a token is empty or longer than 255 bytes")
    with open(sys.argv[2], "wb") as target:
        target.write(struct.pack("<I", len(tokens)))
        target.write(bytes(map(len, tokens)))
        target.write(b"".join(tokens))
    print(hashlib.sha256(text).hexdigest(), len(tokens), sys.argv[2])


main()
