"""Turns labelled sets into the form that `compare.py --labelled` reads.

    python3 labelled.py articles articles_1000.train articles_1000.truth SETS/articles
    python3 labelled.py copies DIRECTORY SETS/newsgroups
    python3 labelled.py judged DIRECTORY SETS/judged-pairs

A set is a directory with `documents.jsonl` (`{"id", "text"}`) and `truth.jsonl` (`{"a", "b"}`, a
line for each pair that is a duplicate). The sets themselves are not redistributed:

- articles: a line an article, its id first, and a file of pairs of ids (chrisjmccormick/MinHash);
- copies: files NAME.txt and NAME.txt.copyN, one cluster a NAME (sumonbis/NearDuplicateDetection);
- judged: a directory a pair with `src-doc`, `target-doc` and `label`; people's labels of 2 and 3
  are duplicates (chatnoir-eu/chatnoir-copycat).
"""

import argparse
import json
from pathlib import Path

# The least label of a pair that is a duplicate.
DUPLICATE = 2


def articles(train, truth):
    documents = {}
    for line in train.read_text(encoding="utf-8").splitlines():
        document, _, text = line.partition(" ")
        documents[document] = text
    lines = truth.read_text(encoding="utf-8").splitlines()
    return documents, [tuple(line.split()) for line in lines if line.strip()]


def copies(directory):
    documents, pairs = {}, []
    for path in sorted(directory.glob("*.txt*")):
        documents[path.name] = path.read_text(encoding="utf-8", errors="replace")
        original = path.name.partition(".txt")[0] + ".txt"
        if original != path.name:
            pairs.append((original, path.name))
    return documents, pairs


def judged(directory):
    documents, pairs = {}, []
    for label in sorted(directory.rglob("label")):
        pair = [f"{label.parent.name}/{side}" for side in ("src-doc", "target-doc")]
        for document in pair:
            path = label.parent / document.rpartition("/")[2]
            documents[document] = path.read_text(encoding="utf-8", errors="replace")
        given = label.read_text().strip()
        if given and float(given) >= DUPLICATE:
            pairs.append(tuple(pair))
    return documents, pairs


def write(directory, documents, pairs):
    missing = {document for pair in pairs for document in pair} - documents.keys()
    if missing:
        raise SystemExit(f"the truth names documents that are missing: {sorted(missing)[:3]}")
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "documents.jsonl", "w", encoding="utf-8") as file:
        for document, text in documents.items():
            file.write(json.dumps({"id": document, "text": text}) + "\n")
    with open(directory / "truth.jsonl", "w", encoding="utf-8") as file:
        for a, b in pairs:
            file.write(json.dumps({"a": a, "b": b}) + "\n")
    print(f"{directory}: {len(documents)} documents, {len(pairs)} pairs")


def main():
    parser = argparse.ArgumentParser(description="Convert a labelled set for compare.py")
    kinds = parser.add_subparsers(required=True)
    for convert, inputs in ((articles, ("train", "truth")), (copies, ("directory",)),
                            (judged, ("directory",))):
        kind = kinds.add_parser(convert.__name__)
        for name in (*inputs, "output"):
            kind.add_argument(name, type=Path)
        kind.set_defaults(convert=convert, inputs=inputs)
    asked = parser.parse_args()
    write(asked.output, *asked.convert(*(getattr(asked, name) for name in asked.inputs)))


if __name__ == "__main__":
    main()
