#!/usr/bin/env python3
"""Runs every strategy on the real data at several budgets and prints the table of docs/strategies.md.

    scripts/strategies.py [--data ../shared/data] [--program target/release/trajfit]

Each run is the program's own; its metrics tell the tokens, the anchors and what is still over. What is retained, and the part of the
assistant's tokens that is kept, is measured by `cargo bench --bench retained -- --after FOLDER ...`, over the conversations that all
strategies changed. Takes about ten minutes on two cores.
"""

import argparse
import csv
import os
import pathlib
import re
import subprocess
import tempfile

STRATEGIES = ["summarize", "mask", "mask-then-summarize"]
BUDGETS = [4_000, 8_000, 16_000]
FIGURES = re.compile(r"^(?P<folder>.+): (?P<retained>.+ %) \((?P<interval>.+)\) retained, (?P<assistant>.+ %) of", re.MULTILINE)


def run(program: str, data: pathlib.Path, folder: pathlib.Path, strategy: str, budget: int) -> list[dict]:
    """Compresses the data; the rows of the metrics of those records that were over the budget."""
    reports = folder.with_suffix(".reports")
    command = [program, "compress", str(data), "-o", str(folder), "--strategy", strategy, "--max-tokens", str(budget)]
    subprocess.run([*command, "--report-dir", str(reports), "--quiet"], check=True)
    [metrics] = reports.glob("*.metrics.csv")
    with metrics.open(newline="") as file:
        return [row for row in csv.DictReader(file) if int(row["original_tokens"]) > budget]


def retained(data: pathlib.Path, folders: list[pathlib.Path]) -> tuple[str, dict[str, re.Match]]:
    """What the bench says of each folder, and over how many conversations."""
    command = ["cargo", "bench", "--locked", "--bench", "retained", "--"]
    for folder in folders:
        command += ["--after", str(folder)]
    bench = subprocess.run(command, check=True, capture_output=True, text=True, env=environment(data))
    return bench.stdout.splitlines()[0], {match["folder"]: match for match in FIGURES.finditer(bench.stdout)}


def environment(data: pathlib.Path) -> dict[str, str]:
    """This process's, with the folder of the data."""
    return {**os.environ, "TRAJFIT_REAL_DATA": str(data.resolve())}


def share(part: int, whole: int) -> str:
    """A part in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    parser.add_argument("--program", default="target/release/trajfit")
    arguments = parser.parse_args()
    print("| budget | strategy | tokens kept | assistant tokens kept | retained (95 %) | anchors held | still over |")
    print("|---|---|---|---|---|---|---|")
    notes = []
    with tempfile.TemporaryDirectory() as scratch:
        for budget in BUDGETS:
            folders = {strategy: pathlib.Path(scratch, f"{strategy}-{budget}") for strategy in STRATEGIES}
            rows = {strategy: run(arguments.program, arguments.data, folders[strategy], strategy, budget) for strategy in STRATEGIES}
            note, figures = retained(arguments.data, list(folders.values()))
            notes.append(f"{budget}: {note}")
            for strategy in STRATEGIES:
                column = {
                    key: sum(int(row[key]) for row in rows[strategy])
                    for key in ("original_tokens", "compressed_tokens", "anchors_needed", "anchors_held")
                }
                over = sum(row["still_over_limit"] == "true" for row in rows[strategy])
                figure = figures[str(folders[strategy])]
                cells = [
                    f"{budget:,}",
                    f"`{strategy}`",
                    share(column["compressed_tokens"], column["original_tokens"]),
                    figure["assistant"],
                    f"{figure['retained']} ({figure['interval']})",
                    f"{share(column['anchors_held'], column['anchors_needed'])} of {column['anchors_needed']:,}",
                    f"{over} of {len(rows[strategy])}",
                ]
                print("|", " | ".join(cells), "|", flush=True)
    print()
    print("\n".join(notes))


if __name__ == "__main__":
    main()
