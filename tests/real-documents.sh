#!/usr/bin/env bash
# Real documents: the manuals of two releases of clang, served on loopback as two sites and crawled as one crawl.
#
#   tests/real-documents.sh [WORKDIR]          (default: target/real-documents)
#
# Prints the summaries, the verdicts by same-path pairs against the truth computed from the files, and the wrong ones
# (Markdown; docs/measurements/real-documents.md is made of it). Then the archives are read by others and compared with what was served, as
# lab/interop/readers.sh does.
#
# Two crawls: `--on-duplicate drop` is the default, and what it reaches depends on what was dropped, whose links are not
# followed; `--on-duplicate follow` reaches, and so judges, all pages. One page at a time, release 15 first, so that
# the order is nearly the same every time; what is left to chance is the crawl's hash key, which moves estimates a little.
#
# Code 0: every page that is unchanged between the releases is an exact duplicate, no pages are merged that have less than
# half in common, and the archives are sound. Code 1: not so. Code 77: what is needed is missing.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
work=${1:-target/real-documents}
mkdir -p "$work"
work=$(cd "$work" && pwd)

missing() {
    echo "real-documents: $1" >&2
    exit 77
}

for tool in apt-get dpkg python3 cargo; do
    command -v "$tool" >/dev/null || missing "$tool is missing; this check needs Debian (or its like), Python and Rust"
done

# The documents.
fetch() {
    (cd "$work" && apt-get download -q "clang-$1-doc") >&2
}
package() {
    compgen -G "$work/clang-$1-doc_*.deb" | sort -V | tail -n 1
}
for release in 15 16; do
    tree=$work/clang-$release
    [ -f "$tree/index.html" ] && continue
    if [ -z "$(package $release)" ]; then
        fetch $release || { apt-get update -q >&2 && fetch $release; } \
            || missing "clang-$release-doc cannot be fetched: no network, or a Debian without it (bookworm has both)"
    fi
    rm -rf "$work/unpacked-$release"
    dpkg -x "$(package $release)" "$work/unpacked-$release"
    ln -sfn "unpacked-$release/usr/share/doc/clang-$release/html" "$tree"
    [ -f "$tree/index.html" ] || missing "clang-$release-doc holds no index.html where it was expected"
done

# The program, and a server of both manuals.
cargo build --quiet --release -p crawler
cargo build --quiet --release -p testkit --example serve
built=$(cargo metadata --format-version 1 --no-deps \
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release
crawler=$built/crawler

. lab/interop/serving.sh

# crawl NAME OPTION…: crawls them into $work/NAME.
crawl() {
    local name=$1
    shift
    rm -rf "${work:?}/$name"
    echo
    echo "### Summary of \`${*:-without options}\`"
    echo '```text'
    "$crawler" --allow-private --delay 0 --delay-factor 0 --concurrency 1 --contact tests@example.org --quiet \
        "${resolve[@]}" --out "$work/$name" "$@" "${seeds[@]}" | sed "s#$work/##g"
    echo '```'
    "$crawler" export "$work/$name" --format jsonl --output "$work/$name.jsonl"
}

echo "## $(date -u +%F), $("$crawler" --version)"
for release in 15 16; do
    echo "- clang-$release-doc $(dpkg-deb -f "$(package $release)" Version)"
done

start documents --dir "clang-15.test=$work/clang-15/" --dir "clang-16.test=$work/clang-16/"
seeds=("http://clang-15.test:$port/index.html" "http://clang-16.test:$port/index.html")
crawl drop --on-duplicate drop
crawl follow --on-duplicate follow

code=0
echo
python3 tests/real_documents.py verdicts "$crawler" "$work/clang-15" "$work/clang-16" \
    "$work/follow.jsonl" "$work/drop.jsonl" || code=1

finish

echo
echo "### The archives, read by others"
echo
for name in drop follow; do
    answer=0
    lab/interop/readers.sh "$work/$name" "$work/documents.served" || answer=$?
    [ $answer -ne 77 ] || missing "the archives were not checked"
    [ $answer -eq 0 ] || code=1
done
exit $code
