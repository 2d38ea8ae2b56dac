"""Generates a corpus with planted near-duplicates, and the truth about it.

The rule is that of `lab/benches/src/dedup.rs`: every tenth document is a copy of the one nine before
it, with a run of words replaced so that their word 5-shingles have a resemblance of .5 to 1. The
resemblance of each pair is computed from the texts and is the least at or above the planted one.
Words follow the law of Zipf and Mandelbrot over a vocabulary of 50,000 invented words, most of them
short if frequent; 310 of them are about 2 KB.

A text depends on its number alone (SHAKE-128 of the number; FIPS 202), so a smaller corpus is the
beginning of a larger one, on every machine and with every version of Python.

    python3 corpus.py --documents 20000 --parts 2 DIRECTORY

writes `documents-0.jsonl`, `documents-1.jsonl` (`{"id", "text"}`) and `truth.jsonl`
(`{"a", "b", "resemblance", "planted"}`).
"""

import argparse
import hashlib
import json
import multiprocessing
from array import array
from functools import cache
from pathlib import Path

PLANTED = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
WORDS = 310
SHINGLE = 5
EVERY = 10
# The first word that a copy replaces.
REPLACED_FROM = 20
# The number of this rule: another one makes other documents.
VERSION = 1

VOCABULARY = 50_000
# Steps of the cumulative distribution: a word is drawn by the step that a random number falls on.
STEPS = 1 << 20
ONSETS = "b c d f g h j k l m n p r s t v w br cl dr gr pl sh st th tr".split()
VOWELS = "a e i o u a e i o u ea ou".split()
CODAS = ["", "", "", "d", "l", "m", "n", "r", "s", "t", "nd", "ng"]


def numbers(*key, count):
    """Returns `count` reproducible 32-bit numbers for a key."""
    name = ":".join(map(str, key)).encode()
    drawn = array("I", hashlib.shake_128(name).digest(4 * count))
    if drawn.itemsize != 4:
        raise SystemExit("this platform has no array of 32-bit numbers")
    return drawn


@cache
def distribution():
    """Returns `STEPS` words: a random one of them follows the law of Zipf and Mandelbrot."""
    words, seen, draw = [], set(), 0
    while len(words) < VOCABULARY:
        syllables = 1 if len(words) < 200 else 2
        parts = iter(numbers("word", draw, count=6))
        draw += 1
        word = "".join(
            kind[next(parts) % len(kind)]
            for _ in range(syllables)
            for kind in (ONSETS, VOWELS, CODAS)
        )
        if word not in seen:
            seen.add(word)
            words.append(word)
    weights = [1 / (rank + 2.7) for rank in range(1, VOCABULARY + 1)]
    total, reached, steps = sum(weights), 0.0, []
    for word, weight in zip(words, weights):
        reached += weight
        until = min(STEPS, round(STEPS * reached / total))
        steps.extend([word] * (until - len(steps)))
    return steps


def shingles(words):
    """Returns the set of word 5-shingles."""
    return set(zip(*(words[at:] for at in range(SHINGLE))))


def resemblance(one, other):
    """Returns the Jaccard coefficient of two sets (Broder 1997, section 2)."""
    return len(one & other) / len(one | other)


def words_of(stream, number):
    steps = distribution()
    return [steps[drawn % STEPS] for drawn in numbers(stream, number, count=WORDS)]


def copied(original, number, planted):
    """Returns a copy of the words and its resemblance, the least one at or above `planted`."""
    others, whole = words_of("replacement", number), shingles(original)

    def copy(replaced):
        end = REPLACED_FROM + replaced
        words = original[:REPLACED_FROM] + others[REPLACED_FROM:end] + original[end:]
        return words, resemblance(whole, shingles(words))

    # Each replaced word costs a shingle of either text, and the run costs four more.
    lost = (WORDS - SHINGLE + 1) * (1 - planted) / (1 + planted)
    replaced = max(0, round(lost) - SHINGLE + 1)
    words, measured = copy(replaced)
    while measured < planted:
        replaced -= 1
        words, measured = copy(replaced)
    while planted < 1 and REPLACED_FROM + replaced < WORDS:
        longer, less = copy(replaced + 1)
        if less < planted:
            break
        replaced, words, measured = replaced + 1, longer, less
    return words, measured


def prose(words, number):
    """Returns the words as sentences of 8 to 23 words; a number has its own lengths."""
    lengths = numbers("sentences", number, count=WORDS // 8 + 1)
    sentences, at = [], 0
    for length in lengths:
        sentence = words[at : at + 8 + length % 16]
        if not sentence:
            break
        sentences.append(" ".join([sentence[0].capitalize(), *sentence[1:]]) + ".")
        at += len(sentence)
    return " ".join(sentences)


def document(number):
    """Returns the text of a document, and the pair that it is the copy of, if it is one."""
    if number % EVERY != EVERY - 1:
        return prose(words_of("words", number), number), None
    original = number - EVERY + 1
    planted = PLANTED[number // EVERY % len(PLANTED)]
    words, measured = copied(words_of("words", original), number, planted)
    pair = {"a": str(original), "b": str(number), "resemblance": measured, "planted": planted}
    return prose(words, original), pair


def write_part(directory, part, start, end):
    """Writes the documents of a range, and returns the pairs planted in it."""
    pairs = []
    with open(directory / f"documents-{part}.jsonl", "w", encoding="utf-8") as file:
        for number in range(start, end):
            text, pair = document(number)
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
            if pair:
                pairs.append(pair)
    return pairs


def generate(directory, documents, parts=1):
    """Writes a corpus in `parts` files of equal length, unless it is there. Returns its files."""
    directory = Path(directory)
    truth = directory / "truth.jsonl"
    if not truth.exists():
        directory.mkdir(parents=True, exist_ok=True)
        distribution()
        bounds = [documents * part // parts for part in range(parts + 1)]
        jobs = [(directory, part, *bounds[part : part + 2]) for part in range(parts)]
        with multiprocessing.Pool(parts) as pool:
            pairs = [pair for some in pool.starmap(write_part, jobs) for pair in some]
        # The truth is there only if the documents are.
        unfinished = truth.with_suffix(".unfinished")
        with open(unfinished, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(pair) + "\n" for pair in pairs)
        unfinished.rename(truth)
    return sorted(directory.glob("documents*.jsonl"))


def main():
    parser = argparse.ArgumentParser(description="Generate a corpus with planted near-duplicates")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--parts", type=int, default=1)
    arguments = parser.parse_args()
    for path in generate(arguments.directory, arguments.documents, arguments.parts):
        print(path)


if __name__ == "__main__":
    main()
