"""gaoya: `MinHashStringIndex`, with the words, shingles and threads of the library.

The files are read twice, because a batch is inserted or asked for as a whole: first all documents
are inserted, then each is asked for. A document is removed if an earlier one that stays is among
the answers. The library compares the signatures of candidates with the threshold.
"""

import itertools

from documents import PERMUTATIONS, SHINGLE, arguments, lines, parsed, write_removed
from gaoya.minhash import MinHashStringIndex

BATCH = 10_000


def batches(paths):
    """Yields the number of the first document of a batch, its ids and its texts."""
    documents, start = map(parsed, lines(paths)), 0
    while batch := list(itertools.islice(documents, BATCH)):
        ids, texts = zip(*batch)
        yield start, ids, list(texts)
        start += len(batch)


def main():
    asked = arguments()
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=asked.threshold,
        num_bands=None,
        band_size=None,
        num_hashes=PERMUTATIONS,
        analyzer="word",
        lowercase=True,
        ngram_range=(SHINGLE, SHINGLE),
        id_container="smallvec",
    )
    for start, ids, texts in batches(asked.documents):
        index.par_bulk_insert_docs(list(range(start, start + len(ids))), texts)
    gone, removed = set(), []
    for start, ids, texts in batches(asked.documents):
        answers = index.par_bulk_query(texts)
        for number, (document, answer) in enumerate(zip(ids, answers), start):
            if any(other < number and other not in gone for other in answer):
                gone.add(number)
                removed.append(document)
    write_removed(asked.output, removed)


if __name__ == "__main__":
    main()
