"""Results as named tuples: they unpack, pickle, and become rows of pandas and Polars."""

from __future__ import annotations

from typing import List, NamedTuple, Union

Id = Union[int, str]


class Duplicate(NamedTuple):
    """A document that repeats an earlier one.

    `distance` is the number of bits in which the fingerprints differ, `resemblance` the estimated
    resemblance of the shingles, and `measure` what makes the two duplicates: ``bytes`` (the same
    text), ``words`` (the same words in the same order), ``resemblance``, or ``distance`` (with
    ``verify=False``).
    """

    id: Id
    duplicate_of: Id
    distance: int
    resemblance: float
    measure: str


class Pair(NamedTuple):
    """Two similar documents, the earlier document first. The other fields are as in `Duplicate`."""

    a: Id
    b: Id
    distance: int
    resemblance: float
    measure: str


class Cluster(NamedTuple):
    """A cluster of at least two documents, in their order."""

    members: List[Id]


class Match(NamedTuple):
    """A document in an index that resembles the query, with the fields of `Duplicate`."""

    id: Id
    distance: int
    resemblance: float
    measure: str
