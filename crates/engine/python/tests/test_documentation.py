"""The examples of docstrings, of the README and of the tutorial run as they stand."""

import doctest
import inspect
import os
import pathlib
import re
import sys
import tempfile
import unittest

import neardup
from neardup import _results

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
TUTORIAL = PACKAGE.parent.parent / "docs" / "guide" / "python.md"

BLOCK = re.compile(r"^```python(?P<needs>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def public():
    """Returns everything public with its name, methods included."""
    of_crawls = [(f"crawl.{name}", neardup.crawl) for name in neardup.crawl.__all__]
    for name, module in [(name, neardup) for name in neardup.__all__] + of_crawls:
        found = getattr(module, name.rpartition(".")[2])
        yield name, found
        if inspect.isclass(found) and found.__module__ != _results.__name__:
            for method, value in vars(found).items():
                if not method.startswith("_"):
                    yield f"{name}.{method}", getattr(found, method)


def is_installed(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


class Docstrings(unittest.TestCase):
    def test_everything_public_has_a_docstring(self):
        for name, found in public():
            self.assertTrue(inspect.getdoc(found), name)

    @unittest.skipUnless(is_installed("numpy"), "some examples make arrays of numpy")
    def test_their_examples_give_what_they_say(self):
        runner = doctest.DocTestRunner()
        examples = 0
        for name, found in public():
            globals_ = {one: getattr(neardup, one) for one in neardup.__all__}
            text = inspect.getdoc(found) or ""
            test = doctest.DocTestParser().get_doctest(text, globals_, name, None, None)
            examples += len(test.examples)
            runner.run(test)
        self.assertEqual(runner.summarize(verbose=False).failed, 0)
        self.assertGreater(examples, 20)


class Pages(unittest.TestCase):
    def run_blocks(self, page):
        """Runs the Python blocks of a page in one namespace, in a directory of their own.

        A block whose first line says ```` ```python needs: pyspark ```` is left out without it.
        """
        text = page.read_text(encoding="utf-8")
        blocks = list(BLOCK.finditer(text))
        self.assertTrue(blocks, page)
        names = {"__name__": "__main__"}
        here = os.getcwd()
        # Spark's workers need the interpreter that has the package.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            try:
                for block in blocks:
                    needs = block["needs"].replace("needs:", "").split()
                    line = text.count("\n", 0, block.start()) + 2
                    missing = [one for one in needs if not is_installed(one)]
                    if missing:
                        print(f"{page.name}:{line}: left out, {', '.join(missing)} is missing")
                        continue
                    code = "\n" * (line - 1) + block["code"]
                    exec(compile(code, str(page), "exec"), names)
            finally:
                os.chdir(here)

    def test_the_readme_runs(self):
        self.run_blocks(PACKAGE / "README.md")

    @unittest.skipUnless(TUTORIAL.exists(), "the tutorial is part of the repository only")
    def test_the_tutorial_runs(self):
        self.run_blocks(TUTORIAL)


if __name__ == "__main__":
    unittest.main()
