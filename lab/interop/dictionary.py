"""Trains a zstd dictionary with the records of a crawl.

    dictionary.py DIR FILE
"""

import sys
from pathlib import Path

import zstandard

from crawls import archive_files, members

directory, output = sys.argv[1:]
records = [record for file in archive_files(directory) for record in members(file)]
Path(output).write_bytes(zstandard.train_dictionary(32 << 10, records).as_bytes())
