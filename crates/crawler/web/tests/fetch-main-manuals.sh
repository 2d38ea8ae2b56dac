#!/usr/bin/env bash
# Fetches the manuals that tests/manuals.rs reads from Debian's packages: made by mdBook, rustdoc, gi-docgen and Sphinx.
#
#   crates/crawler/web/tests/fetch-main-manuals.sh [DIR]          (default: target/main-manuals)
#
# Afterwards DIR/PACKAGE are the pages of each package; 45 MB to fetch, 830 MB unpacked. What is there already is not
# fetched again; packages (*.deb) that lie in DIR/packages are used. Code 77: what is needed is missing.
set -euo pipefail

top=$(cd "$(dirname "$0")/../../../.." && pwd)
target=${1:-$top/target/main-manuals}
packages=(rust-doc libgtk-4-doc libglib2.0-doc libpango1.0-doc python3.11-doc llvm-15-doc clang-15-doc)

missing() {
    echo "fetch-main-manuals: $1" >&2
    exit 77
}

for tool in apt-get dpkg; do
    command -v "$tool" >/dev/null || missing "$tool is missing; this needs Debian or its like"
done
mkdir -p "$target/packages"
target=$(cd "$target" && pwd)

fetch() {
    (cd "$target/packages" && apt-get download -q "$1") >&2
}
package() {
    compgen -G "$target/packages/$1_*.deb" | sort -V | tail -n 1
}

for name in "${packages[@]}"; do
    [ -d "$target/$name" ] && continue
    if [ -z "$(package "$name")" ]; then
        fetch "$name" || { apt-get update -q >&2 && fetch "$name"; } || missing "$name cannot be fetched"
    fi
    rm -rf "$target/$name.part"
    mkdir "$target/$name.part"
    dpkg -x "$(package "$name")" "$target/$name.part"
    mv "$target/$name.part" "$target/$name"
done
echo "$target"
