#!/usr/bin/env bash
# Crawls webs on loopback, and reads the results with other people's tools.
# docs/measurements/interop.md lists the tools.
#
#   lab/interop/run.sh small|full [WORKDIR]          (default: target/interop)
#
# `small` is for CI: a toy web in every form of an archive, a site with pictures, a manual of clang.
# `full` crawls manuals of 10,000 records, with an optimised build. lab/interop/setup.sh installs the
# tools in $INTEROP_VENV.
#
# Code 0: all tools agree. Code 1: findings are printed. Code 77: a requirement is missing (code 1
# if CI=true).
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top"
size=${1:-}
case $size in
    small) profile=dev built=debug documents=few ;;
    full) profile=release built=release documents=many ;;
    *) echo "usage: lab/interop/run.sh small|full [WORKDIR]" >&2; exit 2 ;;
esac
# pyamf, which cdxj-indexer needs, warns of it at every start.
export PYTHONWARNINGS="ignore:pkg_resources is deprecated"
work=${2:-target/interop}
mkdir -p "$work"
work=$(cd "$work" && pwd)

python=$(lab/interop/setup.sh chromium)
# In one step and for the whole workspace, as `cargo test --workspace` does; otherwise shared crates
# are compiled several times.
cargo build --quiet --profile $profile --workspace --bin crawler --example serve --example warc_crate
built=$(cargo metadata --format-version 1 --no-deps \
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/$built
crawler=$built/crawler

failed=()
# judge COMMAND…: runs a check; a failure is remembered, and does not stop the others.
judge() {
    "$@" || failed+=("$*")
}

. lab/interop/serving.sh

# crawl NAME OPTION…: crawls the seeds into $work/NAME.
crawl() {
    local name=$1
    shift
    rm -rf "${work:?}/$name"
    "$crawler" --allow-private --delay 0 --delay-factor 0 --contact tests@example.org --quiet \
        "${resolve[@]}" --out "$work/$name" "$@" "${seeds[@]}" >"$work/$name.summary"
}

# readers NAME [SERVER]: runs the three readers, with that server's record of its answers.
readers() {
    judge "$python" lab/interop/readers.py "$work/$1" --crawler "$crawler" --rust-reader "$built/examples/warc_crate" \
        --served "$work/${2:-$1}.served"
}
# packed NAME: checks readers, index, replay, WACZ and its replay of one crawl.
packed() {
    local name=$1
    readers "$name"
    judge "$python" lab/interop/index.py "$work/$name"
    judge "$python" lab/interop/replay.py "$work/$name" --served "$work/$name.served"
    "$python" lab/interop/wacz.py --new-key "$work/$name.pem"
    "$crawler" wacz "$work/$name" --output "$work/$name.wacz" --sign "$work/$name.pem"
    judge "$python" lab/interop/wacz.py "$work/$name.wacz"
    judge "$python" lab/interop/replay.py "$work/$name" --served "$work/$name.served" --wacz "$work/$name.wacz"
}
# show NAME EXPECTED: shows a page of the WACZ of that crawl in the browser.
show() {
    judge "$python" lab/interop/browser.py --wacz "$work/$1.wacz" --expected "$2" --site "${seeds[0]}" \
        --served "$work/$1.served" --screenshot "$work/$1.png"
}

echo "## $("$crawler" --version), $size"

echo
echo "### A toy web"
# A crawl enters the endless calendar at a random place, and a second crawl at another one. So both
# are cut off where only copies lead on.
ends=(--exclude 'month=2024-0[37]|mirror[.]test[^/]*/log/')
start toy --toy
crawl toy "${ends[@]}"
# With a prefix of its own: both may begin in the same second, and pywb has the files of both in one
# directory.
crawl again --warc-prefix again --since "$work/toy" "${ends[@]}"
# Against what other tools make of the first archive.
judge "$python" lab/interop/imports.py make "$work/toy" --wacz "$work/theirs.wacz" --cdxj "$work/theirs.cdxj"
crawl against --against "$work/toy" "${ends[@]}"
crawl against-wacz --against "$work/theirs.wacz" "${ends[@]}"
crawl against-cdxj --against "$work/theirs.cdxj" "${ends[@]}"
finish
judge "$python" lab/interop/imports.py compare "$work/against" "$work/against-wacz" --crawler "$crawler"
judge "$python" lab/interop/imports.py compare "$work/against" "$work/against-cdxj" --crawler "$crawler"
packed toy
judge "$python" lab/interop/faults.py "$work/toy" --crawler "$crawler" --rust-reader "$built/examples/warc_crate" --served "$work/toy.served"
judge "$python" lab/interop/parquet.py "$work/toy" --crawler "$crawler"
judge "$python" lab/interop/wet.py "$work/toy" --crawler "$crawler"
judge "$python" lab/interop/agents.py "$work/toy" --crawler "$crawler"

echo
echo "### Signatures of requests"
judge "$python" lab/interop/signatures.py "$work/signatures" --crawler "$crawler"
judge "$python" lab/interop/logins.py "$work/logins" --crawler "$crawler"

echo
echo "### Near-duplicates by DuckDB and PostgreSQL, beside the crawler and brute force"
# Without a server its part is left out with a message; with CI=true that is a failure.
judge lab/batch/setup.sh postgresql >/dev/null
judge "$python" lab/batch/check.py "$work/batch" --crawler "$crawler" --distances 3 7

# In every form of an archive. docs/measurements/interop.md lists the forms that a reader does not
# know.
"$python" lab/interop/dictionary.py "$work/toy" "$work/dictionary"
for form in "gzip sha256" "none sha1" "zstd sha1" "zstd sha256 dictionary"; do
    read -r compression digest dictionary <<<"$form"
    name=toy-${form// /-}
    echo
    echo "### A toy web, with what repeats marked and kept: $compression, $digest${dictionary:+, with a dictionary}"
    start "$name" --toy
    crawl "$name" "${ends[@]}" --on-duplicate keep --compression "$compression" --digest "$digest" \
        ${dictionary:+--zstd-dictionary "$work/dictionary"} --warc-max-size 100KiB
    finish
    readers "$name"
    [ "$compression" = zstd ] && continue
    judge "$python" lab/interop/index.py "$work/$name"
    judge "$python" lab/interop/replay.py "$work/$name" --served "$work/$name.served"
done

echo
echo "### The same files while they are open"
rm -rf "$work/open" && cp -r "$work/toy" "$work/open"
for file in "$work/open/archive/"*.warc.gz; do mv "$file" "$file.open"; done
readers open toy
judge "$python" lab/interop/index.py "$work/open"
judge "$python" lab/interop/replay.py "$work/open" --served "$work/toy.served"

echo
echo "### A second crawl of the toy web that refers to the first"
readers again toy
judge "$python" lab/interop/index.py "$work/again"
judge "$python" lab/interop/replay.py "$work/toy" "$work/again" --served "$work/toy.served"
"$crawler" wacz "$work/toy" "$work/again" --output "$work/both.wacz"
judge "$python" lab/interop/wacz.py "$work/both.wacz"
judge "$python" lab/interop/replay.py "$work/toy" "$work/again" --served "$work/toy.served" \
    --wacz "$work/both.wacz"

echo
echo "### A site with pictures, in a browser"
"$python" lab/interop/demo.py "$work/demo"
start pictures --dir "demo.test=$work/demo/site"
crawl pictures --page-requisites
finish
packed pictures
show pictures "$work/demo/expected.json"

echo
echo "### A gallery of everything that a page can need, over HTTP/2"
echo '{"path": "/", "texts": ["The gallery has three rooms", "An end."], "colours": {}}' >"$work/gallery.json"
start gallery --gallery --tls "$work/authority.pem"
crawl gallery --page-requisites=any --ca-certificate "$work/authority.pem"
finish
packed gallery
show gallery "$work/gallery.json"

echo
echo "### The dashboard of a running crawl, in the same browser"
rm -rf "$work/dashboard"
judge "$python" lab/interop/dashboard.py "$work/dashboard" --crawler "$crawler" \
    --axe "$(dirname "$python")"/../lib/python3*/site-packages/axe_playwright_python/axe.min.js \
    --screenshots "$work/screenshots"

echo
echo "### Archived pages in the dashboard, in the same browser"
rm -rf "$work/replay"
judge "$python" lab/interop/replay_view.py "$work/replay" --crawler "$crawler" \
    --axe "$(dirname "$python")"/../lib/python3*/site-packages/axe_playwright_python/axe.min.js \
    --screenshots "$work/screenshots"

echo
echo "### Real documents"
places=()
directories=$(lab/interop/documents.sh $documents "$work/documents")
while read -r place; do places+=(--dir "$place"); done <<<"$directories"
start manuals "${places[@]}"
crawl manuals --page-requisites
finish
packed manuals

# At the end, too, where the last lines of a long log are what is read first.
[ ${#failed[@]} = 0 ] && exit
echo
echo "### ${#failed[@]} check(s) failed; their findings stand above"
printf -- '- %s\n' "${failed[@]}"
exit 1
