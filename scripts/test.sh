#!/usr/bin/env bash
# Runs all tests: of the library's modules, of the program, and the examples in the docs; scripts/test.sh [FILTER]. The same tests as
# `cargo test --release`, in less time: those of the modules need no speed, and compile in a third of the time without it.
set -euo pipefail
cd "$(dirname "$0")/.."

# Some tests wait for servers, disks and other processes: one more runs than there are processors.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}

failed=0
run() { cargo test --release --locked --no-fail-fast "$@" || failed=1; }

run --lib --config 'profile.release.package.trajfit.opt-level=0' -- "$@"
run --test it -- "$@"
run --doc -- "$@"
exit "$failed"
