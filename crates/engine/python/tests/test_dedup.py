"""`dedup`: what it takes, what it finds, and what it refuses."""

import json
import pathlib
import pickle
import tempfile
import unittest

from corpus import changed, corpus, words

from neardup import Cluster, Duplicate, Pair, SignatureIndex, __version__, dedup, keep

TEXTS, REPEATED = corpus()


def found_in(documents, **options):
    return {found.id: found.duplicate_of for found in dedup(documents, **options)}


class WhatIsFound(unittest.TestCase):
    def test_every_repetition_is_found_with_its_original(self):
        self.assertEqual(found_in(TEXTS), REPEATED)

    def test_pairs_and_clusters_are_those_of_the_duplicates(self):
        pairs = list(dedup(TEXTS, pairs=True, resemblance=0.8))
        self.assertEqual({pair.b: pair.a for pair in pairs}, REPEATED)
        self.assertIsInstance(pairs[0], Pair)
        clusters = list(dedup(TEXTS, clusters=True))
        expected = {(a, b) for b, a in REPEATED.items()}
        self.assertEqual({tuple(one.members) for one in clusters}, expected)
        self.assertIsInstance(clusters[0], Cluster)

    def test_files_that_differ_in_a_number_are_no_duplicates_as_for_the_command(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, bar in (("a.html", 10), ("b.html", 16)):
                text = f"{' '.join(words(1, 200))} opens at {bar} bar and closes again"
                page = f"<title>Valve</title><main><h1>Valve</h1><p>{text}</p></main>"
                pathlib.Path(directory, name).write_text(page)
            self.assertEqual(list(dedup(pathlib.Path(directory))), [])
            self.assertEqual(len(list(dedup(pathlib.Path(directory), resemblance=0.8))), 1)

    def test_shingles_decide_about_pairs_at_the_threshold_unless_estimates_are_asked_for(self):
        def text(first):
            return " ".join(f"word{number}" for number in range(first, first + 90))

        texts = [text(at) for family in range(0, 90_000, 300) for at in (family, family + 10)]
        options = {"features": "word:1", "resemblance": 0.8}
        exact = list(dedup(texts, **options))
        self.assertGreaterEqual(len(exact), 290)
        self.assertEqual({found.resemblance for found in exact}, {0.8})
        estimated = dedup(texts, exact=False, **options)
        self.assertIsNone(estimated.expected_recall)
        self.assertLess(len(list(estimated)), 225)

    def test_chains_connect_what_originals_keep_apart(self):
        first = " ".join(words(1, 300))
        second = changed(first, 2, 6)
        third = changed(second, 3, 6)
        texts = [first, second, third]
        chains = list(dedup(texts, clusters=True, chained=True, resemblance=0.7))
        self.assertEqual(chains, [Cluster([0, 1, 2])])

    def test_the_measure_says_what_makes_two_documents_duplicates(self):
        text = " ".join(words(1, 100))
        found = list(dedup([text, text, text.upper(), changed(text, 1, 1)]))
        self.assertEqual([one.measure for one in found], ["bytes", "words", "resemblance"])
        self.assertEqual([one.resemblance for one in found[:2]], [1.0, 1.0])
        self.assertTrue(0.8 < found[2].resemblance < 1)

    def test_fingerprints_alone_decide_without_verification(self):
        text = " ".join(words(1, 1000))
        found = list(dedup([text, changed(text, 1, 1)], verify=False, distance=7))
        self.assertEqual([one.measure for one in found], ["distance"])

    def test_memory_threads_and_kind_of_input_do_not_change_the_result(self):
        for options in [dict(memory=1), dict(threads=1), dict(threads=7)]:
            self.assertEqual(found_in(TEXTS, **options), REPEATED)
        self.assertEqual(found_in(text for text in TEXTS), REPEATED)
        rows = [{"body": text, "key": number} for number, text in enumerate(TEXTS)]
        self.assertEqual(found_in(rows, text="body", id="key"), REPEATED)

    def test_data_beyond_the_memory_go_to_the_directory_that_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            findings = dedup(TEXTS, memory=1, temp_dir=directory)
            self.assertEqual(len(list(findings)), len(REPEATED))
            self.assertGreater(findings.spilled, 0)
            self.assertEqual(list(pathlib.Path(directory).iterdir()), [])

    def test_ids_of_strings_and_numbers_come_back_as_they_were_given(self):
        documents = [("a", "one text"), (-7, "One text!"), ("n1", "one text")]
        found = [(one.id, one.duplicate_of) for one in dedup(documents)]
        self.assertEqual(found, [(-7, "a"), ("n1", "a")])

    def test_a_document_without_an_id_has_its_number(self):
        self.assertEqual(found_in(["one", ("b", "two"), "one", {"text": "two"}]), {2: 0, 3: "b"})

    def test_the_package_has_a_version(self):
        self.assertRegex(__version__, r"^\d+\.\d+\.\d+$")

    def test_no_documents_give_no_findings(self):
        findings = dedup([])
        self.assertEqual((list(findings), findings.documents), ([], 0))

    def test_thirty_thousand_equal_documents_and_an_enormous_one_are_no_trouble(self):
        findings = dedup("again" for _ in range(30_000))
        self.assertEqual(sum(1 for _ in findings), 29_999)
        huge = "word " * 2_000_000
        self.assertEqual(found_in(["", huge, "", huge]), {2: 0, 3: 1})

    def test_findings_are_tuples_that_pickle(self):
        (found,) = dedup(["one", "one"])
        number, original, distance, resemblance, measure = found
        self.assertEqual((number, original, distance), (1, 0, 0))
        self.assertEqual((resemblance, measure), (1.0, "bytes"))
        self.assertEqual(pickle.loads(pickle.dumps(found)), found)
        self.assertIsInstance(found, Duplicate)

    def test_the_recall_to_expect_is_told_where_a_resemblance_is_asked_for(self):
        self.assertIsNone(dedup([]).expected_recall)
        self.assertGreaterEqual(dedup([], resemblance=0.5).expected_recall, 0.99)
        self.assertGreaterEqual(dedup([], resemblance=0.5, recall=0.8).expected_recall, 0.8)

    def test_progress_is_told_to_a_function(self):
        told = []
        list(dedup(TEXTS, progress=lambda *step: told.append(step)))
        self.assertTrue(told)
        for step, done, of in told:
            self.assertIn(step, ["reading", "sorting", "joining", "verifying", "reporting"])
            self.assertTrue(of is None or isinstance(of, int))
            self.assertIsInstance(done, int)


class Indexes(unittest.TestCase):
    def test_a_corpus_that_comes_in_parts_gives_the_duplicates_of_the_whole(self):
        texts = [(f"d{number}", text) for number, text in enumerate(TEXTS)]
        expected = {f"d{b}": f"d{a}" for b, a in REPEATED.items()}
        with tempfile.TemporaryDirectory() as directory:
            index = pathlib.Path(directory, "index")
            # Every repetition stands behind its original, in another part.
            found = found_in(texts[:1], save_index=index)
            for part in [texts[1:100], texts[100:]]:
                found |= found_in(part, against=index, save_index=index)
            self.assertEqual(found, expected)
            self.assertEqual(len(SignatureIndex.load(index)), len(TEXTS) - len(REPEATED))
            self.assertEqual([one.name for one in pathlib.Path(directory).iterdir()], ["index"])

    def test_an_index_of_texts_is_compared_against(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "index")
            index = SignatureIndex()
            index.add("known", TEXTS[0])
            index.save(path)
            self.assertEqual(found_in([TEXTS[1], TEXTS[2]], against=path), {0: "known"})
            with self.assertRaisesRegex(ValueError, "made with different bands"):
                dedup(TEXTS, against=path, resemblance=0.5)
            with self.assertRaisesRegex(ValueError, "made with different features"):
                dedup(TEXTS, against=path, features="char:5")
            with self.assertRaisesRegex(ValueError, "cannot be combined with pairs or clusters"):
                dedup(TEXTS, save_index=path, pairs=True)

    def test_an_index_whose_findings_are_not_all_read_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            index = pathlib.Path(directory, "index")

            def broken():
                yield from TEXTS
                raise ZeroDivisionError

            with self.assertRaises(ZeroDivisionError):
                dedup(broken(), save_index=index)
            self.assertFalse(index.exists())


class Files(unittest.TestCase):
    def test_paths_are_read_like_by_the_command(self):
        with tempfile.TemporaryDirectory() as directory:
            directory = pathlib.Path(directory)
            lines = [json.dumps({"id": f"d{n}", "text": text}) for n, text in enumerate(TEXTS)]
            (directory / "corpus.jsonl").write_text("\n".join(lines))
            expected = {f"d{b}": f"d{a}" for b, a in REPEATED.items()}
            self.assertEqual(found_in(directory), expected)
            self.assertEqual(found_in([directory / "corpus.jsonl"]), expected)

    def test_ids_of_files_keep_their_type(self):
        # They came back as strings, so that a filter of a table of numbers removed nothing.
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "a.jsonl"
            rows = [{"id": id, "text": "one text"} for id in [2**64 - 1, 5, "7", 2**70]]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            found = [one.id for one in dedup(str(path))]
        self.assertEqual(found, [5, "7", str(2**70)])

    def test_a_bad_line_is_skipped_with_its_reason(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "corpus.jsonl")
            path.write_text('{"id": "a", "text": "one"}\nnot json\n{"id": "b", "text": "one"}\n')
            findings = dedup(path)
            self.assertEqual(findings.skipped, 1)
            self.assertIn("2", findings.skipped_reasons[0])
            self.assertEqual([one.id for one in findings], ["b"])

    def test_a_path_that_does_not_exist_is_an_os_error(self):
        with self.assertRaisesRegex(OSError, "no-such-file"):
            dedup(pathlib.Path("no-such-file"))


class WhatRemains(unittest.TestCase):
    TEXTS = ["one text", "another", "One text!"]

    def test_documents_of_every_kind_come_back_as_they_are(self):
        rows = [{"id": 7, "text": text} for text in self.TEXTS]      # all with one id
        self.assertEqual(list(keep(rows)), rows[:2])
        self.assertEqual(list(keep(self.TEXTS)), self.TEXTS[:2])
        self.assertEqual(list(keep([])), [])

    def test_what_can_be_read_once_only_is_refused(self):
        for documents in [iter(self.TEXTS), pathlib.Path("a"), [pathlib.Path("a")], "a text"]:
            with self.assertRaises(TypeError):
                keep(documents)
        with self.assertRaisesRegex(TypeError, "does not take pairs"):
            keep(self.TEXTS, pairs=True)


class BadInput(unittest.TestCase):
    def refused(self, error, message, *arguments, **options):
        with self.assertRaisesRegex(error, message):
            list(dedup(*arguments, **options))

    def test_an_object_of_the_wrong_type_is_named_with_its_number_and_type(self):
        self.refused(TypeError, "document 2 must be str.*got NoneType", ["a", "b", None])
        self.refused(TypeError, "document 1 must be str.*got bytes: decode it", ["a", b"b"])
        self.refused(TypeError, "document 0 must be str.*got float", [("a", 1.5)])
        self.refused(TypeError, "id of document 0 must be str or an int.*float", [(1.5, "a")])
        self.refused(TypeError, "document 0 must be a pair.*tuple of 3", [("a", "b", "c")])
        self.refused(ValueError, "document 0 has no key \"text\": it has .*body", [{"body": "a"}])
        self.refused(ValueError, "document 0 has no key \"key\"", [{"text": "a"}], id="key")

    def test_a_mapping_is_not_taken_for_a_list_of_its_keys(self):
        # `dedup(load_dataset(…))` returned no findings: it compared the names of the splits.
        self.refused(TypeError, r"with the keys .*choose one of its splits \(\['train'\]\)",
                     {"train": ["a", "a"], "test": ["a"]})
        self.refused(TypeError, "got one dict", {"id": 1, "text": "a"})

    def test_two_documents_with_one_id_are_an_error_or_numbered(self):
        # Removing findings by id removed both: a document and its only copy.
        repeated = [{"id": "x", "text": "one"}, {"id": "x", "text": "one"}]
        self.refused(ValueError, "documents 0 and 1 have the same id.*id=False", repeated)
        self.assertEqual(found_in(repeated, id=False), {1: 0})
        self.refused(ValueError, "id of document 1 is missing",
                     [{"id": 3, "text": "a"}, {"id": None, "text": "a"}])
        many = [(n % 9_999, f"text {n}") for n in range(10_000)]
        self.refused(ValueError, "documents 0 and 9999 have", many, memory=1)

    def test_arguments_of_other_packages_are_answered_with_ours(self):
        for name, ours in [("threshold", "resemblance"), ("ngram", "word:5"), ("column", "text"),
                           ("num_perm", "recall"), ("num_proc", "threads")]:
            self.refused(TypeError, f"'{name}'.*{ours}", ["a"], **{name: 1})
        self.refused(TypeError, "unexpected keyword argument 'other'$", ["a"], other=1)

    def test_one_text_is_not_taken_for_a_list_of_letters(self):
        self.refused(TypeError, "documents must be an iterable.*got one str", "a text")
        self.refused(TypeError, "not iterable", 7)

    def test_half_a_surrogate_pair_is_no_text(self):
        self.refused(ValueError, "text of document 1 contains a lone surrogate", ["a", "\ud800"])

    def test_the_exception_of_a_generator_ends_the_work(self):
        def broken():
            yield "a"
            raise ZeroDivisionError

        self.refused(ZeroDivisionError, "", broken())

    def test_the_exception_of_a_progress_function_ends_the_work(self):
        def broken(*_):
            raise ZeroDivisionError

        self.refused(ZeroDivisionError, "", TEXTS, progress=broken)

    def test_impossible_options_name_the_rule_and_the_value(self):
        self.refused(ValueError, "between 0 and 1, got 1.5", [], resemblance=1.5)
        self.refused(ValueError, "between 0 and 7.*9", [], distance=9)
        self.refused(ValueError, "word:W", [], features="words")
        self.refused(ValueError, "cannot be combined", [], pairs=True, clusters=True)
        self.refused(ValueError, "clusters=True", [], chained=True)
        self.refused(ValueError, "verify=False", [], verify=False, resemblance=0.5)
        self.refused(ValueError, "exact=True requires resemblance", [], exact=True)
        self.refused(ValueError, "tlh", [], stop_words="tlh")

    def test_a_missing_directory_for_temporary_files_is_named(self):
        self.refused(OSError, "no-such-dir.*temp_dir", TEXTS, memory=1, temp_dir="/no-such-dir")


if __name__ == "__main__":
    unittest.main()
