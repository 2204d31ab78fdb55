#!/usr/bin/env python3
"""Compares the compactions of `trajfit unroll --engine openhands` with those of OpenHands' own condenser, on the same trajectories.

    scripts/compare_openhands.py [INPUT ...] [--max-tokens 16000] [--venv target/openhands-sdk] [--program target/release/trajfit]

`--venv` makes a virtual environment there with openhands-sdk (Python 3.12 or newer, a network) unless it is there, and runs in it.

Both sides count the program's tokens (`trajfit count --per-record`) and have the same stub for a summary. Two things are compared:

- cuts: each context that the program compacts is given to the condenser as a view; which turns does it forget?
- replays: the condenser lives through the trajectory by itself; are there as many condensations, and do they forget the same turns?
"""

import argparse
import csv
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

PACKAGE = "openhands-sdk==1.58.2"
SUMMARY = "What was done so far was done, and went as it went."
STUB = f"""import sys, json
for line in sys.stdin:
    print(json.dumps({{"summary": {SUMMARY!r}}}), flush=True)
"""


def entered(venv: pathlib.Path) -> None:
    """Goes on in the virtual environment, which is made where it is missing."""
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run(["python3.12", "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", PACKAGE], check=True)
    if pathlib.Path(sys.prefix).resolve() != venv.resolve():
        os.execv(python, [str(python), *sys.argv])


def role(turn: dict) -> str:
    """Who speaks: system, human, assistant or tool."""
    name = turn.get("from", turn.get("role"))
    known = {"gpt": "assistant", "function_call": "assistant", "user": "human", "observation": "tool", "function": "tool", "developer": "system"}
    content = turn.get("content")
    results = isinstance(content, list) and content and all(isinstance(part, dict) and part.get("type") == "tool_result" for part in content)
    return "tool" if results else known.get(name, name)


class Trajectory:
    """A trajectory as events of OpenHands, each with the turn that it is of."""

    def __init__(self, record: dict, tokens: list[int]):
        from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent, SystemPromptEvent
        from openhands.sdk.llm import Message, MessageToolCall, TextContent
        from openhands.sdk.tool.schema import Observation

        class Result(Observation):
            """The output of a tool."""

        turns = record.get("conversations", record.get("messages"))
        self.roles = [role(turn) for turn in turns]
        self.tokens = tokens
        self.events = []
        for index, speaker in enumerate(self.roles):
            text = [TextContent(text=f"[turn {index}]")]
            if speaker == "system":
                self.events.append([SystemPromptEvent(system_prompt=text[0], tools=[])])
            elif speaker == "tool":
                asked = index - self.roles[:index][::-1].index("assistant") - 1 if "assistant" in self.roles[:index] else 0
                self.events.append([ObservationEvent(
                    observation=Result.from_text(f"[turn {index}]"), action_id=f"a{index}", tool_name="t", tool_call_id=f"c{index}")])
                call = MessageToolCall(id=f"c{index}", name="t", arguments="{}", origin="completion")
                thought = [TextContent(text=f"[turn {asked}]")] if asked == index - 1 else []
                action = ActionEvent(thought=thought, tool_name="t", tool_call_id=f"c{index}", tool_call=call, llm_response_id=f"r{asked}", id=f"a{index}")
                before = self.events[asked]
                self.events[asked] = [action] if before and not isinstance(before[0], ActionEvent) else [*before, action]
            else:
                source, name = ("agent", "assistant") if speaker == "assistant" else ("user", "user")
                self.events.append([MessageEvent(source=source, llm_message=Message(role=name, content=text))])
        self.turn_of = {event.id: index for index, events in enumerate(self.events) for event in events}

    def steps(self) -> list[list[int]]:
        """The turns up to and with each answer of the assistant and its results."""
        steps, step = [], []
        for index, speaker in enumerate(self.roles):
            step.append(index)
            following = self.roles[index + 1] if index + 1 < len(self.roles) else None
            if "assistant" in [self.roles[turn] for turn in step] and following != "tool":
                steps.append(step)
                step = []
        if step:
            steps[-1 if steps else 0:] = [[*(steps[-1] if steps else []), *step]]
        return steps


def tools(max_tokens: int, trajectory: Trajectory, summary_tokens: int, extra: int):
    """The condenser with its preset and a stub for its model, and a model that counts the program's tokens."""
    import re

    from openhands.sdk import LLM
    from openhands.sdk.context.condenser.llm_summarizing_condenser import LLMSummarizingCondenser, default_condenser
    from openhands.sdk.event.condenser import Condensation
    from openhands.sdk.llm import content_to_str

    class Counting(LLM):
        """Counts turns by their numbers."""

        def get_token_count(self, messages, tools=None, add_security_risk_prediction=False):  # noqa: ARG002
            text = " ".join(part for message in messages for part in content_to_str(message.content))
            turns = {int(turn) for turn in re.findall(r"\[turn (\d+)\]", text)}
            return extra + sum(trajectory.tokens[turn] for turn in turns) + summary_tokens * text.count(SUMMARY)

    class Stub(LLMSummarizingCondenser):
        """Asks nobody."""

        def _generate_condensation(self, forgotten_events, summary_offset, max_event_str_length=None):  # noqa: ARG002
            ids = {event.id for event in forgotten_events}
            return Condensation(forgotten_event_ids=ids, summary=SUMMARY, summary_offset=summary_offset, llm_response_id="stub")

    llm = Counting(model="gpt-4o", api_key="none", max_input_tokens=1_000_000)
    preset = default_condenser(llm)
    return Stub(llm=llm, max_size=preset.max_size, keep_first=preset.keep_first, max_tokens=max_tokens), llm


def forgotten(trajectory: Trajectory, condensation) -> list[int]:
    """The turns of the trajectory that a condensation forgets, in order."""
    return sorted({trajectory.turn_of[event] for event in condensation.forgotten_event_ids if event in trajectory.turn_of})


def replayed(trajectory: Trajectory, max_tokens: int, summary_tokens: int, extra: int) -> list[list[int]]:
    """The turns that each condensation forgets where the condenser lives through the trajectory."""
    from openhands.sdk.context.view import View

    condenser, llm = tools(max_tokens, trajectory, summary_tokens, extra)
    events, cuts = [], []
    for step in trajectory.steps():
        events += [event for turn in step for event in trajectory.events[turn]]
        # What is said before the next answer is known by then, but for the last step.
        result = condenser.condense(View.from_events(events), agent_llm=llm)
        if not isinstance(result, View):
            events.append(result)
            cuts.append(forgotten(trajectory, result))
    return cuts


def condensed(trajectory: Trajectory, context: list[int | None], max_tokens: int, summary_tokens: int, extra: int) -> list[int] | None:
    """The turns that the condenser forgets of one context, whose summary, if any, is None; none where it forgets nothing."""
    from openhands.sdk.context.view import View
    from openhands.sdk.event.condenser import CondensationSummaryEvent

    condenser, llm = tools(max_tokens, trajectory, summary_tokens, extra)
    events = []
    for turn in context:
        events += [CondensationSummaryEvent(summary=SUMMARY)] if turn is None else trajectory.events[turn]
    result = condenser.condense(View(events=events), agent_llm=llm)
    return None if isinstance(result, View) else forgotten(trajectory, result)


def contexts(trajectory: Trajectory, rows: list[dict]) -> list[tuple[list[int | None], list[int]]]:
    """The contexts that the program compacted, each with its next step, and the turns that went."""
    steps = trajectory.steps()
    ends = [step[-1] + 1 for step in steps]
    context: list[int | None] = list(range(int(rows[0]["context_turns"])))
    found = []
    for row in rows[1:]:
        known = max(turn for turn in context if turn is not None) + 1
        step = list(range(known, next(end for end in ends if end > known)))
        start, end = int(row["region_start"]), int(row["region_end"])
        before = [*context, *step]
        found.append((before, [turn for turn in before[start:end] if turn is not None]))
        own = [None] if row["placement"] == "own" else []
        context = [*before[:start], *own, *before[end:]]
        known = step[-1] + 1
        context += range(known, known + int(row["context_turns"]) - len(context))
    return found


def unrolled(program: str, source: pathlib.Path, max_tokens: int, scratch: pathlib.Path) -> dict[int, list[dict]]:
    """The rows of the metrics, by the line of their trajectory."""
    stub = scratch / "stub.py"
    stub.write_text(STUB, encoding="utf-8")
    out = scratch / "out.jsonl"
    command = [program, "unroll", str(source), "-o", str(out), "--engine", "openhands", "--max-tokens", str(max_tokens)]
    command += ["--summarizer", "command", "--command", f"{sys.executable} {stub}", "--no-cache", "--grounding", "false"]
    command += ["--summary-placement", "human", "--summary-target-tokens", "64", "--force", "--quiet"]
    command[command.index("--no-cache"):command.index("--no-cache") + 1] = ["--cache", "off"]
    subprocess.run(command, check=False)
    rows: dict[int, list[dict]] = {}
    with (scratch / "out.metrics.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault(int(row["line"]), []).append(row)
    return rows


FIGURES = [
    "trajectories",
    "cuts",
    "the same turns",
    "the same, and the last step",
    "one group more or less",
    "nothing",
    "everything after the system turn",
    "others",
    "replays with as many condensations",
    "replays that forget the same turns each time",
]


def compared(trajectory: Trajectory, went: list[int], theirs: list[int], context: list[int | None]) -> str:
    """How the turns that the condenser forgets of a context compare with those that the program replaces."""
    last = max(turn for turn in context if turn is not None)
    step = next(step for step in trajectory.steps() if last in step)
    differing = sorted(set(theirs) ^ set(went))
    if not differing:
        return "the same turns"
    if not theirs:
        return "nothing"
    if theirs == [*went, *step]:
        return "the same, and the last step"
    if theirs[0] < went[0] and theirs[-1] == last:
        return "everything after the system turn"
    groups = [turn for turn in differing if trajectory.roles[turn] == "assistant"]
    return "one group more or less" if len(groups) <= 1 else "others"


def main() -> None:
    """Prints what was the same, and what was not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="*", type=pathlib.Path, default=[pathlib.Path("fixtures/agent_runs_messages.jsonl")])
    parser.add_argument("--max-tokens", type=int, default=16_000)
    parser.add_argument("--venv", type=pathlib.Path)
    parser.add_argument("--program", default="target/release/trajfit")
    parser.add_argument("--differences", action="store_true", help="print each difference")
    arguments = parser.parse_args()
    if arguments.venv:
        entered(arguments.venv)
    logging.disable(logging.ERROR)
    inputs = [path for given in arguments.inputs for path in (sorted(given.glob("*.jsonl")) if given.is_dir() else [given])]
    figures = dict.fromkeys(FIGURES, 0)
    for source in inputs:
        with tempfile.TemporaryDirectory() as scratch:
            rows = unrolled(arguments.program, source, arguments.max_tokens, pathlib.Path(scratch))
        counted = subprocess.run([arguments.program, "count", str(source), "--per-record"], capture_output=True, text=True, check=True)
        measures = {line["line"]: line for line in map(json.loads, counted.stdout.splitlines())}
        with source.open(encoding="utf-8") as file:
            records = dict(enumerate(map(json.loads, file), 1))
        for line, own in rows.items():
            if len(own) < 2 or line not in measures:
                continue
            measure = measures[line]
            trajectory = Trajectory(records[line], measure["turn_tokens"])
            extra = measure["tokens"] - sum(measure["turn_tokens"])
            summary = int(own[1]["summary_tokens"])
            figures["trajectories"] += 1
            gone = []
            for context, went in contexts(trajectory, own):
                gone.append(went)
                theirs = condensed(trajectory, context, arguments.max_tokens, summary, extra) or []
                figures["cuts"] += 1
                kind = compared(trajectory, went, theirs, context)
                figures[kind] += 1
                if arguments.differences and kind != "the same turns":
                    print(f"{source.name}:{line}: {len(context)} turns, trajfit {went[:1]}..{went[-1:]}, OpenHands {theirs[:1]}..{theirs[-1:]}")
            theirs = replayed(trajectory, arguments.max_tokens, summary, extra)
            figures["replays with as many condensations"] += len(theirs) == len(gone)
            figures["replays that forget the same turns each time"] += theirs == gone
    for name, figure in figures.items():
        print(f"{figure:>6,}  {name}")


if __name__ == "__main__":
    main()
