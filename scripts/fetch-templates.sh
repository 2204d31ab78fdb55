#!/usr/bin/env bash
# Fetches the chat templates of two trainers and of llama.cpp from PyPI; see --help.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: scripts/fetch-templates.sh [FOLDER]

Downloads the packages trl and axolotl and the sources of llama-cpp-python (68 MB; llama.cpp and its collection of models'
templates are in them) in fixed versions, checks their sums, and unpacks their chat templates into FOLDER/trl, FOLDER/axolotl and
FOLDER/llama_cpp (default: target/templates). tests/it/tokens/chat_templates.rs renders them and compares with what
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
# pip would build what it downloads as sources: these come by their address.
sources=https://files.pythonhosted.org/packages/de/6d/4a20e676bdf7d9d3523be3a081bf327af958f9bdfe2a564f5cf485faeaec
sources=$sources/llama_cpp_python-0.3.9.tar.gz
sum=a3a985f558385e2f5de5b663f4e9b0817506d6af98122450142cd98e79216370
printf '%s %s\n' "$sources" "$sum" >> "$work/sources.txt"
cat "$work/packages.txt" "$work/sources.txt" > "$work/all.txt"

# What is there is not fetched again.
cmp -s "$work/all.txt" "$folder/packages.txt" && exit 0

fetch() { # pip compares the sums, and refuses what has none
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
        --python-version 3.12 --requirement "$work/packages.txt" --dest "$work"
    python3 - "$sources" "$sum" "$work/sources.tar.gz" <<'PYTHON'
import hashlib
import pathlib
import sys
import urllib.request

address, wanted, path = sys.argv[1:]
with urllib.request.urlopen(address, timeout=180) as answer:
    archive = answer.read()
if hashlib.sha256(archive).hexdigest() != wanted:
    sys.exit(f"fetch-templates: {address} has another sum than expected")
pathlib.Path(path).write_bytes(archive)
PYTHON
}

for attempt in 1 2 3; do
    fetch && break
    [ "$attempt" -lt 3 ] || { echo "fetch-templates: the packages could not be downloaded" >&2; exit 1; }
    sleep $((attempt * 5))
done

python3 - "$work" "$folder" <<'PYTHON'
import pathlib
import sys
import tarfile
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

target = folder / "llama_cpp"
target.mkdir(parents=True, exist_ok=True)
with tarfile.open(packages / "sources.tar.gz") as archive:
    for entry in archive:
        if "/models/templates/" in entry.name and entry.name.endswith(".jinja"):
            (target / pathlib.PurePosixPath(entry.name).name).write_bytes(archive.extractfile(entry).read())
print(f"{target}: {len(list(target.iterdir()))} templates")
PYTHON
cp "$work/all.txt" "$folder/packages.txt"
