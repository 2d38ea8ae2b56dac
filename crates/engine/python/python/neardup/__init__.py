"""Near-duplicates among texts.

- `dedup`: the duplicates, similar pairs or clusters among documents, in bounded memory, on all
  cores.
- `keep`: the documents that do not repeat an earlier document.
- `SignatureIndex`: an index of texts that finds the near-duplicates of a text.
- `Simhash`, `fingerprints`: fingerprints that differ in few bits for similar texts.
- `MinHash`, `minhashes`, `MinHashLSH`: sets as minima, which estimate resemblance, and an index
  of them.
- `Shingles`, `resemblance`, `containment`: exact measures.
- `crawl.open`: a crawl by `crawler`, with its pages, texts and links, its search index, and answers
  to questions about it.
"""

from . import crawl
from ._keep import keep
from ._neardup import (
    ArrowData,
    Findings,
    MinHash,
    MinHashLSH,
    Shingles,
    SignatureIndex,
    Simhash,
    __version__,
    containment,
    dedup,
    fingerprints,
    minhashes,
    resemblance,
)
from ._results import Cluster, Duplicate, Match, Pair

__all__ = [
    "ArrowData",
    "Cluster",
    "Duplicate",
    "Findings",
    "Match",
    "MinHash",
    "MinHashLSH",
    "Pair",
    "Shingles",
    "SignatureIndex",
    "Simhash",
    "__version__",
    "containment",
    "crawl",
    "dedup",
    "fingerprints",
    "keep",
    "minhashes",
    "resemblance",
]
