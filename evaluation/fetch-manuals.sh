#!/usr/bin/env bash
# Fetches the manuals that the evaluation reads from Debian's packages (bookworm has all of them).
#
#   evaluation/fetch-manuals.sh [DIR]          (default: target/manuals)
#
# DIR/clang-13 … clang-16 become manuals of clang, DIR/reference/PACKAGE reference manuals made by
# doxygen, and DIR/sites/NAME/EDITION whole documentation sites: 120 MB to fetch, 1 GB unpacked.
# Present packages are not fetched again. Code 77: a requirement is missing.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-$top/target/manuals}
releases=(13 14 15 16)
references=(libassimp-doc libeigen3-doc libglm-doc liblog4cplus-doc libpqxx-doc libsigc++-2.0-doc libtag1-doc libxerces-c-doc)

missing() {
    echo "fetch-manuals: $1" >&2
    exit 77
}

for tool in apt-get dpkg; do
    command -v "$tool" >/dev/null || missing "$tool is missing; this needs Debian or its like"
done
mkdir -p "$target/packages" "$target/unpacked" "$target/reference"
target=$(cd "$target" && pwd)

fetch() {
    (cd "$target/packages" && apt-get download -q "$1") >&2
}
package() {
    compgen -G "$target/packages/$1_*.deb" | sort -V | tail -n 1
}

# unpack PACKAGE: unpacks it to $target/unpacked/PACKAGE, which exists only once it is complete.
unpack() {
    [ -d "$target/unpacked/$1" ] && return
    if [ -z "$(package "$1")" ]; then
        fetch "$1" || { apt-get update -q >&2 && fetch "$1"; } || missing "$1 cannot be fetched"
    fi
    rm -rf "$target/unpacked/$1.part"
    mkdir "$target/unpacked/$1.part"
    dpkg -x "$(package "$1")" "$target/unpacked/$1.part"
    mv "$target/unpacked/$1.part" "$target/unpacked/$1"
}

for release in "${releases[@]}"; do
    unpack "clang-$release-doc"
    ln -sfn "$target/unpacked/clang-$release-doc/usr/share/doc/clang-$release/html" "$target/clang-$release"
    [ -f "$target/clang-$release/index.html" ] || missing "clang-$release-doc holds no index.html where it was expected"
done
for reference in "${references[@]}"; do
    unpack "$reference"
    ln -sfn "$target/unpacked/$reference/usr/share/doc" "$target/reference/$reference"
done

# site NAME EDITION PACKAGE PATH: makes a site of a directory of the package.
site() {
    unpack "$3"
    mkdir -p "$target/sites/$1"
    ln -sfn "$target/unpacked/$3/usr/share/$4" "$target/sites/$1/$2"
    [ -d "$target/sites/$1/$2" ] || missing "$3 holds no $4"
}

# Of javadoc the largest module: its pages resemble each other more than those of several modules.
site javadoc 17 openjdk-17-doc doc/openjdk-17-jre-headless/api/java.base
site cppreference 2017 cppreference-doc-en-html cppreference/doc/html/en
for version in 1.74 1.81; do
    site boost "$version" "libboost$version-doc" "doc/libboost$version-doc/doc/html"
done
for version in 14 15; do
    site llvm "$version" "llvm-$version-doc" "doc/llvm-$version-doc/html"
done
echo "$target"
