#!/usr/bin/env bash
# Runs python/tests/engines on real Ray Data, Spark and DataTrove, with the wheel that scripts/wheel.sh built last. The environment (1.4 GB)
# is kept in target/engines; `--fetch` only makes it. Needs python3 with venv, PyPI, and java for Spark; without java, Spark is not tested,
# which is said.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(cargo metadata --format-version 1 --no-deps --locked | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
environment=$target/engines
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/pip" install --quiet 'ray[data]>=2.40,<3' 'pyspark>=4,<5' 'datatrove>=0.10,<1' 'datasets>=4' 'pandas<3' pyarrow pytest
[ "${1:-}" != --fetch ] || exit 0

wheel=$(echo "$target"/wheels/trajfit-*.whl)
[ -f "$wheel" ] || { echo "there is no wheel: run scripts/wheel.sh --build first" >&2; exit 1; }
"$environment/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"

without=()
if ! java -version >/dev/null 2>&1; then
    echo "java is not installed: Spark is not tested"
    without=(--ignore python/tests/engines/test_spark.py --ignore python/tests/engines/test_page.py)
fi
"$environment/bin/python" -m pytest -q -p no:cacheprovider --rootdir python python/tests/engines "${without[@]}" "$@"
