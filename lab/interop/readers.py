"""Reads the archive of a crawl with warcio, FastWARC and Rust's `warc` crate.

    readers.py DIR --crawler PROGRAM --rust-reader PROGRAM [--served FILE]

Each reads every record and checks every digest by itself. They must read the same records, as many
as our own `verify` counts, each in a gzip member or zstd frame of its own. With --served, the test
server's record of its answers, every payload is compared with the server's byte for byte, and every
answer must be in the archive or accounted for there.

warcio and the `warc` crate do not know zstd: they read files that python-zstandard unpacked.
FastWARC reads zstd itself, with its dictionary.
"""

import argparse
import hashlib
import subprocess
import tempfile
import zlib
from collections import Counter
from itertools import zip_longest
from typing import NamedTuple
from urllib.parse import urlsplit

import zstandard
from fastwarc.warc import ArchiveIterator as FastReader
from warcio.archiveiterator import ArchiveIterator as WarcioReader

from crawls import Findings, archive_files, form, members, readable_by_all, served, told

# Records with a response of a server.
ANSWERS = ("response", "revisit")


class Line(NamedTuple):
    """A record, as each reader must read it. Digests are `pass`, `absent` or `elsewhere`."""

    kind: str
    id: str
    target: str
    date: str
    length: int
    payload: str
    block_digest: str
    payload_digest: str


class DigestFailed(Exception):
    """A reader found that a digest is wrong."""


def by_warcio(files):
    """Yields the records; a second pass reads blocks, as warcio checks no digest of a revisit."""
    for file in files:
        with file.open("rb") as parsed, file.open("rb") as whole:
            records = WarcioReader(parsed, check_digests=True)
            for record, block in zip_longest(records, WarcioReader(whole, no_record_parse=True)):
                header = record.rec_headers.get_header
                payload = hashlib.sha256(record.raw_stream.read()).hexdigest()
                if record.digest_checker.problems:
                    raise DigestFailed(f"{header('WARC-Record-ID')}: {record.digest_checker.problems}")
                length, block_digest = 0, header("WARC-Block-Digest") or "absent"
                hasher = None if block_digest == "absent" else hashlib.new(block_digest.split(":")[0])
                while piece := block.raw_stream.read(1 << 16):
                    length += len(piece)
                    if hasher:
                        hasher.update(piece)
                if hasher:
                    block_digest = compare(block_digest, hasher, header("WARC-Record-ID"))
                payload_digest = "pass" if header("WARC-Payload-Digest") else "absent"
                if record.rec_type == "revisit":
                    payload_digest = "elsewhere"
                elif payload_digest == "pass" and record.digest_checker.passed is not True:
                    raise DigestFailed(f"{header('WARC-Record-ID')}: the payload digest was not checked")
                named = [header(name) or "" for name in ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date")]
                if header("Content-Length") != str(length):
                    raise DigestFailed(f"{named[0]}: {length} bytes, not {header('Content-Length')}")
                yield Line(record.rec_type, *named, length, payload, block_digest, payload_digest)


def compare(wanted, hasher, record):
    """Compares, with warcio's own function, the digest of a block that it does not check itself."""
    from warcio.digestverifyingreader import _compare_digest_rfc_3548
    from warcio.utils import Digester

    digester = Digester(hasher.name)
    digester.digester = hasher
    if _compare_digest_rfc_3548(digester, wanted) is not True:
        raise DigestFailed(f"{record}: the block digest is {wanted}, of the bytes {digester}")
    return "pass"


def by_fastwarc(files):
    for file in files:
        for record in FastReader(str(file), parse_http=False, auto_decode="none"):
            header = record.headers.get
            block_digest = payload_digest = "absent"
            if header("WARC-Block-Digest"):
                if not record.verify_block_digest(consume=False):
                    raise DigestFailed(f"{record.record_id}: the block digest fails")
                block_digest = "pass"
            if record.is_http:
                record.parse_http(auto_decode="none")
            kind = str(record.record_type)
            if kind == "revisit":
                payload_digest = "elsewhere"
            elif header("WARC-Payload-Digest"):
                # The payload of other records is their block; FastWARC checks HTTP messages only.
                if record.is_http and not record.verify_payload_digest(consume=False):
                    raise DigestFailed(f"{record.record_id}: the payload digest fails")
                if not record.is_http and header("WARC-Payload-Digest") != header("WARC-Block-Digest"):
                    raise DigestFailed(f"{record.record_id}: no HTTP message, and its payload is not its block")
                payload_digest = "pass"
            payload = hashlib.sha256(record.reader.read()).hexdigest()
            named = [header(name) or "" for name in ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date")]
            yield Line(kind, *named, int(header("Content-Length")), payload, block_digest, payload_digest)


def by_rust(reader, files):
    with subprocess.Popen([reader, *files], stdout=subprocess.PIPE, text=True, encoding="utf-8") as run:
        for line in run.stdout:
            kind, id, target, date, length, *rest = line.rstrip("\n").split("\t")
            yield Line(kind, id, target, date, int(length), *rest)
    if run.returncode != 0:
        raise DigestFailed(f"the reader ends with code {run.returncode}")


def read(name, lines, findings):
    """Returns the records that a reader finds, up to its first failure."""
    found = []
    try:
        for line in lines:
            # The `warc` crate has no fractions of a second.
            found.append(line._replace(id=line.id.strip("<>"), target=line.target.strip("<>"), date=line.date[:19]))
    except Exception as fault:
        findings.add(f"{name}, after {len(found)} records: {type(fault).__name__}: {fault}")
    return found


def check_members(files, findings):
    """Checks that each member holds one whole record."""
    count = 0
    for file in files:
        if form(file) == "warc":
            continue
        try:
            for member in members(file):
                count += 1
                head, _, rest = member.partition(b"\r\n\r\n")
                lengths = [line[15:] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
                if not head.startswith(b"WARC/1.1\r\n") or len(lengths) != 1 or len(rest) != int(lengths[0]) + 4:
                    findings.add(f"{file}: member {count} is not one record")
                elif not rest.endswith(b"\r\n\r\n"):
                    findings.add(f"{file}: the record of member {count} does not end as it should")
        except (ValueError, zlib.error, zstandard.ZstdError) as fault:
            findings.add(f"{file}, after {count} members: {fault}")
    return count


def check_records(lines, findings):
    """Checks the digests of every record, and that ids are unique."""
    names = Counter(line.id for line in lines)
    for line in lines:
        if names[line.id] > 1:
            findings.add(f"{names[line.id]} records are called {line.id}")
        if line.block_digest != "pass":
            findings.add(f"{line.kind} {line.id} has no block digest")
        if line.kind in ("response", "resource") and line.payload_digest != "pass":
            findings.add(f"{line.kind} {line.id} of {line.target} has no payload digest")


def check_against_ours(lines, files, crawler, directory, findings):
    """Compares with our own count of the same records."""
    code, (ours,) = told(crawler, "verify", directory, "--format", "json")
    if code != 0:
        findings.add(f"`crawler verify` does not agree: {ours['findings'][:3]}")
    kinds = Counter(line.kind for line in lines)
    theirs = {"archive_records": len(lines), "archive_files": len(files)}
    theirs |= {name: kinds[kind] for name, kind in
               [("responses", "response"), ("requests", "request"), ("revisits", "revisit"), ("metadata", "metadata")]}
    for name, count in theirs.items():
        if ours[name] != count:
            findings.add(f"`crawler verify` counts {ours[name]} {name}, the others {count}")
    return kinds


class Payloads:
    """A comparison of the archive with the server's record of its answers."""

    def __init__(self, answers, findings):
        self.answers, self.findings = answers, findings
        self.equal, self.cut = 0, 0

    def check(self, files):
        archived = {}
        for file in files:
            with file.open("rb") as stream:
                for record in WarcioReader(stream):
                    target = record.rec_headers.get_header("WARC-Target-URI")
                    archived.setdefault(target, set()).add(record.rec_type)
                    if record.rec_type in ("response", "resource"):
                        self.compare(record, target)
                    if record.rec_type == "revisit":
                        self.revisit(record, target)
        for target, answers in self.answers.items():
            whole = [answer for answer in answers if answer.whole]
            # The archive does not record that a host has no robots.txt.
            if urlsplit(target).path == "/robots.txt" and all(answer.status != 200 for answer in whole):
                continue
            if whole and not archived.get(target, set()) & {*ANSWERS, "resource", "metadata"}:
                self.findings.add(f"{target} was answered with {whole[-1].status}, and the archive does not say so")

    def compare(self, record, target):
        payload = record.raw_stream.read()
        answers = self.answers.get(target, [])
        if record.rec_type == "response":
            status = int(record.http_headers.get_statuscode())
            answers = [answer for answer in answers if answer.status == status]
        if record.rec_headers.get_header("WARC-Truncated"):
            self.cut += 1
            if not any(answer.body.startswith(payload) for answer in answers):
                self.findings.add(f"{target}: not the beginning of what was served")
        elif any(answer.body == payload for answer in answers):
            self.equal += 1
        else:
            self.findings.add(f"{target}: {len(payload)} bytes in the archive, and none of {len(answers)} answers is these")

    def revisit(self, record, target):
        """Checks that the server sent the same bytes for the record that a revisit refers to."""
        header = record.rec_headers.get_header
        if "server-not-modified" in header("WARC-Profile"):
            return
        original = self.answers.get(header("WARC-Refers-To-Target-URI"), [])
        bodies = {answer.body for answer in original}
        if any(answer.body in bodies for answer in self.answers.get(target, [])):
            self.equal += 1
        else:
            self.findings.add(f"{target}: a revisit of {header('WARC-Refers-To-Target-URI')}, which has other bytes")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("directory")
    arguments.add_argument("--crawler", required=True)
    arguments.add_argument("--rust-reader", required=True)
    arguments.add_argument("--served")
    wish = arguments.parse_args()
    findings = Findings("readers")
    files = archive_files(wish.directory)
    with tempfile.TemporaryDirectory() as scratch, readable_by_all(files, scratch) as readable:
        lists = {
            "warcio": read("warcio", by_warcio(readable), findings),
            "FastWARC": read("FastWARC", by_fastwarc(files), findings),
            "the warc crate": read("the warc crate", by_rust(wish.rust_reader, readable), findings),
        }
        lines = lists["warcio"]
        for name, others in lists.items():
            for mine, theirs in zip_longest(lines, others):
                if mine != theirs:
                    findings.add(f"warcio reads {mine}, {name} {theirs}")
                    break
        packed = check_members(files, findings)
        if packed and packed != len(lines):
            findings.add(f"{packed} members, but {len(lines)} records")
        check_records(lines, findings)
        kinds = check_against_ours(lines, files, wish.crawler, wish.directory, findings)
        if not kinds["response"]:
            findings.add("the archive holds no response")
        payloads = ""
        if wish.served:
            compared = Payloads(served(wish.served), findings)
            compared.check(readable)
            payloads = f"; {compared.equal} payloads equal the server's bytes, {compared.cut} their beginning"
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    digests = sum((line.block_digest == "pass") + (line.payload_digest == "pass") for line in lines)
    forms = "+".join(sorted({form(file) for file in files}))
    findings.finish(
        f"{len(files)} file(s) ({forms}), {len(lines)} records ({counts}) alike to warcio, FastWARC and the warc crate; "
        f"{digests} digests pass by each{payloads}"
    )


if __name__ == "__main__":
    main()
