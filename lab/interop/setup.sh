#!/usr/bin/env bash
# Installs other people's tools, as pinned in requirements.txt, in a virtual environment of their
# own, and prints its Python.
#
#   lab/interop/setup.sh [chromium]     with `chromium`: also Debian's browser, which is installed as root
#
# The environment is $INTEROP_VENV, or target/interop/venv. Code 77 if something is missing and
# cannot be installed, or code 1 if CI=true.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${INTEROP_VENV:-$here/../../target/interop/venv}

missing() {
    echo "interop: $1" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

# install PACKAGE…: installs Debian's packages, if permitted.
install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    local get=(apt-get install -q -y --no-install-recommends "$@")
    { DEBIAN_FRONTEND=noninteractive "${get[@]}" || { apt-get update -q && DEBIAN_FRONTEND=noninteractive "${get[@]}"; }; } >&2
}

command -v python3 >/dev/null || install python3 python3-venv || missing "python3 is missing (Debian: apt-get install python3)"

# The environment is current if it has the digest of the lists.
wanted=$(cat "$here/build-requirements.txt" "$here/requirements.txt" "$here/axe-requirements.txt" | sha256sum)
get=("$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes)
if [ "$(cat "$venv/made-of" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$venv"
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv" >&2 || { rm -rf "$venv"; install python3-venv && python3 -m venv "$venv" >&2; } \
        || missing "python3 cannot make a virtual environment (Debian: apt-get install python3-venv)"
    "${get[@]}" -r "$here/build-requirements.txt" >&2 && "${get[@]}" --no-build-isolation -r "$here/requirements.txt" >&2 \
        && "${get[@]}" --no-deps -r "$here/axe-requirements.txt" >&2 \
        || missing "the package index cannot be reached, or does not have what lab/interop/requirements.txt names"
    echo "$wanted" >"$venv/made-of"
fi
if [ "${1:-}" = chromium ] && ! command -v chromium >/dev/null; then
    install chromium || missing "chromium is missing and cannot be fetched (Debian: apt-get install chromium)"
fi
echo "$(cd "$venv" && pwd)/bin/python"
