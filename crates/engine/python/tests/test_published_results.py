"""The answers of papers and tutorials."""

import unittest

from neardup import MinHash, Shingles, Simhash, containment, dedup, resemblance

JACK = "Jack London traveled to Oakland"
JACK_TO_CITY = "Jack London traveled to the city of Oakland"
JACK_FROM = "Jack traveled from Oakland to London"


class KnownAnswers(unittest.TestCase):
    def test_the_sentences_about_jack_london_resemble_each_other_by_3_in_8_and_not_at_all(self):
        self.assertEqual(resemblance(JACK, JACK_TO_CITY, "word:2"), 3 / 8)
        self.assertEqual(resemblance(JACK, JACK_FROM, "word:2"), 0)

    def test_the_three_sets_of_the_textbook_resemble_each_other_by_1_in_3_2_in_5_and_1_in_6(self):
        # Leskovec, Rajaraman and Ullman, exercise 3.1.1.
        one, two, three = "1 2 3 4", "2 3 5 7", "2 4 6"
        self.assertEqual(resemblance(one, two, "word:1"), 1 / 3)
        self.assertEqual(resemblance(one, three, "word:1"), 2 / 5)
        self.assertEqual(resemblance(two, three, "word:1"), 1 / 6)

    def test_the_earth_is_moving_has_fifteen_runs_of_five_characters(self):
        self.assertEqual(len(Shingles("The earth is moving", "char:5")), 15)

    def test_a_rose_is_a_rose_is_a_rose_has_three_runs_of_four_words(self):
        rose = Shingles("a rose is a rose is a rose", "word:4")
        self.assertEqual(len(rose), 3)
        for shingle, expected in [
            ("a rose is a", 1.0),
            ("rose is a rose", 1.0),
            ("is a rose is", 1.0),
            ("a rose a rose", 0.0),
            ("rose is a is", 0.0),
        ]:
            self.assertEqual(Shingles(shingle, "word:4").containment_in(rose), expected, shingle)

    def test_containment_goes_one_way(self):
        part = "the quick brown fox jumps"
        whole = "see how the quick brown fox jumps over the lazy dog"
        self.assertEqual(containment(part, whole, "word:3"), 1.0)
        self.assertEqual(containment(whole, part, "word:3"), 3 / 9)

    def test_distances_of_nine_bits_are_five_and_four_and_one(self):
        numbers = [0b1_1110_0010, 0b1_0011_1110, 0b1_0011_1010]
        one, two, three = (Simhash.from_value(number, bits=9) for number in numbers)
        distances = one.distance(two), one.distance(three), two.distance(three)
        self.assertEqual(distances, (5, 4, 1))

    def test_a_minhash_estimates_the_resemblance_with_the_error_of_its_theory(self):
        one = MinHash(num_perm=1024, tokens=(f"token {n}" for n in range(3000)))
        two = MinHash(num_perm=1024, tokens=(f"token {n}" for n in range(1000, 4000)))
        # J = 2000/4000; five standard errors of sqrt(.25/1024).
        self.assertAlmostEqual(one.jaccard(two), 0.5, delta=5 * 0.0157)

    def test_dedup_finds_the_sentence_that_resembles_by_3_in_8_if_it_is_asked_to(self):
        options = dict(features="word:2", min_words=1)
        found = list(dedup([JACK, JACK_TO_CITY, JACK_FROM], resemblance=0.3, **options))
        self.assertEqual([(one.id, one.duplicate_of) for one in found], [(1, 0)])
        self.assertEqual(found[0].measure, "resemblance")
        self.assertEqual(list(dedup([JACK, JACK_TO_CITY], resemblance=0.6, **options)), [])


if __name__ == "__main__":
    unittest.main()
