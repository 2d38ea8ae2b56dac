#!/usr/bin/env bash
# Reads a crawl's archive with three readers that are not ours: warcio, FastWARC and Rust's `warc` crate. See interop/readers.py.
#
#   interop/readers.sh DIR [SERVED]        SERVED: what the test server said that it answered, to compare payloads with
#
# Code 0: every record was read alike by all three, every digest passed. Code 1: something is wrong, and is printed. Code 2: wrong
# usage. Code 77: what is needed is missing (an error where CI=true).
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -lt 1 ] || [ $# -gt 2 ] || [ ! -d "$1" ]; then
    echo "usage: interop/readers.sh DIR [SERVED]   (the directory of a crawl)" >&2
    exit 2
fi
python=$("$top/interop/setup.sh")
(cd "$top" && cargo build --quiet --release -p crawler -p sinks --bin crawler --example warc_crate)
built=$(cd "$top" && cargo metadata --format-version 1 --no-deps \
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release
exec "$python" "$top/interop/readers.py" "$1" --crawler "$built/crawler" --rust-reader "$built/examples/warc_crate" ${2:+--served "$2"}
