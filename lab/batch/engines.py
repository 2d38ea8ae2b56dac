"""Runs the queries of this directory with DuckDB, PostgreSQL and Spark, and the crawler itself.

Each engine has a method `find(input, rules)` that returns a `Found`: all pairs and clusters of
pages by name, with the seconds and the peak memory of its processes.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import duckdb

HERE = Path(__file__).resolve().parent
# The seconds between two looks at the memory of an engine.
INTERVAL = 0.05
# The columns of the table of signatures, in the order of the export.
COLUMNS = (
    "url, payload, text_digest, words, main_content, fingerprint, minima, bands, bag, diversity, "
    "title_terms, required_title_terms"
)


class Rules(NamedTuple):
    """The parameters of a run. A resemblance of None depends on the length."""

    distance: int = 3
    resemblance: float | None = None
    verify: bool = True


class Found(NamedTuple):
    """The result of a run."""

    # (a, b) with a < b as names, to (distance, resemblance).
    pairs: dict
    # A set of clusters, each a frozen set of names.
    clusters: set
    seconds: float
    # The peak of the memory of all processes, in MiB.
    memory: int


class Missing(Exception):
    """A program that an engine needs is not there."""


class MemoryWatch:
    """Notes the peak memory of processes and of their descendants, each page counted once."""

    def __init__(self, *roots):
        self.roots, self.peak, self.over = list(roots), 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.over.is_set():
            self.peak = max(self.peak, sum(map(proportional_set_size, descendants(self.roots))))
            self.over.wait(INTERVAL)

    def finish(self):
        """Returns the peak in MiB."""
        self.over.set()
        self.thread.join()
        return self.peak >> 10


def descendants(roots):
    """Returns these processes and all their descendants."""
    children = defaultdict(list)
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                children[int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])].append(
                    int(entry.name)
                )
        except OSError:
            continue
    found, queue = [], list(roots)
    while queue:
        process = queue.pop()
        found.append(process)
        queue.extend(children[process])
    return found


def proportional_set_size(process):
    """Returns the memory of a process in KiB, shared pages in parts; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def run_measured(command, **options):
    """Runs a command, and returns its seconds and its peak memory in MiB."""
    start = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    ) as process:
        watch = MemoryWatch(process.pid)
        out, errors = process.communicate()
    memory, seconds = watch.finish(), time.monotonic() - start
    if process.returncode:
        sys.exit(
            f"{' '.join(map(str, command))}: code {process.returncode}\n"
            f"{out[-2000:]}{errors[-6000:]}"
        )
    return seconds, memory


def pairs_of(rows):
    """Returns pairs by name from rows (a, b, distance, resemblance), of which none may be twice."""
    pairs = {}
    for a, b, distance, resemblance in rows:
        key = (min(a, b), max(a, b))
        if key in pairs:
            sys.exit(f"the pair {key} is there twice")
        pairs[key] = (distance, resemblance)
    return pairs


def clusters_of(rows):
    """Returns clusters from rows (cluster, name)."""
    clusters = defaultdict(list)
    for cluster, name in rows:
        clusters[cluster].append(name)
    return {frozenset(members) for members in clusters.values()}


class DuckDb:
    """DuckDB in a process of its own."""

    name = f"DuckDB {duckdb.__version__}"
    distances = range(8)

    def __init__(self, work):
        self.work = work / "duckdb"
        self.work.mkdir(parents=True, exist_ok=True)

    def find(self, source, rules):
        clusters, pairs = self.work / "clusters.parquet", self.work / "pairs.parquet"
        values = {
            "signatures": str(source.parquet),
            "clusters": str(clusters),
            "pairs": str(pairs),
            "distance": rules.distance,
            "resemblance": rules.resemblance,
            "verify": rules.verify,
        }
        cost = run_measured([sys.executable, __file__, "duckdb", json.dumps(values)])
        return Found(*read_parquet(clusters, pairs), *cost)


def read_parquet(clusters, pairs):
    """Returns the pairs and clusters of Parquet files."""
    rows = duckdb.sql(f"SELECT a, b, distance, resemblance FROM read_parquet('{pairs}')").fetchall()
    members = duckdb.sql(f"SELECT cluster, url FROM read_parquet('{clusters}')").fetchall()
    return pairs_of(rows), clusters_of(members)


def run_duckdb(values):
    """Runs neardup.sql with these variables."""
    connection = duckdb.connect()
    for name, value in values.items():
        if value is not None:
            connection.execute(f"SET VARIABLE {name} = $value", {"value": value})
    connection.execute((HERE / "neardup.sql").read_text(encoding="utf-8"))


class PostgreSql:
    """A server of PostgreSQL of its own, which is stopped at the end."""

    distances = range(4)

    def __init__(self, work):
        self.work = work / "postgresql"
        bins = [Path(found).parent for found in [shutil.which("initdb")] if found]
        bins += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        self.programs = next((place for place in bins if (place / "postgres").exists()), None)
        if self.programs is None or shutil.which("psql") is None:
            raise Missing("PostgreSQL (Debian: apt-get install postgresql)")
        version = subprocess.run(
            [self.programs / "postgres", "--version"], capture_output=True, text=True, check=True
        )
        self.name = f"PostgreSQL {version.stdout.split()[2]}"
        self.server = None

    def start(self):
        # The socket's path may have 107 bytes only, and the server refuses to run as root.
        self.data = Path(
            subprocess.run(
                ["mktemp", "-d"], capture_output=True, text=True, check=True
            ).stdout.strip()
        )
        user = (
            {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
        )
        if user:
            shutil.chown(self.data, user["user"], user["group"])
        subprocess.run(
            [
                self.programs / "initdb",
                "-D",
                self.data / "data",
                "-U",
                "postgres",
                "--no-sync",
                "-A",
                "trust",
            ],
            check=True,
            cwd=self.data,
            stdout=subprocess.DEVNULL,
            **user,
        )
        settings = [
            "listen_addresses=",
            "shared_buffers=512MB",
            "work_mem=256MB",
            "max_wal_size=8GB",
            f"unix_socket_directories={self.data}",
        ]
        command = [self.programs / "postgres", "-D", self.data / "data", "-F"]
        with open(self.data / "log", "wb") as log:
            self.server = subprocess.Popen(
                [*command, *(part for value in settings for part in ("-c", value))],
                cwd=self.data,
                stdout=log,
                stderr=log,
                **user,
            )
        ready = ["psql", "-q", "-h", self.data, "-U", "postgres", "-c", "SELECT 1"]
        while subprocess.run(
            ready, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).returncode:
            if self.server.poll() is not None:
                sys.exit(f"PostgreSQL ended: {(self.data / 'log').read_text()}")
            time.sleep(0.1)

    def stop(self):
        if self.server:
            self.server.terminate()
            self.server.wait()
            shutil.rmtree(self.data)

    def psql(self, *arguments, **options):
        command = [
            "psql",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            self.data,
            "-U",
            "postgres",
            *arguments,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout

    def find(self, source, rules):
        if not self.server:
            self.start()
        self.psql(
            "-c",
            "DROP SCHEMA public CASCADE; CREATE SCHEMA public",
            "-f",
            HERE / "postgres/tables.sql",
        )
        copy = f"COPY signature ({COLUMNS}) FROM stdin (FORMAT csv, HEADER)"
        for file in source.csv:
            with open(file, encoding="utf-8") as rows:
                self.psql("-c", copy, stdin=rows)
        values = {"distance": rules.distance, "verify": str(rules.verify).lower()}
        values["resemblance"] = "null" if rules.resemblance is None else rules.resemblance
        watch, start = MemoryWatch(self.server.pid), time.monotonic()
        self.psql(
            *(part for name, value in values.items() for part in ("-v", f"{name}={value}")),
            "-f",
            HERE / "postgres/neardup.sql",
        )
        cost = time.monotonic() - start, watch.finish()
        pairs = self.rows(
            "SELECT x.url, y.url, distance, resemblance FROM pair JOIN signature x ON x.id = a "
            "JOIN signature y ON y.id = b"
        )
        pairs = ((a, b, int(bits), float(share) if share else None) for a, b, bits, share in pairs)
        clusters = self.rows("SELECT cluster, url FROM member JOIN signature USING (id)")
        return Found(pairs_of(pairs), clusters_of(clusters), *cost)

    def rows(self, query):
        return (line.split("|") for line in self.psql("-c", query).splitlines())


class Spark:
    """Spark in processes of its own."""

    distances = range(8)

    def __init__(self, work, memory="3g"):
        self.work, self.memory = work / "spark", memory
        try:
            import pyspark
        except ImportError:
            raise Missing("PySpark (lab/batch/setup.sh spark)") from None
        if shutil.which("java") is None:
            raise Missing("Java 17 for Spark (Debian: apt-get install default-jre-headless)")
        self.name = f"Spark {pyspark.__version__}"

    def find(self, source, rules):
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        clusters, pairs = self.work / "clusters", self.work / "pairs"
        asked = ["--distance", str(rules.distance), "--verify", "on" if rules.verify else "off"]
        if rules.resemblance is not None:
            asked += ["--resemblance", str(rules.resemblance)]
        # Blocks are salted from few rows on, so that it is tried.
        asked += ["--hot", "1000"]
        settings = (
            f"--master local[{os.cpu_count()}] --driver-memory {self.memory} "
            "--conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=8 pyspark-shell"
        )
        cost = run_measured(
            [
                sys.executable,
                HERE / "neardup.py",
                "--signatures",
                source.parquet,
                "--work",
                self.work / "steps",
                "--clusters",
                clusters,
                "--pairs",
                pairs,
                *asked,
            ],
            env={**os.environ, "PYSPARK_SUBMIT_ARGS": settings, "PYSPARK_PYTHON": sys.executable},
        )
        return Found(*read_parquet(f"{clusters}/*.parquet", f"{pairs}/*.parquet"), *cost)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Runs neardup.sql with DuckDB.")
    parser.add_argument("engine", choices=["duckdb"])
    parser.add_argument("variables", type=json.loads, help="variables as a JSON object")
    run_duckdb(parser.parse_args().variables)
