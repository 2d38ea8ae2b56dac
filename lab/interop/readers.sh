#!/usr/bin/env bash
# Reads a crawl's archive with three readers of others: warcio, FastWARC and Rust's `warc` crate.
# See lab/interop/readers.py.
#
#   lab/interop/readers.sh DIR [SERVED]     SERVED: the test server's record of its answers, to compare
#
# Code 0: all three read the same records, and every digest passed. Code 1: findings are printed.
# Code 2: wrong usage. Code 77: a requirement is missing (code 1 if CI=true).
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [ $# -lt 1 ] || [ $# -gt 2 ] || [ ! -d "$1" ]; then
    echo "usage: lab/interop/readers.sh DIR [SERVED]   (the directory of a crawl)" >&2
    exit 2
fi
python=$("$top/lab/interop/setup.sh")
(cd "$top" && cargo build --quiet --release -p crawler -p sinks --bin crawler --example warc_crate)
built=$(cd "$top" && cargo metadata --format-version 1 --no-deps \
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release
exec "$python" "$top/lab/interop/readers.py" "$1" --crawler "$built/crawler" --rust-reader "$built/examples/warc_crate" ${2:+--served "$2"}
