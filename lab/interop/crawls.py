"""Reads the files of a crawl's archive, and the test server's record of its answers."""

import base64
import json
import struct
import subprocess
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import zstandard

# The dictionary of a .warc.zst is in a skippable frame at the beginning.
DICTIONARY_FRAME = 0x184D2A5D
FRAME = b"\x28\xb5\x2f\xfd"


class Answer(NamedTuple):
    """One answer of a server."""

    method: str
    status: int
    whole: bool
    head: bytes
    body: bytes

    def field(self, name):
        """Returns a header field; None if there is none."""
        for line in self.head.split(b"\r\n")[1:]:
            key, colon, value = line.partition(b":")
            if colon and key.strip().lower() == name.lower().encode():
                return value.strip().decode("latin-1")
        return None


def served(file):
    """Returns the answers to each URL in order, from the file of the server's `--served`."""
    answers = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            url, method, status, whole, head, body = line.rstrip("\n").split("\t")
            answer = Answer(method, int(status), whole == "whole", base64.b64decode(head), base64.b64decode(body))
            answers.setdefault(url, []).append(answer)
    return answers


def form(path):
    """Returns `warc`, `gz` or `zst`, by the name without `.open`."""
    return Path(path).name.removesuffix(".open").rsplit(".", 1)[1]


def archive_files(directory):
    """Returns the WARC files of a crawl, in order."""
    names = (f"*.warc{packed}{state}" for packed in ("", ".gz", ".zst") for state in ("", ".open"))
    files = sorted(file for name in names for file in Path(directory, "archive").glob(name))
    if not files:
        sys.exit(f"no WARC file in {directory}/archive")
    return files


def told(crawler, *arguments):
    """Returns the exit code of our program, and its output: JSON, a value a line."""
    run = subprocess.run([crawler, *arguments], capture_output=True, text=True, timeout=3600)
    if run.returncode not in (0, 1) or not run.stdout:
        sys.exit(f"{crawler} {' '.join(map(str, arguments))}: {run.stderr}")
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()]


def members(path):
    """Yields the bytes of each member (gzip) or frame (zstd) of a file, unpacked."""
    unpacker = {"gz": lambda: zlib.decompressobj(wbits=31), "zst": zstd_frames(path)}[form(path)]
    member, parts = None, []
    with open(path, "rb") as stream:
        while chunk := stream.read(1 << 16):
            while chunk:
                member = member or unpacker()
                parts.append(member.decompress(chunk))
                if not member.eof:
                    break
                # A skippable frame, such as that of the dictionary, unpacks to nothing.
                if unpacked := b"".join(parts):
                    yield unpacked
                member, chunk, parts = None, member.unused_data, []
    if member:
        raise ValueError(f"{path} is cut off within a member")


def zstd_frames(path):
    """Returns a maker of decompressors for frames, with the file's dictionary if it has one."""
    dictionary = None
    with open(path, "rb") as stream:
        magic, length = struct.unpack("<II", stream.read(8).ljust(8, b"\0"))
        if magic == DICTIONARY_FRAME:
            dictionary = stream.read(length)
            if dictionary.startswith(FRAME):
                dictionary = zstandard.ZstdDecompressor().decompressobj().decompress(dictionary)
            dictionary = zstandard.ZstdCompressionDict(dictionary)
    return lambda: zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()


@contextmanager
def readable_by_all(files, scratch):
    """Yields the files, with unpacked copies of those with zstd, which not every reader knows."""
    readable, made = [], []
    for file in files:
        if form(file) == "zst":
            plain = Path(scratch) / (file.name.removesuffix(".open").removesuffix(".zst"))
            with plain.open("wb") as out:
                for member in members(file):
                    out.write(member)
            made.append(plain)
            file = plain
        readable.append(file)
    try:
        yield readable
    finally:
        for plain in made:
            plain.unlink()


class Findings:
    """Collects findings and prints the first ones."""

    SHOWN = 20

    def __init__(self, name):
        self.name, self.count = name, 0

    def add(self, finding):
        self.count += 1
        if self.count <= self.SHOWN:
            print(f"{self.name}: {finding}", file=sys.stderr)

    def finish(self, summary):
        """Prints the summary, and ends the program: code 0 if there is no finding."""
        if self.count > self.SHOWN:
            print(f"{self.name}: and {self.count - self.SHOWN} more", file=sys.stderr)
        print(f"- {self.name}: {summary}; {self.count or 'no'} finding{'' if self.count == 1 else 's'}")
        sys.exit(1 if self.count else 0)
