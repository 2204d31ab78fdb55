"""What stands around a whole text: a prompt, a diff, a code fence, a tool's answer."""

import json


def plain(dice, text):
    return text


def shell(dice, text):
    return dice.fill("$ cat «path»\n") + text + "\n$ "


def tool_answer(dice, text):
    return json.dumps({"exit_code": 0, "stdout": text + "\n", "stderr": ""}, ensure_ascii=False)


def before_and_after(dice, text):
    return dice.fill("The file has changed on «date».\n\n") + text + "\n\nThat is all that I found."


def fence(dice, text):
    return dice.fill("This is what «user» sent:\n\n```\n") + text + "\n```\n"


def diff(dice, text):
    lines = "\n".join("+" + line for line in text.split("\n"))
    return dice.fill("@@ -«n»,2 +«n»,6 @@ unchanged\n line\n") + lines


def numbered(dice, text):
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), dice.between(1, 300)))


def quoted(dice, text):
    return "\n".join("> " + line for line in text.split("\n"))


def log_message(dice, text):
    return json.dumps({"level": "info", "ts": dice.fill("«date»T«time»Z"), "msg": text}, ensure_ascii=False)


# The first of each pair is for odd seeds, the second for even ones; half of all texts stand alone.
WRAPPERS = [plain, plain] * 4 + [shell, fence, tool_answer, diff, before_and_after, numbered, log_message, quoted]


def wrap(dice, text, secret):
    """The text in one of the surroundings of this run's half that leave the secret as it is."""
    wrapped = dice.pick_half(WRAPPERS)(dice, text)
    return wrapped if secret in wrapped else text
