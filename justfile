# `just` lists the recipes; `just check` runs what CI runs.

default:
    @just --list

# All that must hold before a change lands.
check:
    .ci/run

# All tests, or those whose name contains FILTER.
test *FILTER:
    scripts/test.sh {{FILTER}}

lint:
    cargo clippy --release --all-targets --locked -- -D warnings

fmt:
    cargo fmt

# The library's documentation.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked

# Speed and memory on data of 250 MB and 1 GB; `just bench --small` for a quick look.
bench *ARGS:
    scripts/bench.sh {{ARGS}}

# Speed of counting alone.
bench-tokens:
    cargo bench --bench tokens

# Makes the fixtures again; they must come out the same.
fixtures:
    python3 scripts/make_data.py --records 40 --seed 7 --format sharegpt --around 15250 -o fixtures/agent_runs.jsonl
    python3 scripts/make_data.py --records 12 --seed 7 --format messages --around 15250 -o fixtures/agent_runs_messages.jsonl
    git diff --exit-code --stat -- fixtures

# Accepts what has changed on purpose: terminal sessions, pages, the README's picture, snapshots.
accept:
    TRYCMD=overwrite INSTA_UPDATE=always cargo test --release --locked

# Licences, sources and advisories of all dependencies; needs cargo-deny.
deny:
    cargo deny --locked check
