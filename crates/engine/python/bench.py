"""Compares the package with the engine without Python, and with datasketch, in one run.

    pip install neardup numpy datasketch       # the wheel of this repository
    python crates/engine/python/bench.py [DOCUMENTS]

Documents are generated: 2 KB of words, of which every fourth repeats the one before it with some
words changed. Each figure is the best of some rounds, in microseconds a document, on one thread
unless "all cores" is said. Goals: a call costs at most twice the engine alone, and MinHashes and
queries take at most a fiftieth of datasketch's time.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import neardup

DOCUMENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
WORDS, VOCABULARY = 330, 50_000
PACKAGE = pathlib.Path(__file__).resolve().parent


def corpus(documents):
    """Returns generated texts: the same in every run."""
    choose = random.Random(1)
    texts = []
    for number in range(documents):
        if number % 4 == 3:
            words = texts[-1].split()
            for _ in range(choose.randrange(1, 20)):
                words[choose.randrange(WORDS)] = f"w{choose.randrange(VOCABULARY)}"
        else:
            words = [f"w{choose.randrange(VOCABULARY)}" for _ in range(WORDS)]
        texts.append(" ".join(words))
    return texts


def best(call, documents, rounds=3):
    """Returns the microseconds a document of the fastest round."""
    fastest = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        fastest = min(fastest, time.perf_counter() - begun)
    return fastest * 1e6 / documents


def engine(texts):
    """Returns the microseconds a document of the engine without Python."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "documents.txt")
        path.write_text("\n".join(texts))
        command = ["cargo", "run", "--quiet", "--release", "--manifest-path"]
        command += [PACKAGE / "Cargo.toml", "--example", "cost", "--", path]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {name: int(cost) / 1_000 for name, cost in zip(lines[::2], lines[1::2])}


def table(title, rows):
    print(f"\n{title}")
    for name, ours, theirs in rows:
        print(f"  {name:<44} {ours:>9.2f} µs {theirs:>9.2f} µs   {theirs / ours:>7.2f}")


def against_engine(texts):
    alone = engine(texts)
    index = neardup.SignatureIndex()
    index.add_all(texts)
    each = [
        ("Simhash(text)", "simhash", lambda: [neardup.Simhash(text) for text in texts]),
        (
            "MinHash.from_text(text)",
            "minhash",
            lambda: [neardup.MinHash.from_text(text) for text in texts],
        ),
        ("SignatureIndex.query(text)", "query", lambda: [index.query(text) for text in texts]),
        (
            "fingerprints(texts, threads=1)",
            "simhash",
            lambda: neardup.fingerprints(texts, threads=1),
        ),
        ("minhashes(texts, threads=1)", "minhash", lambda: neardup.minhashes(texts, threads=1)),
        (
            "dedup(texts, threads=1)",
            "dedup",
            lambda: sum(1 for _ in neardup.dedup(texts, threads=1)),
        ),
        (
            f"dedup(texts), all cores ({os.cpu_count()})",
            "dedup",
            lambda: sum(1 for _ in neardup.dedup(texts)),
        ),
    ]
    rows = [(name, best(call, len(texts)), alone[cost]) for name, cost, call in each]
    columns = "Python      engine alone   engine/Python"
    table(f"{'call':<43} {columns}", rows)
    missed = [name for name, ours, theirs in rows if ours > 2 * theirs]
    print("  at most twice the engine:", "yes" if not missed else "NOT " + ", ".join(missed))


def against_datasketch(texts):
    import datasketch

    few = texts[: min(len(texts), 2_000)]
    shingled = []
    for text in few:
        words = text.split()
        shingled.append([" ".join(words[at : at + 5]).encode() for at in range(len(words) - 4)])

    def theirs(tokens):
        minhash = datasketch.MinHash(num_perm=128)
        minhash.update_batch(tokens)
        return minhash

    def ours(tokens):
        minhash = neardup.MinHash(num_perm=128)
        minhash.update_batch(tokens)
        return minhash

    def theirs_of_text(text):
        words = text.split()
        return theirs([" ".join(words[at : at + 5]).encode() for at in range(len(words) - 4)])

    count = len(few)
    their_sets, our_sets = [theirs(one) for one in shingled], [ours(one) for one in shingled]
    their_lsh = datasketch.MinHashLSH(threshold=0.8, num_perm=128)
    our_lsh = neardup.MinHashLSH(threshold=0.8, num_perm=128, params=(their_lsh.b, their_lsh.r))
    for number, (one, two) in enumerate(zip(their_sets, our_sets)):
        their_lsh.insert(number, one)
        our_lsh.insert(number, two)
    text_lsh = neardup.MinHashLSH(threshold=0.8, num_perm=128, params=(their_lsh.b, their_lsh.r))
    for number, text in enumerate(few):
        text_lsh.insert(number, neardup.MinHash.from_text(text))
    index = neardup.SignatureIndex()
    index.add_all(few)
    pairs = [
        (
            "MinHash of a list of tokens",
            lambda: [ours(one) for one in shingled],
            lambda: [theirs(one) for one in shingled],
        ),
        (
            "MinHash of a text (word 5-shingles)",
            lambda: [neardup.MinHash.from_text(text) for text in few],
            lambda: [theirs_of_text(text) for text in few],
        ),
        (
            "MinHashes of texts, all cores",
            lambda: neardup.minhashes(few),
            lambda: [theirs_of_text(text) for text in few],
        ),
        (
            "MinHashLSH.query of a MinHash",
            lambda: [our_lsh.query(one) for one in our_sets],
            lambda: [their_lsh.query(one) for one in their_sets],
        ),
        (
            "jaccard of two MinHashes",
            lambda: [one.jaccard(our_sets[0]) for one in our_sets],
            lambda: [one.jaccard(their_sets[0]) for one in their_sets],
        ),
        (
            "MinHash and MinHashLSH.query of a text",
            lambda: [text_lsh.query(neardup.MinHash.from_text(text)) for text in few],
            lambda: [their_lsh.query(theirs_of_text(text)) for text in few],
        ),
        (
            "SignatureIndex.query of a text",
            lambda: [index.query(text) for text in few],
            lambda: [their_lsh.query(theirs_of_text(text)) for text in few],
        ),
        (
            "SignatureIndex.query_many, all cores",
            lambda: index.query_many(few),
            lambda: [their_lsh.query(theirs_of_text(text)) for text in few],
        ),
    ]
    rows = [(name, best(mine, count), best(other, count, rounds=2)) for name, mine, other in pairs]
    columns = f"neardup      datasketch {datasketch.__version__}   ratio"
    table(f"{'call':<42} {columns}", rows)


INTERRUPTED = """
import sys, time, neardup

def told(step, done, of):
    if step != "reading":
        print("begun", flush=True)

texts = [" ".join(f"word{(n * 7 + m) % 3000}" for m in range(60)) for n in range(60_000)]
for found in neardup.dedup(texts, pairs=True, resemblance=0.2, memory=1, threads=1, progress=told):
    pass
"""


def interrupts():
    """Prints the longest time between Ctrl-C and the end of a process that compares documents."""
    seconds = []
    for _ in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        child.stdout.readline()
        begun = time.perf_counter()
        child.send_signal(signal.SIGINT)
        child.wait()
        seconds.append(time.perf_counter() - begun)
        child.stdout.close()
    print(f"\nan interrupt ends dedup within {max(seconds):.2f} s (the slowest of {len(seconds)})")


def main():
    texts = corpus(DOCUMENTS)
    mean = sum(map(len, texts)) / len(texts)
    print(f"{DOCUMENTS} documents of {mean:.0f} bytes, Python {sys.version.split()[0]}")
    against_engine(texts)
    interrupts()
    try:
        against_datasketch(texts)
    except ImportError:
        print("\ndatasketch is not installed: no comparison with it")


if __name__ == "__main__":
    main()
