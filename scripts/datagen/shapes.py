"""Writes a trajectory down in the two formats of the field, with the variations that occur in them."""

import json


def sharegpt(trace, dice):
    """`conversations` of `from`/`value`, calls and answers as tagged JSON inside the text."""
    ascii_inside = dice.chance(0.05)
    one_turn = dice.chance(0.5)
    turns = [{"from": "system", "value": trace.system}]
    for turn in trace.turns:
        if turn[0] == "human":
            turns.append({"from": "human", "value": turn[1]})
        elif turn[0] == "gpt":
            _, text, think, calls = turn
            parts = [f"<think>\n{think}\n</think>"] if think else []
            if text:
                parts.append(text)
            for _, name, arguments, _ in calls:
                call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=ascii_inside)
                parts.append(f"<tool_call>\n{call}\n</tool_call>")
            turns.append({"from": "gpt", "value": "\n".join(parts)})
        else:
            answers = [
                "<tool_response>\n"
                + json.dumps({"tool_call_id": call_id, "name": name, "content": output}, ensure_ascii=ascii_inside)
                + "\n</tool_response>"
                for call_id, name, _, output in turn[1]
            ]
            if one_turn:
                answers = ["\n".join(answers)]
            turns.extend({"from": "tool", "value": answer} for answer in answers)
    record = {"id": trace.id, "conversations": turns}
    if dice.chance(0.6):
        record["tools"] = json.dumps([entry["function"] for entry in trace.tools], ensure_ascii=ascii_inside)
    if dice.chance(0.6):
        record["source"] = trace.source
        record["completed"] = dice.chance(0.9)
    return record


def messages(trace, dice):
    """`messages` of `role`/`content`; a third of the records has content as parts."""
    parts = dice.chance(0.33)
    no_content = dice.n(0, 2)
    reasoning = dice.pick(("reasoning_content", "reasoning"))

    def content(text, last=False):
        if not parts:
            return text
        part = {"type": "text", "text": text}
        if last:
            part["cache_control"] = {"type": "ephemeral"}
        return [part]

    out = [{"role": "system", "content": content(trace.system, True)}]
    for turn in trace.turns:
        if turn[0] == "human":
            out.append({"role": "user", "content": content(turn[1])})
        elif turn[0] == "gpt":
            _, text, think, calls = turn
            message = {"role": "assistant"}
            if text:
                message["content"] = content(text)
            elif no_content == 0:
                message["content"] = None
            elif no_content == 1:
                message["content"] = ""
            if think:
                message[reasoning] = think
            if calls:
                message["tool_calls"] = [
                    {
                        "id": call_id,
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
                    }
                    for call_id, name, arguments, _ in calls
                ]
            out.append(message)
        else:
            for call_id, name, _, output in turn[1]:
                text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
                out.append({"role": "tool", "tool_call_id": call_id, "name": name, "content": content(text)})
    record = {"id": trace.id, "messages": out, "tools": trace.tools}
    if dice.chance(0.4):
        record["parallel_tool_calls"] = True
    return record


def line(trace, dice, form):
    """The record as one line of JSON without its newline."""
    if form == "mixed":
        form = dice.pick(("sharegpt", "messages"))
    record = sharegpt(trace, dice) if form == "sharegpt" else messages(trace, dice)
    return json.dumps(record, ensure_ascii=dice.chance(0.4))
