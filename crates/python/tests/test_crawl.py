"""The pages of a crawl, compared with what the command exports.

The environment variable CRAWLER names the binary, which crawls a web of three pages on loopback.
"""

import functools
import http.server
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

from corpus import words

from neardup import Crawl

CRAWLER = os.environ.get("CRAWLER")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def crawl(directory):
    """Crawls three pages, of which one repeats another."""
    site = pathlib.Path(directory, "site")
    site.mkdir()
    text = " ".join(words(1, 300))
    links = '<a href="a.html">a</a> <a href="b.html">b</a>'
    (site / "index.html").write_text("<title>Start</title>" + links)
    (site / "a.html").write_text(f"<title>A page</title><p>{text}")
    (site / "b.html").write_text(f"<title>A page</title><p>{text}<!-- other bytes -->")
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        out = pathlib.Path(directory, "crawl")
        url = f"http://127.0.0.1:{server.server_port}/index.html"
        command = [CRAWLER, url, "--out", out, "--allow-private", "--delay", "0s", "--no-index"]
        subprocess.run(command, check=True, capture_output=True)
        server.shutdown()
    return out


class Crawls(unittest.TestCase):
    def test_a_directory_without_a_crawl_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            for path in [directory, pathlib.Path(directory, "none")]:
                with self.assertRaisesRegex(FileNotFoundError, "there is no crawl in"):
                    Crawl(path)

    @unittest.skipUnless(CRAWLER, "CRAWLER names no binary")
    def test_pages_are_the_rows_of_the_parquet_export(self):
        try:
            import pyarrow as pa
            import pyarrow.parquet as parquet
        except ImportError:
            raise unittest.SkipTest("pyarrow is not installed") from None
        with tempfile.TemporaryDirectory() as directory:
            out = crawl(directory)
            exported = pathlib.Path(directory, "visits.parquet")
            subprocess.run(
                [CRAWLER, "export", out, "--format", "parquet", "--output", exported], check=True
            )
            expected = parquet.read_table(exported).replace_schema_metadata()
            pages = Crawl(out).pages()
            self.assertEqual(pages.to_arrow(), expected)
            # A second time, because it is no iterator.
            table = pa.table(pages)
            self.assertEqual(table.schema, expected.schema)
            self.assertEqual(
                sorted(table["verdict"].to_pylist()), ["exact-duplicate", "unique", "unique"]
            )


if __name__ == "__main__":
    unittest.main()
