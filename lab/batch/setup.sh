#!/usr/bin/env bash
# Installs what check.py needs, and prints the Python to run it with.
#
#   lab/batch/setup.sh [spark] [postgresql]
#
# lab/interop/setup.sh makes the virtual environment, with DuckDB. `spark` installs PySpark beside it,
# in target/batch/pyspark, for $PYTHONPATH; Java is not installed. `postgresql` installs Debian's
# server, as root. A part that is missing and cannot be installed is named on standard error, and
# check.py does without it; with CI=true, the code is 1. Code 77 if there is no environment.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
spark=$here/../../target/batch/pyspark
python=$("$here/../interop/setup.sh")

# missing WHAT: names what is not there.
missing() {
    echo "batch: $1" >&2
    [ "${CI:-}" != true ] || exit 1
}

# install PACKAGE…: installs Debian's packages, if permitted.
install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    local get=(apt-get install -q -y --no-install-recommends "$@")
    export DEBIAN_FRONTEND=noninteractive
    { "${get[@]}" || { apt-get update -q && "${get[@]}"; }; } >&2
}

for part in "$@"; do
    case $part in
        spark)
            wanted=$(sha256sum <"$here/spark-requirements.txt")
            [ "$(cat "$spark/made-of" 2>/dev/null)" = "$wanted" ] && continue
            rm -rf "$spark"
            "$python" -m pip install --quiet --disable-pip-version-check --require-hashes \
                --target "$spark" -r "$here/spark-requirements.txt" >&2 \
                || {
                    missing "the package index cannot be reached, or lacks spark-requirements.txt"
                    continue
                }
            echo "$wanted" >"$spark/made-of"
            ;;
        postgresql)
            command -v initdb >/dev/null && continue
            compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null && continue
            install postgresql \
                || missing "PostgreSQL cannot be fetched (Debian: apt-get install postgresql)"
            ;;
        *) echo "usage: lab/batch/setup.sh [spark] [postgresql]" >&2; exit 2 ;;
    esac
done
echo "$python"
