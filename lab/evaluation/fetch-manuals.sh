#!/usr/bin/env bash
# Fetches the manuals that the evaluation reads from Debian's packages (bookworm has all of them).
#
#   lab/evaluation/fetch-manuals.sh [--hosts | --languages] [DIR]          (default: target/manuals)
#
# DIR/clang-13 … clang-16 become manuals of clang, DIR/reference/PACKAGE reference manuals made by
# doxygen, DIR/sites/NAME/EDITION whole documentation sites, and DIR/hosts/NAME the hosts of focused
# crawls: 310 MB to fetch, 2.2 GB unpacked. `fetch-manuals.sh --hosts [DIR]` fetches these hosts only.
# `--languages` fetches translated manuals only, DIR/translations/MANUAL/LANGUAGE (140 MB, 1.1 GB
# unpacked). Present packages are not fetched again. Code 77: a requirement is missing.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
only=
case "${1:-}" in
--hosts | --languages)
    only=$1
    shift
    ;;
esac
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

# host NAME PACKAGE PATH: makes a host of a directory of the package. DIR/hosts/versions names the
# package's version.
host() {
    unpack "$2"
    ln -sfn "$target/unpacked/$2/usr/share/$3" "$target/hosts/$1"
    [ -d "$target/hosts/$1" ] || missing "$2 holds no $3"
    echo "$1 $2 $(dpkg-deb --field "$(package "$2")" Version)" >>"$target/hosts/versions"
}

# translations MANUAL PACKAGE PATH: makes a manual of the directories of a package, one a language.
translations() {
    unpack "$2"
    mkdir -p "$target/translations/$1"
    for path in "$target/unpacked/$2/usr/share/$3"/*/; do
        language=$(basename "$path")
        case "$language" in
        media | ca-valencia | en-GB) continue ;;
        en-US) language=en ;;
        esac
        ln -sfn "${path%/}" "$target/translations/$1/$language"
    done
}

if [ "$only" = --languages ]; then
    translations installation installation-guide-amd64 doc/installation-guide-amd64
    translations handbook debian-handbook doc/debian-handbook/html
    for language in en-us ca cs da de el es et eu fi fr gl hi hu id it ja ko nl pl pt ru sl sv tr vi zh-cn; do
        translations office "libreoffice-help-$language" libreoffice/help
    done
    echo "$target"
    exit
fi

mkdir -p "$target/hosts"
rm -f "$target/hosts/versions"
host python python3.11-doc doc/python3.11/html
host postgresql postgresql-doc-15 doc/postgresql-doc-15/html
host sqlite sqlite3-doc doc/sqlite3
host apache apache2-doc doc/apache2-doc/manual/en
host erlang erlang-doc doc/erlang-doc
host racket racket-doc doc/racket
host boost libboost1.74-doc doc/libboost1.74-doc/doc/html
host linux linux-doc-6.1 doc/linux-doc-6.1/html
host gimp gimp-help-en gimp/2.0/help/en
host java openjdk-17-doc doc/openjdk-17-jre-headless/api
host cpp cppreference-doc-en-html cppreference/doc/html/en
host node nodejs-doc doc/nodejs/api
host django python-django-doc doc/python-django-doc/html
host qt qtbase5-doc-html qt5/doc
host glib libglib2.0-doc gtk-doc/html
if [ "$only" = --hosts ]; then
    echo "$target"
    exit
fi

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
