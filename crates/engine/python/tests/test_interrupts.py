"""Ctrl-C, threads and forks."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import unittest

from corpus import corpus

from neardup import SignatureIndex, dedup

TEXTS, REPEATED = corpus()

# Each program says when it is in the middle of its work, and never ends by itself.
READING = """
import itertools, neardup

def documents():
    for number in itertools.count():
        if number == 10_000:
            print("begun", flush=True)
        yield " ".join(f"word{number + n}" for n in range(50))

CALL(documents())
"""

WAITING = """
import neardup

def told(step, done, of):
    if step != "reading":
        print("begun", flush=True)

texts = [" ".join(f"word{(n * 7 + m) % 3000}" for m in range(60)) for n in range(60_000)]
for found in neardup.dedup(texts, pairs=True, resemblance=0.2, memory=1, threads=1, progress=told):
    pass
"""


def found_in(texts):
    return {found.id: found.duplicate_of for found in dedup(texts)}


def in_child(queue):
    queue.put(found_in(TEXTS))


class Interrupts(unittest.TestCase):
    def check(self, program):
        child = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(child.stdout.readline(), "begun\n")
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate()
        self.assertIn("KeyboardInterrupt", errors)

    def test_an_interrupt_ends_the_reading_of_documents(self):
        for call in ["neardup.dedup", "neardup.SignatureIndex().query_many"]:
            self.check(READING.replace("CALL", call))

    def test_an_interrupt_ends_the_wait_for_findings(self):
        self.check(WAITING)


class Threads(unittest.TestCase):
    def test_threads_deduplicate_at_the_same_time(self):
        results = []
        threads = [
            threading.Thread(target=lambda: results.append(found_in(TEXTS))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [REPEATED] * 4)

    def test_an_index_is_filled_and_asked_by_several_threads(self):
        index = SignatureIndex()

        def fill(part):
            for number in range(part, len(TEXTS), 4):
                index.add(number, TEXTS[number])
                index.query(TEXTS[number])
            index.add_all([(f"{part} {n}", text) for n, text in enumerate(TEXTS[:50])])

        threads = [threading.Thread(target=fill, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(index), len(TEXTS) + 4 * 50)
        self.assertTrue(all(index.query_many(TEXTS)))

    def test_the_interpreter_is_free_while_texts_are_hashed(self):
        begin, ran = threading.Event(), threading.Event()

        def other():
            begin.wait()
            ran.set()

        thread = threading.Thread(target=other)
        thread.start()
        interval = sys.getswitchinterval()
        # From here on a thread gets the interpreter only from one that gives it away.
        sys.setswitchinterval(1_000)
        try:
            begin.set()
            for _ in range(1_000):
                SignatureIndex().query_many(TEXTS)
                if ran.is_set():
                    break
        finally:
            sys.setswitchinterval(interval)
        self.assertTrue(ran.is_set())
        thread.join()


@unittest.skipUnless(hasattr(os, "fork"), "a fork needs Unix")
class Forks(unittest.TestCase):
    def test_a_forked_child_deduplicates_after_its_parent_has(self):
        self.assertEqual(found_in(TEXTS), REPEATED)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        children = [context.Process(target=in_child, args=(queue,)) for _ in range(2)]
        for child in children:
            child.start()
        self.assertEqual([queue.get(timeout=60) for _ in children], [REPEATED] * 2)
        for child in children:
            child.join()

    def test_findings_of_the_parent_are_refused_in_a_fork_instead_of_waited_for(self):
        findings = dedup(TEXTS)
        child = os.fork()
        if child == 0:
            try:
                next(findings)
            except RuntimeError as error:
                os._exit(0 if "forked process" in str(error) else 2)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual({one.id: one.duplicate_of for one in findings}, REPEATED)


if __name__ == "__main__":
    unittest.main()
