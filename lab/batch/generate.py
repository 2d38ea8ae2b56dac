"""Writes random fingerprints with planted neighbours, from a fixed seed, as each engine reads them.

    generate.py DIR --crawler PROGRAM [--count N] [--copies N | --chain] [--seed S]

A tenth of the fingerprints are planted: each differs from an earlier one in 0 to 8 bits, so that
distances up to 7 have pairs within and beyond them. `--copies` more are equal to the first one.
`--chain` writes a chain instead, in which each fingerprint differs from the next in one bit.
The files are `fingerprints.parquet` (url, fingerprint), `fingerprints.csv` (the columns of `crawler
export --signatures --format csv`) and `fingerprints.fp`, which `crawler query` reads.
"""

import argparse
import struct
import subprocess
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
import xxhash

# Fingerprints in a block of a file (docs/formats/fingerprints.md).
BLOCK = 65_536
# The most bits by which a planted fingerprint differs from the earlier one.
MAX_BITS = 8


def fingerprints(count, copies, seed):
    """Returns `count` fingerprints in random order, of which `copies` are equal, and the planted
    pairs, by the places of both as text: the bits in which they were made to differ."""
    draw = numpy.random.Generator(numpy.random.PCG64(seed))
    planted = count // 10
    base = draw.integers(0, 2**64, count - planted - copies, dtype=numpy.uint64, endpoint=False)
    of = draw.integers(0, len(base), planted)
    near, bits = base[of].copy(), draw.integers(0, MAX_BITS + 1, planted)
    for number, differing in enumerate(bits):
        for bit in draw.choice(64, differing, replace=False):
            near[number] ^= numpy.uint64(1) << numpy.uint64(bit)
    every = numpy.concatenate([base, near, numpy.repeat(base[:1], copies)])
    order = draw.permutation(len(every))
    place = numpy.argsort(order)
    places = zip(place[of].tolist(), place[len(base) : len(base) + planted].tolist(), bits.tolist())
    pairs = {(min(str(a), str(b)), max(str(a), str(b))): differing for a, b, differing in places}
    return every[order], pairs


def chain(count, seed):
    """Returns `count` fingerprints, each one bit from the one before it, in random order; and the
    pairs of neighbours."""
    draw = numpy.random.Generator(numpy.random.PCG64(seed))
    links = [int(draw.integers(0, 2**64, dtype=numpy.uint64, endpoint=False))]
    known = set(links)
    while len(links) < count:
        following = links[-1] ^ 1 << int(draw.integers(64))
        if following not in known:
            known.add(following)
            links.append(following)
    order = draw.permutation(count)
    places = numpy.argsort(order).tolist()
    pairs = {(min(str(a), str(b)), max(str(a), str(b))): 1 for a, b in zip(places, places[1:])}
    return numpy.array(links, dtype=numpy.uint64)[order], pairs


def write_parquet(path, values, names):
    table = pyarrow.table({"url": names, "fingerprint": pyarrow.array(values, pyarrow.uint64())})
    pyarrow.parquet.write_table(table, path, compression="zstd", row_group_size=131_072)


def write_csv(path, values, names):
    with open(path, "w", encoding="utf-8") as out:
        out.write(
            "url,payload,text_digest,words,main_content,fingerprint,minima,bands,bag,diversity,"
            "title_terms,required_title_terms\n"
        )
        out.writelines(
            f"{name},,,,,{value:016x},,,,,,\n" for name, value in zip(names, values.tolist())
        )


def checksum(data, seed=0):
    return struct.pack("<Q", xxhash.xxh3_128_intdigest(data, seed) & (2**64 - 1))


def write_fingerprint_file(path, values, header):
    """Writes a file of fingerprints without names: `crawler query` numbers them from 0. `header` is
    that of a file which this version of the crawler has written: it has the version of the
    algorithm and the digest of the parameters."""
    head = header[:12] + struct.pack("<IQ", 0, len(values)) + header[24:56]
    with open(path, "wb") as out:
        out.write(head + checksum(head))
        for number, start in enumerate(range(0, len(values), BLOCK)):
            block = values[start : start + BLOCK].astype("<u8").tobytes()
            out.write(block + checksum(block, number))


def fingerprint_header(crawler, directory):
    """Returns the header of a file of fingerprints that the crawler has written."""
    text, file = directory / "a.txt", directory / "a.fp"
    text.write_text("a few words", encoding="utf-8")
    subprocess.run(
        [crawler, "fingerprint", text, "--output", file],
        check=True,
        capture_output=True,
    )
    return file.read_bytes()[:64]


def write_all(directory, crawler, values):
    """Writes the files of these fingerprints."""
    directory.mkdir(parents=True, exist_ok=True)
    names = [str(number) for number in range(len(values))]
    write_parquet(directory / "fingerprints.parquet", values, names)
    write_csv(directory / "fingerprints.csv", values, names)
    write_fingerprint_file(
        directory / "fingerprints.fp", values, fingerprint_header(crawler, directory)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--crawler", required=True)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--copies", type=int, default=1_000)
    parser.add_argument("--chain", action="store_true")
    parser.add_argument("--seed", type=int, default=16)
    options = parser.parse_args()
    if options.chain:
        values, _ = chain(options.count, options.seed)
    else:
        values, _ = fingerprints(options.count, options.copies, options.seed)
    write_all(options.directory, options.crawler, values)
    print(f"{len(values)} fingerprints in {options.directory}")


if __name__ == "__main__":
    main()
