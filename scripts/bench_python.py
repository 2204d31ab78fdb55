#!/usr/bin/env python3
"""Measures the processor time of the Python package beside that of the program on the same records, and checks that the bytes are the same.

    python scripts/bench_python.py target/release/trajfit FILE... [--ways bytes arrow datasets ray spark] [--rounds 3] [--copies 1]

Every way fits each record and writes it:

bytes     Fitter.fit on lines                                                                    at most 1.1 times the program
arrow     Fitter.fit on a table of the ShareGPT records, from an Arrow file into another         at most 1.25
datasets  trajfit.hf.fit on JSON lines in a column of an Arrow file, into a file of lines        at most 1.6
ray       trajfit.ray.fit from and to lines, with two actors, and the files of reports           at most 1.5
spark     trajfit.spark.fit from and to lines, with two Python workers, and the same             at most 1.5

Of ray and spark, what counts is the time beyond that of the same pipeline with a function that gives rows back as they are. The
least of all rounds counts, the rounds alternate. Ends with 1 if records differ from the program's or a ratio is over its bar. Linux only.
Engines start for some seconds and vary by some more: with less than 300 MB (--copies) they decide the figures.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

PACKAGE = """
import sys, trajfit
fitter = trajfit.Fitter(max_tokens=int(sys.argv[1]))
rows = []
with open("in.jsonl", "rb") as lines, open("bytes.jsonl", "wb") as out:
    for result in fitter.fit(lines):
        if result.rejected is None:
            out.write(result.record + b"\\n")
        if sys.argv[2] == "rows":
            rows.append(result.row)
"""

ARROW = """
import sys, pyarrow as pa, trajfit
fitter = trajfit.Fitter(max_tokens=int(sys.argv[1]))
table = pa.ipc.open_file(pa.memory_map("turns.arrow")).read_all()
fitted = pa.table(fitter.fit(table))
with pa.OSFile("arrow.arrow", "wb") as sink, pa.ipc.new_file(sink, fitted.schema) as out:
    out.write_table(fitted)
"""

DATASETS = """
import sys, datasets, trajfit, trajfit.hf
datasets.disable_progress_bars()
data = datasets.Dataset.from_file("lines.arrow")
fitted = trajfit.hf.fit(data, trajfit.Fitter(max_tokens=int(sys.argv[1])), column="line")
with open("datasets.jsonl", "wb") as out:
    for table in fitted.data.with_format("arrow").iter(1000):
        out.writelines(f"{line}\\n".encode() for line in table.column("line").to_pylist())
"""

RAY = """
import sys, ray, trajfit, trajfit.ray
ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
ray.data.DataContext.get_current().enable_progress_bars = False

class Same:
    def __call__(self, table):
        return table

lines = trajfit.ray.read_lines("{folder}/in.jsonl")
lines.context.execution_options.preserve_order = True
if sys.argv[2] == "empty":
    rows = lines.map_batches(Same, batch_format="pyarrow", batch_size=256, compute=ray.data.ActorPoolStrategy(size=2)).materialize()
    trajfit.ray.write_lines(rows, "{folder}/ray.empty")
else:
    fitted = trajfit.ray.fit(lines, trajfit.Fitter(max_tokens=int(sys.argv[1])), column="line", concurrency=2)
    trajfit.ray.write_lines(fitted.data, "{folder}/ray.fit")
    fitted.report("{folder}/ray.reports")
ray.shutdown()
"""

SPARK = """
import sys, trajfit, trajfit.spark
from pyspark import StorageLevel
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g").getOrCreate()
lines = spark.read.text("in.jsonl", lineSep="\\n")
if sys.argv[2] == "empty":
    rows = lines.mapInArrow(lambda batches: batches, lines.schema).persist(StorageLevel.MEMORY_AND_DISK)
    rows.write.text("spark.empty")
else:
    fitted = trajfit.spark.fit(lines, trajfit.Fitter(max_tokens=int(sys.argv[1])), column="value")
    fitted.data.write.text("spark.fit")
    fitted.report("spark.reports")
spark.stop()
"""

# The script of each way, the modes in which it runs, and its bar.
WAYS = {
    "bytes": (PACKAGE, ["none"], 1.1),
    "arrow": (ARROW, ["none"], 1.25),
    "datasets": (DATASETS, ["none"], 1.6),
    "ray": (RAY, ["empty", "fit"], 1.5),
    "spark": (SPARK, ["empty", "fit"], 1.5),
}

# The time between two looks at the processes of an engine, whose own parents do not always wait for them.
LOOK = 0.02
MARK = "TRAJFIT_BENCH_RUN"


def seconds(words, folder):
    """User and system time of a process and its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ran.returncode in (0, 3), words
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def seconds_of_all(words, folder):
    """User and system time of a process and all that it started, as seen last of each."""
    mark = f"{MARK}={uuid.uuid4()}"
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, MARK: mark.partition("=")[2]}
    seen, ours = {}, {}
    with open(folder / "engine.log", "wb") as log:
        running = subprocess.Popen(words, cwd=folder, env=environment, stdout=log, stderr=log)
        while running.poll() is None:
            for entry in os.scandir("/proc"):
                if entry.name.isdigit():
                    look(entry.name, mark.encode(), ours, seen)
            time.sleep(LOOK)
    assert running.returncode == 0, (folder / "engine.log").read_text()[-3000:]
    return sum(seen.values())


def look(pid, mark, ours, seen):
    """Notes the time of a process, if it has the mark in its environment."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
        started = (pid, fields[19])
        # A process has the environment of its parent until it becomes another program.
        if not ours.get(started):
            with open(f"/proc/{pid}/environ", "rb") as variables:
                ours[started] = mark in variables.read().split(b"\0")
        if ours[started]:
            seen[started] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        pass


def write_inputs(lines, turns, copies, folder):
    """The lines as a file, and as a column of a table."""
    with open(folder / "in.jsonl", "wb") as out:
        out.writelines(line + b"\n" for _ in range(copies) for line in lines)
    if turns is None:
        return
    import pyarrow as pa

    # Files of `datasets` are streams.
    schema = pa.schema({"line": pa.string()})
    with pa.OSFile(str(folder / "lines.arrow"), "wb") as sink, pa.ipc.new_stream(sink, schema) as out:
        for _ in range(copies):
            out.write_table(pa.table({"line": [line.decode() for line in lines]}, schema), max_chunksize=1000)
    table = pa.concat_tables([pa.Table.from_pylist(turns)] * copies)
    with pa.OSFile(str(folder / "turns.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table, max_chunksize=1000)
    with open(folder / "turns.jsonl", "wb") as out:
        dumped = [json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for record in turns]
        out.writelines(dumped * copies)


def turns_of(lines):
    """The turns (`from` and `value`) of the ShareGPT records."""
    records = [json.loads(line) for line in lines]
    return [
        {"conversations": [{"from": turn["from"], "value": turn["value"]} for turn in record["conversations"]]}
        for record in records
        if all(isinstance(turn.get("value"), str) for turn in record.get("conversations", [{}]))
    ]


def is_same(way, folder):
    """True if a way wrote the program's records, in its order."""
    if way == "arrow":
        import pyarrow as pa

        rows = pa.ipc.open_file(pa.memory_map(str(folder / "arrow.arrow"))).read_all().to_pylist()
        return rows == [json.loads(line) for line in (folder / "program.turns.jsonl").read_bytes().splitlines()]
    written = folder / f"{way}.jsonl"
    if way in ("ray", "spark"):
        parts = sorted(path for path in (folder / f"{way}.fit").iterdir() if path.name[0] not in "._")
        return b"".join(path.read_bytes() for path in parts) == (folder / "program.in.jsonl").read_bytes()
    return written.read_bytes() == (folder / "program.in.jsonl").read_bytes()


def measure(way, arguments, folder):
    """The times of the program and of a way, a list for each mode."""
    script, modes, _ = WAYS[way]
    source = "turns" if way == "arrow" else "in"
    program = [arguments.program, "compress", f"{source}.jsonl", "-o", f"program.{source}.jsonl", "--max-tokens", arguments.max_tokens]
    program += ["--force", "--quiet", "--output-format", "same"]
    times = {"program": [], **{mode: [] for mode in modes}}
    for _ in range(arguments.rounds):
        times["program"].append(seconds(program, folder))
        for mode in modes:
            for left in folder.glob(f"{way}.*"):
                subprocess.run(["rm", "-r", left], check=True)
            for left in folder.glob("cache-*.arrow"):
                left.unlink()
            words = [sys.executable, "-c", script.replace("{folder}", str(folder)), arguments.max_tokens]
            measured = seconds_of_all if way in ("ray", "spark") else seconds
            times[mode].append(measured([*words, "rows" if arguments.rows else mode], folder))
    return {name: min(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["bytes"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--copies", type=int, default=1, help="write each file so many times over into the input")
    parser.add_argument("--max-tokens", default="8000")
    parser.add_argument("--rows", action="store_true", help="make a dict of every row, with bytes alone")
    parser.add_argument("--folder", help="folder for the files, which are large [default: a temporary one]")
    arguments = parser.parse_args()
    if arguments.rows and arguments.ways != ["bytes"]:
        parser.error("--rows goes with --ways bytes")
    arguments.program = arguments.program.resolve()
    is_met = True
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        folder = Path(folder)
        lines = [line for path in arguments.files for line in path.read_bytes().splitlines() if line.strip()]
        turns = None if arguments.ways == ["bytes"] else turns_of(lines)
        write_inputs(lines, turns, arguments.copies, folder)
        print(f"{os.path.getsize(folder / 'in.jsonl') / 1e6:.0f} MB, {len(lines) * arguments.copies} records", flush=True)
        for way in arguments.ways:
            times = measure(way, arguments, folder)
            program, empty = times.pop("program"), times.pop("empty", 0.0)
            (taken,) = times.values()
            ratio, bar, same = (taken - empty) / program, WAYS[way][2], is_same(way, folder)
            beyond = f" - {empty:.2f} s of the empty pipeline" if empty else ""
            print(
                f"{way:8} {taken:.2f} s{beyond}, program {program:.2f} s of processor time: {ratio:.3f} (at most {bar}), "
                f"bytes {'equal' if same else 'DIFFER'}",
                flush=True,
            )
            is_met = is_met and same and ratio <= bar
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
