#!/usr/bin/env bash
# Measures `trajfit count` on a long stream, and how fast `trajfit check` starts; see --help.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: scripts/bench_count.sh [--copies N] [--tokenizer NAME]

Makes 1 GB of data, builds the release binary, and prints

  count   wall and CPU seconds, MB per CPU-second and peak memory, for the data once and N times over (default 10) through
          a pipe, and `compress` of the same data with a budget that nothing exceeds, to compare with
  check   the median and the slowest of 20 runs on one file of 20 kB

Data is kept in ${TMPDIR:-/tmp}/trajfit-bench. TRAJFIT=path measures that binary and builds none.
MB is 10^6 bytes of input. Needs Python 3 and cargo, nothing else.
TEXT
}

copies=10 tokenizer=o200k_base
while [ $# -gt 0 ]; do
    case $1 in
        --copies) copies=${2:?--copies needs a number}; shift ;;
        --tokenizer) tokenizer=${2:?--tokenizer needs a name}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${TMPDIR:-/tmp}/trajfit-bench
mkdir -p "$folder"
data=$folder/runs-1G-1.jsonl
if [ ! -s "$data" ]; then
    echo "making $data" >&2
    python3 "$root/scripts/make_data.py" --bytes 1G --seed 1 -o "$data.partial"
    mv "$data.partial" "$data"
fi

if [ -z "${TRAJFIT:-}" ]; then
    (cd "$root" && cargo build --release --quiet)
    TRAJFIT=${CARGO_TARGET_DIR:-$root/target}/release/trajfit
    # cargo takes a relative target directory from where it runs
    case $TRAJFIT in /*) ;; *) TRAJFIT=$root/$TRAJFIT ;; esac
fi

python3 - "$TRAJFIT" "$data" "$copies" "$tokenizer" <<'PYTHON'
import os
import sys
import threading
import time

program, data, copies, tokenizer = sys.argv[1:]
copies = int(copies)
nothing = os.open(os.devnull, os.O_WRONLY)


def run(arguments, times):
    """Wall seconds, CPU seconds and peak bytes of a run that reads the data from a pipe, so many times over."""
    read, write = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_DUP2, nothing, 1), (os.POSIX_SPAWN_CLOSE, write)]
    start = time.monotonic()
    child = os.posix_spawn(program, [program, *arguments], os.environ, file_actions=actions)
    os.close(read)

    def feed():
        for _ in range(times):
            with open(data, "rb") as file:
                # small reads: a child starts with the memory peak of this process, which must stay below its own
                while piece := file.read(1 << 18):
                    while piece:
                        piece = piece[os.write(write, piece):]
        os.close(write)

    feeder = threading.Thread(target=feed)
    feeder.start()
    _, status, usage = os.wait4(child, 0)
    feeder.join()
    wall = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"bench: {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    # Linux counts kilobytes, macOS bytes
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def row(label, arguments, times):
    wall, cpu, peak = run(arguments, times)
    size = os.path.getsize(data) * times / 1e6
    print(f"{label:<28}{size:>8.0f}{wall:>9.2f}{cpu:>9.2f}{size / cpu:>10.1f}{size / wall:>8.1f}{peak / 1e6:>9.1f}", flush=True)


print(f"{os.cpu_count()} cores, {program}, {tokenizer}\n")
print(f"{'run':<28}{'MB':>8}{'wall s':>9}{'CPU s':>9}{'MB/CPU-s':>10}{'MB/s':>8}{'peak MB':>9}")
flags = ["--tokenizer", tokenizer, "--quiet"]
for times in (1, copies):
    row(f"count, {times} times", ["count", "-", *flags], times)
row("count --per-record, once", ["count", "-", "--per-record", *flags], 1)
row("compress, nothing over", ["compress", "-", "--target-max-tokens", "100000000", *flags], 1)

small = data + ".20kB.jsonl"
with open(data, "rb") as file, open(small, "wb") as out:
    lines = [file.readline() for _ in range(2000)]
    out.write(min(lines, key=lambda line: abs(len(line) - 20_000)))
times = []
for _ in range(20):
    start = time.monotonic()
    child = os.posix_spawn(program, [program, "check", small, "--max-tokens", "100000000", *flags], os.environ,
                           file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 1)])
    os.wait4(child, 0)
    times.append((time.monotonic() - start) * 1e3)
times.sort()
print(f"\ncheck of {os.path.getsize(small) / 1e3:.1f} kB: median {times[10]:.1f} ms, slowest {times[-1]:.1f} ms of 20 runs")
PYTHON
