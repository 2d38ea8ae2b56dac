#!/usr/bin/env bash
# Real documents by three nodes: four releases of clang's manual, served on loopback as four sites, are crawled by one
# process, by one process with the seeds in reverse, and by three nodes of one crawl. Their verdicts are compared.
#
#   STORE=postgres://postgres@127.0.0.1/empty tests/real-documents-by-nodes.sh [WORKDIR]
#
# STORE is an empty database. WORKDIR is target/manuals by default, where lab/evaluation/fetch-manuals.sh puts the manuals.
#
# Code 0: all three visited the same pages. Code 1: not so. Code 77: what is needed is missing.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
work=${1:-target/manuals}
[ -n "${STORE:-}" ] || { echo "real-documents-by-nodes: STORE names no empty database" >&2; exit 77; }
lab/evaluation/fetch-manuals.sh "$work"
work=$(cd "$work" && pwd)
cargo build --quiet --release -p crawler
cargo build --quiet --release -p testkit --example serve
built=$(cargo metadata --format-version 1 --no-deps \
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release
crawler=$built/crawler
. lab/interop/serving.sh

directories=()
for release in 13 14 15 16; do
    directories+=(--dir "clang-$release.test=$work/clang-$release/")
done
start nodes "${directories[@]}"
seeds=()
for release in 13 14 15 16; do
    seeds+=("http://clang-$release.test:$port/index.html")
done
# All links are followed, so that each crawl judges every page.
options=(--allow-private --delay 0 --delay-factor 0 --contact tests@example.org --quiet --on-duplicate follow
    "${resolve[@]}")

rm -rf "$work"/{one,again,n1,n2,n3}
"$crawler" "${options[@]}" --out "$work/one" "${seeds[@]}" >&2
"$crawler" "${options[@]}" --out "$work/again" "${seeds[3]}" "${seeds[2]}" "${seeds[1]}" "${seeds[0]}" >&2
for crawl in one again; do
    "$crawler" export "$work/$crawl" --format jsonl --output "$work/$crawl.jsonl"
done
nodes=()
for node in n1 n2 n3; do
    "$crawler" node --store "$STORE" --name $node --out "$work/$node" "${options[@]}" "${seeds[@]}" >&2 &
    nodes+=($!)
done
wait "${nodes[@]}"
finish
"$crawler" verify --store "$STORE"
"$crawler" nodes --store "$STORE" --format table
"$crawler" export --store "$STORE" --format jsonl --output "$work/nodes.jsonl"
python3 tests/real_documents.py nodes "$work"/{one,again,nodes}.jsonl
