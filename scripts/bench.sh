#!/usr/bin/env bash
# Measures `trajfit compress` on data of 250 MB and 1 GB that it makes itself; see --help.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: scripts/bench.sh [--small] [--fresh] [--seed N]

Makes data of 250 MB and 1 GB, builds the release binary, runs `trajfit compress`, and prints for each run MB per
CPU-second (user + system), MB per second of wall time and the peak memory, and then the ratios that matter. With Qwen3's
tokenizer.json (scripts/fetch-tokenizers.sh; TRAJFIT_TOKENIZERS names another folder) also where nothing needs compressing
and where everything does, on one thread and on two.

  --small   25 MB and 100 MB instead, for a quick look
  --fresh   make the data again
  --seed N  another data set (default 1)

Data is kept in ${TMPDIR:-/tmp}/trajfit-bench. TRAJFIT=path measures that binary and builds none.
MB is 10^6 bytes of input. Needs Python 3 and cargo, nothing else.
TEXT
}

small_size=250M large_size=1G fresh=no seed=1
while [ $# -gt 0 ]; do
    case $1 in
        --small) small_size=25M large_size=100M ;;
        --fresh) fresh=yes ;;
        --seed) seed=${2:?--seed needs a number}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${TMPDIR:-/tmp}/trajfit-bench
mkdir -p "$folder"

make_data() { # size -> path
    local path=$folder/runs-$1-$seed.jsonl
    if [ "$fresh" = yes ] || [ ! -s "$path" ]; then
        echo "making $path" >&2
        python3 "$root/scripts/make_data.py" --bytes "$1" --seed "$seed" -o "$path.partial"
        mv "$path.partial" "$path"
    fi
    echo "$path"
}

small=$(make_data "$small_size")
large=$(make_data "$large_size")
one=$folder/one-record.jsonl
head -n 1 "$small" >"$one"
qwen=${TRAJFIT_TOKENIZERS:-$root/target/tokenizers}/qwen3

if [ -z "${TRAJFIT:-}" ]; then
    (cd "$root" && cargo build --release --quiet)
    TRAJFIT=${CARGO_TARGET_DIR:-$root/target}/release/trajfit
    # cargo takes a relative target directory from where it runs
    case $TRAJFIT in /*) ;; *) TRAJFIT=$root/$TRAJFIT ;; esac
fi

python3 - "$TRAJFIT" "$folder" "$one" "$small" "$large" "$small_size" "$large_size" "$qwen" <<'PYTHON'
import os
import sys
import time

program, folder, one, small, large, small_name, large_name, qwen = sys.argv[1:]
out = os.path.join(folder, "out.jsonl")


# The cores that this process may use; where the system does not tell, nothing is confined.
cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []


def run(data, *flags, on=None):
    """Wall seconds, CPU seconds and peak bytes of one run, confined to so many cores; the page cache is warm after
    reading the data once."""
    with open(data, "rb") as file:
        # small reads: a child starts with the memory peak of this process, which must stay below its own
        while file.read(1 << 20):
            pass
    if on and cores:
        os.sched_setaffinity(0, cores[:on])
    start = time.monotonic()
    child = os.posix_spawn(program, [program, "compress", data, "-o", out, "--force", "--quiet", *flags], os.environ)
    _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - start
    if on and cores:
        os.sched_setaffinity(0, cores)
    code = os.waitstatus_to_exitcode(status)
    # 3 is done, with records rejected or degraded
    if code not in (0, 3):
        sys.exit(f"bench: {program} compress {data} {' '.join(flags)} ended with {code}")
    for name in os.listdir(folder):
        if name.startswith("out."):
            os.remove(os.path.join(folder, name))
    # Linux counts kilobytes, macOS bytes
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def row(label, data, *flags, on=None):
    wall, cpu, peak = result = run(data, *flags, on=on)
    size = os.path.getsize(data) / 1e6
    print(f"{label:<34}{size:>8.0f}{wall:>9.2f}{cpu:>9.2f}{size / cpu:>10.1f}{size / wall:>10.1f}{peak / 1e6:>10.0f}", flush=True)
    return result


print(f"{os.cpu_count()} cores, {program}\n")
print(f"{'run':<34}{'MB':>8}{'wall s':>9}{'CPU s':>9}{'MB/CPU-s':>10}{'MB/s':>10}{'peak MB':>10}")
_, _, base = row("one record (program, tokenizer)", one)
ratios = []
for title, flags in (("default budget", ()), ("budget 2,000: nearly all compressed", ("--target-max-tokens", "2000"))):
    print(f"\n{title}")
    full = row(f"  {small_name}, all cores", small, *flags)
    single = row(f"  {small_name}, --jobs 1", small, "--jobs", "1", *flags)
    big = row(f"  {large_name}, all cores", large, *flags)
    ratios.append((title, full, single, big))
print(f"\n{'':<38}{'wanted':>10}" + "".join(f"{title.split(':')[0]:>16}" for title, *_ in ratios))
wanted = (
    ("MB per CPU-second, " + small_name, ">= 25", lambda f, s, b: f"{os.path.getsize(small) / 1e6 / f[1]:.1f}"),
    ("wall, all cores / --jobs 1 (2 cores)", "<= 0.60", lambda f, s, b: f"{f[0] / s[0]:.2f}"),
    (f"peak memory, {large_name} / {small_name}", "<= 1.10", lambda f, s, b: f"{b[2] / f[2]:.2f}"),
    ("peak MB beyond one record", "<= 200", lambda f, s, b: f"{(max(f[2], b[2]) - base) / 1e6:.0f}"),
)
for label, limit, value in wanted:
    print(f"{label:<38}{limit:>10}" + "".join(f"{value(f, s, b):>16}" for _, f, s, b in ratios))

if not os.path.exists(os.path.join(qwen, "tokenizer.json")):
    sys.exit(print(f"\nno tokenizer of Qwen3 in {qwen}: scripts/fetch-tokenizers.sh fetches it"))
ends = []
for title, budget, bar in (("nothing compressed", "100000000", 80), ("everything compressed", "2000", 50)):
    print(f"\nQwen3, {title}")
    flags = ("--tokenizer", qwen, "--target-max-tokens", budget)
    # The better of two, turn and turn about: others use the machine too. With --jobs 1 reading and writing still have
    # threads of their own, so a second core is only measured against a single one.
    runs = [tuple(row(f"  {small_name}, {n} core{'s' if n > 1 else ''}", small, *flags, "--jobs", str(n), on=n) for n in (1, 2)) for _ in range(2)]
    wall = [min(run[jobs][0] for run in runs) for jobs in (0, 1)]
    cpu = min(run[0][1] for run in runs)
    ends.append((title, bar, os.path.getsize(small) / 1e6 / cpu, wall[0] / wall[1]))
print(f"\n{'Qwen3':<38}" + "".join(f"{'wanted':>10}{title:>24}" for title, *_ in ends))
print(f"{'MB per CPU-second, one core':<38}" + "".join(f"{f'>= {bar}':>10}{speed:>24.1f}" for _, bar, speed, _ in ends))
print(f"{'wall, one core / two':<38}" + "".join(f"{'>= 1.8':>10}{gain:>24.2f}" for _, _, _, gain in ends))
PYTHON
