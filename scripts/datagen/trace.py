"""A trajectory before it has a format: who said what, which tools were called and what they answered."""

import json

_ID_STYLES = ("call_{24}", "toolu_01{22}", "call_00_{24}", "chatcmpl-tool-{x32}", "fc_{x16}")


class Trace:
    """Collects the turns of one record and how many characters they hold."""

    def __init__(self, dice, record_id, source, system, tools):
        self.dice, self.id, self.source, self.system, self.tools = dice, record_id, source, system, tools
        self.turns = []
        self.size = len(system)
        self.id_style = dice.pick(_ID_STYLES)
        self.thinks = dice.chance(0.25)

    def call_id(self):
        style = self.id_style
        head, _, width = style.partition("{")
        width = width.rstrip("}")
        return head + (self.dice.hex(int(width[1:])) if width[0] == "x" else self.dice.token(int(width)))

    def human(self, text):
        self.turns.append(("human", text))
        self.size += len(text)

    def say(self, text):
        """An assistant turn without a tool call."""
        self.turns.append(("gpt", text, "", ()))
        self.size += len(text)

    def step(self, text, *calls, think=""):
        """An assistant turn with one or several `(name, arguments, output)`, and the answers."""
        calls = [(self.call_id(), name, arguments, output) for name, arguments, output in calls]
        if not self.thinks:
            think = ""
        self.turns.append(("gpt", text, think, calls))
        self.turns.append(("tool", calls))
        self.size += len(text) + len(think)
        for _, name, arguments, output in calls:
            self.size += len(name) + 40 + sum(len(str(v)) + len(k) + 6 for k, v in arguments.items())
            self.size += len(output) if isinstance(output, str) else len(json.dumps(output, ensure_ascii=False))


def tool(name, description, /, **parameters):
    """A function schema; parameters are `name="type: what it is"`, optional where the type ends in `?`."""
    properties, required = {}, []
    for key, text in parameters.items():
        kind, _, what = text.partition(": ")
        if not kind.endswith("?"):
            required.append(key)
        properties[key] = {"type": kind.rstrip("?"), "description": what}
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": required},
        },
    }
