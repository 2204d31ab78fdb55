#!/usr/bin/env bash
# Measures runs with a language model against a server that is slow, hangs, or limits the rate; see --help.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: scripts/bench_chat.sh [--small] [--fresh]

Makes records, builds the release binary, starts a vendor of our own on the loopback interface (scripts/slow_vendor.py), runs
`trajfit compress --summarizer chat` against it, and prints each figure beside its bar:

  cpu       processor time of a request beyond what the embedded summarizer takes for the same record
  rate      requests a second, of those possible: 200 ms each, 50 and 500 at once; the time is that of the whole run
  hanging   1 % of the prompts hang for 30 s: rate of the others, of that of an undisturbed run; the server answers 100 a
            second, so that neither processors nor places among the requests in flight decide
  limited   5 requests a second, more are refused with 429, with and without Retry-After: degraded records, requests a prompt

  --small   fewer records: a quick look, in which starting and ending weigh more
  --fresh   make the data again

Exits with 1 if a bar is missed. Server and program share the machine: on two cores, let nothing else run. Data is kept in
${TMPDIR:-/tmp}/trajfit-bench. TRAJFIT=path measures that binary and builds none. Needs Python 3.9 and cargo, nothing else.
TEXT
}

fresh=no cpu=2000 rate=10000 hanging=4000 limited=100
while [ $# -gt 0 ]; do
    case $1 in
        --small) cpu=500 rate=3000 hanging=2500 limited=30 ;;
        --fresh) fresh=yes ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${TMPDIR:-/tmp}/trajfit-bench
mkdir -p "$folder"

make_data() { # name records median-tokens -> path
    local path=$folder/chat-$1-$2.jsonl
    if [ "$fresh" = yes ] || [ ! -s "$path" ]; then
        echo "making $path" >&2
        python3 "$root/scripts/make_data.py" --records "$2" --median-tokens "$3" --min-tokens $(($3 * 2 / 3)) --spread 0.3 \
            --seed 11 -o "$path.partial"
        mv "$path.partial" "$path"
    fi
    echo "$path"
}

cpu=$(make_data cpu "$cpu" 6000)
rate=$(make_data rate "$rate" 1500)
hanging=$(make_data hanging "$hanging" 18000)
limited=$(make_data limited "$limited" 3000)

if [ -z "${TRAJFIT:-}" ]; then
    (cd "$root" && cargo build --release --quiet)
    TRAJFIT=${CARGO_TARGET_DIR:-$root/target}/release/trajfit
    # cargo takes a relative target directory from where it runs
    case $TRAJFIT in /*) ;; *) TRAJFIT=$root/$TRAJFIT ;; esac
fi

python3 - "$TRAJFIT" "$root/scripts/slow_vendor.py" "$folder" "$cpu" "$rate" "$hanging" "$limited" <<'PYTHON'
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request

program, vendor, folder, cpu, rate, hanging, limited = sys.argv[1:]
out = os.path.join(folder, "chat-out.jsonl")
missed = []


def run(data, budget, *flags):
    """Wall seconds, CPU seconds, peak MB and totals of one run."""
    command = [program, "compress", data, "-o", out, "--force", "-q", "--max-tokens", str(budget), *flags]
    start = time.monotonic()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    # 3: records are degraded, which is one of the figures.
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(f"the run failed: {' '.join(command)}")
    with open(os.path.join(folder, "chat-out.summary.json"), encoding="utf-8") as file:
        totals = json.load(file)
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, totals


def ask(data, budget, at_once, server=(), flags=()):
    """A run against a vendor with these options, and the vendor's figures."""
    shutil.rmtree(os.path.join(folder, "chat-out.cache"), ignore_errors=True)
    with subprocess.Popen([sys.executable, vendor, *server], stdout=subprocess.PIPE, text=True) as serving:
        try:
            url = serving.stdout.readline().strip()
            chat = ("--summarizer", "chat", "--base-url", url + "/v1", "--model", "m")
            result = run(data, budget, *chat, "--max-concurrent-requests", str(at_once), *flags)
            with urllib.request.urlopen(url) as response:
                return result, json.load(response)
        finally:
            serving.kill()


def show(what, value, unit, bar, met):
    print(f"{what:<52} {value:>9} {unit:<10} {bar:<14} {'' if met else 'MISSED'}".rstrip(), flush=True)
    if not met:
        missed.append(what)


# The page cache is warm, and the program loaded.
run(cpu, 2000)
embedded = run(cpu, 2000)[1]
(_, used, _, _), figures = ask(cpu, 2000, 50)
each = (used - embedded) / figures["requests"] * 1e3
show("cpu: beyond the embedded summarizer", f"{each:.2f}", "ms/request", "at most 0.8", each <= 0.8)

for at_once, bar in ((50, 95), (500, 70)):
    (wall, _, _, _), figures = ask(rate, 700, at_once, ("--latency", "0.2"))
    share = figures["requests"] / wall / (at_once / 0.2) * 100
    show(f"rate: {at_once} at once, {figures['requests'] / wall:.0f} requests/s", f"{share:.0f}", "%", f"at least {bar}", share >= bar)

rates = []
for part in ("0", "0.01"):
    (_, _, memory, _), figures = ask(hanging, 6000, 60, ("--capacity", "100", "--hang", part))
    rates.append((figures["requests"] - figures["hung"]) / figures["seconds"])
    print(f"hanging: {figures['hung']} prompts of {figures['prompts']}, {rates[-1]:.0f} others/s, {memory:.0f} MB of memory", flush=True)
share = rates[1] / rates[0] * 100
show("hanging: rate of the others", f"{share:.0f}", "%", "at least 90", share >= 90)

for name, wish in (("with Retry-After", ("--retry-after", "1")), ("without Retry-After", ())):
    (_, _, _, totals), figures = ask(limited, 1200, 50, ("--rate", "5", *wish))
    degraded = totals["degraded"]
    show(f"limited, {name}: degraded", f"{degraded}", "records", "0", degraded == 0)
    each = figures["requests"] / figures["prompts"]
    show(f"limited, {name}: requests", f"{each:.2f}", "a prompt", "at most 1.1", each <= 1.1)

sys.exit(f"missed: {len(missed)}" if missed else 0)
PYTHON
