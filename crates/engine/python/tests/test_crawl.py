"""The pages, texts, links and hits of a crawl, and the answers to questions about it, compared with
what the commands print.

The environment variable CRAWLER names the binary, which crawls a web of three pages on loopback.
"""

import datetime
import functools
import http.server
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import threading
import unittest

from corpus import words

import neardup.crawl
from neardup import dedup, keep

CRAWLER = os.environ.get("CRAWLER")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


TEXT = " ".join(words(1, 300))


def write_site(site):
    """Writes three pages, of which one repeats another."""
    links = '<a href="a.html">a</a> <a href="b.html">b</a>'
    (site / "index.html").write_text("<title>Start</title>" + links)
    (site / "a.html").write_text(f"<title>A page</title><p>{TEXT}")
    (site / "b.html").write_text(f"<title>A page</title><p>{TEXT}<!-- other bytes -->")


def change_site(site):
    """Changes words of one page, and replaces another by a new one."""
    (site / "index.html").write_text('<title>Start</title><a href="a.html">a</a> <a href="c.html">')
    (site / "a.html").write_text(f"<title>A page</title><p>{TEXT} and one more sentence")
    (site / "b.html").unlink(missing_ok=True)
    (site / "c.html").write_text("<title>A third page</title><p>" + " ".join(words(2, 300)))


def crawls_of_a_site(directory):
    """Crawls a site, once more after it changed, and then its first page only. Returns the
    directories of the crawls."""
    site = pathlib.Path(directory, "site")
    site.mkdir()
    handler = functools.partial(Quiet, directory=site)
    crawls = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, prepare, options in [
            ("crawl", write_site, []),
            ("later", change_site, []),
            ("limited", change_site, ["--max-pages", "1"]),
        ]:
            prepare(site)
            out = pathlib.Path(directory, name)
            url = f"http://127.0.0.1:{server.server_port}/index.html"
            command = [CRAWLER, url, "--out", out, "--allow-private", "--delay", "0s", *options]
            subprocess.run(command, check=True, capture_output=True)
            crawls.append(out)
        server.shutdown()
    return crawls


class Crawls(unittest.TestCase):
    def test_a_directory_without_a_crawl_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            for path in [directory, pathlib.Path(directory, "none")]:
                with self.assertRaisesRegex(FileNotFoundError, "no crawl in"):
                    neardup.crawl.open(path)


def printed(*command):
    """Returns the JSON lines that a command prints."""
    done = subprocess.run([CRAWLER, *command], check=True, capture_output=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(row):
    """Returns a row as JSON has it: no nulls, and times as text."""
    times = {name: value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
             for name, value in row.items() if isinstance(value, datetime.datetime)}
    return {name: value for name, value in {**row, **times}.items() if value is not None}


@unittest.skipUnless(CRAWLER, "CRAWLER names no binary")
class OneCrawl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.out, cls.later, cls.limited = crawls_of_a_site(cls.directory.name)

    def same(self, rows, exported):
        rows = [plain(row) for row in rows]
        exported = [{k: v for k, v in row.items() if v is not None} for row in exported]
        self.assertEqual(rows, exported)
        self.assertGreater(len(rows), 0)

    def test_texts_are_those_of_the_command(self):
        texts = neardup.crawl.open(self.out).texts()
        self.same(texts, printed("export", self.out, "--text", "--format", "jsonl"))
        self.assertEqual(list(texts), list(texts))      # a second time, because it is no iterator
        self.assertEqual([text["title"] for text in texts], ["Start", "A page"])

    def test_texts_as_markdown_are_those_of_the_command(self):
        texts = list(neardup.crawl.open(self.out).texts(markdown=True, threads=1))
        self.same(texts, printed("export", self.out, "--text", "--markdown", "--format", "jsonl"))
        self.assertTrue(any("[a](" in text["text"] for text in texts), texts)

    def test_links_are_those_of_the_command(self):
        links = list(neardup.crawl.open(self.out).links())
        self.same(links, printed("export", self.out, "--links", "--format", "jsonl"))
        self.assertEqual([link["anchor"] for link in links], ["a", "b"])

    def test_settings_that_cannot_be_read_are_named(self):
        settings = self.out / "crawler.toml"
        whole = settings.read_text()
        try:
            settings.write_text(whole.replace("script-links = false", "script-links = 7"))
            with self.assertRaisesRegex(ValueError, "(?s)crawler.toml.*script-links"):
                neardup.crawl.open(self.out).links()
        finally:
            settings.write_text(whole)

    def test_hits_are_those_of_the_command(self):
        word = words(1, 300)[0]
        hits = [plain(hit) for hit in neardup.crawl.open(self.out).search(word)]
        expected = printed("search", self.out, word, "--format", "json")
        for hit, known in zip(hits, expected, strict=True):
            hit["highlights"] = [list(range) for range in hit["highlights"]]
            self.assertAlmostEqual(hit.pop("score"), known.pop("score"), 5)
            self.assertEqual(hit, known)
        self.assertEqual(len(hits), 1)
        self.assertNotIn("snippet", next(neardup.crawl.open(self.out).search(word, snippets=False)))
        self.assertEqual(list(neardup.crawl.open(self.out).search("no-such-word-at-all")), [])
        with self.assertRaisesRegex(ValueError, "at most 100000"):
            neardup.crawl.open(self.out).search(word, limit=100_001)
        with self.assertRaises(ValueError):
            neardup.crawl.open(self.out).search('title:')

    def test_status_is_that_of_the_command(self):
        status = neardup.crawl.open(self.out).status()
        (expected,) = printed("status", self.out, "--format", "json")
        self.assertEqual(status, expected)
        self.assertEqual((status["pages"], status["exact_duplicates"]), (3, 1))

    def test_status_has_the_control_file_in_effect(self):
        record = self.out / "state" / "control.json"
        before = record.read_bytes() if record.exists() else None
        crawl = neardup.crawl.open(self.out)
        try:
            text = 'delay = "2s"\nexclude = ["/a/"]\n'
            record.write_text(json.dumps({"text": text, "least_delay": 2000,
                                          "least_max_delay": None}))
            status = crawl.status()
            self.assertEqual(status["control"], {"delay": "2s", "exclude": ["/a/"]})
            self.assertEqual([status], printed("status", self.out, "--format", "json"))
            record.write_text("{")
            with self.assertRaisesRegex(OSError, "control.json"):
                crawl.status()
        finally:
            record.unlink()
            if before is not None:
                record.write_bytes(before)

    def test_duplicates_and_clusters_are_those_of_the_command(self):
        crawl = neardup.crawl.open(self.out)
        duplicates = list(crawl.duplicates())
        self.assertEqual(duplicates, printed("duplicates", self.out, "--format", "json"))
        self.assertEqual([one["verdict"] for one in duplicates], ["exact-duplicate"])
        clusters = list(crawl.clusters())
        self.assertEqual(
            clusters, printed("duplicates", self.out, "--clusters", "--format", "json")
        )
        (one,) = duplicates
        self.assertEqual(clusters, [{"members": [one["duplicate_of"], one["url"]]}])

    def test_patterns_are_those_of_the_command(self):
        patterns = list(neardup.crawl.open(self.out).patterns())
        self.assertEqual(patterns, printed("patterns", self.out, "--format", "json"))
        self.assertEqual({one["state"] for one in patterns}, {"open"})

    def test_changes_are_those_of_the_command(self):
        earlier, later = neardup.crawl.open(self.out), neardup.crawl.open(self.later)
        changes = list(later.changes(earlier))
        self.assertEqual(changes, printed("changes", self.out, self.later, "--format", "json"))
        kinds = {one["url"].rpartition("/")[2]: one["change"] for one in changes}
        expected = {"index.html": "changed", "a.html": "changed", "b.html": "gone", "c.html": "new"}
        self.assertEqual(kinds, expected)
        with_diff = list(later.changes(earlier, diff=True))
        self.assertEqual(
            with_diff, printed("changes", self.out, self.later, "--diff", "--format", "json")
        )
        self.assertTrue(any(one.get("diff") for one in with_diff), with_diff)
        with self.assertRaisesRegex(ValueError, "is named twice"):
            list(later.changes(later))
        with self.assertRaises(TypeError):
            later.changes("crawl")

    def test_why_is_that_of_the_command(self):
        crawl = neardup.crawl.open(self.out)
        (duplicate,) = crawl.duplicates()
        urls = [page["url"] for page in crawl.pages()] + ["http://example.org/"]
        for url in urls:
            (expected,) = printed("why", self.out, url, "--format", "json")
            self.assertEqual(crawl.why(url), expected)
        self.assertEqual(crawl.why(duplicate["url"])["verdict"], "exact-duplicate")
        self.assertEqual(crawl.why(urls[-1])["verdict"], "not-queued")
        with self.assertRaisesRegex(ValueError, "no url"):
            crawl.why("no url")

    def test_skipped_urls_are_those_of_the_command(self):
        crawl = neardup.crawl.open(self.limited)
        skipped = list(crawl.skipped())
        self.assertEqual(skipped, printed("skipped", self.limited, "--format", "json"))
        self.assertEqual({one["why"] for one in skipped}, {"limit"})
        self.assertEqual(len(skipped), 2)
        self.assertEqual(list(crawl.skipped(why="limit")), skipped)
        self.assertEqual(list(crawl.skipped(why="trap")), [])
        self.assertEqual(list(neardup.crawl.open(self.out).skipped()), [])
        with self.assertRaisesRegex(ValueError, "no-kind"):
            crawl.skipped(why="no-kind")

    def test_similar_pages_are_those_of_the_command(self):
        crawl = neardup.crawl.open(self.out)
        (duplicate,) = crawl.duplicates()
        original = duplicate["duplicate_of"]
        similar = list(crawl.similar(original))
        self.assertEqual(similar, printed("similar", self.out, original, "--format", "json"))
        self.assertEqual([one["url"] for one in similar], [duplicate["url"]])
        self.assertEqual(list(crawl.similar(original, limit=0)), [])
        with self.assertRaisesRegex(ValueError, "was not visited"):
            list(crawl.similar("http://example.org/"))
        with self.assertRaisesRegex(ValueError, "between 0 and 1, got 2"):
            crawl.similar(original, resemblance=2)

    def test_a_pair_is_that_of_the_command(self):
        crawl = neardup.crawl.open(self.out)
        (duplicate,) = crawl.duplicates()
        pair = crawl.pair(duplicate["url"])
        diff = ["duplicates", self.out, "--diff", duplicate["url"], "--format", "json"]
        self.assertEqual([pair], printed(*diff))
        self.assertEqual(pair["original"]["url"], duplicate["duplicate_of"])
        with self.assertRaisesRegex(ValueError, "is not a duplicate"):
            crawl.pair(duplicate["duplicate_of"])

    def test_hosts_are_those_of_the_command(self):
        hosts = list(neardup.crawl.open(self.out).hosts())
        self.assertEqual(hosts, printed("status", self.out, "--hosts", "--format", "json"))
        self.assertEqual([(one["host"], one["pages"]) for one in hosts], [("127.0.0.1", 3)])

    def test_verify_is_that_of_the_command(self):
        crawl = neardup.crawl.open(self.out)
        found = crawl.verify()
        self.assertEqual([found], printed("verify", self.out, "--format", "json"))
        self.assertTrue(found["agrees"], found["findings"])
        (archive,) = (self.out / "archive").glob("*.warc.gz")
        whole = archive.read_bytes()
        try:
            archive.write_bytes(whole[: len(whole) // 2])
            found = crawl.verify()
            self.assertFalse(found["agrees"])
            self.assertEqual(len(found["findings"]), found["findings_total"])
        finally:
            archive.write_bytes(whole)

    def test_an_answer_that_is_not_taken_does_not_hold_up_others(self):
        crawl = neardup.crawl.open(self.out)
        del [crawl.duplicates() for _ in range(20)][:]
        self.assertEqual(len(list(crawl.duplicates())), 1)

    def test_a_journal_that_cannot_be_read_is_an_os_error(self):
        (segment,) = (self.out / "state" / "journal").glob("*.log")
        whole = segment.read_bytes()
        try:
            segment.write_bytes(whole[:60] + bytes(100) + whole[160:])
            crawl = neardup.crawl.open(self.out)
            questions = [crawl.status, crawl.duplicates, crawl.clusters, crawl.patterns,
                         crawl.skipped, crawl.hosts, crawl.verify]
            for question in questions:
                with self.assertRaises(OSError, msg=question.__name__):
                    list(question())
        finally:
            segment.write_bytes(whole)

    def test_texts_go_into_dedup_keep_and_tables(self):
        texts = neardup.crawl.open(self.out).texts(duplicates=True)
        self.assertEqual(list(dedup(texts, id="url")), [])
        self.assertEqual(len(list(keep(texts))), 2)
        pickled = pickle.dumps(neardup.crawl.open(self.out))
        self.assertEqual(pickle.loads(pickled).texts().columns, texts.columns)

    def test_a_page_that_cannot_be_read_is_named_and_the_others_follow(self):
        (archive,) = (self.out / "archive").glob("*.warc.gz")
        whole = archive.read_bytes()
        try:
            # The last page is in the second half.
            archive.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
            with self.assertWarnsRegex(RuntimeWarning, "page.* cannot be read .*http://"):
                left = list(neardup.crawl.open(self.out).texts())
            self.assertEqual([text["title"] for text in left], ["Start"])
            with self.assertWarns(RuntimeWarning):
                list(neardup.crawl.open(self.out).links())
        finally:
            archive.write_bytes(whole)

    def test_a_crawl_without_an_index_names_the_command_that_makes_it(self):
        (self.out / "search").rename(self.out / "aside")
        try:
            with self.assertRaisesRegex(FileNotFoundError, "crawler reindex"):
                neardup.crawl.open(self.out).search("words")
        finally:
            (self.out / "aside").rename(self.out / "search")

    def test_pages_are_the_rows_of_the_parquet_export(self):
        try:
            import pyarrow as pa
            import pyarrow.parquet as parquet
        except ImportError:
            raise unittest.SkipTest("pyarrow is not installed") from None
        exported = pathlib.Path(self.directory.name, "visits.parquet")
        for table, options in [("pages", []), ("texts", ["--text"]), ("links", ["--links"])]:
            subprocess.run(
                [CRAWLER, "export", self.out, *options, "--format", "parquet", "--output",
                 exported], check=True
            )
            expected = parquet.read_table(exported).replace_schema_metadata()
            rows = getattr(neardup.crawl.open(self.out), table)()
            self.assertEqual(rows.to_arrow(), expected)
            # A second time, because it is no iterator.
            self.assertEqual(pa.table(rows).schema, expected.schema)
            self.assertEqual(rows.columns, expected.column_names)
            self.assertEqual([len(row) for row in rows], [len(rows.columns)] * len(expected))
        pages = neardup.crawl.open(self.out).pages().to_arrow()
        self.assertEqual(
            sorted(pages["verdict"].to_pylist()), ["exact-duplicate", "unique", "unique"]
        )


if __name__ == "__main__":
    unittest.main()
