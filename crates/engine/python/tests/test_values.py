"""Simhash, MinHash, MinHashLSH, Shingles and SignatureIndex."""

import copy
import pathlib
import pickle
import tempfile
import unittest

import numpy as np
from corpus import changed, corpus, words

from neardup import (
    Match,
    MinHash,
    MinHashLSH,
    Shingles,
    SignatureIndex,
    Simhash,
    fingerprints,
    minhashes,
)

TEXTS, REPEATED = corpus()


class Pickles(unittest.TestCase):
    def test_sets_of_shingles_are_equal_after_pickling(self):
        one = Shingles("to be or not to be", "char:3")
        again = pickle.loads(pickle.dumps(one))
        self.assertEqual((again, again.unit, again.resemblance(one)), (one, "char:3", 1.0))

    def test_an_index_of_minhashes_finds_the_same_after_pickling(self):
        # datasketch's can be pickled, ours raised TypeError.
        lsh = MinHashLSH(threshold=0.7, num_perm=64)
        sets = [MinHash.from_text(text, num_perm=64) for text in TEXTS[:50]]
        for number, one in enumerate(sets):
            lsh.insert((number, "key"), one)
        lsh.remove((7, "key"))
        again = pickle.loads(pickle.dumps(lsh))
        self.assertEqual((len(again), again.params, again.threshold), (49, lsh.params, 0.7))
        for one in sets:
            self.assertEqual(again.query(one), lsh.query(one))
        again.insert("new", sets[7])
        self.assertIn("new", again.query(sets[7]))
        with self.assertRaisesRegex(ValueError, "different shingles"):
            again.query(MinHash(num_perm=64))
        with self.assertRaisesRegex(ValueError, "is already in the index"):
            again.insert((1, "key"), sets[1])
        self.assertEqual(len(pickle.loads(pickle.dumps(MinHashLSH()))), 0)

    def test_an_index_of_texts_says_how_it_is_stored(self):
        with self.assertRaisesRegex(TypeError, "save.*load"):
            pickle.dumps(SignatureIndex())


class Fingerprints(unittest.TestCase):
    def test_texts_that_differ_little_differ_in_few_bits(self):
        one = Simhash(TEXTS[0])
        self.assertLess(one.distance(Simhash(TEXTS[1])), 12)
        self.assertGreater(one.distance(Simhash(TEXTS[2])), 12)

    def test_a_fingerprint_is_a_number_of_8_to_64_bits(self):
        whole, half = Simhash("some text"), Simhash("some text", bits=32)
        self.assertEqual(half.value, whole.value % 2**32)
        self.assertEqual((int(whole), str(whole)), (whole.value, f"{whole.value:016x}"))
        self.assertEqual((half.bits, str(half)), (32, f"{half.value:08x}"))
        self.assertEqual(len({whole, Simhash("Some text!")}), 1)
        self.assertEqual(eval(repr(half)), half)

    def test_stop_words_and_features_change_the_fingerprint(self):
        self.assertEqual(
            Simhash("the cat and the dog", stop_words="en"), Simhash("cat dog", stop_words="en")
        )
        self.assertNotEqual(Simhash(TEXTS[0]), Simhash(TEXTS[0], "char:5"))
        self.assertEqual(
            Simhash("a a a b c", weights="none"), Simhash("a b c", weights="none")
        )

    def test_fingerprints_of_different_features_have_no_distance(self):
        with self.assertRaisesRegex(ValueError, "word:1.*word:2"):
            Simhash("a text").distance(Simhash("a text", "word:2"))
        with self.assertRaisesRegex(ValueError, "64 and 32 bits"):
            Simhash("a text").distance(Simhash("a text", bits=32))
        known = Simhash("a text", "word:2")
        self.assertEqual(known.distance(Simhash.from_value(known.value)), 0)

    def test_tokens_of_ones_own_vote_by_their_weights(self):
        one = Simhash.from_tokens([("a", 3), b"b"])
        self.assertEqual(one, Simhash.from_tokens(["a", "a", "b", "a"]))
        self.assertEqual(one, Simhash.from_tokens(["a"]))
        with self.assertRaisesRegex(TypeError, "token 1 must be str or bytes, got int"):
            Simhash.from_tokens(["a", 1])
        with self.assertRaisesRegex(ValueError, "weight of token 0 .* got -1"):
            Simhash.from_tokens([("a", -1)])
        with self.assertRaisesRegex(TypeError, "got one str"):
            Simhash.from_tokens("abc")

    def test_fingerprints_of_many_texts_are_those_of_each(self):
        for options in [dict(), dict(features="char:5", weights="tf"), dict(bits=32)]:
            array = fingerprints(TEXTS, **options)
            self.assertEqual(array.dtype, np.uint64)
            self.assertEqual(array.tolist(), [Simhash(text, **options).value for text in TEXTS])
        self.assertEqual(fingerprints([]).shape, (0,))

    def test_fingerprints_survive_pickling(self):
        of_tokens = Simhash.from_tokens("a b".split())
        for one in [Simhash("a", "char:5+tf"), Simhash.from_value(7, bits=32), of_tokens]:
            again = pickle.loads(pickle.dumps(one))
            self.assertEqual(again, one)
            self.assertEqual(again.distance(one), 0)

    def test_impossible_arguments_are_refused(self):
        for error, call in [
            (TypeError, lambda: Simhash(7)),
            (TypeError, lambda: Simhash(b"bytes")),
            (ValueError, lambda: Simhash("a", bits=7)),
            (ValueError, lambda: Simhash("a", "word:0")),
            (ValueError, lambda: Simhash("a", weights="tf-idf")),
            (ValueError, lambda: Simhash("\ud800")),
            (ValueError, lambda: Simhash.from_value(2**32, bits=32)),
            (OverflowError, lambda: Simhash.from_value(2**64)),
            (TypeError, lambda: fingerprints(["a", None])),
        ]:
            self.assertRaises(error, call)


class MinHashes(unittest.TestCase):
    def test_tokens_may_come_at_once_or_one_by_one_or_from_another_set(self):
        tokens = [f"token {n}" for n in range(50)]
        at_once, one_by_one, merged = MinHash(tokens=tokens), MinHash(), MinHash()
        for token in tokens:
            one_by_one.update(token)
        merged.update_batch(tokens[:30])
        second = MinHash(tokens=(token.encode() for token in tokens[30:]))
        merged.merge(second)
        merged.merge(merged)
        self.assertEqual(at_once, one_by_one)
        self.assertEqual(at_once, merged)
        self.assertEqual(MinHash.union(MinHash(tokens=tokens[:30]), second), at_once)

    def test_the_estimate_is_near_the_resemblance(self):
        one, two = TEXTS[0], changed(TEXTS[0], 5, 10)
        exact = Shingles(one).resemblance(Shingles(two))
        other = MinHash.from_text(two, num_perm=1024)
        estimate = MinHash.from_text(one, num_perm=1024).jaccard(other)
        self.assertAlmostEqual(estimate, exact, delta=5 * (exact * (1 - exact) / 1024) ** 0.5)

    def test_minhashes_of_many_texts_are_those_of_each(self):
        array = minhashes(TEXTS, "char:7", 64)
        self.assertEqual((array.shape, array.dtype), ((len(TEXTS), 64), np.uint64))
        each = MinHash.from_texts(iter(TEXTS), "char:7", 64)
        for row, one, text in zip(array, each, TEXTS):
            self.assertEqual(row.tolist(), one.digest().tolist())
            self.assertEqual(one, MinHash.from_text(text, "char:7", 64))
        self.assertEqual(minhashes([], num_perm=7).shape, (0, 7))

    def test_sets_of_different_kinds_are_not_compared(self):
        one = MinHash.from_text("a text")
        of_pairs = MinHash.from_text("a text", "word:2")
        for other in [MinHash(), of_pairs, MinHash.from_text("a", num_perm=7)]:
            self.assertRaises(ValueError, one.jaccard, other)
            self.assertRaises(ValueError, one.merge, other)
        self.assertRaisesRegex(ValueError, "takes no tokens", one.update, "token")

    def test_a_copy_and_a_pickle_are_equal_and_independent(self):
        one = MinHash(tokens=["a"])
        pickled = pickle.loads(pickle.dumps(one))
        restored = MinHash.from_bytes(one.to_bytes())
        for other in [one.copy(), copy.copy(one), pickled, restored]:
            self.assertEqual(other, one)
            other.update("b")
            self.assertNotEqual(other, one)
        text = MinHash.from_text("a text", "char:3")
        self.assertEqual(pickle.loads(pickle.dumps(text)).shingles, "char:3")

    def test_the_digest_is_the_callers_own(self):
        one = MinHash(tokens=["a"])
        one.digest()[0] = 0
        self.assertNotEqual(one.digest()[0], 0)
        self.assertEqual((len(one), one.num_perm), (128, 128))
        self.assertEqual((one.is_empty(), MinHash().is_empty()), (False, True))

    def test_impossible_arguments_are_refused(self):
        for error, call in [
            (ValueError, lambda: MinHash(0)),
            (ValueError, lambda: MinHash(4097)),
            (TypeError, lambda: MinHash().update(7)),
            (TypeError, lambda: MinHash().update_batch("text")),
            (ValueError, lambda: MinHash.from_bytes(b"bytes")),
        ]:
            self.assertRaises(error, call)


class Lsh(unittest.TestCase):
    def test_similar_sets_are_found_and_dissimilar_ones_are_not(self):
        lsh = MinHashLSH(threshold=0.8)
        sets = MinHash.from_texts(TEXTS)
        for number, one in enumerate(sets):
            lsh.insert(number, one)
        self.assertEqual(len(lsh), len(TEXTS))
        for repeated, original in REPEATED.items():
            self.assertEqual(lsh.query(sets[repeated]), [original, repeated])
        other = MinHash.from_text("something else entirely, and of some length")
        self.assertEqual(lsh.query(other), [])

    def test_the_recall_is_the_one_that_is_asked_for(self):
        for threshold, recall in [(0.5, 0.99), (0.8, 0.9), (0.95, 0.999)]:
            lsh = MinHashLSH(threshold=threshold, num_perm=256, recall=recall)
            bands, rows = lsh.params
            self.assertLessEqual(bands * rows, 256)
            self.assertGreaterEqual(lsh.recall(threshold), recall)
        self.assertEqual(MinHashLSH(params=(16, 8)).params, (16, 8))

    def test_keys_of_any_kind_are_removed_again(self):
        lsh = MinHashLSH(threshold=0.5)
        one = MinHash(tokens=["a"])
        for key in ["key", 7, ("a", 1), None]:
            lsh.insert(key, one)
            self.assertIn(key, lsh)
        self.assertRaisesRegex(ValueError, "'key' is already in the index", lsh.insert, "key", one)
        lsh.remove(7)
        self.assertEqual(lsh.query(one), ["key", ("a", 1), None])
        self.assertRaises(KeyError, lsh.remove, 7)
        self.assertRaises(TypeError, lsh.insert, [], one)
        for key in ["key", ("a", 1), None]:
            lsh.remove(key)
        self.assertTrue(lsh.is_empty())
        self.assertEqual(lsh.query(one), [])

    def test_sets_of_other_kinds_and_impossible_arguments_are_refused(self):
        lsh = MinHashLSH(num_perm=16, threshold=0.5, recall=0.9)
        lsh.insert(0, MinHash(16))
        for other in [MinHash(), MinHash.from_text("a", num_perm=16)]:
            self.assertRaises(ValueError, lsh.query, other)
            self.assertRaises(ValueError, lsh.insert, 1, other)
        for options in [
            dict(threshold=0),
            dict(threshold=1.1),
            dict(recall=1),
            dict(params=(129, 1)),
            dict(params=(0, 1)),
            dict(threshold=0.1, num_perm=4),
        ]:
            self.assertRaises(ValueError, lambda: MinHashLSH(**options))


class Index(unittest.TestCase):
    def test_the_nearest_text_is_found_under_the_id_it_was_given(self):
        index = SignatureIndex()
        index.add("original", TEXTS[0])
        index.add(7, TEXTS[2])
        found = index.query(TEXTS[1])
        self.assertEqual((found.id, found.measure), ("original", "resemblance"))
        self.assertIsInstance(found, Match)
        self.assertEqual(index.query(TEXTS[2].upper()), Match(7, 0, 1.0, "words"))
        self.assertIsNone(index.query(TEXTS[3]))
        self.assertEqual((len(index), 7 in index, "7" in index), (2, True, False))
        self.assertGreater(index.memory, 1_000)

    def test_all_matches_come_best_first_and_the_top_of_them_if_asked(self):
        index = SignatureIndex()
        text = " ".join(words(1, 400))
        copies = {"same": text, "near": changed(text, 1, 2), "farther": changed(text, 2, 6)}
        index.add_all(copies.items())
        self.assertEqual([one.id for one in index.query_all(text)], ["same", "near", "farther"])
        self.assertEqual([one.id for one in index.query_all(text, top=2)], ["same", "near"])

    def test_many_texts_are_added_and_asked_for_at_once(self):
        index = SignatureIndex()
        index.add_all(TEXTS)
        found = index.query_many(TEXTS, threads=3)
        for number, one in enumerate(found):
            self.assertEqual((one.id, one.measure), (number, "bytes"))
        self.assertEqual(index.query_many(["something else"]), [None])

    def test_a_stream_is_deduplicated_while_it_comes(self):
        index = SignatureIndex()
        found = {}
        for number, text in enumerate(TEXTS):
            repeated = index.add_original(number, text)
            if repeated is not None:
                found[number] = repeated.id
        self.assertEqual(found, REPEATED)
        self.assertEqual(len(index), len(TEXTS) - len(REPEATED))

    def test_a_removed_or_replaced_text_is_not_found(self):
        index = SignatureIndex()
        index.add("a", TEXTS[0])
        index.add("a", TEXTS[2])
        self.assertEqual((len(index), index.query(TEXTS[0])), (1, None))
        index.remove("a")
        self.assertEqual((len(index), index.query(TEXTS[2])), (0, None))
        self.assertRaises(KeyError, index.remove, "a")

    def test_an_index_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "index.signatures")
            index = SignatureIndex()
            index.add_all((f"text {number}", text) for number, text in enumerate(TEXTS))
            index.remove("text 0")
            index.save(path)
            again = SignatureIndex.load(path)
            self.assertEqual(len(again), len(TEXTS) - 1)
            self.assertEqual(again.query_many(TEXTS), index.query_many(TEXTS))
            self.assertEqual([one.name for one in path.parent.iterdir()], [path.name])

    def test_an_index_on_disk_keeps_the_type_of_ids(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "index")
            index = SignatureIndex()
            index.add(5, "a text")
            index.save(path)
            self.assertEqual(SignatureIndex.load(path).query("a text").id, 5)
            self.assertEqual(SignatureIndex.load(path, numbers=True).query("a text").id, 5)
            index = SignatureIndex()
            index.add("5", "a text")
            index.save(path)
            self.assertEqual(SignatureIndex.load(path).query("a text").id, "5")
            self.assertEqual(SignatureIndex.load(path, numbers=True).query("a text").id, 5)
            index.add("five", "a text")
            index.save(path)
            with self.assertRaisesRegex(ValueError, "'?\"?five"):
                SignatureIndex.load(path, numbers=True)

    def test_an_index_of_other_features_or_a_damaged_one_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "index")
            index = SignatureIndex(features="char:5")
            index.add_all(TEXTS)
            index.save(path)
            self.assertEqual(len(SignatureIndex.load(path, features="char:5")), len(TEXTS))
            with self.assertRaisesRegex(ValueError, "made with different features"):
                SignatureIndex.load(path)
            whole = path.read_bytes()
            for at, message in [(20, "check"), (100, "check"), (0, "magic bytes")]:
                damaged = bytearray(whole)
                damaged[at] ^= 1
                path.write_bytes(damaged)
                with self.assertRaisesRegex(ValueError, message):
                    SignatureIndex.load(path, features="char:5")
            path.write_bytes(whole[:-9])
            with self.assertRaisesRegex(ValueError, "incomplete|damaged"):
                SignatureIndex.load(path, features="char:5")
            with self.assertRaises(OSError):
                SignatureIndex.load(path.parent / "none")
            with self.assertRaises(OSError):
                index.save(path.parent / "no directory" / "index")

    def test_ids_and_texts_of_wrong_types_are_refused(self):
        index = SignatureIndex()
        for call in [
            lambda: index.add(1.5, "a"),
            lambda: index.add("a", None),
            lambda: index.query(b"a"),
            lambda: index.add_all("a text"),
            lambda: index.add_all([None]),
        ]:
            self.assertRaises(TypeError, call)


if __name__ == "__main__":
    unittest.main()
