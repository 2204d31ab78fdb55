"""Gives records to trainers' own code and says what each makes of them, as rows of CSV.

Usage: run.py [--trainers NAME,…] [--records FILE] [--output FILE] [--jobs N]

Trainers run in their environments under target/trainers (scripts/fetch-trainers.sh). Columns: trainer, mode, record; `outcome`
(accepted; empty: accepted, but no turn is rendered; dropped: the trainer goes on without it; refused: its run ends) and its message; tokens, and how many are trained
on; `rendered` and `trained`: the turns whose word is among all tokens and among the trained ones (`s` is the summary, `y` the
system text beside the turns, `t` and `T` earlier and last thinking); then the same with a length limit of 60 % of the tokens.
"""

import argparse
import csv
import importlib
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from adapters import TRAINERS  # noqa: E402

COLUMNS = ["trainer", "mode", "record", "outcome", "message", "tokens", "trained_tokens", "rendered", "trained",
           "limit", "limit_outcome", "limit_tokens", "limit_trained_tokens", "limit_rendered", "limit_trained", "limit_end"]
OWN_WORDS = {"sum99": "s", "mark90": "y", "think77": "t", "think88": "T"}


def turns_in(text):
    marks = sorted({int(mark) for mark in re.findall(r"mark(\d\d)", text)} - {90})
    return " ".join([str(mark) for mark in marks] + [short for word, short in OWN_WORDS.items() if word in text])


def trained_text(tokenizer, ids, labels):
    """The trained stretches, each decoded by itself; `|` between them."""
    runs, run = [], []
    for token, label in zip(ids, labels):
        if label == -100:
            runs, run = runs + [run] if run else runs, []
        else:
            run.append(token)
    return "|".join(tokenizer.decode(run) for run in runs + [run] if run)


def row_of(encode, tokenizer, record, limits):
    outcome = encode(record)
    row = {"record": record["id"], "outcome": outcome.status, "message": one_line(outcome.message)}
    if outcome.status != "accepted":
        return row
    row |= measured(tokenizer, outcome)
    if not row["rendered"]:
        row["outcome"] = "empty"
    if limits:
        limit = len(outcome.ids) * 6 // 10
        cut = encode(record, limit)
        row |= {"limit": limit, "limit_outcome": cut.status if cut.status == "accepted" else f"{cut.status}: {one_line(cut.message)}"}
        if cut.status == "accepted":
            row |= {f"limit_{key}": value for key, value in measured(tokenizer, cut).items()}
            row["limit_end"] = json.dumps(tokenizer.decode(cut.ids[-1:]))
    return row


def measured(tokenizer, outcome):
    return {
        "tokens": len(outcome.ids), "trained_tokens": sum(label != -100 for label in outcome.labels),
        "rendered": turns_in(tokenizer.decode(outcome.ids)),
        "trained": turns_in(trained_text(tokenizer, outcome.ids, outcome.labels))}


def one_line(message):
    """The start of a message, without what differs from run to run."""
    text = " ".join(str(message).split())
    text = re.sub(r"0x[0-9a-f]+", "0x…", text).replace(str(ROOT), "")
    return text if len(text) <= 140 else text[:139] + "…"


def inside(trainer, records, output):
    """Runs in the trainer's environment."""
    from transformers import AutoTokenizer
    quiet()
    adapter = importlib.import_module(f"adapters.{TRAINERS[trainer][1]}")
    folder = str(ROOT / "target" / "tokenizers" / "qwen3")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with open(output, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        for mode in adapter.MODES:
            encode = adapter.make(mode, folder)
            for record in records:
                limits = record["id"].split("/")[-1].startswith("long")
                writer.writerow({"trainer": trainer, "mode": mode} | row_of(encode, tokenizer, record, limits))
    versions = {name: importlib.metadata.version(name) for name in adapter.PACKAGES}
    print(json.dumps({"trainer": trainer, "versions": versions, "stubbed": adapter.STUBBED}))


def quiet():
    """No bars and no cache; fingerprints of what is mapped take minutes (each pickles the tokenizer) and only serve the cache."""
    import datasets
    import secrets
    datasets.disable_progress_bars()
    datasets.disable_caching()
    datasets.fingerprint.Hasher.hash = classmethod(lambda cls, value: secrets.token_hex(8))


def environment():
    return {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": "",
            "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(HERE), "MODELSCOPE_CACHE": str(ROOT / "target" / "trainers" / "cache"),
            "HF_HOME": str(ROOT / "target" / "trainers" / "cache"), "AXOLOTL_DO_NOT_TRACK": "1", "DO_NOT_TRACK": "1",
            "TRL_EXPERIMENTAL_SILENCE": "1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trainers", default=",".join(name for name in TRAINERS if name != "datasets"))
    parser.add_argument("--records", type=pathlib.Path, default=HERE / "records.jsonl")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results.csv")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        records = [json.loads(line) for line in options.records.read_text(encoding="utf-8").splitlines()]
        return inside(options.trainers, records, options.output)
    parts, failed = [], []
    for trainer in options.trainers.split(","):
        python = ROOT / "target" / "trainers" / TRAINERS[trainer][0] / "bin" / "python"
        part = ROOT / "target" / "trainers" / f"{trainer}.csv"
        done = subprocess.run(
            [python, __file__, "--inside", "--trainers", trainer, "--records", options.records, "--output", part],
            env=environment(), stderr=open(part.with_suffix(".log"), "w", encoding="utf-8"), stdout=subprocess.PIPE, text=True)
        if done.returncode:
            failed.append(trainer)
            print(f"{trainer}: failed, see {part.with_suffix('.log')}", file=sys.stderr)
            continue
        print(done.stdout.splitlines()[-1], flush=True)
        parts.append(part.read_text(encoding="utf-8"))
    options.output.write_text(",".join(COLUMNS) + "\n" + "".join(parts), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
