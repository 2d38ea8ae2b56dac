#!/usr/bin/env bash
# Reads a crawl's archive with warcio, a reader that is not ours: every record, every digest.
#
#   tests/check-warc.sh DIR        checks DIR/archive/*.warc.gz and DIR/archive/*.warc
#
# Code 0: every record was read, every digest that can be checked passed, each response and revisit has both digests.
# Code 1: something is wrong, and is printed. Code 2: wrong usage. Code 77: what is needed is missing.
#
# warcio lives in a virtual environment of its own, made on the first run: $WARCIO_VENV, or target/warcio.
set -euo pipefail

WARCIO=1.8.1
top=$(cd "$(dirname "$0")/.." && pwd)
venv=${WARCIO_VENV:-$top/target/warcio}

missing() {
    echo "check-warc: $1" >&2
    exit 77
}

if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    echo "usage: tests/check-warc.sh DIR   (the directory of a crawl)" >&2
    exit 2
fi
shopt -s nullglob
archives=("$1"/archive/*.warc.gz "$1"/archive/*.warc)
if [ ${#archives[@]} -eq 0 ]; then
    echo "check-warc: no WARC file in $1/archive" >&2
    exit 1
fi

if ! "$venv/bin/python" -c "import importlib.metadata as m; assert m.version('warcio') == '$WARCIO'" 2>/dev/null; then
    command -v python3 >/dev/null || missing "python3 is missing (Debian: apt-get install python3)"
    rm -rf "$venv"
    python3 -m venv "$venv" >&2 || missing "python3 cannot make a virtual environment (Debian: apt-get install python3-venv)"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "warcio==$WARCIO" >&2 \
        || missing "warcio $WARCIO cannot be fetched from the package index: no network?"
fi

# A member that is cut off is the end of the file to warcio, not an error.
for archive in "${archives[@]}"; do
    case $archive in *.gz) gzip -t "$archive" || { echo "check-warc: $archive is damaged" >&2; exit 1; } ;; esac
done

# `warcio check` names a failed digest and answers 1. That a digest is absent it says as well, but answers 0; a revisit's it
# leaves unchecked, because the payload is elsewhere.
report=$(mktemp)
trap 'rm -f "$report"' EXIT
code=0
"$venv/bin/warcio" check -v "${archives[@]}" >"$report" 2>&1 || code=$?
if [ $code -ne 0 ] || grep -Eqi 'digest failed|error|exception|traceback|warning' "$report"; then
    grep -Ei -B2 'digest failed|error|exception|traceback|warning' "$report" >&2 || tail -n 20 "$report" >&2
    echo "check-warc: warcio check found faults (code $code)" >&2
    exit 1
fi

# Counts, and the promise that warcio does not check: responses and revisits carry both digests.
PASSED=$(grep -c 'digest pass' "$report" || true) UNCHECKED=$(grep -c 'not checked' "$report" || true) \
    "$venv/bin/python" - "${archives[@]}" <<'PYTHON'
import collections, os, sys
from warcio.archiveiterator import ArchiveIterator

kinds, bare = collections.Counter(), []
for path in sys.argv[1:]:
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            kinds[record.rec_type] += 1
            headers = record.rec_headers
            wanted = ["WARC-Block-Digest"]
            if record.rec_type in ("response", "revisit"):
                wanted.append("WARC-Payload-Digest")
            bare += [f"{headers['WARC-Record-ID']} has no {name}" for name in wanted if not headers.get_header(name)]
            record.content_stream().read()
for line in bare:
    print(f"check-warc: {line}", file=sys.stderr)
if not kinds["response"]:
    sys.exit("check-warc: the archive holds no response")
counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
print(f"{len(sys.argv) - 1} WARC file(s), {sum(kinds.values())} records ({counts}): the digests of "
      f"{os.environ['PASSED']} records pass, {os.environ['UNCHECKED']} (revisits) cannot be checked, none fails")
sys.exit(bool(bare))
PYTHON
