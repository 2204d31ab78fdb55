"""Writes records.jsonl: one small invented record for every form and quirk that a trainer may treat in a way of its own.

Usage: matrix.py [--check]      (writes records.jsonl beside this file; --check only says whether it is up to date)
       matrix.py --compress TRAJFIT      (writes compressed.jsonl: longer records, and what that program makes of each by placement)

Every turn holds a word of its own (`mark00`, `mark01`, …; `sum99` in a summary), so that run.py can tell from the tokens of a
trainer which turns it renders and which it trains on. The id is the form and the quirk: `sharegpt/first-turn-gpt`.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = "[CONTEXT SUMMARY]:\nThe config file was read and two tests were run sum99."
END = "[END OF CONTEXT SUMMARY]"
TOOLS = [{"type": "function", "function": {
    "name": "terminal", "description": "Runs a command.",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}]
NAMES = {"system": "system", "human": "user", "gpt": "assistant", "tool": "tool"}
SAID = {
    "system": "You fix bugs", "human": "Please fix the failing test", "gpt": "The fix is in place",
    "tool": "12 passed, 1 failed", "call": "I run the tests", "result": "12 passed, 1 failed"}


def said(kind, index):
    return f"{SAID[kind]} mark{index:02}."


def call_text(index):
    return json.dumps({"name": "terminal", "arguments": {"command": f"run mark{index:02}"}})


def sharegpt_turn(kind, index):
    """A turn of ShareGPT; `call` and `result` are the text forms, `function_call` and `observation` the roles."""
    if kind == "call":
        value = f"{SAID['call']} mark{index:02}.\n<tool_call>\n{call_text(index)}\n</tool_call>"
        return {"from": "gpt", "value": value}
    if kind == "result":
        content = json.dumps({"name": "terminal", "content": said("result", index)})
        return {"from": "tool", "value": f"<tool_response>\n{content}\n</tool_response>"}
    if kind == "function_call":
        return {"from": "function_call", "value": call_text(index)}
    if kind == "observation":
        return {"from": "observation", "value": said("result", index)}
    if kind in SAID:
        return {"from": kind, "value": said(kind, index)}
    return {"from": kind, "value": f"Something else mark{index:02}."}


def chat_turn(kind, index, id_of=None):
    """A turn of a chat; `call` is an assistant's with one call, `result` a tool's that answers the turn before it."""
    if kind == "call":
        function = {"name": "terminal", "arguments": json.dumps({"command": f"run mark{index:02}"})}
        return {"role": "assistant", "content": f"{SAID['call']} mark{index:02}.",
                "tool_calls": [{"id": f"call_{index}", "type": "function", "function": function}]}
    if kind == "result":
        return {"role": "tool", "tool_call_id": f"call_{index - 1 if id_of is None else id_of}",
                "content": said("result", index)}
    if kind in NAMES:
        return {"role": NAMES[kind], "content": said(kind, index)}
    return {"role": kind, "content": f"Something else mark{index:02}."}


def sharegpt(kinds):
    return [sharegpt_turn(kind, index) for index, kind in enumerate(kinds.split())]


def chat(kinds):
    return [chat_turn(kind, index) for index, kind in enumerate(kinds.split())]


def with_text(turns, index, change):
    key = "value" if "value" in turns[index] else "content"
    turns[index] = {**turns[index], key: change(turns[index][key])}
    return turns


def placements(turns_of, own):
    """Where a summary may stand: name, turns."""
    base = "system human call result call result gpt human call result gpt"
    yield "before", turns_of(base)
    after_tool = turns_of("system human call result call result gpt human gpt")
    yield "own-turn-after-tool", after_tool[:4] + [own] + after_tool[4:]
    after_gpt = turns_of("system human call result gpt human gpt")
    yield "own-turn-before-human", after_gpt[:5] + [own] + after_gpt[5:]
    yield "own-turn-between-gpts", after_gpt[:5] + [own] + turns_of("system human call result gpt call result gpt")[5:]
    yield "appended-to-human", with_text(
        turns_of("system human call result gpt"), 1, lambda text: f"{text}\n\n{SUMMARY}\n{END}")
    yield "in-front-of-human", with_text(
        turns_of("system human call result gpt human gpt"), 5, lambda text: f"{SUMMARY}\n{END}\n\n{text}")
    yield "appended-to-tool", with_text(
        turns_of("system human call result call result gpt"), 3, lambda text: f"{text}\n\n{SUMMARY}\n{END}")


def marked(turns, field, value_of):
    return [{**turn, field: value_of(turn)} for turn in turns]


def sharegpt_records():
    yield "plain", sharegpt("system human gpt human gpt")
    yield "no-system", sharegpt("human gpt human gpt")
    yield "tool-text", sharegpt("system human call result call result gpt")
    yield "function-roles", sharegpt("human function_call observation gpt human function_call observation gpt")
    yield "two-observations", sharegpt("human function_call observation observation gpt")
    yield "two-function-calls", sharegpt("human function_call function_call observation observation gpt")
    yield "gpt-then-function-call", sharegpt("human gpt function_call observation gpt")
    yield "function-call-no-json", with_text(sharegpt("human function_call observation gpt"), 1, lambda _: "<function=run> mark01")
    yield "tool-role-and-function-call", sharegpt("human function_call tool gpt")
    yield "first-turn-gpt", sharegpt("system gpt human gpt")
    yield "first-turn-tool", sharegpt("system result gpt human gpt")
    yield "last-turn-tool", sharegpt("system human call result")
    yield "last-turn-human", sharegpt("system human gpt human")
    yield "two-humans", sharegpt("system human human gpt")
    yield "two-gpts", sharegpt("system human gpt gpt human gpt")
    yield "two-tools", sharegpt("system human call result result gpt")
    yield "human-after-tool", sharegpt("system human call result human gpt")
    yield "system-in-the-middle", sharegpt("system human gpt system human gpt")
    yield "unknown-role", sharegpt("system human gpt exit")
    for role in ("user", "assistant", "ai", "model", "developer", "function", "function_response", "toolResult"):
        turns = sharegpt("human gpt human gpt")
        place = {"user": (0, 2), "developer": (0,), "assistant": (1, 3), "ai": (1, 3), "model": (1, 3)}.get(role, (2,))
        yield f"role-{role}", [{**turn, "from": role} if index in place else turn for index, turn in enumerate(turns)]
    yield "value-null", with_text(sharegpt("human gpt human gpt"), 1, lambda _: None)
    yield "value-empty", with_text(sharegpt("human gpt human gpt"), 1, lambda _: "")
    yield "human-value-null", with_text(sharegpt("human gpt human gpt"), 2, lambda _: None)
    yield "value-absent", [turn if index != 1 else {"from": "gpt"} for index, turn in enumerate(sharegpt("human gpt human gpt"))]
    yield "value-parts", with_text(sharegpt("human gpt human gpt"), 0, lambda text: [{"type": "text", "text": text}])
    yield "thinking", with_text(
        with_text(sharegpt("human gpt human gpt"), 1, lambda text: f"<think>\nearlier think77\n</think>\n\n{text}"),
        3, lambda text: f"<think>\nlast think88\n</think>\n\n{text}")
    yield "only-system", sharegpt("system")
    yield "empty", []


def chat_records():
    yield "plain", chat("system human gpt human gpt")
    yield "no-system", chat("human gpt human gpt")
    yield "arguments-string", chat("system human call result call result gpt")
    objects = chat("system human call result call result gpt")
    for turn in objects:
        for call in turn.get("tool_calls", ()):
            call["function"] = {**call["function"], "arguments": json.loads(call["function"]["arguments"])}
    yield "arguments-object", objects
    bad = chat("system human call result gpt")
    bad[2]["tool_calls"][0]["function"]["arguments"] = '{"command": "run mark02'
    yield "arguments-broken-json", bad
    parallel = chat("system human call result result gpt")
    parallel[2]["tool_calls"].append({"id": "call_3", "type": "function", "function": {
        "name": "terminal", "arguments": json.dumps({"command": "again mark02"})}})
    yield "parallel-calls", parallel
    calls = "system human call result call result gpt"
    yield "call-content-null", with_text(chat(calls), 2, lambda _: None)
    yield "call-content-empty", with_text(chat(calls), 2, lambda _: "")
    absent = chat(calls)
    for index in (2, 4):
        del absent[index]["content"]
    yield "call-content-absent", absent
    yield "call-content-parts", with_text(chat(calls), 2, lambda text: [{"type": "text", "text": text}])
    yield "user-content-null", with_text(chat("human gpt human gpt"), 2, lambda _: None)
    yield "assistant-content-null", with_text(chat("human gpt human gpt"), 1, lambda _: None)
    yield "last-content-null", with_text(chat("human gpt human gpt"), 3, lambda _: None)
    yield "tool-content-null", with_text(chat(calls), 3, lambda _: None)
    yield "user-content-parts", with_text(chat("system human gpt"), 1, lambda text: [{"type": "text", "text": text}])
    yield "tool-content-parts", with_text(chat(calls), 3, lambda text: [{"type": "text", "text": text}])
    every = chat(calls)
    for index in range(len(every)):
        with_text(every, index, lambda text: [{"type": "text", "text": text}])
    yield "all-content-parts", every
    yield "anthropic-parts", [
        {"role": "user", "content": [{"type": "text", "text": said("human", 0)}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": said("call", 1)},
            {"type": "tool_use", "id": "toolu_1", "name": "terminal", "input": {"command": "run mark01"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": said("result", 2)}]},
        {"role": "assistant", "content": [{"type": "text", "text": said("gpt", 3)}]}]
    yield "anthropic-summary-text-part", [
        {"role": "user", "content": [{"type": "text", "text": said("human", 0)}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_1", "name": "terminal", "input": {"command": "run mark01"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": said("result", 2)},
            {"type": "text", "text": SUMMARY}]},
        {"role": "assistant", "content": [{"type": "text", "text": said("gpt", 3)}]}]
    yield "tool-summary-text-part", with_text(
        chat(calls), 3, lambda text: [{"type": "text", "text": text}, {"type": "text", "text": SUMMARY}])
    yield "legacy-function-call", [
        chat_turn("human", 0),
        {"role": "assistant", "content": None, "function_call": {"name": "terminal", "arguments": '{"command": "run mark01"}'}},
        {"role": "function", "name": "terminal", "content": said("result", 2)}, chat_turn("gpt", 3)]
    yield "tool-without-id", [{key: turn[key] for key in turn if key != "tool_call_id"} for turn in chat(calls)]
    yield "first-turn-assistant", chat("system gpt human gpt")
    yield "first-turn-tool", chat("system result gpt human gpt")
    yield "last-turn-tool", chat("system human call result")
    yield "last-turn-user", chat("system human gpt human")
    yield "last-turn-call", chat("system human call")
    yield "two-users", chat("system human human gpt")
    yield "two-assistants", chat("system human gpt gpt human gpt")
    yield "user-after-tool", chat("system human call result human gpt")
    yield "orphan-tool", chat("system human result gpt")
    yield "system-in-the-middle", chat("system human gpt system human gpt")
    yield "system-in-the-middle-only", chat("human gpt system human gpt")
    yield "role-developer", chat("developer human gpt")
    yield "role-function", chat("system human gpt function gpt")
    yield "role-exit", chat("system human call result exit")
    yield "role-human-gpt", [{"role": {"user": "human", "assistant": "gpt"}.get(turn["role"], turn["role"]),
                              "content": turn["content"]} for turn in chat("system human gpt human gpt")]
    think = chat("human gpt human gpt")
    yield "thinking-in-text", with_text(with_text(
        think, 1, lambda text: f"<think>\nearlier think77\n</think>\n\n{text}"),
        3, lambda text: f"<think>\nlast think88\n</think>\n\n{text}")
    yield "thinking-in-field", [
        {**turn, "reasoning_content": "earlier think77" if index == 1 else "last think88"} if index % 2 else turn
        for index, turn in enumerate(chat("human gpt human gpt"))]
    yield "weight-on-assistants", [
        {**turn, "weight": int(index == 4)} if turn["role"] == "assistant" else turn
        for index, turn in enumerate(chat("system human gpt human gpt"))]
    yield "loss-false-on-assistant", [
        {**turn, "loss": False} if index == 2 else turn for index, turn in enumerate(chat("system human gpt human gpt"))]
    yield "train-false-on-assistant", [
        {**turn, "train": index != 2 and turn["role"] == "assistant"} for index, turn in enumerate(chat("system human gpt human gpt"))]
    yield "only-system", chat("system")
    yield "empty", []


def records():
    for name, turns in sharegpt_records():
        yield {"id": f"sharegpt/{name}", "conversations": turns}
    own = {"from": "human", "value": SUMMARY}
    for name, turns in placements(sharegpt, own):
        yield {"id": f"sharegpt/summary-{name}", "conversations": turns}
    yield {"id": "sharegpt/summary-roles-own-turn", "conversations": (
        sharegpt("human function_call observation") + [own] + sharegpt("human function_call observation function_call observation gpt")[3:])}
    yield {"id": "sharegpt/summary-roles-appended-to-observation", "conversations": with_text(
        sharegpt("human function_call observation function_call observation gpt"), 2, lambda text: f"{text}\n\n{SUMMARY}\n{END}")}
    yield {"id": "sharegpt/top-level-system", "system": "You fix bugs mark90.", "conversations": sharegpt("human gpt")}
    yield {"id": "sharegpt/tools-string", "tools": json.dumps(TOOLS), "conversations": sharegpt("human function_call observation gpt")}
    yield {"id": "sharegpt/long", "conversations": sharegpt("system human " + "call result " * 8 + "gpt")}
    for name, turns in chat_records():
        yield {"id": f"messages/{name}", "messages": turns}
    own = {"role": "user", "content": SUMMARY}
    for name, turns in placements(chat, own):
        yield {"id": f"messages/summary-{name}", "messages": turns}
    turns = dict(placements(chat, own))["own-turn-between-gpts"]
    for field, on in (("train", True), ("loss", True), ("weight", 1)):
        off = type(on)(0)
        yield {"id": f"messages/summary-marked-{field}", "messages": marked(
            turns, field, lambda turn: on if turn["role"] == "assistant" else off)}
        yield {"id": f"messages/summary-alone-marked-{field}", "messages": [
            {**turn, field: off} if turn is own else turn for turn in turns]}
    yield {"id": "messages/tools-list", "tools": TOOLS, "messages": chat("system human call result gpt")}
    yield {"id": "messages/tools-string", "tools": json.dumps(TOOLS), "messages": chat("system human call result gpt")}
    yield {"id": "messages/long", "messages": chat("system human " + "call result " * 8 + "gpt")}
    yield {"id": "messages/long-plain", "messages": chat("system " + "human gpt " * 8)}


ORDERS = {
    "in-turn": "system human " + "call result " * 9 + "gpt",
    "people": "human gpt " * 10,
    "parallel": "system human " + "call result result " * 6 + "gpt",
    "people-between": "system human " + "call result gpt human " * 4 + "gpt",
    "person-behind-tool": "system human " + "call result human " * 5 + "gpt",
    "two-answers": "system human gpt " + "gpt call result " * 5 + "gpt",
}
FILLER = " ".join(f"word{number}" for number in range(36))


def grown(turns):
    """The same turns with longer texts, so that a budget cuts into them; calls stay what they are."""
    for turn in turns:
        key = "value" if "value" in turn else "content"
        if turn.get("from") == "function_call":
            call = json.loads(turn[key])
            yield {**turn, key: json.dumps({**call, "arguments": {"command": f"{call['arguments']['command']} {FILLER}"}})}
        elif turn[key].endswith((".", "mark01.")):
            yield {**turn, key: f"{turn[key]} {FILLER}"}
        else:
            yield {**turn, key: f"{FILLER} {turn[key]}"}


def in_parts(turns):
    for turn in turns:
        yield {**turn, "content": [{"type": "text", "text": turn["content"]}]}


def in_blocks(turns):
    """As the API of Anthropic has them: calls and results are parts, and results are a person's."""
    for turn in turns:
        parts = [{"type": "text", "text": turn["content"]}]
        for call in turn.get("tool_calls", ()):
            arguments = json.loads(call["function"]["arguments"])
            parts.append({"type": "tool_use", "id": call["id"], "name": "terminal", "input": arguments})
        if turn["role"] == "tool":
            parts = [{"type": "tool_result", "tool_use_id": turn["tool_call_id"], "content": turn["content"]}]
        yield {"role": "user" if turn["role"] == "tool" else turn["role"], "content": parts}


def grown_records():
    roles = {"call": "function_call", "result": "observation"}
    for name, kinds in ORDERS.items():
        yield f"sharegpt/{name}", "conversations", list(grown(sharegpt(kinds)))
        yield f"messages/{name}", "messages", list(grown(chat(kinds)))
    for name in ("in-turn", "people-between"):
        kinds = ORDERS[name].split()
        as_roles = " ".join(roles.get(kind, kind) for kind in kinds)
        yield f"sharegpt-roles/{name}", "conversations", list(grown(sharegpt(as_roles)))
        yield f"messages-parts/{name}", "messages", list(in_parts(grown(chat(" ".join(kinds)))))
        without_system = " ".join(kind for kind in kinds if kind != "system")
        yield f"messages-blocks/{name}", "messages", list(in_blocks(grown(chat(without_system))))
    thinking = [{**turn, "reasoning_content": "so I think"} if turn["role"] == "assistant" else turn
                for turn in grown(chat(ORDERS["people"]))]
    yield "messages-thinking/people", "messages", thinking


def compressed(program):
    """The longer records, and what the program makes of them within 800 tokens with each placement."""
    lines = [json.dumps({"id": f"before/{name}", key: turns}, ensure_ascii=False) for name, key, turns in grown_records()]
    yield from lines
    for placement in ("auto", "human", "merge"):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
            source.mkdir()
            # A file each: forms are not mixed.
            for number, line in enumerate(lines):
                text = line.replace('"id": "before/', f'"id": "{placement}/', 1)
                pathlib.Path(source, f"{number:03}.jsonl").write_text(text + "\n", encoding="utf-8")
            command = [program, "compress", source, "-o", target, "--target-max-tokens", "800", "--quiet",
                       "--summary-placement", placement]
            # 3: some are degraded, as `merge` is where no turn takes the summary in.
            if subprocess.run(command, check=False).returncode not in (0, 3):
                sys.exit(f"matrix: {program} compress failed")
            for number in range(len(lines)):
                yield pathlib.Path(target, f"{number:03}.jsonl").read_text(encoding="utf-8").strip()


def main():
    if "--compress" in sys.argv[1:]:
        program = pathlib.Path(sys.argv[sys.argv.index("--compress") + 1]).resolve()
        text = "".join(line + "\n" for line in compressed(program))
        (HERE / "compressed.jsonl").write_text(text, encoding="utf-8")
        return
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records())
    path = HERE / "records.jsonl"
    if "--check" in sys.argv[1:]:
        if path.read_text(encoding="utf-8") != text:
            sys.exit("matrix: records.jsonl is not what matrix.py writes: run scripts/trainers/matrix.py")
        return
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
