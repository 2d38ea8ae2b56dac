"""Compares the engines of this directory with the crawler and with brute force, pair for pair.

    check.py WORKDIR --crawler PROGRAM [--count N] [--copies N] [--brute N] [--families N]
             [--chain N] [--distances K…] [--engines NAME…] [--kill]

First on fingerprints, which decide alone: a chain of near ones, and random ones with planted
neighbours and copies of one. All engines, `crawler query`, brute force, and the planted pairs. Then
on the pages of crawls of two generated sites on loopback, where sketches verify: all engines,
`crawler dedup --pairs` and `crawler dedup --clusters --chained` on the archives. An engine that is
not installed is named on standard error and left out; with CI=true that is a failure. Code 1 if
anything differs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import numpy

import engines
import generate
import web_pages
from engines import Found, Missing, Rules, clusters_of, pairs_of

# The most differences that are printed of one comparison.
SHOWN = 5
# Estimates are computed by the same operations on the same numbers; JSON has all their digits.
TOLERANCE = 1e-12
# The seed of everything that is generated.
SEED = 16


class Source(NamedTuple):
    """One set of signatures, in the forms that engines read."""

    # A pattern of files.
    parquet: Path
    csv: list


class Check:
    """Compares results, and prints figures and differences."""

    def __init__(self):
        self.differences = 0

    def expected(self, what, found):
        """Prints the figures of the result with which the others are compared."""
        print(f"- {what}: {figures_of(found)}: expected of the others", flush=True)

    def same(self, what, found, expected):
        """Compares pairs and clusters with those expected."""
        pairs = [
            f"{kind} {pair}: {values}"
            for kind, pair, values in differing(found.pairs, expected.pairs)
        ]
        clusters = [
            f"cluster {'only here' if cluster in found.clusters else 'missing'}: "
            f"{sorted(cluster)[:4]}…"
            for cluster in found.clusters ^ expected.clusters
        ]
        self.differences += len(pairs) + len(clusters)
        for finding in (pairs + clusters)[:SHOWN]:
            print(f"batch: {what}: {finding}", file=sys.stderr)
        verdict = (
            "the same"
            if not pairs + clusters
            else f"{len(pairs)} pairs and {len(clusters)} clusters differ"
        )
        print(f"- {what}: {figures_of(found)}: {verdict}", flush=True)

    def holds(self, what, is_true):
        self.differences += not is_true
        print(f"- {what}: {'yes' if is_true else 'NO'}", flush=True)


def figures_of(found):
    return (
        f"{len(found.pairs)} pairs, {len(found.clusters)} clusters, "
        f"{found.seconds:.1f} s, {found.memory} MiB"
    )


def differing(found, expected):
    """Yields the pairs in which two results differ."""
    for pair in sorted(found.keys() - expected.keys()):
        yield "only here", pair, found[pair]
    for pair in sorted(expected.keys() - found.keys()):
        yield "missing", pair, expected[pair]
    for pair in sorted(found.keys() & expected.keys()):
        (distance, share), (wanted, resemblance) = found[pair], expected[pair]
        if (
            distance != wanted
            or resemblance is not None
            and not abs(share - resemblance) < TOLERANCE
        ):
            yield "other figures", pair, (found[pair], expected[pair])


def components(names, pairs):
    """Returns the connected components of pairs, by union-find: the reference for clusters."""
    parent = {name: name for name in names}

    def root(name):
        while parent[name] != name:
            parent[name] = name = parent[parent[name]]
        return name

    for a, b in pairs:
        parent[root(a)] = root(b)
    return {
        cluster for cluster in clusters_of((root(name), name) for name in names) if len(cluster) > 1
    }


# ---- Fingerprints ------------------------------------------------------------------------------


def brute_force(values, rows, distance):
    """Returns the pairs within the distance whose first number is below `rows`, by comparing all
    pairs."""
    found = {}
    for row in range(rows):
        bits = numpy.bitwise_count(values[row + 1 :] ^ values[row])
        for at in numpy.flatnonzero(bits <= distance).tolist():
            a, b = str(row), str(row + 1 + at)
            found[min(a, b), max(a, b)] = (int(bits[at]), None)
    return found


def query(crawler, file, work, distance, names):
    """Returns what `crawler query` finds."""
    output = work / "query.jsonl"
    cost = engines.run_measured(
        [
            crawler,
            "query",
            file,
            "--distance",
            str(distance),
            "--quiet",
            "--output",
            output,
            "--format",
            "json",
        ]
    )
    with open(output, encoding="utf-8") as lines:
        rows = (json.loads(line) for line in lines)
        pairs = pairs_of((str(row["a"]), str(row["b"]), row["distance"], None) for row in rows)
    return Found(pairs, components(names, pairs), *cost)


def check_fingerprints(check, options, work, available, values, planted, distances):
    """Compares what fingerprints alone decide. Returns the fingerprints, and the expected result of
    the last distance."""
    generate.write_all(work, options.crawler, values)
    source = Source(work / "fingerprints.parquet", [work / "fingerprints.csv"])
    names = [str(number) for number in range(len(values))]
    for distance in distances:
        print(f"\n{len(values)} fingerprints of {work.name}, distance {distance}", flush=True)
        expected = query(options.crawler, work / "fingerprints.fp", work, distance, names)
        check.expected("crawler query", expected)
        start = time.monotonic()
        rows = min(options.brute, len(values))
        brute = brute_force(values, rows, distance)
        seconds = time.monotonic() - start
        of_rows = {
            pair: figures for pair, figures in expected.pairs.items() if min(map(int, pair)) < rows
        }
        check.holds(
            f"brute force, {rows} fingerprints with all ({seconds:.0f} s), finds the same "
            f"{len(brute)} pairs",
            brute == of_rows,
        )
        missing = [
            pair
            for pair, bits in planted.items()
            if bits <= distance and pair not in expected.pairs
        ]
        check.holds(f"all planted pairs are among them ({len(missing)} are not)", not missing)
        for engine in available:
            if distance in engine.distances:
                check.same(engine.name, engine.find(source, Rules(distance, None, False)), expected)
    return source, expected


# ---- Pages of a crawl --------------------------------------------------------------------------


@contextmanager
def served(directory):
    """Serves a directory on loopback, and yields its URL."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            """Prints nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(directory))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def crawl(crawler, url, out):
    """Crawls a site on loopback into a directory."""
    # Every near-duplicate is retained, so that the journal has its signature; the zero key is that
    # of `dedup`.
    asked = "--allow-private --delay 0 --delay-factor 0 --contact tests@example.org --quiet "
    asked += "--no-index --hash-key 0000000000000000 --per-cluster 1000000000"
    command = [crawler, *asked.split(), "--out", out, url]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def crawl_all(options, work):
    """Crawls the generated sites, and returns their signatures and the files of their archives."""
    shutil.rmtree(work, ignore_errors=True)
    sites = [work / "sites" / name for name in ("first", "second")]
    pages = web_pages.write_sites(sites, options.families, 12, SEED)
    source = Source(work / "*.parquet", [])
    # At the same time, so that the sites have different ports.
    with served(sites[0]) as first, served(sites[1]) as second:
        for site, url in zip(sites, (first, second)):
            crawl(options.crawler, url, work / site.name)
    for site in sites:
        source.csv.append(work / f"{site.name}.csv")
        for form in ("parquet", "csv"):
            asked = ["--signatures", "--format", form, "--output", work / f"{site.name}.{form}"]
            subprocess.run([options.crawler, "export", work / site.name, *asked], check=True)
    return source, sorted(work.glob("*/archive/*.warc.gz")), pages


def dedup(crawler, archive, work, rules):
    """Returns what `crawler dedup` finds among the records of archives."""
    asked = ["--distance", str(rules.distance), "--format", "json", "--quiet"]
    if rules.resemblance is not None:
        asked += ["--resemblance", str(rules.resemblance), "--exact", "off"]
    if not rules.verify:
        asked += ["--verify", "off"]
    output = work / "dedup.jsonl"

    def run(*kind):
        cost = engines.run_measured([crawler, "dedup", *archive, *kind, *asked, "--output", output])
        return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()], cost

    rows, cost = run("--pairs")
    clusters, _ = run("--clusters", "--chained")
    pairs = pairs_of((row["a"], row["b"], row["distance"], row["resemblance"]) for row in rows)
    return Found(pairs, {frozenset(row["members"]) for row in clusters}, *cost)


def check_pages(check, options, work, available):
    source, archive, pages = crawl_all(options, work)
    print(f"\n{pages} pages of two crawls", flush=True)
    for rules in [Rules(3, None, True), Rules(1, None, True), Rules(3, None, False)]:
        deciding = "thresholds by length" if rules.verify else "fingerprints alone"
        expected = dedup(options.crawler, archive, work, rules)
        check.expected(f"crawler dedup, distance {rules.distance}, {deciding}", expected)
        for engine in available:
            check.same(
                f"{engine.name}, distance {rules.distance}, {deciding}",
                engine.find(source, rules),
                expected,
            )
    # Another resemblance has other bands; near fingerprints are candidates with any bands.
    rules = Rules(3, 0.7, True)

    def within(found):
        pairs = found.pairs.items()
        return {pair: figures for pair, figures in pairs if figures[0] <= rules.distance}

    expected = within(dedup(options.crawler, archive, work, rules))
    for engine in available:
        found = engine.find(source, rules)
        check.same(
            f"{engine.name}, resemblance {rules.resemblance}, pairs within {rules.distance} bits",
            found._replace(pairs=within(found), clusters=set()),
            Found(expected, set(), 0, 0),
        )


# ---- The whole ---------------------------------------------------------------------------------


def installed(wanted, work):
    """Returns the engines that are there."""
    found = []
    for name in wanted:
        try:
            found.append(
                {
                    "duckdb": engines.DuckDb,
                    "postgresql": engines.PostgreSql,
                    "spark": engines.Spark,
                }[name](work)
            )
        except Missing as missing:
            print(f"batch: {missing} is missing, so it is not compared", file=sys.stderr)
            if os.environ.get("CI") == "true":
                sys.exit(1)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--crawler", required=True, type=Path)
    parser.add_argument("--count", type=int, default=100_000, help="fingerprints")
    parser.add_argument("--copies", type=int, default=1_000, help="of them equal")
    parser.add_argument("--chain", type=int, default=3_000, help="fingerprints in a chain")
    parser.add_argument("--brute", type=int, default=5_000, help="of them compared with all others")
    parser.add_argument(
        "--families",
        type=int,
        default=100,
        help="of twelve pages each in the crawls; 0 for no crawl",
    )
    parser.add_argument("--distances", type=int, nargs="+", default=[3])
    parser.add_argument(
        "--engines",
        nargs="+",
        default=["duckdb", "postgresql"],
        choices=["duckdb", "postgresql", "spark"],
    )
    parser.add_argument(
        "--kill", action="store_true", help="also kill a worker of Spark in the middle of the join"
    )
    options = parser.parse_args()
    options.crawler, work, check = options.crawler.resolve(), options.work.resolve(), Check()
    available = installed(options.engines, work)
    try:
        chain = generate.chain(options.chain, SEED)
        check_fingerprints(check, options, work / "chain", available, *chain, [1])
        random = generate.fingerprints(options.count, options.copies, SEED)
        source, expected = check_fingerprints(
            check, options, work / "random", available, *random, options.distances
        )
        if options.families:
            check_pages(check, options, work / "pages", available)
    finally:
        for engine in available:
            if isinstance(engine, engines.PostgreSql):
                engine.stop()
    if options.kill and any(isinstance(engine, engines.Spark) for engine in available):
        import killed_worker

        found, killed = killed_worker.find(
            source, Rules(options.distances[-1], None, False), work / "killed"
        )
        check.holds("a worker of Spark was killed in the middle of the join", killed is not None)
        check.same("Spark with a worker killed", found, expected)
    print(f"- batch: {check.differences or 'no'} difference{'' if check.differences == 1 else 's'}")
    sys.exit(1 if check.differences else 0)


if __name__ == "__main__":
    main()
