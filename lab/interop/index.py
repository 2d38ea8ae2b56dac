"""Compares our index with that of cdxj-indexer for the same WARC files, line by line.

    index.py DIR [--index FILE]

Each line of cdxj-indexer's, in its order, must be a line of ours: the same key, time and fields
with the same values. Ours may have, as documented, additional lines for pages that were left out as
duplicates: under a key that no URL has, with `duplicate_of` and `distance`, and with the place of
the record with the verdict. All of ours must be sorted by bytes. A crawl with zstd cannot be
compared, because cdxj-indexer does not read it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

from crawls import Findings, archive_files, form

# The prefix of the key of a line for a page that was left out.
DUPLICATE = "!duplicate:"


def parse(line):
    key, timestamp, fields = line.split(" ", 2)
    return key, timestamp, json.loads(fields)


def theirs(files, scratch):
    """Returns cdxj-indexer's index. It relies on extensions, so `.open` is removed from names."""
    named = []
    for file in files:
        link = Path(scratch) / file.name.removesuffix(".open")
        link.symlink_to(file.resolve())
        named.append(link)
    indexer = Path(sys.executable).with_name("cdxj-indexer")
    output = Path(scratch, "theirs.cdxj")
    subprocess.run([indexer, "--sort", "--output", output, *named], check=True, timeout=3600)
    return output.read_text(encoding="utf-8").splitlines()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("directory")
    arguments.add_argument("--index")
    wish = arguments.parse_args()
    findings = Findings("index")
    files = archive_files(wish.directory)
    if any(form(file) == "zst" for file in files):
        sys.exit("cdxj-indexer does not read zstd")
    raw = Path(wish.index or Path(wish.directory, "archive", "index.cdxj")).read_bytes()
    if raw and not raw.endswith(b"\n"):
        findings.add("the last line of our index does not end")
    lines = raw.splitlines()
    for earlier, later in zip(lines, lines[1:]):
        if earlier > later:
            findings.add(f"not sorted: {later!r} comes after {earlier!r}")
    ours = [parse(line.decode()) for line in lines]
    left_out = [line for line in ours if line[0].startswith(DUPLICATE)]
    shared = [line for line in ours if not line[0].startswith(DUPLICATE)]
    for line in left_out:
        if "duplicate_of" not in line[2]:
            findings.add(f"left out, but not as a duplicate of anything: {line}")
    with tempfile.TemporaryDirectory() as scratch:
        wanted = [parse(line) for line in theirs(files, scratch)]
    for number, (mine, other) in enumerate(zip_longest(shared, wanted)):
        if mine is None or other is None:
            findings.add(f"line {number + 1}: only {'theirs' if mine is None else 'ours'} goes on, with {mine or other}")
            break
        if mine != other:
            findings.add(f"line {number + 1}: ours is {mine}, cdxj-indexer's {other}")
    findings.finish(
        f"{len(shared)} lines of ours, {len(wanted)} of cdxj-indexer's, compared one by one; {len(left_out)} lines besides for what was left out"
    )


if __name__ == "__main__":
    main()
