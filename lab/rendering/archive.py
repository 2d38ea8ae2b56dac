"""Reads the WARC files of a crawl."""

import gzip
from pathlib import Path
from typing import NamedTuple


class Record(NamedTuple):
    fields: dict
    content: bytes

    @property
    def kind(self):
        return self.fields["warc-type"]

    @property
    def url(self):
        return self.fields.get("warc-target-uri")


def records(crawl):
    """Yields the records of the archive of a crawl that has ended."""
    for file in sorted(Path(crawl, "archive").glob("*.warc.gz*")):
        with gzip.open(file) as stream:
            yield from records_of(stream)


def records_of(stream):
    while line := stream.readline():
        if not line.startswith(b"WARC/"):
            continue
        fields = {}
        while (line := stream.readline().strip()):
            name, _, value = line.decode().partition(":")
            fields[name.lower()] = value.strip()
        yield Record(fields, stream.read(int(fields["content-length"])))
