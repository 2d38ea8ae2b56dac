"""Replays every archived URL with pywb from our WARC files and index, and compares every byte.

    replay.py DIR… --served FILE… [--index FILE…] [--wacz FILE]

The collection has the WARC files and indexes of all the given crawls, or those that pywb unpacks
from the WACZ. Each capture of the index is requested at its own time without rewriting, and must
have the status, the media type and the bytes that the server sent (`--served`, as the test server
writes it; a crawl that refers to an earlier one needs both). A page that was served and left out
must not be replayed with other bytes than its own.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local

from crawls import Findings, served
from wayback import Wayback

AT_ONCE = 4


def captures(indexes):
    """Yields timestamp and fields of the lines of indexes for records with a payload."""
    for index in indexes:
        for line in Path(index).read_text(encoding="utf-8").splitlines():
            _, timestamp, fields = line.split(" ", 2)
            fields = json.loads(fields)
            if "filename" in fields and "duplicate_of" not in fields:
                yield timestamp, fields


class Replay:
    def __init__(self, wayback, answers, findings):
        self.wayback, self.answers, self.findings = wayback, answers, findings
        self.counts, self.threads = Counter(), local()

    def ask(self, timestamp, url):
        if not hasattr(self.threads, "connection"):
            self.threads.connection = self.wayback.connection()
        return self.wayback.ask(self.threads.connection, timestamp, url)

    def all(self, captures):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for finding, kind in pool.map(lambda capture: self.capture(*capture), captures):
                self.counts[kind] += 1
                if finding:
                    self.findings.add(finding)
            asked = {fields["url"] for _, fields in captures}
            absent = sorted(set(self.answers) - asked)
            when = max(timestamp for timestamp, _ in captures)
            for finding in pool.map(lambda url: self.left_out(when, url), absent):
                self.counts["left out"] += 1
                if finding:
                    self.findings.add(finding)

    def capture(self, timestamp, fields):
        url, kind = fields["url"], "revisit" if fields.get("mime") == "warc/revisit" else "capture"
        back = self.ask(timestamp, url)
        if not back.is_memento:
            return f"{timestamp} {url}: pywb has none, and says {back.status} ({back.body[:200]!r})", kind
        wanted = [answer for answer in self.answers.get(url, []) if answer.status != 304]
        if not wanted:
            return f"{timestamp} {url}: the server never answered that", kind
        if not any(answer.body == back.body for answer in wanted):
            return f"{timestamp} {url}: {len(back.body)} bytes replayed, {len(wanted[0].body)} served, or others", kind
        if back.status not in {answer.status for answer in wanted}:
            return f"{timestamp} {url}: replayed with status {back.status}, served with {wanted[0].status}", kind
        # Over HTTP/2 the server does not record its heads.
        types = {answer.field("content-type") for answer in wanted if answer.head}
        if types and back.fields.get("content-type") not in types:
            return f"{timestamp} {url}: replayed as {back.fields.get('content-type')}, served as {types}", kind
        return None, kind

    def left_out(self, timestamp, url):
        back = self.ask(timestamp, url)
        if back.is_memento and not any(answer.body == back.body for answer in self.answers[url]):
            return f"{url}: was not archived, and is replayed as something else"
        if back.status >= 500:
            return f"{url}: was not archived, and pywb fails with {back.status}: {back.body[:200]!r}"
        return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("directory", nargs="+")
    arguments.add_argument("--served", nargs="+", required=True)
    arguments.add_argument("--index", nargs="+")
    arguments.add_argument("--wacz")
    wish = arguments.parse_args()
    findings = Findings("replay of the WACZ" if wish.wacz else "replay")
    answers = {}
    for file in wish.served:
        for url, given in served(file).items():
            answers.setdefault(url, []).extend(answer for answer in given if answer.whole)
    answers = {url: given for url, given in answers.items() if given}
    indexes = wish.index or [Path(directory, "archive", "index.cdxj") for directory in wish.directory]
    with tempfile.TemporaryDirectory() as scratch:
        if wish.wacz:
            wayback = Wayback.of_wacz(wish.wacz, scratch)
        else:
            wayback = Wayback.of_crawls(wish.directory, scratch, wish.index)
        wanted = list(captures(indexes))
        if not wanted:
            sys.exit("the index has no capture")
        with wayback:
            replay = Replay(wayback, answers, findings)
            replay.all(wanted)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(replay.counts.items()))
    findings.finish(f"pywb was asked for {counts}: status, media type and bytes compared")


if __name__ == "__main__":
    main()
