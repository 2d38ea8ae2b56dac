"""A program that type checkers must accept: `mypy --strict`."""

from pathlib import Path

import neardup
from neardup import Match, MinHash, MinHashLSH, SignatureIndex, Simhash, dedup, fingerprints


def kept(texts: list[str]) -> list[str]:
    repeated = {found.id for found in dedup(texts, resemblance=0.8)}
    return [text for number, text in enumerate(texts) if number not in repeated]


def nearest(index: SignatureIndex, text: str) -> str | None:
    found: Match | None = index.query(text)
    return None if found is None else str(found.id)


def values(texts: list[str]) -> tuple[int, int, list[object]]:
    one = MinHash.from_text(texts[0])
    lsh = MinHashLSH(threshold=0.5)
    lsh.insert(("any", "key"), one)
    return Simhash(texts[0]).value, int(fingerprints(texts)[0]), lsh.query(one)


def files(directory: Path) -> int:
    crawl = neardup.crawl.open(directory)
    crawl.pages().to_arrow()
    titles: list[object] = [page["title"] for page in crawl.texts(markdown=True)]
    titles.extend(hit["title"] for hit in crawl.search("words", limit=3))
    titles.extend(page["duplicate_of"] for page in crawl.duplicates())
    titles.extend(change["url"] for change in crawl.changes(crawl, diff=True))
    titles.extend(link["reason"] for link in crawl.skipped(why="scope"))
    titles.extend(page["url"] for page in crawl.similar("http://a.test/", resemblance=0.8))
    titles.extend(host["host"] for host in crawl.hosts())
    titles.append(crawl.status()["pages"])
    titles.append(crawl.why("http://a.test/")["reason"])
    titles.append(crawl.pair("http://a.test/")["figures"])
    titles.append(crawl.verify()["agrees"])
    titles.extend(found.id for found in dedup(crawl.texts(), id="url"))
    return sum(1 for _ in dedup([directory], pairs=True))
