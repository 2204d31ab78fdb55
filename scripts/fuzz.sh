#!/usr/bin/env bash
# Fuzzes the readers of foreign bytes: scripts/fuzz.sh [SECONDS] [TARGET...]; a minute each, two at a time. Needs a C++ compiler.
# Inputs begin with the fixtures; one that breaks something is left in target/fuzz/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(record splice tokenizer template)

# libFuzzer needs to see which branches an input takes. A target of its own keeps these flags off build scripts.
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
cargo build --manifest-path fuzz/Cargo.toml --release --locked --target "$host" --target-dir target/fuzz

seeds() {
    case $1 in
        template) echo fixtures/chat_templates/*.jinja ;;
        tokenizer) find fixtures/tokenizers -type f -size -64k ;;
        *) echo fixtures/quirks/*.jsonl ;;
    esac
}

fuzz() {
    local folder=target/fuzz/$1
    mkdir -p "$folder/inputs" "$folder/seeds"
    # shellcheck disable=SC2046 # Several files.
    cp $(seeds "$1") "$folder/seeds/"
    # A single input may take five seconds and a gigabyte, no more.
    if ! "target/fuzz/$host/release/$1" "$folder/inputs" "$folder/seeds" -max_total_time="$seconds" -timeout=5 \
        -rss_limit_mb=1024 -max_len=16384 -artifact_prefix="$folder/" >"$folder/log" 2>&1; then
        tail -40 "$folder/log" >&2
        printf 'fuzz: %s found a fault, see %s\n' "$1" "$folder" >&2
        return 1
    fi
    printf '%s: %s\n' "$1" "$(grep '^Done' "$folder/log")"
}

failed=0
running=()
for target in "${targets[@]}"; do
    fuzz "$target" &
    running+=($!)
    if [ ${#running[@]} -eq 2 ]; then
        for job in "${running[@]}"; do wait "$job" || failed=1; done
        running=()
    fi
done
for job in "${running[@]}"; do wait "$job" || failed=1; done
exit "$failed"
