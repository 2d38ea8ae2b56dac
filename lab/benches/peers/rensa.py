"""Measures rensa: MinHashes of 200 values of documents of 1,000 shingles, on one thread.

    python -m venv venv && venv/bin/pip install rensa==0.5.0
    venv/bin/python lab/benches/peers/rensa.py

The documents are those of `cargo run --release --bin minhash` in this directory, which runs this
script too if it is given the interpreter, and prints the ratios. Prints a line for each method of
rensa: documents a second, method.
"Rho" samples positions of the text, so it is no MinHash of the whole set; it is listed for
completeness.
"""

import os
import sys

sys.path.pop(0)  # this file has the name of the module that it needs
os.environ["RAYON_NUM_THREADS"] = "1"

import time
from array import array

from rensa import CMinHash, RMinHash

DOCUMENTS, SHINGLES, VALUES, WORDS, RUNS = 256, 1_000, 200, 50_000, 9
MASK = (1 << 64) - 1


def draws(state):
    """SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), as in src/lib.rs."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def documents():
    random = draws(7)
    for _ in range(DOCUMENTS):
        words = [f"word{(next(random) * WORDS) >> 64}" for _ in range(SHINGLES + 2)]
        yield [" ".join(words[at : at + 3]) for at in range(SHINGLES)]


def best_of(work):
    """The least seconds of some runs: what the machine can do when nothing disturbs it."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def one_by_one(kind, texts):
    for text in texts:
        minhash = kind(num_perm=VALUES, seed=42)
        minhash.update(text)


def main():
    texts = list(documents())
    hashed = RMinHash.hash_token_sets(texts)
    flat = array("Q", (value for row in hashed for value in row))
    offsets = array("Q", range(0, DOCUMENTS * SHINGLES + 1, SHINGLES))
    ways = {
        "R strings one by one": lambda: one_by_one(RMinHash, texts),
        "C strings one by one": lambda: one_by_one(CMinHash, texts),
        "R strings in a batch": lambda: RMinHash.digest_matrix_from_token_sets(texts, VALUES, 42),
        "C strings in a batch": lambda: CMinHash.digests64_from_token_sets(texts, VALUES, 42),
        "R hashes in a batch": lambda: RMinHash.digest_matrix_from_flat_token_hashes(flat, offsets, VALUES, 42),
        "C hashes in a batch": lambda: CMinHash.digests64_from_token_hash_sets(hashed, VALUES, 42),
        "Rho hashes in a batch": lambda: RMinHash.digest_matrix_from_flat_token_hashes_rho(flat, offsets, VALUES, 42),
    }
    for way, work in ways.items():
        print(f"{DOCUMENTS / best_of(work):.0f} {way}", flush=True)


main()
