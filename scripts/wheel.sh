#!/usr/bin/env bash
# Builds the Python wheel into target/wheels, installs it, and runs python/tests against the program (the one of this folder, or PROGRAM).
# Needs cargo, python3 with venv, and PyPI for maturin, pytest and the libraries whose files are read; they are kept in target/python-tools
# and target/python-tests.
# `--fetch` only fetches these, `--build` only builds, `--test` only tests what was built last; with `--quick` first the wheel is hardly
# optimized, for its tests alone.
set -euo pipefail
cd "$(dirname "$0")/.."

profile=()
if [ "${1:-}" = --quick ]; then
    profile=(--config scripts/quick.toml)
    shift
fi

target=$(cargo metadata --format-version 1 --no-deps --locked | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
export CARGO_TARGET_DIR=$target

tools=$target/python-tools
environment=$target/python-tests
[ -x "$tools/bin/maturin" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet 'maturin>=1.7,<2'; }
if [ "${1:-}" != --build ]; then
    [ -x "$environment/bin/python" ] || python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet pytest datasets duckdb polars pyarrow
fi
[ "${1:-}" != --fetch ] || exit 0

wheels=$target/wheels
if [ "${1:-}" != --test ]; then
    rm -rf "$wheels"
    # The profile of the program: what it has compiled is taken, but for Parquet and Arrow, which it is built without.
    "$tools/bin/maturin" build --quiet --release --locked "${profile[@]}" --manifest-path python/Cargo.toml --out "$wheels"
    wheel=$(echo "$wheels"/trajfit-*.whl)
    bytes=$(wc -c <"$wheel")
    printf '%s: %s bytes\n' "$(basename "$wheel")" "$bytes"
    [ "$bytes" -lt 25000000 ] || { echo "the wheel has more than 25 MB" >&2; exit 1; }
fi
case "${1:-}" in
    --build) exit 0 ;;
    --test) shift ;;
esac

if [ -z "${PROGRAM:-}" ]; then
    cargo build --release --locked --quiet
    export PROGRAM=$target/release/trajfit
fi
"$environment/bin/pip" install --quiet --force-reinstall --no-deps "$wheels"/trajfit-*.whl
"$environment/bin/python" -m pytest -q -p no:cacheprovider --rootdir python python/tests \
    --ignore python/tests/engines "$@"
