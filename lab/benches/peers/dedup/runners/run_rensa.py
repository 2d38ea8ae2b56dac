"""rensa: `RMinHashDeduplicator` with its index ("Keep unique documents" in its documentation).

Sketches are made in as many processes as there are cores, which the library leaves to its user: the
shingles, which Python makes, cost more than the sketches. The deduplicator compares a candidate's
sketch before it removes a document. The rho pipeline of the library is left out: it flags all
documents that share a band, and does not say which of them to keep.
"""

import multiprocessing

from documents import PERMUTATIONS, arguments, lines, parsed, shingles, write_removed
from rensa import RMinHash, RMinHashDeduplicator

SEED = 42


def signed(line):
    document, text = parsed(line)
    minhash = RMinHash(num_perm=PERMUTATIONS, seed=SEED)
    minhash.update(list(shingles(text)))
    return document, minhash


def main():
    asked = arguments()
    unique = RMinHashDeduplicator(
        threshold=asked.threshold, num_perm=PERMUTATIONS, use_lsh=True, seed=SEED
    )
    removed = []
    with multiprocessing.Pool(asked.cores) as pool:
        for document, minhash in pool.imap(signed, lines(asked.documents), chunksize=256):
            if not unique.add(document, minhash):
                removed.append(document)
    write_removed(asked.output, removed)


if __name__ == "__main__":
    main()
