#!/usr/bin/env python3
"""Crawls a handbook in 26 languages, most of them half translated, and judges the verdicts.

    editions.py DIR CRAWLER SERVE    DIR is for the handbook and the crawl; SERVE is testkit's server

Needs `apt-get` and `dpkg-deb`. Three words in a row that a page shares with another one are their
common text. It prints how many pages of the English edition are originals; how many repeats name an
original without 70 % of their text, and how many of these are nowhere else in the archive; and how
many originals share 93 % of their text with an earlier one.
"""

import collections
import functools
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "debian-handbook"
HOST, PORT = "handbook.test", 8055


def fetch(directory):
    """Returns the directory of the handbook, which is unpacked once."""
    if not (directory / "unpacked").exists():
        directory.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", PACKAGE], cwd=directory, check=True)
        package = next(directory.glob(f"{PACKAGE}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", package, directory / "unpacked"], check=True)
    return directory / "unpacked/usr/share/doc" / PACKAGE / "html"


def crawled(crawler, serve, pages, out):
    """Crawls all editions, and returns the visits of pages by their path."""
    shutil.rmtree(out, ignore_errors=True)
    command = [serve, "--dir", f"{HOST}={pages}", "--port", str(PORT)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    next(line for line in server.stdout if line.startswith("# ready"))
    origin = f"http://{HOST}:{PORT}/"
    seeds = [f"{origin}{edition.name}/index.html" for edition in sorted(pages.iterdir())]
    subprocess.run(
        [crawler, "--allow-private", "--delay=0", "--delay-factor=0", "--contact=me@example.org", "-qq",
         f"--resolve={HOST}:{PORT}:127.0.0.1", "--out", out, *seeds], check=True)
    server.stdin.close()
    server.wait()
    exported = subprocess.run([crawler, "export", out], capture_output=True, check=True, text=True)
    visits = map(json.loads, exported.stdout.splitlines())
    return {visit["url"].removeprefix(origin): visit for visit in visits if visit["status"] == 200}


def shares(text_of, visits):
    """Returns the counts that main prints."""
    found = collections.Counter()
    same_name = collections.defaultdict(list)
    for path, visit in visits.items():
        if visit["verdict"] == "unique":
            same_name[path.split("/")[-1]].append(path)
            found["originals"] += 1
            found["English originals"] += path.startswith("en-US/")
    for path, visit in visits.items():
        ours = text_of(path)
        originals = same_name[path.split("/")[-1]]
        if visit["verdict"] == "unique":
            earlier = originals[: originals.index(path)]
            alike = (len(ours & text_of(other)) / max(1, len(ours | text_of(other))) for other in earlier)
            found["repeats that are kept"] += max(alike, default=0) > 0.93
            continue
        found["repeats"] += 1
        within = lambda other: len(ours & text_of(other)) / max(1, len(ours))
        if within(visit["duplicate_of"].split("/", 3)[3]) < 0.7:
            found["repeats of another text"] += 1
            found["pages that are lost"] += max(map(within, originals), default=0) < 0.7
    return found


def main():
    directory, crawler, serve = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    pages = fetch(directory)

    @functools.cache
    def text_of(path):
        page = (pages / path).read_text(encoding="utf-8")
        page = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
        words = html.unescape(re.sub("<[^>]+>", " ", page)).split()
        return frozenset(zip(words, words[1:], words[2:]))
    for name, count in shares(text_of, crawled(crawler, serve, pages, directory / "crawl")).items():
        print(f"{count:6} {name}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
