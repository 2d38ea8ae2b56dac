-- Near-duplicates among the pages of whole archives, by one query: DuckDB.
--
--   duckdb -c "SET VARIABLE signatures = 'crawls/*/signatures/*.parquet'" \
--          -c "SET VARIABLE clusters = 'clusters.parquet'" -c ".read lab/batch/neardup.sql"
--
-- Input: Parquet of `crawler export DIR --signatures`, of crawls with one hash key; or any Parquet
-- with `url` and an unsigned `fingerprint` (then set `verify` to false). Variables:
--
--   signatures   a pattern of file names, or a list of them
--   clusters     the Parquet file of clusters: cluster, source, url. A row a page of a cluster
--   pairs        the Parquet file of pairs: source_a, a, source_b, b, distance, resemblance.
--                Optional: n equal pages make n(n-1)/2 pairs
--   distance     bits that two fingerprints may differ in, 0 to 7. 3 without it
--   resemblance  the least resemblance, 0 to 1. Without it the thresholds depend on the length
--   verify       false: fingerprints within the distance decide alone. true without it
--   blocks       blocks of a fingerprint, distance + 1 or more. distance + 1 without it
--
-- The rules are those of `crawler dedup --clusters --chained`; each step names the code that has
-- the rule. Invariant: any two fingerprints within the distance agree in `blocks - distance` of the
-- blocks, so they meet under the key of some table (Manku, Jain and Das Sarma, WWW 2007, section
-- 3.1). The first such table reports them, so each pair is reported once.

-- ---- Parameters -------------------------------------------------------------------------------

CREATE OR REPLACE TEMP MACRO distance_of_candidates() AS coalesce(getvariable('distance'), 3);
CREATE OR REPLACE TEMP MACRO is_verified() AS coalesce(getvariable('verify'), true);
CREATE OR REPLACE TEMP MACRO block_count() AS
    coalesce(getvariable('blocks'), distance_of_candidates() + 1);

SELECT CASE
    WHEN distance_of_candidates() NOT BETWEEN 0 AND 7
        THEN error('distance must be between 0 and 7 bits, got ' || distance_of_candidates())
    WHEN block_count() NOT BETWEEN distance_of_candidates() + 1 AND 16
        THEN error('blocks must be between distance + 1 and 16, got ' || block_count())
    WHEN getvariable('resemblance') NOT BETWEEN 0 AND 1
        THEN error('resemblance must be between 0 and 1, got ' || getvariable('resemblance'))
    ELSE 'parameters are valid'
END AS checked;

-- Hashes of other keys and algorithms never agree, so their files would seem to have nothing alike.
SELECT CASE
    WHEN count(DISTINCT value) > count(DISTINCT key)
        THEN error('signatures are comparable only with one algorithm and one hash key, got '
            || string_agg(DISTINCT decode(key) || ' ' || decode(value), ', '
                ORDER BY decode(key) || ' ' || decode(value))
            || ': export them with one version, from crawls with one --hash-key')
    ELSE 'signatures are comparable'
END AS checked
FROM parquet_kv_metadata(getvariable('signatures'))
WHERE decode(key) IN ('crawler.algorithm', 'crawler.hash_key');

-- ---- Pages, and equal ones counted as one text (crates/engine/batch/src/dedup/distinct_texts.rs) -------

-- The columns that a file of bare fingerprints lacks are null.
CREATE OR REPLACE TEMP TABLE no_page (
    url VARCHAR, payload BLOB, text_digest BLOB, words UINTEGER, main_content BLOB,
    fingerprint UBIGINT, minima BIGINT[], bands BIGINT[], bag BIGINT[], diversity USMALLINT,
    title_terms BIGINT[], required_title_terms BIGINT[], filename VARCHAR, file_row_number BIGINT
);

-- Pages are numbered in the order of the files and of their rows.
CREATE OR REPLACE TEMP TABLE page AS
SELECT row_number() OVER (ORDER BY filename, file_row_number) AS id, *
FROM (
    FROM no_page
    UNION ALL BY NAME
    FROM read_parquet(getvariable('signatures'), filename = true, file_row_number = true,
        union_by_name = true)
);

-- The same bytes come first, then the same text (`Thresholds::match_kind`: SamePayload, SameText). A
-- text is named by the number of its first page.
CREATE OR REPLACE TEMP TABLE text_of_page AS
WITH twin AS (
    SELECT id, text_digest,
        min(id) OVER (PARTITION BY coalesce(hex(payload), 'row ' || id)) AS first
    FROM page
), text AS (
    SELECT id, min(id) OVER (PARTITION BY coalesce(hex(text_digest), 'row ' || id)) AS text
    FROM twin WHERE id = first
)
SELECT twin.id, text.text FROM twin JOIN text ON text.id = twin.first;

-- Texts that may have near duplicates: those with a sketch. A bare fingerprint may, too.
CREATE OR REPLACE TEMP TABLE text AS
FROM page
SEMI JOIN text_of_page ON text_of_page.text = page.id
WHERE fingerprint IS NOT NULL AND (minima IS NOT NULL OR payload IS NULL);

-- ---- Near fingerprints (Manku et al., section 3; crates/engine/batch/src/self_join.rs) -----------------

-- Equal fingerprints are collapsed: a million copies of one make one row.
CREATE OR REPLACE TEMP TABLE run AS
SELECT fingerprint, min(id) AS first, count(*) AS texts FROM text GROUP BY fingerprint;

-- The bits of each table: every choice of blocks - distance blocks. With distance + 1 blocks these
-- are the blocks themselves. More blocks make more tables with longer keys: fewer candidates.
CREATE OR REPLACE TEMP TABLE bits_of_table AS
WITH block AS (
    SELECT number, ((1::HUGEINT << (64 * (number + 1) // block_count())::HUGEINT)
        - (1::HUGEINT << (64 * number // block_count())::HUGEINT))::UBIGINT AS bits
    FROM range(block_count()) AS t(number)
), choice AS (
    SELECT chosen FROM range(1 << block_count()) AS t(chosen)
    WHERE bit_count(chosen) = block_count() - distance_of_candidates()
)
SELECT row_number() OVER (ORDER BY chosen) AS number, bit_or(bits) AS bits
FROM choice JOIN block ON (chosen >> number) & 1 = 1 GROUP BY chosen;

SET VARIABLE bits_of_tables = (SELECT list(bits ORDER BY number) FROM bits_of_table);

-- Blocks are not salted here: threads share a hash table, so a hot block is split anyway.
CREATE OR REPLACE TEMP TABLE near_run AS
WITH block_key AS (
    SELECT fingerprint, number, fingerprint & bits AS key FROM run, bits_of_table
), candidate AS (
    SELECT a.fingerprint AS a, b.fingerprint AS b, number
    FROM block_key a JOIN block_key b USING (number, key)
    WHERE a.fingerprint < b.fingerprint
        AND bit_count(xor(a.fingerprint, b.fingerprint)) <= distance_of_candidates()
)
SELECT a, b, bit_count(xor(a, b))::UINTEGER AS distance FROM candidate
-- Only from the first table that has the pair.
WHERE number = list_position(
    [xor(a, b) & bits = 0 FOR bits IN getvariable('bits_of_tables')], true);

-- ---- Verification (crates/engine/neardup/src/thresholds.rs) --------------------------------------------

-- Differing minima of four bits, sixteen a number (crates/engine/neardup/src/sketch/agreement.rs): the
-- four bits of a difference are folded into their lowest.
CREATE OR REPLACE TEMP MACRO differing_minima(a, b) AS
    list_sum([bit_count((x | (x >> 1) | (x >> 2) | (x >> 3)) & 1229782938247303441)
        FOR x IN [xor(p[1], p[2]) FOR p IN list_zip(a, b)]]);

-- `Sketch::resemblance`: of 256 minima one in sixteen agrees by accident.
CREATE OR REPLACE TEMP MACRO of_shingles(a, b) AS
    greatest(0::DOUBLE, (256 - 16 - differing_minima(a, b))::DOUBLE / 240::DOUBLE);

-- `BagSketch::resemblance`: 512 samples of one bit. Without a bag the resemblance is 0.
CREATE OR REPLACE TEMP MACRO of_words(a, b) AS
    coalesce(greatest(0::DOUBLE, 1::DOUBLE - 2::DOUBLE
        * list_sum([bit_count(xor(p[1], p[2])) FOR p IN list_zip(a, b)])::DOUBLE / 512::DOUBLE), 0);

-- `Thresholds::min_resemblance`: the words of the shorter text decide.
CREATE OR REPLACE TEMP MACRO min_resemblance(words) AS CASE
    WHEN words >= 350 THEN 0.80::DOUBLE WHEN words >= 100 THEN 0.86::DOUBLE
    WHEN words >= 50 THEN 0.90::DOUBLE ELSE 1::DOUBLE
END;

-- `TitleTerms::differs_from`: a required term of one occurs neither in heading nor title of the other.
CREATE OR REPLACE TEMP MACRO differ(title_terms_a, required_a, title_terms_b, required_b) AS
    title_terms_a IS NOT NULL AND title_terms_b IS NOT NULL
    AND NOT (list_has_all(title_terms_b, required_a) AND list_has_all(title_terms_a, required_b));

-- `Thresholds::nearness_for`, without a canonical claim.
CREATE OR REPLACE TEMP MACRO is_near(shingles, bags, words, diversity, with_titles) AS CASE
    WHEN getvariable('resemblance') IS NOT NULL
        THEN shingles >= getvariable('resemblance')::DOUBLE
    WHEN with_titles
        THEN shingles >= min_resemblance(words)
            OR (shingles >= 0.60::DOUBLE AND words >= 100 AND bags >= 0.87::DOUBLE
                AND diversity >= 885)
    ELSE (shingles >= min_resemblance(words) AND bags >= 0.85::DOUBLE)
        OR (shingles >= 0.55::DOUBLE AND words >= 15 AND bags >= 0.85::DOUBLE AND diversity >= 850)
END;

-- Candidates (crates/engine/batch/src/dedup/similar_pairs.rs): texts that share a band of their sketches;
-- and texts with near or equal fingerprints. Only by the first key that a pair shares: bands in
-- their order, then fingerprints.
CREATE OR REPLACE TEMP TABLE candidate AS
WITH band AS (
    SELECT id, bands, unnest(bands) AS key, generate_subscripts(bands, 1) AS number
    FROM text WHERE is_verified()
), by_band AS (
    SELECT a.id AS a, b.id AS b
    FROM band a JOIN band b USING (number, key)
    WHERE a.id < b.id
        AND number = list_position([p[1] = p[2] FOR p IN list_zip(a.bands, b.bands)], true)
), by_fingerprint AS (
    SELECT a.id AS a, b.id AS b, a.bands AS bands_a, b.bands AS bands_b
    FROM text a JOIN text b USING (fingerprint) WHERE a.id < b.id AND is_verified()
    UNION ALL
    SELECT a.id, b.id, a.bands, b.bands
    FROM near_run JOIN text a ON a.fingerprint = near_run.a
    JOIN text b ON b.fingerprint = near_run.b
    WHERE is_verified()
)
FROM by_band
UNION ALL
SELECT least(a, b), greatest(a, b) FROM by_fingerprint
WHERE NOT list_contains([p[1] = p[2] FOR p IN list_zip(bands_a, bands_b)], true);

CREATE OR REPLACE TEMP TABLE similar_texts AS
WITH compared AS (
    SELECT candidate.a, candidate.b,
        bit_count(xor(x.fingerprint, y.fingerprint))::UINTEGER AS distance,
        of_shingles(x.minima, y.minima) AS resemblance, of_words(x.bag, y.bag) AS bags,
        least(x.words, y.words) AS words,
        least(coalesce(x.diversity, 0), coalesce(y.diversity, 0)) AS diversity,
        x.title_terms IS NOT NULL AND y.title_terms IS NOT NULL AS with_titles
    FROM candidate JOIN text x ON x.id = candidate.a JOIN text y ON y.id = candidate.b
    WHERE x.main_content IS NOT DISTINCT FROM y.main_content
        AND NOT differ(x.title_terms, x.required_title_terms, y.title_terms, y.required_title_terms)
)
SELECT a, b, distance, resemblance FROM compared
WHERE is_near(resemblance, bags, words, diversity, with_titles);

-- ---- Clusters: connected components (`FindingKind::Clusters { chained: true }`) -----------------

-- Where fingerprints decide alone, a run is connected through its first text.
CREATE OR REPLACE TEMP TABLE edge AS
WITH pair AS (
    SELECT a, b FROM similar_texts
    UNION ALL
    SELECT run.first, text.id FROM text JOIN run USING (fingerprint)
    WHERE NOT is_verified() AND run.first <> text.id
    UNION ALL
    SELECT x.first, y.first
    FROM near_run JOIN run x ON x.fingerprint = near_run.a JOIN run y ON y.fingerprint = near_run.b
    WHERE NOT is_verified()
)
SELECT a AS from_text, b AS to_text FROM pair UNION ALL SELECT b, a FROM pair;

-- Until nothing changes, the cluster of a text joins the least cluster among its neighbours, and a
-- text goes to the cluster of its cluster. So a chain is halved by a round, not shortened by one.
CREATE OR REPLACE TEMP TABLE component AS
WITH RECURSIVE component(text, cluster) USING KEY (text) AS (
    SELECT DISTINCT from_text, from_text FROM edge
    UNION ALL
    SELECT lower.text, min(lower.cluster)
    FROM (
        SELECT x.cluster AS text, y.cluster AS cluster
        FROM edge JOIN recurring.component x ON x.text = edge.from_text
        JOIN recurring.component y ON y.text = edge.to_text
        UNION ALL
        SELECT x.text, y.cluster
        FROM recurring.component x JOIN recurring.component y ON y.text = x.cluster
    ) AS lower JOIN recurring.component AS known ON known.text = lower.text
    WHERE lower.cluster < known.cluster
    GROUP BY lower.text
)
FROM component;

CREATE OR REPLACE TEMP TABLE member AS
WITH placed AS (
    SELECT text_of_page.id, coalesce(component.cluster, text_of_page.text) AS cluster
    FROM text_of_page LEFT JOIN component USING (text)
)
SELECT id, cluster FROM placed QUALIFY count(*) OVER (PARTITION BY cluster) > 1;

COPY (
    SELECT member.cluster, page.filename AS source, page.url
    FROM member JOIN page USING (id) ORDER BY member.cluster, id
) TO (getvariable('clusters')) (FORMAT parquet, COMPRESSION zstd);

-- ---- Pairs of pages, as `crawler dedup --pairs` (crates/engine/batch/src/dedup/report.rs) --------------

-- Without `pairs` the file is empty and goes to the device that discards it.
COPY (
    WITH pair AS (
        SELECT a.id AS a, b.id AS b, 0 AS distance, 1::DOUBLE AS resemblance
        FROM text_of_page a JOIN text_of_page b USING (text) WHERE a.id < b.id
        UNION ALL
        SELECT least(a.id, b.id), greatest(a.id, b.id), distance, resemblance
        FROM similar_texts JOIN text_of_page a ON a.text = similar_texts.a
        JOIN text_of_page b ON b.text = similar_texts.b
        UNION ALL
        SELECT least(a.id, b.id), greatest(a.id, b.id), distance, of_shingles(x.minima, y.minima)
        FROM (
            SELECT x.id AS a, y.id AS b, 0 AS distance
            FROM text x JOIN text y USING (fingerprint) WHERE x.id < y.id
            UNION ALL
            SELECT x.id, y.id, distance
            FROM near_run JOIN text x ON x.fingerprint = near_run.a
            JOIN text y ON y.fingerprint = near_run.b
        ) AS near JOIN text x ON x.id = near.a JOIN text y ON y.id = near.b
        JOIN text_of_page a ON a.text = near.a JOIN text_of_page b ON b.text = near.b
        WHERE NOT is_verified()
    )
    SELECT x.filename AS source_a, x.url AS a, y.filename AS source_b, y.url AS b,
        distance::UINTEGER AS distance, resemblance
    FROM pair JOIN page x ON x.id = pair.a JOIN page y ON y.id = pair.b
    WHERE getvariable('pairs') IS NOT NULL
    ORDER BY pair.a, pair.b
) TO (coalesce(getvariable('pairs'), '/dev/null')) (FORMAT parquet, COMPRESSION zstd);
