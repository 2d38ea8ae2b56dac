#!/usr/bin/env bash
# Installs what check.py needs, and prints the Python to run it with.
#
#   batch/setup.sh [spark] [postgresql]
#
# interop/setup.sh makes the virtual environment, with DuckDB. `spark` installs PySpark beside it,
# in target/batch/pyspark, for $PYTHONPATH; Java is not installed. `postgresql` installs Debian's
# server, as root. Code 77 if something is missing and cannot be installed, or code 1 if CI=true.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
spark=$here/../target/batch/pyspark
python=$("$here/../interop/setup.sh")

missing() {
    echo "batch: $1" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

for part in "$@"; do
    case $part in
        spark)
            wanted=$(sha256sum <"$here/spark-requirements.txt")
            [ "$(cat "$spark/made-of" 2>/dev/null)" = "$wanted" ] && continue
            rm -rf "$spark"
            "$python" -m pip install --quiet --disable-pip-version-check --require-hashes \
                --target "$spark" -r "$here/spark-requirements.txt" >&2 \
                || missing "the package index cannot be reached, or lacks what batch/spark-requirements.txt names"
            echo "$wanted" >"$spark/made-of"
            ;;
        postgresql)
            command -v initdb >/dev/null || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null && continue
            [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null \
                && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends postgresql >&2 \
                || missing "PostgreSQL is missing and cannot be fetched (Debian: apt-get install postgresql)"
            ;;
        *) echo "usage: batch/setup.sh [spark] [postgresql]" >&2; exit 2 ;;
    esac
done
echo "$python"
