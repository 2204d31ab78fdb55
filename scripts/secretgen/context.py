"""Cases of secrets that are known by what stands around them."""

import hashlib

from . import context_files, context_talk, wrap, words

FAMILIES = context_files.FILES + context_talk.COMMANDS + context_talk.CODE + context_talk.TRAFFIC + context_talk.PROSE


def whole(value):
    return value, value


def key_lines(dice, indent=""):
    """Lines of a private key; the secret is one of the full ones."""
    lines = [dice.chars("b", 64) for _ in range(dice.between(3, 7))]
    secret = dice.pick(lines)
    lines.append(dice.chars("b", dice.between(12, 50)) + "==")
    return "\n".join(indent + line for line in lines), secret


def key_json(dice):
    lines = [dice.chars("b", 64) for _ in range(5)]
    return "\\n".join(lines), dice.pick(lines)


def hard_password(dice):
    """A password with a character that ends the authority of an address."""
    text = dice.chars("A", dice.between(8, 14))
    place = dice.between(2, len(text) - 2)
    return text[:place] + dice.pick("/#?") + text[place:]


def recovery_codes(dice):
    codes = [dice.chars("a", 5) + "-" + dice.chars("a", 5) for _ in range(8)]
    return "\n".join(codes), dice.pick(codes)


def htpasswd(dice):
    kind = dice.pick(["apr1", "bcrypt", "sha"])
    if kind == "apr1":
        return f"$apr1${dice.chars('A', 8)}${dice.chars('A', 22)}"
    if kind == "bcrypt":
        return f"$2y$10${dice.chars('A', 53)}"
    return "{SHA}" + dice.base64(hashlib.sha1(dice.bytes(8)).digest())


STYLES = {
    "pw": lambda dice: whole(dice.password()),
    "pwplain": lambda dice: whole(dice.password("!@#%*-_=+?.~")),
    "pwx": lambda dice: whole(dice.password("-_.+=%@^")),
    "pwu": lambda dice: whole(dice.password("-_.!~$")),
    "pwhard": lambda dice: whole(hard_password(dice)),
    "b64pair": lambda dice: whole(dice.base64(dice.fill("«user»") + ":" + dice.password())),
    "b64pw": lambda dice: whole(dice.base64(dice.password() + dice.chars("A", 4))),
    "b64smtp": lambda dice: whole(dice.base64("\0" + dice.fill("«user»@«domain»") + "\0" + dice.password())),
    "b64-33": lambda dice: whole(dice.base64(dice.bytes(33))),
    "pemdata": lambda dice: whole(dice.base64("-----BEGIN RSA PRIVATE KEY-----\n" + dice.chars("b", 64) + "\n" + dice.chars("b", 64) + "\n")),
    "djangokey": lambda dice: whole(dice.chars("abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", 50)),
    "keylines": key_lines,
    "keylines-indented": lambda dice: key_lines(dice, "    "),
    "pemjson": key_json,
    "htpasswd": lambda dice: whole(htpasswd(dice)),
    "shadow": lambda dice: whole(f"$6${dice.chars('A', 16)}${dice.chars('A', 86)}"),
    "sas": lambda dice: whole(dice.chars("A", 20) + "%2B" + dice.chars("A", 22) + "%3D"),
    "mnemonic": lambda dice: whole(" ".join(dice.random.sample(words.MNEMONIC, 12))),
    "recovery": recovery_codes,
}


def case(dice, row):
    """The text and the secret of a case, the text as a file, a terminal or a tool shows it."""
    _, style, *surroundings = row
    inserted, secret = STYLES[style](dice) if style in STYLES else whole(dice.form(style))
    template = dice.pick(surroundings[dice.half]).replace("«aws»", dice.chars("t", 16))
    text = dice.fill(template.replace("«S»", "\0")).replace("\0", inserted)
    return wrap.wrap(dice, text, secret), secret
