#!/usr/bin/env bash
# Fetches real documents from Debian's packages (bookworm has all of them), as directories to serve.
#
#   lab/interop/documents.sh few|many [DIR]          (default: target/interop/documents)
#
# Prints a line HOST=DIRECTORY for each. `few` is the manual of one release of clang; `many` is both
# releases that tests/real-documents.sh compares, and other manuals, enough for 10,000 records.
# Present packages are not fetched again. Code 77 if a package cannot be fetched, or code 1 if
# CI=true.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${2:-$top/target/interop/documents}

missing() {
    echo "interop: $1" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

for tool in apt-get dpkg; do
    command -v "$tool" >/dev/null || missing "$tool is missing; real documents come from Debian or its like"
done
mkdir -p "$target"
target=$(cd "$target" && pwd)

# unpack PACKAGE: unpacks it to $target/PACKAGE, which exists only once it is complete.
unpack() {
    [ -d "$target/$1" ] && return
    fetch "$1" || { apt-get update -q >&2 && fetch "$1"; } || missing "$1 cannot be fetched: no network, or a Debian without it"
    rm -rf "$target/$1.part"
    dpkg -x "$(compgen -G "$target/$1_*.deb" | sort -V | tail -n 1)" "$target/$1.part"
    mv "$target/$1.part" "$target/$1"
}
fetch() {
    (cd "$target" && apt-get download -q "$1") >&2
}

# PACKAGE:HOST:DIRECTORY in the package.
documents=(clang-16-doc:clang-16.test:usr/share/doc/clang-16/html)
if [ "${1:-}" = many ]; then
    documents+=(
        clang-15-doc:clang-15.test:usr/share/doc/clang-15/html
        postgresql-doc-15:postgresql.test:usr/share/doc/postgresql-doc-15/html
        python3.11-doc:python.test:usr/share/doc/python3.11/html
        sqlite3-doc:sqlite.test:usr/share/doc/sqlite3
        libxerces-c-doc:xerces.test:usr/share/doc/libxerces-c-doc/html
        libpqxx-doc:pqxx.test:usr/share/doc/libpqxx-doc/html/Reference
    )
elif [ "${1:-}" != few ]; then
    echo "usage: lab/interop/documents.sh few|many [DIR]" >&2
    exit 2
fi
for document in "${documents[@]}"; do
    IFS=: read -r package host directory <<<"$document"
    unpack "$package"
    [ -f "$target/$package/$directory/index.html" ] || missing "$package holds no index.html where it was expected"
    echo "$host=$target/$package/$directory"
done
