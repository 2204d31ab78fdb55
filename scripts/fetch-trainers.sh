#!/usr/bin/env bash
# Fetches trainers from PyPI, each in an environment of its own and without a GPU, for scripts/trainers.
#
# Usage: fetch-trainers.sh [NAME...]     (NAME: trl, llama-factory, axolotl, ms-swift, others; all of them if none is given)
#
# Everything is pinned by version (scripts/trainers/requirements) and installed without its dependencies, since these would bring
# 2.5 GB of CUDA; PyTorch is the real one, linked with empty CUDA libraries (scripts/trainers/stub_cuda.py). `others` holds the data
# code of verl, OpenRLHF, torchtune, Unsloth and NeMo. What is there is not fetched again. Needs bash, python3 3.11 with pip, cc, nm.
set -euo pipefail
cd "$(dirname "$0")/.."

pins=scripts/trainers/requirements
folder=$PWD/target/trainers
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(trl llama-factory axolotl ms-swift others)
mkdir -p "$folder"

pip_install() { # pip arguments...
    "$@" --quiet --disable-pip-version-check --root-user-action ignore --no-deps --no-compile
}

# Complete, or not there at all: a fetch that was stopped is begun anew.
is_there() { cmp -s "$pins/$1.txt" "$folder/$1/pins.txt"; }
done_with() { cp "$pins/$1.txt" "$folder/$1/pins.txt"; printf '%s: fetched\n' "$folder/$1"; }

fetch_torch() {
    is_there torch && return
    rm -rf "$folder/torch"
    pip_install python3 -m pip install --target "$folder/torch" --requirement "$pins/torch.txt"
    python3 scripts/trainers/stub_cuda.py "$folder/torch"
    done_with torch
}

fetch() { # name, folders of packages that it shares
    local name=$1 site
    shift
    if is_there "$name"; then
        printf '%s: there\n' "$folder/$name"
        return
    fi
    rm -rf "${folder:?}/$name"
    python3 -m venv "$folder/$name"
    pip_install "$folder/$name/bin/python" -m pip install --requirement "$pins/$name.txt"
    site=$("$folder/$name/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    printf '%s\n' "$@" > "$site/shared.pth"
    done_with "$name"
}

fetch_torch
for name in "${names[@]}"; do
    case $name in
        others)
            fetch trl "$folder/torch"
            fetch others "$("$folder/trl/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')" "$folder/torch"
            ;;
        trl | llama-factory | axolotl | ms-swift) fetch "$name" "$folder/torch" ;;
        *) printf 'fetch-trainers: unknown trainer %s (known: trl, llama-factory, axolotl, ms-swift, others)\n' "$name" >&2; exit 2 ;;
    esac
done
