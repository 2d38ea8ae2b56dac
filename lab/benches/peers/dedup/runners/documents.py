"""Parts that the runners share: their arguments, documents, shingles and result.

A runner is called as

    python RUNNER --threshold 0.8 --cores 2 --work DIRECTORY --output FILE DOCUMENTS.jsonl...

and writes the id of each document that it removes to FILE, one a line.
"""

import argparse
import json
import re
from pathlib import Path

SHINGLE = 5
PERMUTATIONS = 128
WORD = re.compile(r"\w+")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threshold", type=float, required=True)
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("documents", type=Path, nargs="+")
    return parser.parse_args()


def lines(paths):
    """Yields the lines of all files, as bytes."""
    for path in paths:
        with open(path, "rb") as file:
            yield from file


def parsed(line):
    """Returns the id and the text of a line."""
    document = json.loads(line)
    return document["id"], document["text"]


def shingles(text):
    """Returns the distinct word 5-shingles of a text; a shorter text is one shingle."""
    words = WORD.findall(text.lower())
    last = max(1, len(words) - SHINGLE + 1)
    return {" ".join(words[at : at + SHINGLE]) for at in range(last)}


def write_removed(path, removed):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{document}\n" for document in removed)
