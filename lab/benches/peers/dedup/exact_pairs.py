"""The pairs that `crawler dedup --pairs --resemblance R` finds, beside all pairs of a corpus.

    python exact_pairs.py CRAWLER DOCUMENTS.jsonl [R ...]

Compares every two documents by their word 5-shingles, so the corpus should have a few thousand.
Needs the package `neardup` (crates/engine/python). Documents of fewer than 15 words are compared for
equality only, and are not counted.
"""

import json
import subprocess
import sys
from itertools import combinations

from neardup import Shingles

MIN_WORDS = 15


def exact_pairs(documents, resemblance):
    """Returns the resemblance of each pair at or above the threshold."""
    shingles = {
        str(document["id"]): Shingles(document["text"], "word:5")
        for document in documents
        if len(document["text"].split()) >= MIN_WORDS
    }
    pairs = {}
    for (one, of_one), (two, of_two) in combinations(shingles.items(), 2):
        exact = of_one.resemblance(of_two)
        if exact >= resemblance:
            pairs[frozenset((one, two))] = exact
    return pairs


def found_pairs(crawler, path, resemblance):
    """Returns the resemblance of each pair that the command prints."""
    command = [crawler, "dedup", path, "--pairs", "--resemblance", str(resemblance), "--quiet"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = map(json.loads, printed.splitlines())
    return {frozenset((line["a"], line["b"])): line["resemblance"] for line in lines}


def main(crawler, path, *thresholds):
    with open(path, encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    for resemblance in map(float, thresholds or ("0.3", "0.5", "0.8")):
        exact = exact_pairs(documents, resemblance)
        found = found_pairs(crawler, path, resemblance)
        missed = exact.keys() - found.keys()
        more = found.keys() - exact.keys()
        other = sum(exact[pair] != found[pair] for pair in exact.keys() & found.keys())
        print(
            f"{path}: {len(documents)} documents, {len(exact)} pairs at {resemblance} or more; "
            f"found {len(found)}, missed {len(missed)}, below it {len(more)}, "
            f"with another figure {other}"
        )


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
