"""Arrow data in and out: pyarrow, Polars, pandas and DuckDB, each if it is installed."""

import importlib
import pathlib
import tempfile
import unittest

from corpus import corpus

from neardup import SignatureIndex, Simhash, dedup, fingerprints, minhashes

TEXTS, REPEATED = corpus()
IDS = [f"d{number}" for number in range(len(TEXTS))]
REPEATED_IDS = {f"d{b}": f"d{a}" for b, a in REPEATED.items()}


def wanted(name):
    """Returns a module, or skips the test: the package itself needs none of them."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


def found_in(documents, **options):
    return {found.id: found.duplicate_of for found in dedup(documents, **options)}


class In(unittest.TestCase):
    def test_strings_of_every_layout_and_ids_of_every_integer_type_are_read(self):
        pa = wanted("pyarrow")
        for layout in [pa.string(), pa.large_string(), pa.string_view()]:
            table = pa.table({"text": pa.array(TEXTS, layout), "id": pa.array(IDS, layout)})
            self.assertEqual(found_in(table), REPEATED_IDS, layout)
        for kind in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]:
            numbers = pa.array(range(90), pa.type_for_alias(kind))
            table = pa.table({"text": TEXTS[:90], "id": numbers})
            expected = {b: a for b, a in REPEATED.items() if b < 90}
            self.assertEqual(found_in(table), expected, kind)

    def test_streams_batches_columns_and_slices_are_read(self):
        pa = wanted("pyarrow")
        table = pa.table({"body": TEXTS})
        batches = table.to_batches(max_chunksize=7)
        reader = pa.RecordBatchReader.from_batches(table.schema, iter(batches))
        self.assertEqual(found_in(reader, text="body"), REPEATED)
        self.assertEqual(found_in(table.combine_chunks().to_batches()[0], text="body"), REPEATED)
        self.assertEqual(found_in(table["body"]), REPEATED)
        sliced = pa.table({"text": ["padding"] + TEXTS}).slice(1)
        self.assertEqual(found_in(sliced), REPEATED)

    def test_texts_are_read_where_they_lie(self):
        pa = wanted("pyarrow")
        table = pa.table({"text": pa.array(["some words " * 1_000] * 5_000)})
        before = pa.total_allocated_bytes()
        self.assertEqual(sum(1 for _ in dedup(table)), 4_999)
        self.assertEqual(pa.total_allocated_bytes(), before)

    def test_nulls_are_skipped_and_told(self):
        pa = wanted("pyarrow")
        table = pa.table({"text": ["a", None, "a", None], "id": ["w", "x", "y", "z"]})
        findings = dedup(table)
        self.assertEqual((findings.skipped, len(findings.skipped_reasons)), (2, 2))
        self.assertEqual({one.id: one.duplicate_of for one in findings}, {"y": "w"})
        self.assertEqual(fingerprints(table["text"])[1], 0)

    def test_a_column_of_another_type_is_named(self):
        pa = wanted("pyarrow")
        with self.assertRaisesRegex(TypeError, "column text must be of strings, got Int64"):
            dedup(pa.table({"text": [1]}))
        with self.assertRaisesRegex(TypeError, "column id must be of strings or whole numbers"):
            dedup(pa.table({"text": ["a"], "id": [1.5]}))
        with self.assertRaisesRegex(ValueError, "no column text: the table has body"):
            dedup(pa.table({"body": ["a"]}))
        with self.assertRaisesRegex(ValueError, "no column key"):
            dedup(pa.table({"text": ["a"]}), id="key")

    def test_an_error_of_a_stream_ends_the_work(self):
        pa = wanted("pyarrow")

        def batches():
            yield pa.record_batch({"text": ["a"]})
            raise ValueError("the source is broken")

        schema = pa.schema({"text": pa.string()})
        with self.assertRaisesRegex(Exception, "the source is broken"):
            dedup(pa.RecordBatchReader.from_batches(schema, batches()))

    def test_columns_give_fingerprints_minhashes_and_indexes(self):
        pa = wanted("pyarrow")
        table = pa.table({"text": TEXTS, "id": IDS})
        self.assertEqual(fingerprints(table)[1], Simhash(TEXTS[1]).value)
        self.assertEqual(minhashes(table["text"]).shape, (len(TEXTS), 128))
        index = SignatureIndex()
        index.add_all(table)
        self.assertEqual(index.query_many(table)[3].id, "d3")

    def test_polars_frames_and_series_are_read(self):
        pl = wanted("polars")
        frame = pl.DataFrame({"text": TEXTS, "id": IDS})
        self.assertEqual(found_in(frame), REPEATED_IDS)
        self.assertEqual(found_in(frame["text"]), REPEATED)

    def test_pandas_frames_and_series_are_read(self):
        pd = wanted("pandas")
        frame = pd.DataFrame({"text": TEXTS, "id": IDS})
        self.assertEqual(found_in(frame), REPEATED_IDS)
        self.assertEqual(found_in(frame["text"]), REPEATED)

    def test_duckdb_relations_are_read(self):
        duckdb, pa = wanted("duckdb"), wanted("pyarrow")
        corpus_table = pa.table({"text": TEXTS, "id": IDS})
        relation = duckdb.sql("select id, text from corpus_table order by id")
        self.assertEqual(len(found_in(relation)), len(REPEATED))
        self.assertIsNotNone(corpus_table)


class Out(unittest.TestCase):
    def test_findings_become_tables_of_every_kind(self):
        pa = wanted("pyarrow")
        duplicates = pa.table(dedup(TEXTS))
        ids, originals = duplicates.select(["id", "duplicate_of"]).to_pydict().values()
        self.assertEqual(dict(zip(ids, originals)), REPEATED)
        self.assertEqual(
            [(field.name, str(field.type)) for field in duplicates.schema],
            [
                ("id", "int64"),
                ("duplicate_of", "int64"),
                ("distance", "uint32"),
                ("resemblance", "double"),
                ("measure", "string"),
            ],
        )
        pairs = dedup(zip(IDS, TEXTS), pairs=True, resemblance=0.8).to_arrow()
        self.assertEqual(pairs.column_names[:2], ["a", "b"])
        self.assertEqual(str(pairs.schema.field("a").type), "string")
        clusters = pa.table(dedup(TEXTS, clusters=True))
        members = {tuple(one) for one in clusters["members"].to_pylist()}
        self.assertEqual(members, {(a, b) for b, a in REPEATED.items()})
        clusters = pa.table(dedup(zip(IDS, TEXTS), clusters=True))
        self.assertIn(["d0", "d1"], clusters["members"].to_pylist())

    def test_no_findings_become_an_empty_table(self):
        pa = wanted("pyarrow")
        for options in [dict(), dict(pairs=True), dict(clusters=True)]:
            self.assertEqual(pa.table(dedup(["a"], **options)).num_rows, 0)

    def test_findings_are_read_once(self):
        pa = wanted("pyarrow")
        findings = dedup(TEXTS)
        pa.table(findings)
        self.assertEqual(list(findings), [])
        with self.assertRaisesRegex(ValueError, "read already"):
            pa.table(findings)

    def test_polars_pandas_and_duckdb_take_findings(self):
        pl, pd, duckdb = wanted("polars"), wanted("pandas"), wanted("duckdb")
        self.assertEqual(pl.DataFrame(dedup(TEXTS)).height, len(REPEATED))
        self.assertEqual(len(pd.DataFrame.from_arrow(dedup(TEXTS))), len(REPEATED))
        self.assertEqual(list(pd.DataFrame(list(dedup(TEXTS))).columns)[0], "id")
        findings = dedup(TEXTS).to_arrow()
        [(count,)] = duckdb.sql("select count(*) from findings").fetchall()
        self.assertEqual(count, findings.num_rows)


class Spilled(unittest.TestCase):
    def test_many_small_documents_beyond_the_memory_give_the_same_table(self):
        pa = wanted("pyarrow")
        texts = [f"document number {number // 2}" for number in range(20_000)]
        with tempfile.TemporaryDirectory() as directory:
            less = pa.table(dedup(texts, memory=1, temp_dir=pathlib.Path(directory)))
        self.assertEqual(less, pa.table(dedup(texts)))
        self.assertEqual(less.num_rows, 10_000)


if __name__ == "__main__":
    unittest.main()
