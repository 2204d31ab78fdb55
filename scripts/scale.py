#!/usr/bin/env python3
"""Simulates runs on many machines from measured parts, and prints the tables of docs/scale.md.

    scripts/scale.py                                        the tables
    scripts/scale.py --check                                ends with 1 if docs/scale.md has others
    scripts/scale.py --write                                puts them into docs/scale.md
    scripts/scale.py --measure target/release/trajfit [DATA...]   measures the parts (a quarter of an hour); put them below by hand

A worker is one machine with one shard. It loads its tokenizer, reads past what is before its stretch of its first file, and
works at the speed of its cores or of its network, whichever is less. Machines differ in speed, and some die: such a one is started
anew, reads its current file again up to where it was, and goes on. At the end one machine merges the reports.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scale.md"
FIXTURE = ROOT / "fixtures" / "agent_runs.jsonl"

# Measured by --measure, on one core of a shared virtual machine; MB are 10^6 bytes.
PARTS = {
    "compress_mb_s": 21.69,  # fitting real trajectories, budget 8,000
    "unroll_mb_s": 11.72,  # the same, unrolled
    "fit_mb_s": 79.38,  # records that fit already: counted and copied
    "skip_mb_s": 2952,  # reading past lines of a plain file
    "skip_zst_mb_s": 566.5,  # the same of a Zstandard file, in bytes of lines
    "start_s": 0.0514,  # from nothing to the first record, tokenizer built in
    "start_file_s": 0.1523,  # the same with a tokenizer.json of 150,000 entries
    "memory_mb": 49.27,  # one thread
    "memory_thread_mb": 14.64,  # each further thread
    "merge_rows_s": 409000,  # rows of metrics that `trajfit merge --reports-only` joins in a second
    "merge_row_bytes": 2.63,  # memory of the merge for each row
    "row_bytes": 230.1,  # metrics, on the disk
    "record_kb": 31.9,  # a record of the data
    "over_share": 0.2082,  # records that need a summary
    "cache_answer_kb": 4.151,  # an answer in the cache
    "cache_merge_s": 23720,  # answers that `trajfit cache merge` adds in a second
}

# Assumed, not measured: what a cluster has. A machine of 8 cores with 2.5 Gbit/s, and a store with 20 GB/s for all.
CORES = 8
NETWORK_MB_S = 300
STORE_MB_S = 20_000
SPEED_SPREAD = 0.1
RESTART_S = 120
LOST_PER_HOUR = {"steady": 1 / 1000, "spot": 1 / 2}
TERABYTES = 10
FILE_GB = 1.0

# A language model: requests at once for each worker, seconds for each, tokens that a prompt has.
REQUESTS_AT_ONCE = 50
REQUEST_S = 15
PROMPT_TOKENS = 9_000


def worker(bytes_mb, file_mb, number, network, speed, lost, dice):
    """Seconds of one worker, megabytes that it read again, and how often it was lost."""
    rate = min(speed * PARTS["compress_mb_s"] * CORES, network)
    skip_rate = min(PARTS["skip_mb_s"], network)
    # What stands before its stretch in its first file.
    before = number * bytes_mb % file_mb
    start = PARTS["start_s"] + before / skip_rate
    seconds, done, again, deaths = start, 0.0, before, 0
    while True:
        left = (bytes_mb - done) / rate
        life = dice.expovariate(lost / 3600)
        if life >= left:
            return seconds + left, again, deaths
        deaths += 1
        done += life * rate
        # It is in the middle of a file, which is read from its beginning.
        position = (before + done) % file_mb
        again += position
        seconds += life + RESTART_S + PARTS["start_s"] + position / skip_rate


def run(workers, file_gb=FILE_GB, lost="steady", seed=7):
    """One run over all the data: a dict of figures."""
    dice = random.Random(f"{seed} {workers} {file_gb} {lost}")
    total_mb, file_mb = TERABYTES * 1e6, file_gb * 1e3
    share = total_mb / workers
    network = min(NETWORK_MB_S, STORE_MB_S / workers)
    ended = [
        worker(share, file_mb, number, network, max(0.5, dice.gauss(1, SPEED_SPREAD)), LOST_PER_HOUR[lost], dice)
        for number in range(workers)
    ]
    seconds = [seconds for seconds, _, _ in ended]
    records = total_mb * 1e3 / PARTS["record_kb"]
    return {
        "seconds": max(seconds),
        "median": statistics.median(seconds),
        "core_hours": sum(seconds) * CORES / 3600,
        "again_tb": sum(again for _, again, _ in ended) / 1e6,
        "lost": sum(deaths for _, _, deaths in ended),
        "records": records,
        "merge_s": records / PARTS["merge_rows_s"],
        "merge_gb": records * PARTS["merge_row_bytes"] / 1e9,
    }


def span(seconds):
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.0f} days"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def runs_table():
    rows = []
    for label, workers, options in [
        ("1", 1, {}),
        ("20", 20, {}),
        ("200", 200, {}),
        ("200, machines that are taken back every 2 hours", 200, {"lost": "spot"}),
        ("200, one file of 10 TB", 200, {"file_gb": TERABYTES * 1e3}),
        ("200, ten files of 1 TB", 200, {"file_gb": 1e3}),
        ("2,000", 2000, {}),
    ]:
        found = run(workers, **options)
        rows.append(
            [
                label,
                span(found["seconds"]),
                span(found["median"]),
                f"{found['core_hours']:,.0f}",
                f"{found['again_tb']:,.2f} TB",
                found["lost"],
            ]
        )
    return table(["workers", "the last is done after", "half are done after", "core hours", "read again", "machines lost"], rows)


def parts_table():
    worker_mb = PARTS["memory_mb"] + PARTS["memory_thread_mb"] * (CORES - 1)
    rows = [
        ["fit trajectories, budget 8,000", f"{PARTS['compress_mb_s']:.0f} MB/s a core"],
        ["unroll them", f"{PARTS['unroll_mb_s']:.0f} MB/s a core"],
        ["pass on records that fit", f"{PARTS['fit_mb_s']:.0f} MB/s a core"],
        ["read past the lines of other shards", f"{PARTS['skip_mb_s']:,.0f} MB/s; Zstandard {PARTS['skip_zst_mb_s']:,.0f} MB/s"],
        ["start, with a built-in tokenizer", f"{PARTS['start_s']:.2f} s; with a tokenizer.json of a model {PARTS['start_file_s']:.1f} s"],
        ["memory", f"{PARTS['memory_mb']:.0f} MB, and {PARTS['memory_thread_mb']:.0f} MB for each further thread: {worker_mb:.0f} MB with {CORES}"],
        ["metrics", f"{PARTS['row_bytes']:.0f} bytes a record"],
        ["merge reports", f"{PARTS['merge_rows_s']:,.0f} rows/s, {PARTS['merge_row_bytes']:.0f} bytes of memory a row"],
        ["an answer of a language model in the cache", f"{PARTS['cache_answer_kb']:.1f} kB; `trajfit cache merge` adds {PARTS['cache_merge_s']:,.0f} a second"],
    ]
    return table(["part", "measured"], rows)


def model_table():
    records = run(200)["records"]
    requests = records * PARTS["over_share"]
    rows = []
    for workers in (20, 200, 2000):
        rate = workers * REQUESTS_AT_ONCE / REQUEST_S
        rows.append(
            [
                f"{workers:,}",
                f"{rate:,.0f}",
                f"{rate * PROMPT_TOKENS * 60 / 1e6:,.0f} million",
                span(requests / rate),
                f"{requests / workers * PARTS['cache_answer_kb'] / 1e6:,.1f} GB",
            ]
        )
    return table(["workers", "requests/s", "prompt tokens a minute", "time for all", "cache of a worker"], rows)


def facts():
    found = run(200)
    requests = found["records"] * PARTS["over_share"]
    return (
        f"{TERABYTES} TB are {found['records'] / 1e6:,.0f} million records of {PARTS['record_kb']:.0f} kB, "
        f"{found['records'] * PARTS['row_bytes'] / 1e9:,.0f} GB of metrics and, with a language model, {requests / 1e6:,.0f} million requests "
        f"with {requests * PROMPT_TOKENS / 1e12:,.1f} trillion prompt tokens. Merging the reports of all takes one core "
        f"{span(found['merge_s'])} and {found['merge_gb']:,.1f} GB of memory."
    )


BLOCKS = {"parts": parts_table, "runs": runs_table, "model": model_table, "facts": facts}


def with_blocks(page):
    """The page with its blocks as they are computed now."""
    for name, make in BLOCKS.items():
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        head, rest = page.split(begin, 1)
        page = head + begin + make() + end + rest.split(end, 1)[1]
    return page


# Runs a command from a small process: a child counts the memory that its parent had when it began as its own.
RUN = """
import json, os, subprocess, sys, time
started = time.monotonic()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
child.returncode = os.waitstatus_to_exitcode(status)
print(json.dumps([time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, child.returncode]))
"""


def measured(*words):
    """Processor seconds, memory in MB and seconds of a command."""
    ran = subprocess.run([sys.executable, "-c", RUN, *map(str, words)], capture_output=True, check=True)
    seconds, processor, memory, status = json.loads(ran.stdout)
    if status not in (0, 1, 3):
        sys.exit(f"{words} ended with {status}")
    return processor, memory, seconds


def measure(program, data, tokenizer):
    """Measures the parts; prints them."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        lines = [line for path in data for line in path.read_bytes().splitlines(keepends=True) if line.strip()]
        lines = [line if line.endswith(b"\n") else line + b"\n" for line in lines]
        real = folder / "real.jsonl"
        real.write_bytes(b"".join(lines))
        copies = max(1, int(120e6 / real.stat().st_size))
        real.write_bytes(b"".join(lines * copies))
        megabytes = real.stat().st_size / 1e6
        words = ["--max-tokens", "8000", "--quiet", "--force", "--jobs"]
        out = folder / "out.jsonl"
        one = measured(program, "compress", real, "-o", out, *words, 1)
        found["compress_mb_s"] = megabytes / one[0]
        found["memory_mb"] = one[1]
        found["memory_thread_mb"] = (measured(program, "compress", real, "-o", out, *words, 8)[1] - one[1]) / 7
        totals = json.loads((folder / "out.summary.json").read_text())
        found["record_kb"] = real.stat().st_size / totals["records"] / 1e3
        found["over_share"] = totals["records_by_status"]["compressed"] / totals["records"]
        found["row_bytes"] = (folder / "out.metrics.csv").stat().st_size / totals["records"]
        found["unroll_mb_s"] = megabytes / measured(program, "unroll", real, "-o", folder / "unrolled.jsonl", *words, 1)[0]
        found["fit_mb_s"] = megabytes / measured(program, "compress", real, "-o", out, "--max-tokens", "100000000", *words[2:], 1)[0]
        found["skip_mb_s"] = megabytes / measured(program, "count", real, "--shard", "100000/100000", "--jobs", 1)[0]
        subprocess.run([program, "compress", real, "-o", folder / "real.jsonl.zst", "--max-tokens", "100000000", "--quiet"], check=False)
        # A compressed file is read once for its length, and once more up to the stretch.
        found["skip_zst_mb_s"] = megabytes / measured(program, "count", folder / "real.jsonl.zst", "--shard", "100000/100000", "--jobs", 1)[0]
        small = folder / "small.jsonl"
        small.write_bytes(b'{"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]}\n')
        found["start_s"] = min(measured(program, "count", small)[2] for _ in range(5))
        if tokenizer:
            found["start_file_s"] = min(measured(program, "count", small, "--tokenizer", tokenizer)[2] for _ in range(3))
        for shard, count in ((1, 200_000), (2, 200_000)):
            (folder / f"{shard}.jsonl").write_bytes(small.read_bytes() * count)
        for shard in (1, 2):
            measured(program, "compress", folder / "1.jsonl", folder / "2.jsonl", "--shard", f"{shard}/2", "-o", folder / f"part-{shard}.jsonl", "--quiet")
        parts = [folder / f"part-{shard}.metrics.csv" for shard in (1, 2)]
        seconds, memory, _ = measured(program, "merge", *parts, "-o", folder / "all", "--reports-only")
        base = measured(program, "--version")[1]
        found["merge_rows_s"] = 400_000 / seconds
        found["merge_row_bytes"] = max(0.0, memory - base) * 1e6 / 400_000
        answers = folder / "answers.py"
        answers.write_text("import sys, json\nfor line in sys.stdin:\n    print(json.dumps({'summary': 'word ' * 400}), flush=True)\n")
        measured(program, "compress", FIXTURE, "-o", folder / "asked.jsonl", "--summarizer", "command", "--command", f"{sys.executable} {answers}", "--quiet")
        cache = folder / "asked.cache" / "answers.sqlite"
        if cache.exists():
            fill(cache, 50_000)
            found["cache_answer_kb"] = cache.stat().st_size / 50_000 / 1e3
            found["cache_merge_s"] = 50_000 / measured(program, "cache", "merge", folder / "asked.cache", "-o", folder / "joined")[0]
    for name in PARTS:
        print(f'    "{name}": {found.get(name, 0.0):.4g},')


def fill(cache, answers):
    """Fills a cache with copies of its answers under other keys, until it has so many."""
    import sqlite3

    with sqlite3.connect(cache) as connection:
        connection.execute("pragma journal_mode = delete")
        columns = "kind, text, redactions, model, prompt_tokens, completion_tokens, created, used"
        first = connection.execute(f"select {columns} from answers limit 1").fetchone()
        connection.execute("delete from answers")
        text = "word " * 600
        rows = ((os.urandom(32), first[0], text, *first[2:]) for _ in range(answers))
        connection.executemany(f"insert into answers (key, {columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--measure", nargs="+", metavar=("PROGRAM", "DATA"))
    parser.add_argument("--tokenizer", help="a tokenizer.json, to measure how long it takes to load one")
    options = parser.parse_args()
    if options.measure:
        program, *data = options.measure
        return measure(program, [Path(path) for path in data] or [FIXTURE], options.tokenizer)
    if options.check or options.write:
        page = PAGE.read_text()
        now = with_blocks(page)
        if options.write:
            PAGE.write_text(now)
        elif page != now:
            sys.exit("docs/scale.md has other figures than scripts/scale.py: run it with --write")
        return None
    for name, make in BLOCKS.items():
        print(f"{name}:\n{make()}\n")
    return None


if __name__ == "__main__":
    main()
