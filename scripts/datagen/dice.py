"""Randomness in bulk: one seeded source that fills thousands of template lines in C loops."""

import random
from array import array

_ALNUM = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_TO_ALNUM = bytes(_ALNUM[i % 62] for i in range(256))


def pad(items):
    """Stretches a list to 256 entries, so that a random byte indexes it."""
    return [items[i % len(items)] for i in range(256)]


_YEARS = pad(list(range(1978, 2026)))


class Dice:
    """A deterministic source of picks; everything of one record comes from one of these."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.random = self.rng.random
        self.bytes = self.rng.randbytes

    def n(self, low, high):
        """A whole number from low to high, both included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, items):
        return items[int(self.random() * len(items))]

    def some(self, items, count):
        return self.rng.sample(items, min(count, len(items)))

    def chance(self, probability):
        return self.random() < probability

    def hex(self, width):
        return self.bytes((width + 1) // 2).hex()[:width]

    def token(self, width):
        """Letters and digits, as in the ids that services hand out."""
        return self.bytes(width).translate(_TO_ALNUM).decode()

    def digits(self, width):
        return str(self.n(10 ** (width - 1), 10**width - 1))

    def money(self, low, high):
        return round(low + self.random() * (high - low), 2)

    def date(self, year=None):
        return f"{year or self.n(2023, 2026)}-{self.n(1, 12):02d}-{self.n(1, 28):02d}"

    def size(self, median, sigma, low, high):
        """A log-normal length, drawn again while it is out of bounds."""
        for _ in range(64):
            value = self.rng.lognormvariate(0.0, sigma) * median
            if low <= value <= high:
                return int(value)
        return int(min(max(median, low), high))

    def picks(self, pool256, count):
        """`count` picks from a pool of 256, lazily and without Python code for each."""
        return map(pool256.__getitem__, self.bytes(count))

    def fill(self, templates256, names, count, local=None):
        """`count` filled templates.

        Slots: 0-2 identifiers, 3 number, 4 word, 5 type name, 6 hex, 7 number, 8 year. `local` narrows the identifiers.
        """
        local = local or names.local
        hexes = self.bytes(4 * count).hex()
        return list(
            map(
                str.format,
                self.picks(templates256, count),
                self.picks(local, count),
                self.picks(local, count),
                self.picks(local, count),
                self.bytes(count),
                self.picks(names.words, count),
                self.picks(names.types, count),
                [hexes[i : i + 8] for i in range(0, 8 * count, 8)],
                array("H", self.bytes(2 * count)),
                self.picks(_YEARS, count),
            )
        )
