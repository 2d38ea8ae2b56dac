"""Compares `crawler dedup` with its peers: time, memory, precision and recall, in one table.

    python3 lab/benches/peers/dedup/compare.py --sizes 10000,100000,1000000 --page docs/…/peers.md

`just peers-dedup` builds the two Rust programs first. Every peer gets the same task, a resemblance
of .8 or more over word 5-shingles, or the nearest that it can do (`peers.py`), from JSON lines to
the ids that it removes. Runs of different peers alternate, so that a busy moment hits all alike. A
peer gets the next larger corpus if its rate so far lets it finish within --patience. See
docs/measurements/peers.md.
"""

import argparse
import dataclasses
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import corpus
import table
from peers import HERE, Task, Unavailable, all_peers, python_version
from score import read_truth, score

ROOT = HERE.parents[3]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crawler-peers"
BEGIN, END = "<!-- begin: compare.py -->", "<!-- end: compare.py -->"
# Part of the free memory that a run may be expected to need.
MEMORY = 0.8


def parsed_arguments():
    parser = argparse.ArgumentParser(description="Compare `crawler dedup` with its peers")
    parser.add_argument("--sizes", default="10000,100000,1000000", help="numbers of documents")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each peer at each size")
    parser.add_argument(
        "--patience", type=float, default=20, help="minutes that the runs of a peer at a size get"
    )
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--peers", help="only these, by name, separated by commas")
    parser.add_argument(
        "--labelled",
        type=Path,
        help="also compare on the sets of this directory (made by labelled.py)",
    )
    parser.add_argument("--work", type=Path, default=CACHE / "work", help="corpora and results")
    parser.add_argument("--venvs", type=Path, default=CACHE / "venvs")
    parser.add_argument("--python", default=sys.executable, help="makes the environments")
    parser.add_argument("--crawler", type=Path, default=ROOT / "target/release/crawler")
    parser.add_argument(
        "--near-pairs", type=Path, default=ROOT / "lab/benches/peers/target/release/near-pairs"
    )
    parser.add_argument("--duplodocus", type=Path, help="its program, which no registry has")
    parser.add_argument("--page", type=Path, help="put the table between the marks of this page")
    parser.add_argument("--note", default="", help="a remark about this session for the page")
    parser.add_argument(
        "--prepare", action="store_true", help="only install the peers and make the corpora"
    )
    return parser.parse_args()


class Session:
    """The runs so far, and what they say about further ones."""

    def __init__(self, asked, peers):
        self.asked, self.peers = asked, peers
        self.notes, self.loads = [], []
        self.log = open(asked.work / "runs.jsonl", "a", encoding="utf-8")

    def compare(self, corpus_name, files, truth, size, rounds, expected):
        """Runs all peers in turn, and returns the summary of each that ended well."""
        runs = {peer.name: [] for peer in self.peers}
        for number in range(rounds):
            for peer in self.peers:
                done = runs[peer.name]
                if done is None or (number > 0 and not done):
                    continue
                spent = sum(run["wall"] for run in done)
                if done and spent + spent / len(done) > 60 * self.asked.patience:
                    continue
                if not done and not self.may_run(peer, size, expected(peer.name)):
                    runs[peer.name] = None
                    continue
                run = self.run(peer, corpus_name, files, truth, size)
                if run is None:
                    runs[peer.name] = None
                else:
                    done.append(run)
        return {name: table.summary(some) for name, some in runs.items() if some}

    def may_run(self, peer, size, expected):
        """Decides from the expected seconds and bytes of a run, and notes why not."""
        if expected is None:
            return True
        seconds, memory = expected
        free = available_memory()
        if seconds > 60 * self.asked.patience:
            self.notes.append(
                f"{peer.name}, {size:,} documents: would take {seconds / 60:,.0f} minutes, over "
                f"the {self.asked.patience:g} of --patience"
            )
        elif memory > MEMORY * free:
            self.notes.append(
                f"{peer.name}, {size:,} documents: would need {memory / 2**30:.0f} GiB of memory, "
                f"over {MEMORY:.0%} of the free {free / 2**30:.0f}"
            )
        else:
            return True
        return False

    def run(self, peer, corpus_name, files, truth, size):
        """Measures one run; `None`, with a note, if it does not end well."""
        work = self.asked.work / "run"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        task = Task(files, self.asked.threshold, self.asked.cores, work)
        load = os.getloadavg()[0]
        limit = 2 * 60 * self.asked.patience
        measured = measure(peer.command(task), work, limit, self.asked.cores)
        where = f"{peer.name}, {corpus_name}"
        if not measured["in_time"] or measured["code"] != 0:
            kept = self.asked.work / f"failed-{peer.name}.log"
            shutil.copy(work / "log", kept)
            why = (
                f"ended with code {measured['code']}, see {kept.name}"
                if measured["in_time"]
                else f"was stopped after {limit / 60:g} minutes"
            )
            self.notes.append(f"{where}: {why}")
            print(f"{where}: {why}", file=sys.stderr, flush=True)
            return None
        scored = dataclasses.asdict(score(peer.removed(task), truth, self.asked.threshold))
        shutil.rmtree(work)
        run = {
            "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "peer": peer.name,
            "corpus": corpus_name,
            "documents": size,
            "load": load,
            "wall": measured["wall"],
            "cpu": measured["cpu"],
            "peak": measured["peak"],
            "score": scored,
        }
        self.loads.append(load)
        self.log.write(json.dumps(run) + "\n")
        self.log.flush()
        print(
            f"{where}: {run['wall']:.1f} s, {run['cpu']:.1f} s CPU, "
            f"{run['peak'] / table.MIB:.0f} MiB, precision {table.part(scored['precision'])}, "
            f"recall {table.part(scored['recall'])}, load {load:.1f}",
            file=sys.stderr,
            flush=True,
        )
        return run


def measure(command, work, limit, cores):
    """Runs a command below `measure.py` and returns what that measured."""
    result = work / "measured.json"
    with open(work / "log", "wb") as log:
        code = subprocess.run(
            [sys.executable, HERE / "measure.py", result, str(limit), str(cores), *command],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=work,
            env={**os.environ, "TMPDIR": str(work)},
        ).returncode
    if code != 0:
        raise SystemExit(f"measure.py ended with code {code}:\n{(work / 'log').read_text()}")
    return json.loads(result.read_text())


def expectation(results, size):
    """Returns a function: what a run of a peer at `size` is expected to take, if it is known.

    Time grows as between the two sizes before, and at least with the documents; memory with the
    documents. Both are too large while starting up dominates.
    """

    def expected(name):
        known = sorted(other for peer, other in results if peer == name)
        if not known:
            return None
        last = results[name, known[-1]]
        more = size / known[-1]
        power = 1.0
        if len(known) > 1:
            before = results[name, known[-2]]
            power = math.log(last["wall"] / before["wall"], known[-1] / known[-2])
        return last["wall"] * more ** max(1.0, power), last["peak"] * more

    return expected


def available_memory():
    """Returns the bytes that processes can get without swapping."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    raise SystemExit("/proc/meminfo has no MemAvailable: this comparison needs Linux")


def prepared(peers, chosen):
    """Returns the peers that can run, their versions, and a note for each that cannot."""
    unknown = set(chosen or ()) - {peer.name for peer in peers}
    if unknown:
        names = ", ".join(peer.name for peer in peers)
        raise SystemExit(f"--peers: no such peer as {', '.join(unknown)}; there are {names}")
    ready, versions, notes = [], {}, []
    for peer in peers:
        if chosen and peer.name not in chosen:
            continue
        try:
            versions[peer.name] = peer.prepare()
            ready.append(peer)
        except Unavailable as reason:
            notes.append(f"{peer.name}: {reason}")
            print(f"{peer.name}: {reason}", file=sys.stderr, flush=True)
    return ready, versions, notes


def labelled_sets(directory):
    """Yields name, file and truth of each labelled set; a set has a directory of its own."""
    for path in sorted(directory.glob("*/documents.jsonl")):
        yield path.parent.name, path, read_truth(path.parent / "truth.jsonl")


def replace_between_marks(page, text):
    """Puts the text between the marks of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no lines {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")


def circumstances(asked, session, begun):
    """Returns a paragraph about the session."""
    loads = session.loads or [0.0]
    processor = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.partition(":")[2].strip()
            break
    minutes = (time.time() - begun) / 60
    date = time.strftime("%Y-%m-%d", time.gmtime(begun))
    python = ".".join(map(str, python_version(asked.python)))
    lines = [
        f"{date}, {asked.cores} cores ({processor}), Python {python}. Runs of a peer at a size: up",
        f"to {asked.rounds}, in turns (median times, largest peak); {minutes:.0f} minutes in all.",
        f"Load average before the runs: {min(loads):.1f} to {max(loads):.1f}.",
    ]
    return "\n".join([*lines, asked.note] if asked.note else lines)


def main():
    asked = parsed_arguments()
    sizes = sorted(int(size.replace("_", "")) for size in asked.sizes.split(",") if size)
    asked.work = asked.work.resolve()
    asked.labelled = asked.labelled and asked.labelled.resolve()
    asked.work.mkdir(parents=True, exist_ok=True)
    chosen = asked.peers.split(",") if asked.peers else None
    peers = all_peers(
        asked.crawler.resolve(),
        asked.near_pairs.resolve(),
        asked.duplodocus and asked.duplodocus.resolve(),
        asked.venvs.resolve(),
        asked.python,
    )
    ready, versions, notes = prepared(peers, chosen)
    corpora = {}
    for size in sizes:
        directory = asked.work / f"generated-v{corpus.VERSION}-{size}-{asked.cores}"
        corpora[size] = (corpus.generate(directory, size, asked.cores), directory / "truth.jsonl")
    if asked.prepare:
        return
    begun, session = time.time(), Session(asked, ready)
    results, labelled = {}, {}
    for size, (files, truth) in corpora.items():
        pairs, expected = read_truth(truth), expectation(results, size)
        done = session.compare(f"{size:,} documents", files, pairs, size, asked.rounds, expected)
        results.update({(name, size): run for name, run in done.items()})
    for name, file, truth in labelled_sets(asked.labelled) if asked.labelled else ():
        with open(file, "rb") as lines:
            size = sum(1 for _ in lines)
        done = session.compare(name, [file], truth, size, asked.rounds, lambda _: None)
        labelled.update({(peer, name): run for peer, run in done.items()})
    circumstance = circumstances(asked, session, begun)
    report = table.markdown(
        ready, versions, results, labelled, notes + session.notes, circumstance
    )
    print(report)
    (asked.work / "report.md").write_text(report, encoding="utf-8")
    if asked.page:
        replace_between_marks(asked.page, report)


if __name__ == "__main__":
    main()
