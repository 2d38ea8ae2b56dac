"""Documents that do not repeat an earlier document."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from ._neardup import dedup


def keep(documents: Any, *, text: str = "text", **options: Any) -> Any:
    """Returns the documents that do not repeat an earlier document, in their order.

    A table or column (pyarrow, pandas, Polars, Hugging Face `Dataset`) gives one of its own kind,
    with all columns; a DuckDB relation gives a `pyarrow.Table`. Any other iterable gives an
    iterator over its objects, and is read twice. Documents are identified by their places,
    so ids may be of any type, missing, or repeated. Missing texts are never duplicates.

    Arguments:
        documents: What `dedup` takes, except paths and what can be read once only.
        text: The column or key of the texts.
        options: Those of `dedup`, except `id`, `pairs`, `clusters`, `chained` and `save_index`.

    Raises TypeError for paths and for iterators.

    >>> from neardup import keep
    >>> list(keep(["To be, or not to be.", "That is the question.", "to be or not to be"]))
    ['To be, or not to be.', 'That is the question.']
    """
    for name in ("id", "pairs", "clusters", "chained", "save_index"):
        if name in options:
            raise TypeError(f"keep() does not take {name}: it returns the documents themselves")
    package = type(documents).__module__.partition(".")[0]
    if "duckdb" in package:
        # The order of a relation may change from one reading to the next.
        documents, package = documents.to_arrow_table(), "pyarrow"
    if isinstance(documents, (str, bytes, os.PathLike)) or _has_paths(documents):
        raise TypeError("keep() takes no paths: `crawler dedup PATH --keep FILE` writes a file")
    is_read_once = hasattr(documents, "__next__") or hasattr(documents, "read_next_batch")
    if is_read_once or (not isinstance(documents, Iterable) and package != "pyarrow"):
        raise TypeError(
            f"keep() goes through the documents twice, which {type(documents).__name__} cannot: "
            "pass a list, a table or another object that can be iterated over again"
        )
    repeated = {found.id for found in dedup(documents, text=text, id=False, **options)}
    if package == "datasets" and hasattr(documents, "select"):
        return documents.select([n for n in range(len(documents)) if n not in repeated])
    if package in ("pyarrow", "polars", "pandas"):
        mask = [number not in repeated for number in range(len(documents))]
        return documents[mask] if package == "pandas" else documents.filter(mask)
    return _remaining(documents, repeated)


def _has_paths(documents: Any) -> bool:
    first = documents[0] if isinstance(documents, list) and documents else None
    return isinstance(first, os.PathLike)


def _remaining(documents: Iterable[Any], repeated: set[Any]) -> Iterator[Any]:
    for number, document in enumerate(documents):
        if number not in repeated:
            yield document
