#!/usr/bin/env bash
# Builds the Python wheel for systems with an old glibc (2.17 and newer: manylinux2014) into target/old-glibc/wheels, and checks that
# it needs nothing newer. Needs cargo, python3 with venv, and PyPI for maturin, zig (which compiles the C parts and links) and
# auditwheel.
#
# `--test` also installs it in Debian 11 (glibc 2.31, Python 3.9) and runs python/tests there. debootstrap makes that system in
# target/old-glibc/debian-11: needs root, debootstrap, and the registries of Debian and PyPI. `--test-only` takes the wheel that is there.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(cargo metadata --format-version 1 --no-deps --locked | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
export CARGO_TARGET_DIR=$target
folder=$target/old-glibc
wheels=$folder/wheels
tools=$folder/tools

if [ "${1:-}" != --test-only ]; then
    [ -x "$tools/bin/maturin" ] || python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet 'maturin>=1.7,<2' ziglang auditwheel
    rm -rf "$wheels"
    # maturin finds zig in the environment that it runs in, and refuses symbols that the tag does not allow.
    PATH=$tools/bin:$PATH "$tools/bin/maturin" build --quiet --release --locked --zig --compatibility manylinux2014 \
        --manifest-path python/Cargo.toml --out "$wheels"
fi

wheel=$(echo "$wheels"/trajfit-*.whl)
bytes=$(wc -c <"$wheel")
printf '%s: %s bytes\n' "$(basename "$wheel")" "$bytes"
[ "$bytes" -lt 25000000 ] || { echo "the wheel has more than 25 MB" >&2; exit 1; }
"$tools/bin/auditwheel" show "$wheel" | tr '\n' ' ' | grep -q 'consistent with the following platform tag: *"manylinux_2_17_' ||
    { echo "the wheel needs a newer glibc than 2.17" >&2; exit 1; }
case "${1:-}" in --test | --test-only) ;; *) exit 0 ;; esac

debian=$folder/debian-11
if [ ! -e "$debian/complete" ]; then
    rm -rf "$debian"
    debootstrap --variant=minbase --include=python3,python3-pip,ca-certificates bullseye "$debian" http://deb.debian.org/debian >"$folder/debootstrap.txt"
    # Who trusts certificates of a company's own has them here.
    cp /etc/ssl/certs/ca-certificates.crt "$debian/etc/ssl/certs/"
    touch "$debian/complete"
fi
cp /etc/resolv.conf "$debian/etc/"
rm -rf "$debian/work"
mkdir "$debian/work"
cp "$wheel" "$debian/work/"
# The repository as it is here, without what was built.
tar -c --exclude ./target --exclude ./.git . | tar -x -C "$debian/work"

# Mounts of this process end with it. The program that results are held against is the installed one, so the test of the default
# build, which reads no Parquet, is left out.
unshare --mount sh -euc '
    mount -t proc proc "$0/proc"
    mount --bind /dev "$0/dev"
    exec chroot "$0" sh -euc "
        cd /work
        python3 -m pip install --quiet --no-deps --force-reinstall trajfit-*.whl
        python3 -m pip install --quiet pytest datasets duckdb polars pyarrow
        ln -sf /usr/local/bin/trajfit /usr/bin/trajfit
        ldd --version | head -n 1
        python3 --version
        PROGRAM=/usr/bin/trajfit python3 -m pytest -q -p no:cacheprovider --rootdir python python/tests --ignore python/tests/engines \
            --deselect tests/test_parquet.py::test_what_cannot_be_read_or_written_is_said_before_the_run
    "
' "$debian"
