"""Tests of the corpus, the scores, the measuring and the table.

    python3 -m unittest discover lab/benches/peers/dedup
"""

import math
import sys
import tempfile
import unittest
from pathlib import Path

import compare
import corpus
import table
from score import score


class Corpus(unittest.TestCase):
    def test_a_smaller_corpus_is_the_beginning_of_a_larger_one_in_any_number_of_parts(self):
        with tempfile.TemporaryDirectory() as directory:
            one = corpus.generate(Path(directory, "one"), 60)
            two = corpus.generate(Path(directory, "two"), 120, parts=2)
            shorter = one[0].read_text()
            self.assertEqual(shorter, two[0].read_text())
            self.assertTrue(Path(directory, "two/truth.jsonl").read_text().startswith(
                Path(directory, "one/truth.jsonl").read_text()
            ))

    def test_a_document_stays_what_it_was(self):
        text, pair = corpus.document(0)
        self.assertIsNone(pair)
        self.assertEqual(text[:40], GOLDEN)

    def test_a_copy_has_the_least_resemblance_at_or_above_the_planted_one(self):
        for number in range(9, 60 * corpus.EVERY, corpus.EVERY):
            text, pair = corpus.document(number)
            original, _ = corpus.document(int(pair["a"]))
            one, other = (
                corpus.shingles(text.replace(".", "").lower().split()) for text in (original, text)
            )
            self.assertEqual(corpus.resemblance(one, other), pair["resemblance"])
            self.assertTrue(pair["planted"] <= pair["resemblance"] < pair["planted"] + 0.01, pair)

    def test_a_text_has_about_two_kilobytes(self):
        sizes = [len(corpus.document(number)[0]) for number in range(0, 1_000, 10)]
        self.assertTrue(1_900 < sum(sizes) / len(sizes) < 2_200)


class Score(unittest.TestCase):
    TRUTH = [
        {"a": "0", "b": "9", "resemblance": 0.7, "planted": 0.7},
        {"a": "10", "b": "19", "resemblance": 0.8, "planted": 0.8},
        {"a": "20", "b": "29", "resemblance": 1.0, "planted": 1.0},
    ]

    def check(self, removed, precision, recall, truth=TRUTH):
        result = score(removed, truth, 0.8)
        self.assertEqual((result.precision, result.recall), (precision, recall))
        return result

    def test_one_document_of_each_positive_pair_is_all_that_is_right(self):
        self.check(["19", "29"], 1.0, 1.0)
        self.check(["10", "20"], 1.0, 1.0)
        self.check(["19"], 1.0, 0.5)
        self.check(["19", "29", "9", "5"], 0.5, 1.0)
        self.check([], None, 0.0)

    def test_both_documents_of_a_pair_are_one_too_many(self):
        self.check(["10", "19"], 0.5, 0.5)

    def test_a_band_counts_its_pairs_also_below_the_threshold(self):
        found = self.check(["9", "19"], 0.5, 0.5)
        self.assertEqual(found.bands, {0.7: 1.0, 0.8: 1.0, 1.0: 0.0})

    def test_a_labelled_cluster_may_lose_all_but_one(self):
        truth = [{"a": "x", "b": "y"}, {"a": "z", "b": "y"}]
        self.check(["x", "z"], 1.0, 1.0, truth)
        self.check(["x", "y", "z"], 2 / 3, 1.0, truth)


class Measure(unittest.TestCase):
    def measured(self, code, limit=60):
        with tempfile.TemporaryDirectory() as directory:
            return compare.measure([sys.executable, "-c", code], Path(directory), limit, 1)

    def test_the_memory_of_one_process_and_its_code_are_reported(self):
        run = self.measured("bytes = bytearray(b'1') * (64 << 20); raise SystemExit(3)")
        self.assertEqual((run["code"], run["in_time"]), (3, True))
        self.assertTrue(64 << 20 <= run["peak"] < 128 << 20, run)

    def test_the_processor_time_of_a_worker_counts_whose_parent_is_gone(self):
        spin = "import time\nwhile time.process_time() < 0.3: pass"
        run = self.measured(
            "import os, subprocess, sys\n"
            "if os.fork() == 0:\n"
            f"    subprocess.run([sys.executable, '-c', {spin!r}]); os._exit(0)\n"
            "os.wait()"
        )
        self.assertTrue(run["cpu"] >= 0.3, run)

    def test_a_command_without_end_is_stopped(self):
        run = self.measured("while True: pass", limit=0.2)
        self.assertFalse(run["in_time"])


class Growth(unittest.TestCase):
    RESULTS = {("p", 10): {"wall": 1.0, "peak": 10}, ("p", 100): {"wall": 20.0, "peak": 90}}

    def test_the_next_run_is_expected_to_grow_as_the_last_one_did(self):
        seconds, memory = compare.expectation(self.RESULTS, 1_000)("p")
        self.assertAlmostEqual(seconds, 400.0)
        self.assertEqual(memory, 900)
        self.assertIsNone(compare.expectation(self.RESULTS, 1_000)("q"))

    def test_the_factor_for_twice_the_documents_is_that_of_a_power_law(self):
        factor = table.growth(self.RESULTS, "p", 100)
        self.assertAlmostEqual(factor ** math.log2(10), 20.0)
        self.assertIsNone(table.growth(self.RESULTS, "p", 10))


class Page(unittest.TestCase):
    def test_only_what_stands_between_the_marks_is_replaced(self):
        with tempfile.TemporaryDirectory() as directory:
            page = Path(directory, "page.md")
            page.write_text(f"before\n{compare.BEGIN}\nold\n{compare.END}\nafter\n")
            compare.replace_between_marks(page, "new\n")
            self.assertEqual(
                page.read_text(), f"before\n{compare.BEGIN}\n\nnew\n\n{compare.END}\nafter\n"
            )

    def test_the_table_has_a_row_a_peer_at_its_largest_corpus(self):
        def run(wall, documents):
            scored = {"precision": 1.0, "recall": 0.5, "bands": {0.8: 0.5}}
            return {
                "wall": wall, "cpu": wall, "peak": 2 << 20, "documents": documents,
                "score": scored,
            }

        results = {("ours", 10): run(1.0, 10), ("ours", 100): run(2.0, 100)}
        results["q", 10] = run(5.0, 10)

        class Peer:
            def __init__(self, name):
                self.name, self.differs = name, ""

        peers = [Peer("ours"), Peer("q")]
        text = table.markdown(peers, {"ours": "1", "q": "2"}, results, {}, ["r: no"], "Once.")
        first = text.split("All at")[0]
        self.assertIn("| ours | 100 | 2.0 | 1.0 |", first)
        self.assertIn("| q | 10 | 5.0 | 5.0 |", first)
        self.assertIn("- r: no", text)


GOLDEN = "Dem dimfend ralcloul comkoul than bas hi"

if __name__ == "__main__":
    unittest.main()
