#!/usr/bin/env python3
"""Draws docs/before_after.svg, the picture of the README: one trajectory before and after, to scale.

    scripts/make_picture.py [--program target/release/trajfit] [--line 2] > docs/before_after.svg

Turns, tokens, region and budget are those of `trajfit explain --json` for a record of the fixture. Only the standard library is needed.
"""

import argparse
import json
import subprocess

FIXTURE = "fixtures/agent_runs.jsonl"
LEFT, WIDTH = 24, 832
BAR, BEFORE, AFTER, HEIGHT = 46, 74, 222, 336
COLOURS = {"system": "#8a8f98", "human": "#3b82c4", "gpt": "#2f9e6e", "tool": "#cfd4da", "summary": "#e0842b"}
NAMES = {"system": "system", "human": "human", "gpt": "assistant", "tool": "tool output", "summary": "summary"}


class Picture:
    """Lines of SVG, and a scale of tokens."""

    def __init__(self, tokens: int) -> None:
        self.scale = WIDTH / tokens
        self.lines: list[str] = []

    def box(self, x: float, y: int, width: float, fill: str) -> None:
        """A turn."""
        gap = 0.8 if width > 3 else 0
        self.lines.append(f'<rect x="{x:.1f}" y="{y}" width="{max(width - gap, 0.6):.1f}" height="{BAR}" fill="{fill}"/>')

    def text(self, x: float, y: int, text: str, anchor: str = "start", weight: str = "normal", fill: str = "#1f2328") -> None:
        """A word or two, with a rim of the background's colour, so that lines pass behind."""
        style = f'text-anchor="{anchor}" font-weight="{weight}" fill="{fill}" stroke="#ffffff" stroke-width="5" paint-order="stroke"'
        self.lines.append(f'<text x="{x:.1f}" y="{y}" {style}>{text}</text>')

    def brace(self, start: float, end: float, y: int, text: str, below: bool = False, colour: str = "#57606a") -> None:
        """What a stretch is called, above or below it; the words stay within the picture."""
        tick = -6 if below else 6
        path = f"M{start:.1f} {y + tick}V{y}H{end:.1f}V{y + tick}"
        self.lines.append(f'<path d="{path}" fill="none" stroke="{colour}"/>')
        half = len(text) * 3.6
        middle = min(max((start + end) / 2, LEFT + half), LEFT + WIDTH - half)
        self.text(middle, y + 16 if below else y - 6, text, "middle", fill=colour)

    def turns(self, turns: list[tuple[str, int]], y: int) -> list[float]:
        """Turns side by side; where each begins, and where the last ends."""
        edges = [float(LEFT)]
        for role, tokens in turns:
            self.box(edges[-1], y, tokens * self.scale, COLOURS.get(role, COLOURS["tool"]))
            edges.append(edges[-1] + tokens * self.scale)
        return edges


def draw(told: dict) -> str:
    """The picture of an explanation."""
    row, turns = told["row"], [(turn["role"], turn["tokens"]) for turn in told["turns"]]
    start, end = told["region"]["start"], told["region"]["end"]
    head, tail = told["compressible"]["start"], told["compressible"]["end"]
    picture = Picture(max(told["total_tokens"], told["target_tokens"]))
    budget = LEFT + told["target_tokens"] * picture.scale

    picture.text(LEFT, 24, f"before: {row['original_turns']} turns, {row['original_tokens']:,} tokens", weight="bold")
    edges = picture.turns(turns, BEFORE)
    picture.brace(edges[0], edges[head], BEFORE - 8, "protected head")
    picture.brace(edges[tail], edges[-1], BEFORE - 8, "protected tail")
    picture.brace(edges[start], edges[end], BEFORE - 8, "replaced", colour="#b35900")

    after = [*turns[:start], ("summary", row["summary_tokens"]), *turns[end:]]
    picture.text(LEFT, AFTER - 40, f"after: {row['compressed_turns']} turns, {row['compressed_tokens']:,} tokens", weight="bold")
    new = picture.turns(after, AFTER)
    at = start + 1
    for old, now in ((start, start), (end, at)):
        path = f"M{edges[old]:.1f} {BEFORE + BAR + 3}L{new[now]:.1f} {AFTER - 3}"
        picture.lines.append(f'<path d="{path}" stroke="#b35900" stroke-dasharray="2 3"/>')
    picture.brace(new[0], new[start], AFTER + BAR + 8, "same bytes", below=True)
    picture.brace(new[start], new[at], AFTER - 8, f"summary, {row['summary_tokens']:,} tokens", colour="#b35900")
    picture.brace(new[at], new[-1], AFTER + BAR + 8, "same bytes", below=True)

    picture.lines.append(f'<path d="M{budget:.1f} 34V{AFTER + BAR + 30}" stroke="#c0392b" stroke-width="1.5" stroke-dasharray="6 4"/>')
    picture.text(budget, 24, f"budget: {told['target_tokens']:,} tokens", "middle", fill="#c0392b")

    x = float(LEFT)
    for role, name in NAMES.items():
        picture.lines.append(f'<rect x="{x:.1f}" y="{HEIGHT - 22}" width="12" height="12" fill="{COLOURS[role]}"/>')
        picture.text(x + 17, HEIGHT - 12, name, fill="#57606a")
        x += 46 + 7 * len(name)
    title = "A trajectory before and after: a stretch of its middle is replaced by one summary, both ends stay byte for byte"
    size = LEFT + WIDTH + LEFT
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {HEIGHT}" width="{size}" height="{HEIGHT}" role="img" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{title}</title>",
        f'<rect width="{size}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
        *picture.lines,
        "</svg>",
    ])


def main() -> None:
    """Prints the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/trajfit")
    parser.add_argument("--line", type=int, default=2)
    arguments = parser.parse_args()
    command = [arguments.program, "explain", FIXTURE, "--line", str(arguments.line), "--json"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    print(draw(json.loads(told.stdout)))


if __name__ == "__main__":
    main()
