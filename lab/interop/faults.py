"""Shows that the checks can fail: plants a fault in a copy of a crawl, and requires a finding.

    faults.py DIR --crawler PROGRAM --rust-reader PROGRAM --served FILE

Needs a crawl with gzip, one file and an index.
"""

import argparse
import base64
import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from crawls import Findings, archive_files, members

HERE = Path(__file__).resolve().parent


def is_page(record):
    return b"WARC-Type: response\r\n" in record and b"HTTP/1.1 200" in record and b"</html>" in record


def write(file, records):
    file.write_bytes(b"".join(gzip.compress(record, 1) for record in records))


def a_byte_differs(records):
    page = next(number for number, record in enumerate(records) if is_page(record))
    records[page] = records[page].replace(b"</html>", b"</hTml>")


def a_payload_differs_and_its_digests_are_right(records):
    a_byte_differs(records)
    page = next(number for number, record in enumerate(records) if b"</hTml>" in record)
    head, block = records[page].split(b"\r\n\r\n", 1)
    block = block[:-4]
    for name, digested in ((b"Block", block), (b"Payload", block.split(b"\r\n\r\n", 1)[1])):
        digest = base64.b32encode(hashlib.sha1(digested).digest())
        head = re.sub(b"WARC-" + name + rb"-Digest: sha1:\w+", b"WARC-" + name + b"-Digest: sha1:" + digest, head)
    records[page] = head + b"\r\n\r\n" + block + b"\r\n\r\n"


def two_records_share_a_member(records):
    records[1:3] = [records[1] + records[2]]


def an_answer_is_gone(records):
    page = next(number for number, record in enumerate(records) if is_page(record))
    target = re.search(rb"WARC-Target-URI: (\S+)\r\n", records[page]).group(0)
    records[:] = [record for record in records if target not in record]


def a_digest_is_gone(records):
    page = next(number for number, record in enumerate(records) if is_page(record))
    records[page] = re.sub(rb"WARC-Block-Digest: \S+\r\n", b"", records[page])


def a_record_is_cut(records):
    records[-1] = records[-1][:-20]


def the_file_is_cut(file):
    file.write_bytes(file.read_bytes()[:-20])


def lines_change_places(lines):
    lines[0], lines[1] = lines[1], lines[0]


def a_line_is_gone(lines):
    del lines[len(lines) // 2]


def places_change(lines):
    """Two captures get each other's place: what is replayed is another page."""
    pages = [number for number, line in enumerate(lines) if '"mime": "text/html"' in line and '"status": "200"' in line]
    first, last = pages[0], pages[-1]
    place = re.compile(r'"length": .*\}')
    one, other = place.search(lines[first]).group(), place.search(lines[last]).group()
    lines[first], lines[last] = place.sub(other, lines[first]), place.sub(one, lines[last])


# The check, the fault, what the finding says.
ARCHIVE = [
    ("readers", a_byte_differs, "warcio, after"),
    ("readers", a_byte_differs, "FastWARC, after"),
    ("readers", a_byte_differs, "the warc crate, after"),
    ("readers", a_payload_differs_and_its_digests_are_right, "answers is these"),
    ("readers", two_records_share_a_member, "is not one record"),
    ("readers", an_answer_is_gone, "the archive does not say so"),
    ("readers", a_digest_is_gone, "has no block digest"),
    ("readers", a_record_is_cut, "is not one record"),
]
FILE = [("readers", the_file_is_cut, "cut off within a member")]
INDEX = [
    ("index", lines_change_places, "not sorted"),
    ("index", a_line_is_gone, "cdxj-indexer's"),
    ("index", places_change, "cdxj-indexer's"),
    ("replay", places_change, "served, or others"),
]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("directory")
    arguments.add_argument("--crawler", required=True)
    arguments.add_argument("--rust-reader", required=True)
    arguments.add_argument("--served", required=True)
    wish = arguments.parse_args()
    findings = Findings("faults")
    further = {
        "readers": ["--crawler", wish.crawler, "--rust-reader", wish.rust_reader, "--served", wish.served],
        "index": [],
        "replay": ["--served", wish.served],
    }
    faults = ARCHIVE + FILE + INDEX
    for check, plant, wanted in faults:
        with tempfile.TemporaryDirectory() as scratch:
            crawl = Path(scratch, "crawl")
            shutil.copytree(wish.directory, crawl)
            if (check, plant, wanted) in INDEX:
                index = crawl / "archive" / "index.cdxj"
                lines = index.read_text(encoding="utf-8").splitlines(keepends=True)
                plant(lines)
                index.write_text("".join(lines), encoding="utf-8")
            elif (check, plant, wanted) in FILE:
                plant(*archive_files(crawl))
            else:
                (file,) = archive_files(crawl)
                records = list(members(file))
                plant(records)
                write(file, records)
            run = subprocess.run(
                [sys.executable, HERE / f"{check}.py", crawl, *further[check]], capture_output=True, text=True, timeout=1800
            )
            if run.returncode != 1 or wanted not in run.stderr:
                findings.add(f"{check} does not report {plant.__name__}: {run.returncode} {run.stderr[-500:]}")
    findings.finish(f"{len(faults)} faults planted, each of which its check must report")


if __name__ == "__main__":
    main()
