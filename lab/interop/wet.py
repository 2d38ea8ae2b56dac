"""Reads the WET file of `crawler export --text` with warcio and FastWARC.

    wet.py DIR --crawler PROGRAM

Each must read the texts of the same export as JSON lines, in their order, and find every digest
right; each text must name a response of the archive.
"""

import argparse
import json
import subprocess
import tempfile
from itertools import zip_longest
from pathlib import Path

from fastwarc.warc import ArchiveIterator as FastReader
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioReader

from crawls import Findings, archive_files


def export(crawler, directory, *arguments):
    subprocess.run([crawler, "export", directory, "--text", *arguments], check=True, timeout=1800)


def by_warcio(path):
    with path.open("rb") as file:
        for record in WarcioReader(file, check_digests=True):
            text = record.content_stream().read()
            if record.digest_checker.problems:
                raise ValueError(f"{record.digest_checker.problems}")
            if record.rec_type == "conversion":
                header = record.rec_headers.get_header
                yield header("WARC-Target-URI"), header("WARC-Refers-To"), text


def by_fastwarc(path):
    with path.open("rb") as file:
        for record in FastReader(file, record_types=WarcRecordType.conversion):
            if not record.verify_block_digest():
                raise ValueError(f"{record.record_id}: its block digest is wrong")
            headers = record.headers
            yield headers["WARC-Target-URI"], headers["WARC-Refers-To"], record.reader.read()


def responses(directory):
    """Returns the ids of all responses in the archive."""
    ids = set()
    for path in archive_files(directory):
        with path.open("rb") as file:
            records = FastReader(file, record_types=WarcRecordType.response)
            ids.update(record.headers["WARC-Record-ID"] for record in records)
    return ids


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--crawler", required=True)
    options = parser.parse_args()
    findings = Findings("WET")
    archived = responses(options.directory)
    with tempfile.TemporaryDirectory() as place:
        lines, wet = Path(place) / "texts.jsonl", Path(place) / "texts.warc.wet.gz"
        export(options.crawler, options.directory, "--output", lines)
        export(options.crawler, options.directory, "--format", "wet", "--output", wet)
        rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
        for name, read in {"warcio": by_warcio, "FastWARC": by_fastwarc}.items():
            for row, record in zip_longest(rows, read(wet)):
                expected = row and (row["final_url"], row["text"].encode())
                if record is None or (record[0], record[2]) != expected:
                    findings.add(f"{name}: {record} is not the text of {row}")
                elif record[1] not in archived:
                    findings.add(f"{name}: the archive has no response {record[1]}")
    findings.finish(f"{len(rows)} texts read by warcio and FastWARC")


main()
