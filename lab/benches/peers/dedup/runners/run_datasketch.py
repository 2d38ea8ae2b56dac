"""datasketch: MinHash and MinHashLSH, as in its documentation.

The index is held in one process; signatures are made in as many as there are cores, which the
library leaves to its user. A document with a candidate in the index is removed, others are
inserted. Candidates are not verified, which is the documented use of `query`.
"""

import multiprocessing

from datasketch import MinHash, MinHashLSH
from documents import PERMUTATIONS, arguments, lines, parsed, shingles, write_removed


# The library's default, which a MinHash from values has to name.
SCHEME = "affine32"


def signed(line):
    document, text = parsed(line)
    minhash = MinHash(num_perm=PERMUTATIONS, scheme=SCHEME)
    minhash.update_batch([shingle.encode() for shingle in shingles(text)])
    return document, minhash.hashvalues


def main():
    asked = arguments()
    index = MinHashLSH(threshold=asked.threshold, num_perm=PERMUTATIONS)
    removed = []
    with multiprocessing.Pool(asked.cores) as pool:
        for document, values in pool.imap(signed, lines(asked.documents), chunksize=256):
            minhash = MinHash(num_perm=PERMUTATIONS, hashvalues=values, scheme=SCHEME)
            if index.query(minhash):
                removed.append(document)
            else:
                index.insert(document, minhash, check_duplication=False)
    write_removed(asked.output, removed)


if __name__ == "__main__":
    main()
