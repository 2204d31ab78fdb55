"""Seeded choices: strings of an alphabet, passwords of several styles, and the words that surround them."""

import base64
import random
import re
import string
import uuid

from . import words

ALPHABETS = {
    "a": string.ascii_lowercase + string.digits,
    "A": string.ascii_letters + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "l": string.ascii_lowercase,
    "m": string.ascii_letters,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "t": string.ascii_uppercase + "234567",
    "B": "qpzry9x8gf2tvdw0s3jn54khce6mua7l".upper(),
    "s": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
FIELD = re.compile(r"\{(?:(uuid|word|WORD)|([a-zA-Z])(\d+)(?:-(\d+))?)\}")
SLOT = re.compile(r"«([a-z]+)»")


class Dice:
    """A random source of one run. `half` (0 or 1) says which half of all surroundings it draws from."""

    def __init__(self, seed, half):
        self.random = random.Random(f"secrets {seed}")
        self.half = half

    def pick(self, items):
        return items[self.random.randrange(len(items))]

    def pick_half(self, items):
        """One of the items of this run's half: those at even places, or those at odd ones."""
        return self.pick(items[self.half :: 2])

    def chance(self, probability):
        return self.random.random() < probability

    def between(self, low, high):
        return self.random.randint(low, high)

    def chars(self, alphabet, length):
        return "".join(self.random.choices(ALPHABETS.get(alphabet, alphabet), k=length))

    def uuid(self):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def form(self, pattern):
        """A string of a form: `{A36}` is 36 characters of the alphabet A, `{A3-9}` three to nine of them."""

        def fill(match):
            if match[1] == "uuid":
                return self.uuid()
            if match[1]:
                word = self.pick(words.COMMON)
                return word if match[1] == "word" else word.upper()
            low = int(match[3])
            length = self.between(low, int(match[4] or low))
            # Both ends are letters or digits, so that a token ends where a reader sees it end.
            ends = [c for c in ALPHABETS[match[2]] if c.isalnum()]
            inner = self.chars(match[2], max(length - 2, 0))
            return "".join([self.pick(ends), inner, self.pick(ends)])[:length]

        return FIELD.sub(fill, pattern)

    def base64(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        return base64.b64encode(data).decode()

    def bytes(self, count):
        return bytes(self.random.getrandbits(8) for _ in range(count))

    def password(self, punctuation="!@#$%^&*-_=+?.~"):
        """A password of one of six styles, with no other punctuation than that given."""
        return self.pick(PASSWORD_STYLES)(self, punctuation)

    def fill(self, template):
        """The template with its slots, `«user»` and others, filled from this run's half of the words."""

        def fill(match):
            name = match[1]
            if name in words.SLOTS:
                return self.pick_half(words.SLOTS[name])
            return MADE[name](self)

        return SLOT.sub(fill, template)


def alphanumeric(dice, _):
    while True:
        text = dice.chars("A", dice.between(12, 28))
        if any(c.isdigit() for c in text):
            return text


def punctuated(dice, punctuation):
    text = list(dice.chars("A", dice.between(10, 20)))
    for place in dice.random.sample(range(1, len(text) - 1), dice.between(2, 4)):
        text[place] = dice.pick(punctuation)
    return "".join(text)


def passphrase(dice, punctuation):
    joint = "-" if "-" in punctuation else ""
    parts = dice.random.sample(words.COMMON, dice.between(2, 4))
    if not joint:
        parts = [part.capitalize() for part in parts]
    return joint.join(parts) + joint + str(dice.between(10, 9999))


def human(dice, punctuation):
    end = dice.pick([c for c in "!?.*$" if c in punctuation] + [""])
    return dice.pick(words.HUMAN) + dice.pick(words.HUMAN).lower()[: dice.pick([0, 0, 3])] + str(dice.between(1970, 2026)) + end


def without_digit(dice, punctuation):
    parts = dice.random.sample(words.COMMON, 2)
    return dice.pick(["".join(parts), parts[0] + parts[1].capitalize(), "".join(parts).capitalize() + ("!" if "!" in punctuation else "")])


def leet(dice, punctuation):
    word = "".join(dice.random.sample(words.COMMON, 2)).capitalize()
    table = str.maketrans({"a": "@" if "@" in punctuation else "4", "e": "3", "o": "0"})
    return word.translate(table) + str(dice.between(1, 99))


PASSWORD_STYLES = [alphanumeric, punctuated, passphrase, human, without_digit, leet]

MADE = {
    "uuid": Dice.uuid,
    "n": lambda dice: str(dice.between(2, 99)),
    "pid": lambda dice: str(dice.between(300, 64000)),
    "port": lambda dice: str(dice.between(1024, 9999)),
    "ip": lambda dice: f"10.{dice.between(0, 255)}.{dice.between(0, 255)}.{dice.between(2, 250)}",
    "sha": lambda dice: dice.chars("h", 40),
    "short": lambda dice: dice.chars("h", 7),
    "epoch": lambda dice: str(dice.between(1_700_000_000, 1_790_000_000)),
    "time": lambda dice: f"{dice.between(0, 23):02}:{dice.between(0, 59):02}:{dice.between(0, 59):02}",
    "date": lambda dice: f"{dice.between(2022, 2026)}-{dice.between(1, 12):02}-{dice.between(1, 28):02}",
}
