"""Crawls against archives that other tools made, and compares the verdicts.

    imports.py make DIR --wacz FILE --cdxj FILE      py-wacz packs DIR's archive, cdxj-indexer indexes it
    imports.py compare OURS THEIRS --crawler PROGRAM [--texts]

`compare` takes two crawls of the same site: OURS was run against the directory of an earlier crawl,
THEIRS against a file that `make` wrote. Every page that repeats itself in OURS must repeat itself in
THEIRS, with the same reference in its `revisit` record. With `--texts` (a WACZ), all verdicts agree.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from crawls import Findings, archive_files


def make(wish):
    files = archive_files(wish.directory)
    tools = Path(sys.executable).parent
    for made in (wish.wacz, wish.cdxj):
        Path(made).unlink(missing_ok=True)
    subprocess.run([tools / "wacz", "create", "-o", wish.wacz, *files], check=True, timeout=3600, stdout=subprocess.DEVNULL)
    subprocess.run([tools / "cdxj-indexer", "--sort", "--output", wish.cdxj, *files], check=True, timeout=3600)


def visits(crawler, directory):
    run = subprocess.run([crawler, "export", directory], check=True, capture_output=True, text=True, timeout=3600)
    return {visit["url"]: visit for visit in map(json.loads, run.stdout.splitlines())}


def references(directory):
    """Returns the references of revisits: by target, the URL and the date to the second."""
    found = {}
    for file in archive_files(directory):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                header = record.rec_headers.get_header
                if record.rec_type == "revisit":
                    date = (header("WARC-Refers-To-Date") or "")[:19]
                    found[header("WARC-Target-URI")] = header("WARC-Refers-To-Target-URI"), date
    return found


def compare(wish):
    findings = Findings("imports")
    ours, theirs = (visits(wish.crawler, directory) for directory in (wish.ours, wish.theirs))
    mine, other = references(wish.ours), references(wish.theirs)
    repeats = 0
    for url, visit in ours.items():
        found = theirs.get(url)
        if found is None:
            findings.add(f"{url} was not visited")
            continue
        # An index has no redirects: the page behind one repeats the capture of its target.
        through = any(each["redirects"] for each in (visit, found))
        facts = [(each["verdict"], not through and each["duplicate_of"]) for each in (visit, found)]
        is_repeat = visit["verdict"] == "exact-duplicate" and visit["duplicate_of"] == url
        repeats += is_repeat
        if (is_repeat or wish.texts) and facts[0] != facts[1]:
            findings.add(f"{url} is {facts[0]} against our crawl, {facts[1]} against the file")
        if is_repeat and url in mine and mine[url] != other.get(url):
            findings.add(f"{url} refers to {mine[url]}, or to {other.get(url)}")
    if not repeats:
        findings.add("no page repeats itself")
    findings.finish(f"{repeats} pages repeat themselves, of {len(ours)}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = arguments.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("directory")
    making.add_argument("--wacz", required=True)
    making.add_argument("--cdxj", required=True)
    comparing = commands.add_parser("compare")
    comparing.add_argument("ours")
    comparing.add_argument("theirs")
    comparing.add_argument("--crawler", required=True)
    comparing.add_argument("--texts", action="store_true")
    wish = arguments.parse_args()
    {"make": make, "compare": compare}[wish.command](wish)


if __name__ == "__main__":
    main()
