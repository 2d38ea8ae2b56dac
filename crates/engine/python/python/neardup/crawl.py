"""Crawls by ``crawler``: their pages, texts, links and search index, and questions about them.

`open` is the way in. Tables are read many times and as Arrow data; answers to questions are
dictionaries with the fields of the commands' ``--format json``.
"""

from ._neardup import Crawl, CrawlTable, open

__all__ = ["Crawl", "CrawlTable", "open"]
