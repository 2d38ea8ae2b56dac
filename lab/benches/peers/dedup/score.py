"""Precision and recall of removed documents against a truth file.

Every peer says which documents it removes; not all say of what a document is a copy. So documents
are scored, not pairs. Documents that positive pairs connect form a cluster, and of a cluster of n
documents n - 1 may go: a further one loses the text, and counts as wrong.
"""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """The precision and recall of a run, `None` where there is nothing to divide by."""

    removed: int
    positives: int
    precision: float | None
    recall: float | None
    bands: dict
    """Planted resemblance -> part of the pairs of which a document is removed."""


def read_truth(path):
    """Reads pairs `{"a", "b"}`, with `resemblance` unless people labelled them as duplicates."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def clusters_of(pairs):
    """Returns the cluster of each document that a pair connects (union-find)."""
    parents = {}

    def root(document):
        parents.setdefault(document, document)
        while parents[document] != document:
            parents[document] = parents[parents[document]]
            document = parents[document]
        return document

    for a, b in pairs:
        parents[root(a)] = root(b)
    return {document: root(document) for document in parents}


def score(removed, truth, threshold):
    """Scores the ids of removed documents; a pair is positive from `threshold` on."""
    removed = set(removed)
    positive = [
        (pair["a"], pair["b"]) for pair in truth if pair.get("resemblance", 1.0) >= threshold
    ]
    clusters = clusters_of(positive)
    may_go = {root: size - 1 for root, size in Counter(clusters.values()).items()}
    gone = Counter(clusters[document] for document in removed if document in clusters)
    right = sum(min(count, may_go[root]) for root, count in gone.items())
    positives = sum(may_go.values())
    found = defaultdict(list)
    for pair in truth:
        if "planted" in pair:
            found[pair["planted"]].append(pair["a"] in removed or pair["b"] in removed)
    return Score(
        removed=len(removed),
        positives=positives,
        precision=right / len(removed) if removed else None,
        recall=right / positives if positives else None,
        bands={planted: sum(each) / len(each) for planted, each in sorted(found.items())},
    )
