"""Nothing that a file or a table contains ends the interpreter: it is read, skipped or an exception.

`ROUNDS=100000 python -m unittest test_hostile` goes on for longer, with other seeds.
"""

import importlib
import os
import pathlib
import random
import tempfile
import unittest

from neardup import SignatureIndex, dedup, fingerprints, minhashes

CORPORA = pathlib.Path(__file__).resolve().parents[3] / "testing" / "anybytes" / "corpus"
ROUNDS = int(os.environ.get("ROUNDS", 150))


def noise(source):
    """Returns bytes that are text, cut text, or none at all."""
    text = " ".join(source.choice(["word", "Größe", "日本", "\U0001f600", "\0"]) for _ in range(9))
    data = bytearray(text.encode())
    for _ in range(source.randrange(3)):
        data[source.randrange(len(data))] = source.randrange(256)
    return bytes(data[: source.randrange(len(data) + 1)])


def column(pa, source, rows):
    """Returns a column of any layout whose strings nobody has checked."""
    cells = [None if source.random() < 0.1 else noise(source) for _ in range(rows)]
    kinds = [(pa.binary(), pa.string(), 4), (pa.large_binary(), pa.large_string(), 8),
             (pa.binary_view(), pa.string_view(), 16)]
    stored, shown, width = source.choice(kinds)
    raw = pa.array(cells, stored)
    buffers = raw.buffers()
    if source.random() < 0.5 and rows > 1:
        # An offset, or a view, that nobody has checked: it may lead anywhere.
        places = bytearray(buffers[1].to_pybytes())
        at = width * source.randrange(1, rows) + 4 * source.randrange(width // 4)
        number = source.choice([source.randrange(64), -source.randrange(64), 2**31 - 1])
        places[at:at + 4] = number.to_bytes(4, "little", signed=True)
        buffers[1] = pa.py_buffer(bytes(places))
    made = pa.Array.from_buffers(shown, rows, buffers, raw.null_count)
    return source.choice([
        lambda: made,
        lambda: raw,
        lambda: raw.dictionary_encode(),
        lambda: pa.StructArray.from_arrays([made], ["text"]),
        lambda: pa.array([source.randrange(2**63) for _ in range(rows)]),
        lambda: pa.nulls(rows),
    ])()


class AnyTable(unittest.TestCase):
    def test_a_table_of_any_bytes_is_read_or_refused(self):
        try:
            pa = importlib.import_module("pyarrow")
        except ImportError:
            raise unittest.SkipTest("pyarrow is not installed") from None
        for seed in range(ROUNDS):
            source = random.Random(seed)
            rows = source.randrange(1, 12)
            names = source.sample(["id", "text", "other"], source.randrange(1, 4))
            table = pa.table({name: column(pa, source, rows) for name in names})
            table = table.slice(source.randrange(rows))
            field = source.choice(["text", "text.text", "id"])
            for work in [
                lambda: list(dedup(table, text=field)),
                lambda: pa.table(dedup(table, text=field, id=False, clusters=True)),
                lambda: fingerprints(table, text=field),
                lambda: minhashes(table, text=field),
                lambda: SignatureIndex().add_all(table, text=field),
            ]:
                try:
                    work()
                except (TypeError, ValueError):
                    pass


def changed(source, inputs):
    """Returns an input with some bytes changed, cut, or taken from another input."""
    data = bytearray(source.choice(inputs) or b" ")
    for _ in range(source.randrange(1, 6)):
        at, other = source.randrange(len(data) or 1), source.choice(inputs)
        part = source.randrange(len(other) + 1)
        source.choice([
            lambda: data.__setitem__(slice(at, at + 1), bytes([source.randrange(256)])),
            lambda: data.__setitem__(slice(at, at + 8), (2 ** source.randrange(64)).to_bytes(8, "little")),
            lambda: data.__setitem__(slice(at, at + 4), source.choice([b"\xff" * 4, bytes(4)])),
            lambda: data.__setitem__(slice(at, at + 32), other[part:part + 32]),
            lambda: data.__setitem__(slice(max(at, 1), None), b"") if source.random() < 0.1 else None,
        ])()
    return bytes(data)


class AnyFile(unittest.TestCase):
    def test_a_damaged_table_or_archive_is_read_skipped_or_refused(self):
        inputs = {kind: [path.read_bytes() for path in sorted((CORPORA / kind).iterdir())]
                  for kind in ["tables", "warc", "wacz", "jsonl"]}
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "table"
            for seed in range(ROUNDS):
                source = random.Random(seed)
                kind = source.choice(["tables", "tables", "warc", "wacz", "jsonl"])
                path.write_bytes(changed(source, inputs[kind]))
                try:
                    findings = dedup(path)
                    list(findings)
                except (OSError, TypeError, ValueError):
                    continue
                self.assertEqual(findings.skipped > 0, len(findings.skipped_reasons) > 0)

    def test_a_file_of_any_bytes_is_read_skipped_or_refused(self):
        beginnings = [b"", b"PAR1", b"ARROW1\0\0", b"WARC/1.1\r\n", b"\x1f\x8b\x08", b"<html>",
                      b'{"text": "', b"\xff\xff\xff\xff\x10\0\0\0", b"\x28\xb5\x2f\xfd"]
        with tempfile.TemporaryDirectory() as directory:
            for seed in range(ROUNDS):
                source = random.Random(seed)
                path = pathlib.Path(directory) / source.choice(["a", "a.jsonl", "a.parquet", "a.wacz"])
                path.write_bytes(source.choice(beginnings) + b"\n".join(
                    noise(source) for _ in range(9)) + source.choice(beginnings))
                try:
                    list(dedup(path))
                except (OSError, TypeError, ValueError):
                    pass


if __name__ == "__main__":
    unittest.main()
