#!/usr/bin/env python3
"""Compares the text that `crawler extract` finds in PDF files with that of pdftotext.

    pdfs.py fetch DIR              unpacks PDF files of Debian packages into DIR
    pdfs.py compare DIR CRAWLER    share of the words of pdftotext that the crawler finds
    pdfs.py damage DIR CRAWLER     files that are cut, and files with wrong bytes

Needs `apt-get`, `dpkg-deb` and `pdftotext` (package poppler-utils).
"""

import collections
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGES = """asymptote-doc auctex axiom-doc bash-doc dblatex-doc debian-handbook debian-policy
debmake-doc developers-reference gcl-doc ghostscript-doc gnubg gnuplot-doc graphviz-doc gri-pdf-doc
installation-guide-amd64 libcfitsio-doc lilypond-doc-pdf maxima-doc octave-doc postgis-doc r-doc-pdf
tcllib""".split()
WORD = re.compile(r"\w{2,}")
MIN_WORDS = 20
SEED = 20261130


def fetch(directory):
    directory.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        subprocess.run(["apt-get", "download", package], cwd=directory, check=True)
    for package in directory.glob("*.deb"):
        target = directory / package.name.split("_")[0]
        subprocess.run(["dpkg-deb", "-x", package, target], check=True)
    for packed in directory.rglob("*.pdf.gz"):
        # Packages link to the same file under another name.
        if not packed.is_symlink():
            subprocess.run(["gunzip", "-f", packed], check=True)


def words(text):
    return collections.Counter(word.lower() for word in WORD.findall(text))


def extracted(crawler, path):
    """Returns what the crawler finds, and the seconds that it takes."""
    begin = time.monotonic()
    run = subprocess.run([crawler, "extract", path], capture_output=True, text=True)
    return json.loads(run.stdout), time.monotonic() - begin


def compare(paths, crawler):
    found = expected = in_both = 0
    poor, unread = [], collections.Counter()
    slowest = (0.0, "")
    for path in paths:
        oracle = subprocess.run(["pdftotext", path, "-"], capture_output=True).stdout
        oracle = words(oracle.decode("utf-8", "replace"))
        document, seconds = extracted(crawler, path)
        text = words(document["full_text"])
        slowest = max(slowest, (seconds, path.name))
        unread.update(document["warnings"])
        if "TooMuchText" in document["warnings"]:
            continue  # Only its beginning is read.
        both, count = (text & oracle).total(), oracle.total()
        found, expected, in_both = found + text.total(), expected + count, in_both + both
        if count >= MIN_WORDS and both < 0.9 * count:
            poor.append(f"{path.name} {both / count:.2f}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(paths)} files, {expected} words: {in_both / expected:.4f} of them found,")
    print(f"{in_both / found:.4f} of what is found is right; warnings {dict(unread)}")
    print(f"slowest {slowest[1]} {slowest[0]:.1f} s; at most {used.ru_maxrss >> 10} MiB")
    print("below 0.9:", ", ".join(sorted(poor)))


def damage(paths, crawler):
    dice = random.Random(SEED)
    outcomes, slowest = collections.Counter(), 0.0
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "damaged.pdf"
        for path in dice.sample(paths, min(len(paths), 40)):
            whole = path.read_bytes()
            cuts = [whole[: len(whole) * part // 8] for part in range(1, 8)]
            for _ in range(7):
                wrong = bytearray(whole)
                for _ in range(1 + len(wrong) // 2000):
                    wrong[dice.randrange(len(wrong))] = dice.randrange(256)
                cuts.append(bytes(wrong))
            for content in cuts:
                file.write_bytes(b"%PDF-" + content[5:])
                document, seconds = extracted(crawler, file)
                slowest = max(slowest, seconds)
                failures = [name for name in document["warnings"] if name.startswith("Pdf(")]
                outcomes.update(failures or ["read"])
    print(f"{outcomes.total()} files: {dict(outcomes)}; slowest {slowest:.1f} s")


def main():
    command, directory = sys.argv[1], Path(sys.argv[2])
    if command == "fetch":
        fetch(directory)
        return
    paths = sorted(path for path in directory.rglob("*.pdf") if path.stat().st_size > 2048)
    {"compare": compare, "damage": damage}[command](paths, sys.argv[3])


if __name__ == "__main__":
    main()
