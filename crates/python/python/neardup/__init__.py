"""Near-duplicates among texts.

- `dedup`: the duplicates, similar pairs or clusters among documents, in bounded memory, on all
  cores.
- `keep`: the documents that do not repeat an earlier document.
- `SignatureIndex`: an index of texts that finds the near-duplicates of a text.
- `Simhash`, `fingerprints`: fingerprints that differ in few bits for similar texts.
- `MinHash`, `minhashes`, `MinHashLSH`: sets as minima, which estimate resemblance, and an index
  of them.
- `Shingles`, `resemblance`, `containment`: exact measures.
- `Crawl`: the pages, texts, links and search index of a crawl by `crawler`.
"""

from ._keep import keep
from ._neardup import (
    ArrowData,
    Crawl,
    CrawlTable,
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
    "Crawl",
    "CrawlTable",
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
    "dedup",
    "fingerprints",
    "keep",
    "minhashes",
    "resemblance",
]
