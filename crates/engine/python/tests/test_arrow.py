"""Arrow data in and out: pyarrow, Polars, pandas and DuckDB, each if it is installed."""

import array
import importlib
import pathlib
import tempfile
import unittest

from corpus import corpus

from neardup import SignatureIndex, Simhash, dedup, fingerprints, keep, minhashes

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

    def test_ids_of_every_number_come_back_with_their_type(self):
        # Of 2⁶³ and more the number of the row came back, which is the id of another row.
        pa = wanted("pyarrow")
        for kind, ids in [("uint64", [2**64 - 1, 5]), ("uint64", [2**63, 2**63 + 7]),
                          ("int64", [-(2**63), 5]), ("int8", [-128, 127]), ("uint32", [7, 2**32 - 1])]:
            table = pa.table({"id": pa.array(ids, pa.type_for_alias(kind)), "text": ["a b"] * 2})
            self.assertEqual(found_in(table), {ids[1]: ids[0]})
            found = pa.table(dedup(table))
            self.assertEqual(found["id"].to_pylist(), ids[1:])
            self.assertEqual({str(found.schema.field(n).type) for n in ["id", "duplicate_of"]}, {kind})
        self.assertEqual(found_in([(2**64 - 1, "a"), (0, "a")]), {0: 2**64 - 1})
        self.assertEqual(str(pa.table(dedup([(2**63, "a"), (0, "a")])).schema.field("id").type), "uint64")
        with self.assertRaisesRegex(TypeError, "an int of 64 bits"):
            dedup([(2**64, "a")])

    def test_a_row_without_an_id_is_an_error(self):
        pa = wanted("pyarrow")
        table = pa.table({"id": [1, None], "text": ["a", "a"]})
        with self.assertRaisesRegex(ValueError, "id of document 1 is null in column id.*id=False"):
            dedup(table)
        self.assertEqual(found_in(table, id=False), {1: 0})

    def test_a_text_that_is_cut_within_a_character_ends_nothing(self):
        # pyarrow reads it from Parquet unchecked, and the interpreter was aborted.
        pa = wanted("pyarrow")
        bad = ["ä".encode() * 9, "ä".encode()[:1], "ä".encode() * 9]
        column = pa.Array.from_buffers(pa.string(), 3, pa.array(bad, pa.binary()).buffers())
        findings = dedup(pa.table({"text": column}))
        self.assertEqual([found.id for found in findings], [2])
        self.assertRegex(findings.skipped_reasons[0], "document 1 is not UTF-8")
        for wrong in [fingerprints, minhashes, SignatureIndex().query_many, SignatureIndex().add_all]:
            with self.assertRaisesRegex(ValueError, "text of document 1 is not UTF-8"):
                wrong(column)
        with self.assertRaisesRegex(ValueError, "id of document 1 is not UTF-8"):
            dedup(pa.table({"id": column, "text": ["a", "b", "c"]}))

    def test_a_cell_outside_of_its_buffer_is_named(self):
        # Offsets of a damaged file ran beyond the buffer: memory of the process was read as text,
        # or the interpreter ended with a segmentation fault.
        pa = wanted("pyarrow")
        good = "one two three four five ".encode() * 4
        length = len(good)
        for kind, width in [(pa.string(), "i"), (pa.binary(), "i"), (pa.large_string(), "q")]:
            for offsets in [[0, length, 10, length], [0, length, -5, 2 * length],
                            [0, length, length + 10**8, 2 * length]]:
                stored = [None, pa.py_buffer(array.array(width, offsets).tobytes()),
                          pa.py_buffer(good * 2)]
                column = pa.Array.from_buffers(kind, 3, stored)
                findings = dedup(pa.table({"text": column}))
                self.assertRegex(findings.skipped_reasons[0], "document 1 is outside")
                self.assertNotIn(1, [found.id for found in findings])
                for wrong in [fingerprints, minhashes, SignatureIndex().query_many]:
                    with self.assertRaisesRegex(ValueError, "text of document 1 is outside"):
                        wrong(column)
                with self.assertRaisesRegex(ValueError, "id of document 1 is outside"):
                    dedup(pa.table({"id": column, "text": ["a", "b", "c"]}))

    def test_columns_of_dictionaries_binary_and_structs_are_read(self):
        pa = wanted("pyarrow")
        texts = pa.array(["one two", None, "one two"])
        for column in [texts.dictionary_encode(), texts.cast(pa.binary())]:
            self.assertEqual(found_in(pa.table({"text": column})), {2: 0})
        rows = [{"id": n, "doc": {"text": text}} for n, text in enumerate(texts.to_pylist())]
        for documents in [rows, pa.Table.from_pylist(rows)]:
            findings = dedup(documents, text="doc.text")
            self.assertEqual(([one.id for one in findings], findings.skipped), ([2], 1))

    def test_what_remains_of_a_table_is_one_of_its_kind(self):
        pa, pl, pd = wanted("pyarrow"), wanted("polars"), wanted("pandas")
        columns = {"id": [4, 4, None], "text": ["one text", "another", "One text!"]}
        table = pa.table(columns)
        self.assertEqual(keep(table), table.slice(0, 2))
        self.assertEqual(keep(table["text"]).to_pylist(), columns["text"][:2])
        self.assertTrue(keep(pl.DataFrame(columns)).equals(pl.DataFrame(columns)[:2]))
        self.assertEqual(list(keep(pd.DataFrame(columns))["text"]), columns["text"][:2])
        with self.assertRaisesRegex(TypeError, "goes through the documents twice"):
            keep(pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches())))

    def test_findings_become_frames(self):
        pl, pd = wanted("polars"), wanted("pandas")
        self.assertIsInstance(dedup(TEXTS).to_polars(), pl.DataFrame)
        self.assertIsInstance(dedup(TEXTS).to_pandas(), pd.DataFrame)

    def test_an_index_of_strings_and_rows_of_numbers_go_into_one_table(self):
        pa = wanted("pyarrow")
        with tempfile.TemporaryDirectory() as directory:
            known = pathlib.Path(directory) / "known"
            list(dedup([("x", "one text")], save_index=known))
            found = pa.table(dedup(pa.table({"id": [3], "text": ["one text"]}), against=known))
        self.assertEqual(found.to_pylist()[0]["duplicate_of"], "x")
        self.assertEqual(found["id"].to_pylist(), [3])

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
        with self.assertRaisesRegex(ValueError, "already been read"):
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
