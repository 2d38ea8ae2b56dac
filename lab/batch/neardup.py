"""Near-duplicates among the pages of whole archives, by one Spark job.

    spark-submit lab/batch/neardup.py --signatures 's3a://BUCKET/*/signatures' --work DIR --clusters DIR

The input is Parquet of `crawler export DIR --signatures`, of crawls with one hash key; or any
Parquet with `url` and `fingerprint` (then give `--verify off`). The rules are those of `crawler
dedup --clusters --chained` and of `neardup.sql`, whose comments name the code that has each rule.
Everything is DataFrames: no UDF, and no jar besides Spark's. It is one file, so that `spark-submit`
takes it alone.

Invariant: any two fingerprints within the distance agree in `blocks - distance` of their blocks, so
they meet under the key of some table (Manku, Jain and Das Sarma, WWW 2007, sections 3.1 and 4). The
first such table reports them, so each pair is reported once. No step draws random numbers, so a
task that is repeated after its worker died computes the same rows.
"""

import argparse
from itertools import combinations
from typing import NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

# The bits of a file's number stand above those of a row's number.
ROW_BITS = 40
# The columns by which a text is verified.
VERIFIED_BY = [
    "main_content", "words", "minima", "bands", "bag", "diversity", "title_terms",
    "required_title_terms",
]
# The type of each column that a file of bare fingerprints lacks.
TYPES = {
    "payload": "binary", "text_digest": "binary", "main_content": "binary", "words": "bigint",
    "diversity": "bigint",
    **dict.fromkeys(
        ["minima", "bands", "bag", "title_terms", "required_title_terms"], "array<bigint>"
    ),
}
# The columns of a pair.
PAIR = ["a", "b", "distance", "resemblance"]
# The group of the jobs of the join.
JOIN = "join"
# The lowest bit of each four.
LOWEST_OF_4 = 0x1111_1111_1111_1111
# The most rounds of a search for components: each at least halves the longest path, in practice.
MAX_ROUNDS = 100


class Rules(NamedTuple):
    """The parameters of a run."""

    distance: int = 3
    # None if the thresholds depend on the length.
    resemblance: float | None = None
    # False if fingerprints within the distance decide alone.
    verify: bool = True
    # None for distance + 1.
    blocks: int | None = None
    # Rows of one key beyond which its rows are spread over several tasks.
    hot: int = 10_000


class Work:
    """Stores results of steps as Parquet, so that later steps do not repeat earlier ones."""

    def __init__(self, spark, directory):
        self.spark, self.directory, self.steps = spark, directory.rstrip("/"), 0

    def store(self, frame, name):
        self.steps += 1
        path = f"{self.directory}/{self.steps:03}-{name}"
        frame.write.mode("overwrite").parquet(path)
        return self.spark.read.parquet(path)


def named(column, name):
    """Returns a column under another name."""
    return F.col(column).alias(name)


def long(number):
    """Returns a number as a column of 64 bits."""
    return F.lit(number).cast("bigint")


# ---- Pages, and equal ones counted as one text ---------------------------------------------------


def read_pages(spark, paths):
    """Returns all pages with an `id` in the order of the files and of their rows."""
    pages = spark.read.parquet(*paths)
    place = named("_metadata.file_path", "source"), named("_metadata.row_index", "row")
    pages = pages.select("*", *place)
    sources = sorted(row.source for row in pages.select("source").distinct().collect())
    numbers = spark.createDataFrame(list(enumerate(sources)), "number bigint, source string")
    others = [
        (F.col(name) if name in pages.columns else F.lit(None)).cast(kind).alias(name)
        for name, kind in TYPES.items()
    ]
    # Spark reads an unsigned number of 64 bits as a decimal; the same bits are a signed one.
    signed = F.expr("""
        CAST(CASE WHEN fingerprint >= 9223372036854775808 THEN fingerprint - 18446744073709551616
            ELSE fingerprint END AS bigint)""")
    return pages.join(F.broadcast(numbers), "source").select(
        (F.shiftleft("number", ROW_BITS) + F.col("row")).alias("id"),
        "source", "url", signed.alias("fingerprint"), *others,
    )


def texts_of_pages(pages):
    """Returns the text of each page. The same bytes come first, then the same text."""
    own = F.concat(F.lit("row "), F.col("id").cast("string"))
    payload = F.coalesce(F.hex("payload"), own).alias("payload_key")
    keyed = pages.select("id", "text_digest", payload)
    twins = keyed.join(keyed.groupBy("payload_key").agg(F.min("id").alias("first")), "payload_key")
    text = F.coalesce(F.hex("text_digest"), own).alias("text_key")
    firsts = twins.where("id = first").select("id", text)
    texts = firsts.join(firsts.groupBy("text_key").agg(F.min("id").alias("text")), "text_key")
    texts = texts.select(named("id", "first"), "text")
    return twins.join(texts, "first").select("id", "text")


def comparable_texts(pages, text_of_page):
    """Returns the texts that may have near duplicates: those with a sketch, bare fingerprints."""
    firsts = text_of_page.where("id = text").select("id")
    return pages.join(firsts, "id", "left_semi").where(
        "fingerprint IS NOT NULL AND (minima IS NOT NULL OR payload IS NULL)"
    ).drop("source", "url", "payload", "text_digest")


# ---- Candidates ----------------------------------------------------------------------------------


def bits_of_tables(rules):
    """Returns the bits of each table, signed: every choice of blocks - distance blocks."""
    blocks = rules.blocks or rules.distance + 1
    bounds = [64 * number // blocks for number in range(blocks + 1)]
    bits = [(1 << end) - (1 << start) for start, end in zip(bounds, bounds[1:])]
    tables = [sum(choice) for choice in combinations(bits, blocks - rules.distance)]
    return [table - (1 << 64) if table >= 1 << 63 else table for table in tables]


def join_by_key(keyed, rules):
    """Joins rows with equal `table` and `key`, each with each, as structs `a` and `b`.

    A key with more than `hot` rows is salted: a row is on the left with one salt of many, and on
    the right with all of them. So each pair meets once, and the tasks of a hot key have equal
    shares.
    """
    counts = keyed.groupBy("table", "key").count()
    hot = counts.where(F.col("count") > rules.hot).select(
        "table", "key", F.ceil(F.col("count") / rules.hot).cast("int").alias("salts")
    )
    salted = keyed.join(F.broadcast(hot), ["table", "key"], "left")
    salted = salted.withColumn("salts", F.coalesce("salts", F.lit(1)))
    one, all_ = F.expr("pmod(xxhash64(row), salts)"), F.expr("explode(sequence(0, salts - 1))")
    left = salted.select("table", "key", one.cast("int").alias("salt"), named("row", "a"))
    right = salted.select("table", "key", all_.alias("salt"), named("row", "b"))
    return left.join(right, ["table", "key", "salt"])


def near_runs(runs, rules):
    """Returns the pairs of different fingerprints within the distance, a < b."""
    tables = bits_of_tables(rules)
    keys = F.array(*[F.col("fingerprint").bitwiseAND(long(bits)) for bits in tables])
    keyed = runs.select(F.posexplode(keys).alias("table", "key"), named("fingerprint", "row"))
    difference = F.col("a").bitwiseXOR(F.col("b"))
    first = F.coalesce(*[
        F.when(difference.bitwiseAND(long(bits)) == 0, F.lit(number))
        for number, bits in enumerate(tables)
    ])
    near = join_by_key(keyed, rules).where("a < b")
    near = near.where(F.bit_count(difference) <= rules.distance).where(first == F.col("table"))
    return near.select("a", "b", F.bit_count(difference).alias("distance"))


def candidates_by_band(texts, rules):
    """Returns the pairs of texts that share a band of their sketches, by the first one."""
    row = F.struct("id", "bands").alias("row")
    keyed = texts.where("bands IS NOT NULL")
    keyed = keyed.select(F.posexplode("bands").alias("table", "key"), row)
    joined = join_by_key(keyed, rules)
    first = F.array_position(F.zip_with("a.bands", "b.bands", lambda x, y: x == y), True) - 1
    pairs = joined.where("a.id < b.id").where(first == F.col("table"))
    return pairs.select(named("a.id", "a"), named("b.id", "b"), F.lit(True).alias("by_band"))


def candidates_by_fingerprint(texts, near, rules):
    """Returns the pairs of texts with equal or near fingerprints."""
    row = F.struct("id").alias("row")
    keyed = texts.select(F.lit(0).alias("table"), named("fingerprint", "key"), row)
    equal = join_by_key(keyed, rules).where("a.id < b.id")
    equal = equal.select(named("a.id", "a"), named("b.id", "b"))

    def text_of(name):
        return texts.select(named("id", f"id_{name}"), named("fingerprint", name))

    apart = near.join(text_of("a"), "a").join(text_of("b"), "b")
    apart = apart.select(F.least("id_a", "id_b").alias("a"), F.greatest("id_a", "id_b").alias("b"))
    return equal.unionByName(apart).withColumn("by_band", F.lit(False))


# ---- Verification --------------------------------------------------------------------------------


def counted(one, other, bits):
    """Returns the sum of `bits` of each pair of two lists of numbers."""
    pairs = F.zip_with(one, other, lambda x, y: F.bit_count(bits(x.bitwiseXOR(y))).cast("bigint"))
    return F.aggregate(pairs, long(0), lambda sum_, count: sum_ + count)


def of_shingles(one, other):
    """Sketch::resemblance: of 256 minima of four bits one in sixteen agrees by accident."""
    def differing(x):
        folded = x
        for bits in range(1, 4):
            folded = folded.bitwiseOR(F.shiftright(x, bits))
        return folded.bitwiseAND(long(LOWEST_OF_4))

    agreeing = (F.lit(256 - 16) - counted(one, other, differing)).cast("double")
    return F.greatest(F.lit(0.0), agreeing / F.lit(240.0))


def of_words(one, other):
    """BagSketch::resemblance: 512 samples of one bit. Without a bag the resemblance is 0."""
    differing = counted(one, other, lambda x: x).cast("double")
    estimate = F.greatest(F.lit(0.0), F.lit(1.0) - F.lit(2.0) * differing / F.lit(512.0))
    return F.when(F.col(one).isNull() | F.col(other).isNull(), F.lit(0.0)).otherwise(estimate)


def compared(candidates, texts):
    """Returns the candidates with everything that decides."""

    def part(name):
        columns = ["id", "fingerprint", *VERIFIED_BY]
        return texts.select(*[named(column, f"{name}_{column}") for column in columns])

    def knows(words, required):
        return F.size(F.array_except(required, words)) == 0

    pairs = candidates.join(part("a"), F.col("a") == F.col("a_id"))
    pairs = pairs.join(part("b"), F.col("b") == F.col("b_id"))
    distance = F.bit_count(F.col("a_fingerprint").bitwiseXOR(F.col("b_fingerprint")))
    diversities = (F.coalesce(f"{name}_diversity", F.lit(0)) for name in "ab")
    same_bands = F.zip_with("a_bands", "b_bands", lambda x, y: x == y)
    titled = F.col("a_title_terms").isNotNull() & F.col("b_title_terms").isNotNull()
    # TitleTerms::differs_from, and the main content where it must be equal.
    agree = ~titled | (
        knows("b_title_terms", "a_required_title_terms")
        & knows("a_title_terms", "b_required_title_terms")
    )
    return pairs.select(
        "a", "b",
        distance.alias("distance"),
        of_shingles("a_minima", "b_minima").alias("resemblance"),
        of_words("a_bag", "b_bag").alias("bags"),
        F.least("a_words", "b_words").alias("words"),
        F.least(*diversities).alias("diversity"),
        titled.alias("titled"),
        F.exists(same_bands, lambda same: same).alias("shares_band"),
        "by_band",
        (agree & F.col("a_main_content").eqNullSafe(F.col("b_main_content"))).alias("may_be_near"),
    )


def near_texts(pairs, rules):
    """Returns the compared candidates that are near duplicates (Thresholds::nearness_for)."""
    if rules.resemblance is not None:
        near = F.col("resemblance") >= F.lit(rules.resemblance)
    else:
        # Thresholds::min_resemblance: the words of the shorter text decide.
        least = """CASE WHEN words >= 350 THEN 0.80D WHEN words >= 100 THEN 0.86D
            WHEN words >= 50 THEN 0.90D ELSE 1D END"""
        near = F.expr(f"""
            CASE WHEN titled
                THEN resemblance >= {least}
                    OR (resemblance >= 0.60D AND words >= 100 AND bags >= 0.87D
                        AND diversity >= 885)
                ELSE (resemblance >= {least} AND bags >= 0.85D)
                    OR (resemblance >= 0.55D AND words >= 15 AND bags >= 0.85D
                        AND diversity >= 850)
            END""")
    # Each once: a pair that shares a band is a candidate by its first one only.
    return pairs.where(F.col("by_band") | ~F.col("shares_band")).where(F.col("may_be_near") & near)


# ---- Clusters: connected components --------------------------------------------------------------


def components(edges, work):
    """Returns the least text of the component of each text (`text`, `cluster`) but the least ones.

    Large-star and small-star alternate until nothing changes (Kiveris et al., "Connected components
    in MapReduce and beyond", SoCC 2014): the rounds grow with the logarithm of the texts.
    """
    ordered = edges.select(F.greatest("a", "b").alias("u"), F.least("a", "b").alias("v"))
    stars = work.store(ordered.where("u <> v").distinct(), "edges")
    before = None
    for _ in range(MAX_ROUNDS):
        both = stars.unionByName(stars.select(named("v", "u"), named("u", "v")))
        least = both.groupBy("u").agg(F.least(F.min("v"), F.first("u")).alias("m"))
        # Large-star: each larger neighbour of u is connected to the least of u and its neighbours.
        large = both.where("v > u").join(least, "u")
        large = large.select(named("v", "u"), named("m", "v")).distinct()
        # Small-star: u and its lesser neighbours are connected to the least of these.
        least = large.groupBy("u").agg(F.min("v").alias("m"))
        small = large.join(least, "u").where("v <> m").select(named("v", "u"), named("m", "v"))
        stars = work.store(small.unionByName(least.withColumnRenamed("m", "v")).distinct(), "stars")
        now = stars.agg(F.count("*"), F.sum(F.xxhash64("u", "v").cast("decimal(38,0)"))).first()
        if now == before:
            return stars.select(named("u", "text"), named("v", "cluster"))
        before = now
    raise RuntimeError(f"components are not complete after {MAX_ROUNDS} rounds")


# ---- The job -------------------------------------------------------------------------------------


def run(spark, signatures, work, clusters, pairs, rules):
    """Reads signatures, and writes clusters and, if `pairs` is a path, pairs."""
    work = Work(spark, work)
    pages = work.store(read_pages(spark, signatures), "pages")
    text_of_page = work.store(texts_of_pages(pages), "texts-of-pages")
    texts = work.store(comparable_texts(pages, text_of_page), "texts")
    # Equal fingerprints are collapsed: a million copies of one make one row.
    runs = texts.groupBy("fingerprint").agg(F.min("id").alias("first"))
    spark.sparkContext.setJobGroup(JOIN, "join of near fingerprints")
    near = work.store(near_runs(runs, rules), "near-fingerprints")
    spark.sparkContext.setJobGroup("rest", "verification and clusters")

    candidates = candidates_by_fingerprint(texts, near, rules)
    if rules.verify:
        candidates = candidates.unionByName(candidates_by_band(texts, rules))
        pairs_of_texts = near_texts(compared(candidates, texts), rules)
        pairs_of_texts = work.store(pairs_of_texts.select(*PAIR), "similar-texts")
        edges = pairs_of_texts
    else:
        pairs_of_texts = compared(candidates, texts).select(*PAIR)
        edges = edges_of_runs(texts, runs, near)
    placed = text_of_page.join(components(edges, work), "text", "left")
    placed = placed.select("id", F.coalesce("cluster", "text").alias("cluster"))
    large = placed.groupBy("cluster").count().where("count > 1").select("cluster")
    members = placed.join(large, "cluster").join(pages.select("id", "source", "url"), "id")
    members.select("cluster", "source", "url").write.mode("overwrite").parquet(clusters)
    if pairs is not None:
        found = pairs_of_pages(pages, text_of_page, pairs_of_texts, rules)
        found.write.mode("overwrite").parquet(pairs)


def edges_of_runs(texts, runs, near):
    """Returns what connects texts where fingerprints decide alone: a run by its first text, and the
    first texts of near runs."""
    inside = texts.join(runs, "fingerprint").select(named("first", "a"), named("id", "b"))

    def first(name):
        return runs.select(named("fingerprint", name), named("first", f"first_{name}"))

    between = near.join(first("a"), "a").join(first("b"), "b")
    return inside.unionByName(between.select(named("first_a", "a"), named("first_b", "b")))


def pairs_of_pages(pages, text_of_page, pairs_of_texts, rules):
    """Returns every pair of pages, as `crawler dedup --pairs` lists them."""
    row = F.struct("id").alias("row")
    keyed = text_of_page.select(F.lit(0).alias("table"), named("text", "key"), row)
    same = F.lit(0).alias("distance"), F.lit(1.0).alias("resemblance")
    equal = join_by_key(keyed, rules).where("a.id < b.id")
    equal = equal.select(named("a.id", "id_a"), named("b.id", "id_b"), *same)

    def of_text(name):
        return text_of_page.select(named("text", name), named("id", f"id_{name}"))

    def page_of(name):
        source = named("source", f"source_{name}")
        return pages.select(named("id", f"id_{name}"), source, named("url", name))

    near = pairs_of_texts.join(of_text("a"), "a").join(of_text("b"), "b").select(
        F.least("id_a", "id_b").alias("id_a"), F.greatest("id_a", "id_b").alias("id_b"),
        "distance", "resemblance",
    )
    every = equal.unionByName(near).join(page_of("a"), "id_a").join(page_of("b"), "id_b")
    return every.select("source_a", "a", "source_b", "b", "distance", "resemblance")


def rules_of(options):
    """Returns the rules that the options ask for, if they are possible."""
    verify = options.verify == "on"
    rules = Rules(options.distance, options.resemblance, verify, options.blocks, options.hot)
    blocks = rules.distance + 1 if rules.blocks is None else rules.blocks
    if not 0 <= rules.distance <= 7:
        raise SystemExit(f"--distance must be between 0 and 7 bits, got {rules.distance}")
    if not rules.distance < blocks <= 16:
        raise SystemExit(f"--blocks must be between --distance + 1 and 16, got {blocks}")
    if rules.resemblance is not None and not 0 <= rules.resemblance <= 1:
        raise SystemExit(f"--resemblance must be between 0 and 1, got {rules.resemblance}")
    if rules.hot < 1:
        raise SystemExit(f"--hot must be at least 1, got {rules.hot}")
    return rules


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--signatures", required=True, nargs="+", metavar="PATH",
                        help="Parquet files, directories of them, or patterns")
    parser.add_argument("--work", required=True, metavar="DIR",
                        help="directory for the results of steps, which all workers reach")
    parser.add_argument("--clusters", required=True, metavar="DIR",
                        help="output: cluster, source, url")
    parser.add_argument("--pairs", metavar="DIR",
                        help="output: source_a, a, source_b, b, distance, resemblance; "
                        "n equal pages make n(n-1)/2 pairs")
    parser.add_argument("--distance", type=int, default=3, metavar="K",
                        help="bits that two fingerprints may differ in, 0 to 7 [default: 3]")
    parser.add_argument("--resemblance", type=float, metavar="R",
                        help="the least resemblance, 0 to 1 [default: by length, as "
                        "`crawler dedup`]")
    parser.add_argument("--verify", choices=["on", "off"], default="on",
                        help="off: fingerprints within --distance decide alone [default: on]")
    parser.add_argument("--blocks", type=int, metavar="B",
                        help="blocks of a fingerprint: more make more tables with longer keys "
                        "[default: K + 1]")
    parser.add_argument("--hot", type=int, default=10_000, metavar="N",
                        help="rows of a key beyond which they are spread over several tasks "
                        "[default: 10000]")
    options = parser.parse_args()
    rules = rules_of(options)
    spark = SparkSession.builder.appName("near-duplicates").getOrCreate()
    run(spark, options.signatures, options.work, options.clusters, options.pairs, rules)
    spark.stop()


if __name__ == "__main__":
    main()
