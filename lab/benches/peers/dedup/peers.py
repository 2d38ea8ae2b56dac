"""The peers of `crawler dedup`: how each is installed and called, and what it does differently."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
MIN_PYTHON = (3, 12)


@dataclass(frozen=True)
class Task:
    """One corpus, and what is asked of every peer."""

    documents: list
    threshold: float
    cores: int
    work: Path
    """An empty directory of this run."""

    @property
    def output(self):
        return self.work / "removed"

    def arguments(self):
        """Returns the arguments that all runners take."""
        scratch = self.work / "scratch"
        scratch.mkdir()
        return [
            *("--threshold", str(self.threshold)),
            *("--cores", str(self.cores)),
            *("--work", str(scratch)),
            *("--output", str(self.output)),
            *map(str, self.documents),
        ]

    def removed(self):
        """Reads the ids that a runner wrote."""
        return self.output.read_text(encoding="utf-8").split()


class Unavailable(Exception):
    """A peer cannot be run here; the message says why."""


@dataclass(frozen=True)
class Crawler:
    """`crawler dedup`, with `options` besides the threshold."""

    name: str
    binary: Path
    options: tuple = ()
    differs: str = ""

    def prepare(self):
        return version_of(self.binary, "crawler")

    def command(self, task):
        return [
            *(str(self.binary), "dedup", "--quiet", "--format", "json"),
            *("--resemblance", str(task.threshold), *self.options),
            *("--output", str(task.output), *map(str, task.documents)),
        ]

    def removed(self, task):
        with open(task.output, encoding="utf-8") as file:
            return [json.loads(line)["document"] for line in file]


@dataclass(frozen=True)
class PythonPeer:
    """A package of PyPI in a virtual environment of its own, called by `runners/run_….py`."""

    name: str
    venvs: Path
    python: str
    packages: tuple
    differs: str

    @property
    def interpreter(self):
        return self.venvs / self.name / "bin" / "python"

    def prepare(self):
        """Installs the packages unless these versions are there. Returns the peer's version."""
        if python_version(self.python) < MIN_PYTHON:
            needed = ".".join(map(str, MIN_PYTHON))
            raise Unavailable(f"{REQUIREMENTS.name} needs Python {needed}: name one by --python")
        pins = REQUIREMENTS.read_text(encoding="utf-8")
        installed = self.venvs / self.name / "installed"
        wanted = f"{self.python}\n{self.packages}\n{pins}"
        if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
            run([self.python, "-m", "venv", "--clear", str(self.venvs / self.name)])
            pip = [str(self.interpreter), "-m", "pip", "install", "--quiet"]
            run([*pip, "--constraint", str(REQUIREMENTS), *self.packages])
            installed.write_text(wanted, encoding="utf-8")
        code = f"import importlib.metadata as m; print(m.version('{self.name}'))"
        return run([str(self.interpreter), "-c", code]).strip()

    def command(self, task):
        runner = HERE / "runners" / f"run_{self.name.replace('-', '_')}.py"
        return [str(self.interpreter), str(runner), *task.arguments()]

    def removed(self, task):
        return task.removed()


@dataclass(frozen=True)
class RustPeer:
    """A program of `lab/benches/peers` with the arguments of the runners."""

    name: str
    binary: Path
    version: str
    differs: str

    def prepare(self):
        if not self.binary.exists():
            raise Unavailable(f"{self.binary} is missing: `just peers-dedup` builds it")
        return self.version

    def command(self, task):
        return [str(self.binary), *task.arguments()]

    def removed(self, task):
        return task.removed()


@dataclass(frozen=True)
class Duplodocus:
    """The program of Ai2, which no registry has: its binary is given by --duplodocus."""

    name: str
    binary: Path | None
    differs: str

    def prepare(self):
        if self.binary is None:
            raise Unavailable("not on crates.io or PyPI: give its binary by --duplodocus")
        return version_of(self.binary, "duplodocus")

    def command(self, task):
        # It reads a directory, and would read the truth beside the documents too.
        scratch = task.work / "scratch"
        (scratch / "input").mkdir(parents=True)
        for path in task.documents:
            (scratch / "input" / path.name).symlink_to(path)
        return [
            *(str(self.binary), "minhash-memory", "--text-key", "text", "--cleanup-storage"),
            *("--input-dir", str(scratch / "input")),
            *("--storage-dir", str(scratch / "storage"), "--output-dir", str(scratch / "kept")),
            # Its words include the spaces between them, so nine are five words.
            *("--tokenizer", "uniseg", "--ngram-size", "9", "--remove-duplicates", "true"),
        ]

    def removed(self, task):
        kept = {id for path in (task.work / "scratch/kept").rglob("*.jsonl*") for id in ids(path)}
        return [id for path in task.documents for id in ids(path) if id not in kept]


def ids(path):
    """Yields the ids of a file of JSON lines, which may be packed by zstd."""
    unpack = ["zstd", "-dc"] if path.suffix == ".zst" else ["cat"]
    with subprocess.Popen([*unpack, str(path)], stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            yield json.loads(line)["id"]


def all_peers(crawler, near_pairs, duplodocus, venvs, python):
    """Returns ours first, then the peers, in the order of the table."""

    def package(name, differs, *extra):
        return PythonPeer(name, venvs, python, (name, *extra), differs)

    return [
        Crawler(
            "crawler",
            crawler,
            differs="26 bands of 8 rows (recall .99 at .8), shingles compared; all cores",
        ),
        Crawler(
            "crawler, 64 MiB",
            crawler,
            ("--memory", "64MiB"),
            differs="the same with `--memory 64MiB`",
        ),
        package(
            "datasketch",
            "128 permutations, 9 bands of 13 rows, no comparison (documented use of `query`); "
            "signatures in a process for each core by our runner, index in one",
        ),
        package(
            "rensa",
            "R-MinHash of 128 values, `RMinHashDeduplicator` with its index, sketches compared; "
            "signatures in a process for each core by our runner, index in one",
        ),
        package(
            "gaoya",
            "126 values, 21 bands of 6 rows, signatures compared; its own threads; reads the "
            "files twice",
        ),
        package(
            "text-dedup",
            "128 permutations, 9 bands of 13 rows, candidates compared exactly (without, which is "
            "its default, 0.4.1 removes all documents of a cluster, text-dedup#129); a process for "
            "each core",
        ),
        package(
            "datatrove",
            "112 hashes, 14 bands of 8 rows (its default), no comparison; words by spaCy; a "
            "process for each core",
            "orjson",
            "regex",
            "spacy",
            "tokenizers",
            "xxhash",
        ),
        RustPeer(
            "all-pairs-hamming",
            near_pairs,
            "0.1.0",
            "through find-simdoc 0.1.1: 1-bit MinHash sketches of 1,280 bits, all pairs within "
            "the radius; texts in parallel, the join on one core",
        ),
        Duplodocus(
            "duplodocus",
            duplodocus,
            "14 bands of 8 rows (its default), Unicode words and the spaces between them, no "
            "comparison; all cores",
        ),
    ]


def run(command):
    """Returns the output of a command, which must succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Unavailable(f"`{' '.join(command)}` ended with code {done.returncode}")
    return done.stdout


def version_of(binary, name):
    if not os.access(binary, os.X_OK):
        raise Unavailable(f"{binary} is no program: --{name} names another one")
    return run([str(binary), "--version"]).split("\n")[0].removeprefix(name).strip()


def python_version(python):
    return tuple(json.loads(run([python, "-c", "import sys; print(list(sys.version_info[:2]))"])))
