"""Types of the extension module. The documentation is in the docstrings."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final, overload

from typing_extensions import Never

import numpy as np
import numpy.typing as npt

from ._results import Cluster, Duplicate, Id, Match, Pair

_Finding = TypeVar("_Finding", covariant=True)

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...

_Arrow: TypeAlias = _ArrowStream | _ArrowArray
_Token: TypeAlias = str | bytes
_Document: TypeAlias = str | tuple[Id, str] | dict[str, Any]
_Texts: TypeAlias = Iterable[_Document] | _Arrow
_Documents: TypeAlias = _Texts | str | PathLike[str] | Sequence[PathLike[str]]

__version__: str

@overload
def dedup(
    documents: _Documents,
    *,
    text: str = "text",
    id: str | Literal[False] | None = None,
    pairs: Literal[False] = False,
    clusters: Literal[False] = False,
    chained: bool = False,
    resemblance: float | None = None,
    recall: float | None = None,
    distance: int | None = None,
    features: str | None = None,
    weights: str | None = None,
    stop_words: str | None = None,
    verify: bool = True,
    exact: bool | None = None,
    min_words: int | None = None,
    against: str | PathLike[str] | None = None,
    save_index: str | PathLike[str] | None = None,
    memory: int | None = None,
    temp_dir: str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: Callable[[str, int, int | None], object] | None = None,
    **other: Never,
) -> Findings[Duplicate]: ...
@overload
def dedup(
    documents: _Documents,
    *,
    text: str = "text",
    id: str | Literal[False] | None = None,
    pairs: Literal[True],
    clusters: Literal[False] = False,
    chained: bool = False,
    resemblance: float | None = None,
    recall: float | None = None,
    distance: int | None = None,
    features: str | None = None,
    weights: str | None = None,
    stop_words: str | None = None,
    verify: bool = True,
    exact: bool | None = None,
    min_words: int | None = None,
    against: str | PathLike[str] | None = None,
    save_index: str | PathLike[str] | None = None,
    memory: int | None = None,
    temp_dir: str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: Callable[[str, int, int | None], object] | None = None,
    **other: Never,
) -> Findings[Pair]: ...
@overload
def dedup(
    documents: _Documents,
    *,
    text: str = "text",
    id: str | Literal[False] | None = None,
    pairs: Literal[False] = False,
    clusters: Literal[True],
    chained: bool = False,
    resemblance: float | None = None,
    recall: float | None = None,
    distance: int | None = None,
    features: str | None = None,
    weights: str | None = None,
    stop_words: str | None = None,
    verify: bool = True,
    exact: bool | None = None,
    min_words: int | None = None,
    against: str | PathLike[str] | None = None,
    save_index: str | PathLike[str] | None = None,
    memory: int | None = None,
    temp_dir: str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: Callable[[str, int, int | None], object] | None = None,
    **other: Never,
) -> Findings[Cluster]: ...
@overload
def dedup(
    documents: _Documents,
    *,
    text: str = "text",
    id: str | Literal[False] | None = None,
    pairs: bool = False,
    clusters: bool = False,
    chained: bool = False,
    resemblance: float | None = None,
    recall: float | None = None,
    distance: int | None = None,
    features: str | None = None,
    weights: str | None = None,
    stop_words: str | None = None,
    verify: bool = True,
    exact: bool | None = None,
    min_words: int | None = None,
    against: str | PathLike[str] | None = None,
    save_index: str | PathLike[str] | None = None,
    memory: int | None = None,
    temp_dir: str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: Callable[[str, int, int | None], object] | None = None,
    **other: Never,
) -> Findings[Duplicate | Pair | Cluster]: ...
def fingerprints(
    texts: _Texts,
    features: str = "word:1",
    weights: str | None = None,
    stop_words: str | None = None,
    *,
    bits: int = 64,
    text: str = "text",
    threads: int | None = None,
) -> npt.NDArray[np.uint64]: ...
def minhashes(
    texts: _Texts,
    shingles: str = "word:5",
    num_perm: int = 128,
    *,
    text: str = "text",
    threads: int | None = None,
) -> npt.NDArray[np.uint64]: ...
def resemblance(a: str, b: str, shingles: str = "word:5") -> float: ...
def containment(a: str, b: str, shingles: str = "word:5") -> float: ...
class ArrowData:
    def to_arrow(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...

@final
class Findings(ArrowData, Iterator[_Finding], Generic[_Finding]):
    @property
    def documents(self) -> int | None: ...
    @property
    def spilled(self) -> int | None: ...
    @property
    def skipped(self) -> int: ...
    @property
    def skipped_reasons(self) -> list[str]: ...
    @property
    def expected_recall(self) -> float | None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __iter__(self) -> Findings[_Finding]: ...
    def __next__(self) -> _Finding: ...
    @classmethod
    def __class_getitem__(cls, _kind: object) -> type: ...

@final
class Simhash:
    def __new__(
        cls,
        text: str,
        features: str = "word:1",
        weights: str | None = None,
        stop_words: str | None = None,
        *,
        bits: int = 64,
    ) -> Simhash: ...
    @staticmethod
    def from_value(value: int, *, bits: int = 64) -> Simhash: ...
    @staticmethod
    def from_tokens(
        tokens: Iterable[_Token | tuple[_Token, int]], *, bits: int = 64
    ) -> Simhash: ...
    @property
    def value(self) -> int: ...
    @property
    def bits(self) -> int: ...
    def distance(self, other: Simhash) -> int: ...
    def __int__(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def _restore(
        features: str | None, stop_words: str | None, value: int, bits: int
    ) -> Simhash: ...

@final
class Shingles:
    def __new__(cls, text: str, shingles: str = "word:5") -> Shingles: ...
    @property
    def unit(self) -> str: ...
    def resemblance(self, other: Shingles) -> float: ...
    def containment_in(self, other: Shingles) -> float: ...
    def hashes(self) -> npt.NDArray[np.uint64]: ...
    def __len__(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...
    @staticmethod
    def _restore(unit: str, hashes: bytes) -> Shingles: ...

@final
class MinHash:
    def __new__(cls, num_perm: int = 128, tokens: Iterable[_Token] | None = None) -> MinHash: ...
    @staticmethod
    def from_text(text: str, shingles: str = "word:5", num_perm: int = 128) -> MinHash: ...
    @staticmethod
    def from_texts(
        texts: _Texts,
        shingles: str = "word:5",
        num_perm: int = 128,
        *,
        text: str = "text",
        threads: int | None = None,
    ) -> list[MinHash]: ...
    @staticmethod
    def union(first: MinHash, *others: MinHash) -> MinHash: ...
    @staticmethod
    def from_bytes(stored: bytes, shingles: str | None = None) -> MinHash: ...
    @property
    def num_perm(self) -> int: ...
    @property
    def shingles(self) -> str | None: ...
    @property
    def hashvalues(self) -> npt.NDArray[np.uint64]: ...
    def update(self, token: _Token) -> None: ...
    def update_batch(self, tokens: Iterable[_Token]) -> None: ...
    def jaccard(self, other: MinHash) -> float: ...
    def merge(self, other: MinHash) -> None: ...
    def digest(self) -> npt.NDArray[np.uint64]: ...
    def is_empty(self) -> bool: ...
    def copy(self) -> MinHash: ...
    def to_bytes(self) -> bytes: ...
    def __len__(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __copy__(self) -> MinHash: ...

@final
class MinHashLSH:
    def __new__(
        cls,
        threshold: float = 0.9,
        num_perm: int = 128,
        *,
        recall: float = 0.99,
        params: tuple[int, int] | None = None,
    ) -> MinHashLSH: ...
    @property
    def params(self) -> tuple[int, int]: ...
    @property
    def threshold(self) -> float: ...
    def recall(self, resemblance: float) -> float: ...
    def insert(self, key: Hashable, minhash: MinHash) -> None: ...
    def query(self, minhash: MinHash) -> list[Any]: ...
    def remove(self, key: Hashable) -> None: ...
    def is_empty(self) -> bool: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: Hashable, /) -> bool: ...
    @staticmethod
    def _restore(
        threshold: float,
        num_perm: int,
        params: tuple[int, int],
        keys: list[Any],
        bands: bytes,
        sample: MinHash | None,
    ) -> MinHashLSH: ...

@final
class SignatureIndex:
    def __new__(
        cls,
        *,
        resemblance: float | None = None,
        distance: int | None = None,
        features: str | None = None,
        weights: str | None = None,
        stop_words: str | None = None,
        min_words: int | None = None,
    ) -> SignatureIndex: ...
    @staticmethod
    def load(
        path: str | PathLike[str],
        *,
        numbers: bool = False,
        resemblance: float | None = None,
        distance: int | None = None,
        features: str | None = None,
        weights: str | None = None,
        stop_words: str | None = None,
        min_words: int | None = None,
    ) -> SignatureIndex: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @property
    def memory(self) -> int: ...
    def add(self, id: Id, text: str) -> None: ...
    def add_all(
        self,
        documents: _Texts,
        *,
        text: str = "text",
        id: str | Literal[False] | None = None,
        threads: int | None = None,
    ) -> None: ...
    def add_original(self, id: Id, text: str) -> Match | None: ...
    def query(self, text: str) -> Match | None: ...
    def query_all(self, text: str, top: int | None = None) -> list[Match]: ...
    def query_many(
        self, texts: _Texts, *, text: str = "text", threads: int | None = None
    ) -> list[Match | None]: ...
    def remove(self, id: Id) -> None: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: object, /) -> bool: ...

def open(directory: str | PathLike[str]) -> Crawl: ...
@final
class Crawl:
    def pages(self) -> CrawlTable: ...
    def texts(
        self,
        *,
        markdown: bool = False,
        duplicates: bool = False,
        boilerplate: bool = False,
        threads: int | None = None,
    ) -> CrawlTable: ...
    def links(self, *, threads: int | None = None) -> CrawlTable: ...
    def search(
        self, query: str, *, limit: int = 10, offset: int = 0, snippets: bool = True
    ) -> Iterator[dict[str, Any]]: ...
    def status(self) -> dict[str, Any]: ...
    def duplicates(self) -> Iterator[dict[str, Any]]: ...
    def clusters(self) -> Iterator[dict[str, Any]]: ...
    def patterns(self) -> Iterator[dict[str, Any]]: ...
    def changes(self, earlier: Crawl, *, diff: bool = False) -> Iterator[dict[str, Any]]: ...
    def why(self, url: str) -> dict[str, Any]: ...
    def skipped(self, *, why: str | None = None) -> Iterator[dict[str, Any]]: ...
    def similar(
        self,
        url: str,
        *,
        distance: int | None = None,
        resemblance: float | None = None,
        limit: int = 10,
    ) -> Iterator[dict[str, Any]]: ...
    def pair(self, url: str) -> dict[str, Any]: ...
    def hosts(self) -> Iterator[dict[str, Any]]: ...
    def verify(self) -> dict[str, Any]: ...

@final
class CrawlTable(ArrowData):
    @property
    def columns(self) -> list[str]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
