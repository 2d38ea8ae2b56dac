-- The table of signatures for PostgreSQL 14 or later, and the functions that compare two of them.
-- Run it once; then load one or more exports, and run neardup.sql:
--
--   psql -f lab/batch/postgres/tables.sql
--   crawler export DIR --signatures --format csv | psql -c "COPY signature (url, payload,
--       text_digest, words, main_content, fingerprint, minima, bands, bag, diversity, title_terms,
--       required_title_terms) FROM stdin (FORMAT csv, HEADER)"
--
-- The functions are those of crates/engine/neardup/src/thresholds.rs, as in ../neardup.sql. Invariant: the
-- columns are those of `crawler export --signatures` (docs/formats/export.md).

CREATE TABLE signature (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url text NOT NULL,
    payload text,
    text_digest text,
    words bigint,
    main_content text,
    fingerprint text,
    minima bigint[],
    bands bigint[],
    bag bigint[],
    diversity integer,
    title_terms bigint[],
    required_title_terms bigint[]
);

-- Fingerprints, each once, with the number of its first text and the count of them. Four indexes
-- stand for the four permuted tables: each is led by another quarter (Manku, Jain and Das Sarma,
-- WWW 2007, section 3; crates/engine/neardup/src/tables/quarters.rs).
CREATE TABLE run (fingerprint bigint PRIMARY KEY, first bigint NOT NULL, texts bigint NOT NULL);

-- Returns the fingerprint rotated to the left, so that another quarter leads.
CREATE FUNCTION rotated(fingerprint bigint, bits integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    CASE WHEN bits = 0 THEN fingerprint
    ELSE (fingerprint << bits) | ((fingerprint >> (64 - bits)) & ((1::bigint << bits) - 1)) END;

-- The copies of the fingerprint are in the indexes, so that a probe reads nothing else.
CREATE INDEX run_by_quarter_0 ON run (rotated(fingerprint, 0)) INCLUDE (fingerprint);
CREATE INDEX run_by_quarter_1 ON run (rotated(fingerprint, 16)) INCLUDE (fingerprint);
CREATE INDEX run_by_quarter_2 ON run (rotated(fingerprint, 32)) INCLUDE (fingerprint);
CREATE INDEX run_by_quarter_3 ON run (rotated(fingerprint, 48)) INCLUDE (fingerprint);

-- Returns the least and the greatest number with the same leading quarter.
CREATE FUNCTION first_of_quarter(rotated bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN rotated & ~((1::bigint << 48) - 1);
CREATE FUNCTION last_of_quarter(rotated bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN rotated | ((1::bigint << 48) - 1);

-- Returns the bits in which two fingerprints differ.
CREATE FUNCTION distance(a bigint, b bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN bit_count((a # b)::bit(64))::integer;

-- Returns true if two fingerprints agree in a quarter, counted from the highest bits.
CREATE FUNCTION agree_in_quarter(a bigint, b bigint, quarter integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ((a # b) >> (48 - 16 * quarter)) & 65535 = 0;

-- Returns the first band that two sketches share; null if they share none.
CREATE FUNCTION first_shared_band(a bigint[], b bigint[]) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
    SELECT min(number)::integer FROM unnest(a, b) WITH ORDINALITY AS t(x, y, number) WHERE x = y
);

-- `Sketch::resemblance`: of 256 minima of four bits one in sixteen agrees by accident. The four
-- bits of a difference are folded into their lowest.
CREATE FUNCTION of_shingles(a bigint[], b bigint[]) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
    SELECT greatest(0, (256 - 16 - sum(bit_count(
        ((d | (d >> 1) | (d >> 2) | (d >> 3)) & 1229782938247303441)::bit(64)
    )))::double precision / 240)
    FROM unnest(a, b) AS t(x, y), LATERAL (SELECT x # y AS d) AS difference
);

-- `BagSketch::resemblance`: 512 samples of one bit. Without a bag the resemblance is 0.
CREATE FUNCTION of_words(a bigint[], b bigint[]) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN a IS NULL OR b IS NULL THEN 0 ELSE (
    SELECT greatest(0, 1 - 2 * sum(bit_count((x # y)::bit(64)))::double precision / 512)
    FROM unnest(a, b) AS t(x, y)
) END;

-- `Thresholds::min_resemblance`: the words of the shorter text decide.
CREATE FUNCTION min_resemblance(words bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
    WHEN words >= 350 THEN 0.80 WHEN words >= 100 THEN 0.86 WHEN words >= 50 THEN 0.90 ELSE 1
END;

-- `TitleTerms::differs_from`: a required term of one occurs neither in heading nor title of the other.
CREATE FUNCTION title_terms_differ(a signature, b signature) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    (a).title_terms IS NOT NULL AND (b).title_terms IS NOT NULL
    AND NOT ((a).required_title_terms <@ (b).title_terms AND (b).required_title_terms <@ (a).title_terms);

-- `Thresholds::nearness_for`, without a canonical claim. Without a threshold the thresholds depend
-- on the length.
CREATE FUNCTION is_near(a signature, b signature, threshold double precision) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    shingles double precision;
    bags double precision;
    words bigint := least((a).words, (b).words);
    diversity integer := least(coalesce((a).diversity, 0), coalesce((b).diversity, 0));
BEGIN
    IF (a).main_content IS DISTINCT FROM (b).main_content OR title_terms_differ(a, b) THEN
        RETURN false;
    END IF;
    shingles := of_shingles((a).minima, (b).minima);
    IF threshold IS NOT NULL THEN
        RETURN shingles >= threshold;
    END IF;
    bags := of_words((a).bag, (b).bag);
    IF (a).title_terms IS NOT NULL AND (b).title_terms IS NOT NULL THEN
        RETURN shingles >= min_resemblance(words)
            OR (shingles >= 0.60 AND words >= 100 AND bags >= 0.87 AND diversity >= 885);
    END IF;
    RETURN (shingles >= min_resemblance(words) AND bags >= 0.85)
        OR (shingles >= 0.55 AND words >= 15 AND bags >= 0.85 AND diversity >= 850);
END
$$;
