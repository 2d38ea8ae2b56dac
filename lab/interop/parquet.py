"""Reads the Parquet of `crawler export` with DuckDB, pandas and pyarrow: types, and every value.

    parquet.py DIR --crawler PROGRAM

They are compared, field by field, with the same export as JSON lines, read by Python's own json
module: visits in one file and in a directory of parts, the link graph, the texts, and the signatures. Fingerprints must be
unsigned 64-bit integers whose distance DuckDB computes as `bit_count(xor(…))`, which a table of all
pairs confirms.
"""

import argparse
import json
import math
import subprocess
import tempfile
from datetime import UTC, date, datetime, timedelta
from itertools import zip_longest
from pathlib import Path

import duckdb
import pandas
import pyarrow
import pyarrow.parquet

from crawls import Findings

# DuckDB's types of the columns, in order.
TYPES = {
    "visits": {
        "url": "VARCHAR", "final_url": "VARCHAR", "status": "USMALLINT", "fetched_at": "TIMESTAMP WITH TIME ZONE",
        "depth": "UINTEGER", "via": "VARCHAR", "content_type": "VARCHAR", "bytes": "UBIGINT", "charset": "VARCHAR",
        "language": "VARCHAR", "title": "VARCHAR", "verdict": "VARCHAR", "duplicate_of": "VARCHAR",
        "distance": "UINTEGER", "resemblance": "DOUBLE", "fingerprint": "UBIGINT", "reason": "VARCHAR",
        "warc_file": "VARCHAR", "warc_offset": "UBIGINT", "kind": "VARCHAR",
        "canonical": "VARCHAR", "duration_ms": "UBIGINT", "words": "UINTEGER", "redirects": "UINTEGER",
        "digest": "VARCHAR", "relevance": "DOUBLE", "truncated": "VARCHAR",
        "language_confidence": "DOUBLE", "needs_scripts": "BOOLEAN", "rendered": "VARCHAR",
        "ai_train": "BOOLEAN", "ai_input": "BOOLEAN", "search": "BOOLEAN", "preference_source": "VARCHAR",
        "sketch": "BLOB",
    },
    "signatures": {
        "url": "VARCHAR", "payload": "BLOB", "text_digest": "BLOB", "words": "UINTEGER", "main_content": "BLOB",
        "fingerprint": "UBIGINT", "minima": "BIGINT[]", "bands": "BIGINT[]", "bag": "BIGINT[]",
        "diversity": "USMALLINT", "title_terms": "BIGINT[]", "required_title_terms": "BIGINT[]",
    },
    "links": {"source": "VARCHAR", "target": "VARCHAR", "anchor": "VARCHAR", "rel": "VARCHAR", "kind": "VARCHAR"},
    "texts": {
        "url": "VARCHAR", "final_url": "VARCHAR", "text": "VARCHAR", "language": "VARCHAR",
        "language_confidence": "DOUBLE", "title": "VARCHAR",
        "fetched_at": "TIMESTAMP WITH TIME ZONE", "digest": "VARCHAR", "cluster": "VARCHAR", "words": "UBIGINT",
        **dict.fromkeys(
            ["mean_word_length", "alphabetic_words", "stop_words", "hashes_per_word", "ellipses_per_word",
             "bullet_lines", "ellipsis_lines", "punctuated_lines", "short_lines", "duplicate_lines",
             "duplicate_line_characters", "top_2_grams", "top_3_grams", "top_4_grams",
             *(f"duplicate_{n}_grams" for n in range(5, 11))],
            "DOUBLE",
        ),
        "author": "VARCHAR", "published": "DATE", "modified": "DATE",
        **dict.fromkeys(
            ["description", "site", "image", "type", "license", "tags", "kind", "fields"], "VARCHAR"
        ),
        "ai_train": "BOOLEAN", "ai_input": "BOOLEAN", "search": "BOOLEAN", "preference_source": "VARCHAR",
    },
}
# pyarrow's types of the unsigned columns by DuckDB's, and of dates and sketches.
UNSIGNED = {"USMALLINT": "uint16", "UINTEGER": "uint32", "UBIGINT": "uint64"}
ARROW = {"fetched_at": "timestamp[ms, tz=UTC]", "sketch": "fixed_size_binary[160]"}
# Pages of which all pairs are compared.
PAIRS = 300


def export(crawler, directory, *arguments):
    subprocess.run([crawler, "export", directory, *arguments], check=True, timeout=1800)


def meant(column, value):
    """Returns the value of a JSON field."""
    if value is None:
        return None
    match column:
        case "fingerprint":
            return int(value, 16)
        case "fetched_at":
            return datetime.fromisoformat(value)
        case "published" | "modified":
            return date.fromisoformat(value)
        case "sketch" | "payload" | "text_digest" | "main_content":
            return bytes.fromhex(value)
    return value


def truth(file, columns):
    with open(file, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        assert list(row) == list(columns), f"columns of the JSON: {list(row)}"
    return [tuple(meant(column, row[column]) for column in columns) for row in rows]


def same(findings, reader, rows, expected):
    for number, (row, wanted) in enumerate(zip_longest(rows, expected)):
        if row != wanted:
            findings.add(f"{reader}: row {number} is {row}, not {wanted}")


def plain(value):
    """Returns a value of pandas as one of Python; None if it is missing."""
    if value is None or value is pandas.NaT or value is pandas.NA:
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def check_table(findings, connection, name, files, expected):
    """Checks one table with three readers; `files` is a pattern."""
    types = TYPES[name]
    relation = connection.sql(f"SELECT * FROM read_parquet('{files}', file_row_number = false)")
    found = dict(zip(relation.columns, map(str, relation.types)))
    if found != types:
        findings.add(f"duckdb: types of {name} are {found}")
    # Whole files are read in their order.
    if "fetched_at" in types:
        # As a number: for a date with a zone, DuckDB needs another package.
        relation = relation.project("* REPLACE (epoch_ms(fetched_at) AS fetched_at)")
    rows = [tuple(moment(column, value) for column, value in zip(types, row)) for row in relation.fetchall()]
    same(findings, f"duckdb {name}", rows, expected)

    paths = sorted(Path().glob(files)) if not Path(files).is_absolute() else sorted(Path(files).parent.glob(Path(files).name))
    tables = [pyarrow.parquet.read_table(path) for path in paths]
    for path, table in zip(paths, tables):
        for column, kind in {name: UNSIGNED[kind] for name, kind in types.items() if kind in UNSIGNED}.items() | ARROW.items():
            if column in table.column_names and str(table.schema.field(column).type) != kind:
                findings.add(f"pyarrow: {path.name}: {column} is {table.schema.field(column).type}")
        notes = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
        if not {"crawler.schema", "crawler.version", "crawler.algorithm", "crawler.hash_key"} <= set(notes):
            findings.add(f"pyarrow: {path.name} says of itself only {notes}")
        if notes.get("crawler.hash_key") not in ("zero", "secret"):
            findings.add(f"pyarrow: {path.name} tells its key: {notes.get('crawler.hash_key')}")
    table = pyarrow.concat_tables(tables)
    same(findings, f"pyarrow {name}", zip(*(column.to_pylist() for column in table.columns)), expected)

    frame = pandas.concat([pandas.read_parquet(path, dtype_backend="pyarrow") for path in paths])
    records = zip(*(map(plain, frame[column].tolist()) for column in frame.columns))
    same(findings, f"pandas {name}", [tuple(to_utc(value) for value in row) for row in records], expected)


def moment(column, value):
    """Returns milliseconds since 1970 as a date."""
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=value) if column == "fetched_at" else value


def to_utc(value):
    if isinstance(value, pandas.Timestamp):
        value = value.to_pydatetime()
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def check_distances(findings, connection, files, expected):
    """Checks that DuckDB computes the same distances as Python."""
    place = list(TYPES["visits"]).index("fingerprint")
    fingerprints = [row[place] for row in expected if row[place] is not None][:PAIRS]
    wanted = sum((a ^ b).bit_count() for a in fingerprints for b in fingerprints)
    ((found,),) = connection.sql(f"""
        WITH pages AS (
            SELECT fingerprint FROM read_parquet('{files}') WHERE fingerprint IS NOT NULL LIMIT {PAIRS}
        )
        SELECT sum(bit_count(xor(a.fingerprint, b.fingerprint))) FROM pages a, pages b
    """).fetchall()
    if fingerprints and int(found) != wanted:
        findings.add(f"duckdb: the distances of all pairs make {found}, not {wanted}")
    return sum(fingerprint >= 1 << 63 for fingerprint in fingerprints)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory")
    parser.add_argument("--crawler", required=True)
    options = parser.parse_args()
    findings = Findings("Parquet")
    connection = duckdb.connect()
    connection.sql("SET TimeZone = 'UTC'")
    connection.sql("SET preserve_insertion_order = true")
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        sources = {"visits": ["--sketches"], "links": ["--links"], "texts": ["--text"],
                   "signatures": ["--signatures"]}
        counts = {}
        for name, arguments in sources.items():
            lines, file, parts = place / f"{name}.jsonl", place / f"{name}.parquet", place / name
            export(options.crawler, options.directory, *arguments, "--output", lines)
            parquet = ["--format", "parquet", *arguments]
            export(options.crawler, options.directory, *parquet, "--output", file)
            export(options.crawler, options.directory, *parquet, "--output", parts, "--rows-per-file", "100")
            expected = truth(lines, TYPES[name])
            counts[name] = len(expected)
            check_table(findings, connection, name, str(file), expected)
            check_table(findings, connection, name, str(parts / "part-*.parquet"), expected)
            if name == "visits":
                high = check_distances(findings, connection, str(file), expected)
                if counts[name] > 50 and not high:
                    findings.add("no fingerprint is beyond 2^63, so nothing is shown of unsigned ones")
    findings.finish(f"{counts['visits']} visits, {counts['links']} links, {counts['texts']} texts and "
                      f"{counts['signatures']} signatures read by duckdb "
                      f"{duckdb.__version__}, pyarrow {pyarrow.__version__} and pandas {pandas.__version__}")


main()
