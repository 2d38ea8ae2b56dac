"""Texts for tests, generated: the same in every run."""

import random


def words(seed, count):
    """Returns `count` words that depend on `seed` alone."""
    choose = random.Random(seed)
    return [f"word{choose.randrange(20_000)}" for _ in range(count)]


def changed(text, seed, count):
    """Returns a text with `count` of its words replaced."""
    choose = random.Random(seed)
    parts = text.split()
    for _ in range(count):
        parts[choose.randrange(len(parts))] = f"changed{choose.randrange(1_000)}"
    return " ".join(parts)


def corpus(originals=200, length=200):
    """Returns texts, of which every third repeats the one before it with one word in a hundred
    changed, and the numbers of the repetitions with those of their originals."""
    texts, repeated = [], {}
    for number in range(originals):
        text = " ".join(words(number, length))
        texts.append(text)
        if number % 3 == 0:
            repeated[len(texts)] = len(texts) - 1
            texts.append(changed(text, number, length // 100))
    return texts, repeated
