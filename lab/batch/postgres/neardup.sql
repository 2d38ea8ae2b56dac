-- Near-duplicates among the pages in the table `signature`: PostgreSQL 14 or later.
--
--   psql -v distance=3 -v resemblance=null -v verify=true -f lab/batch/postgres/neardup.sql
--
-- The steps, parameters and rules are those of ../neardup.sql. It makes the tables `member`
-- (cluster, id: a row a page of a cluster) and `pair` (a, b, distance, resemblance: every pair of
-- pages), in which pages are rows of `signature`. The distance is at most 3: four indexes find all
-- fingerprints within three bits, because these agree in one quarter of four.

\set ON_ERROR_STOP on
\if :{?distance}
\else
    \set distance 3
\endif
\if :{?resemblance}
\else
    \set resemblance null
\endif
\if :{?verify}
\else
    \set verify true
\endif

SELECT :distance NOT BETWEEN 0 AND 3 AS is_beyond, :resemblance NOT BETWEEN 0 AND 1 AS is_impossible
\gset
\if :is_beyond
    DO $$ BEGIN RAISE 'distance must be between 0 and 3 bits: there are four indexes'; END $$;
\endif
\if :{?is_impossible}
\if :is_impossible
    DO $$ BEGIN RAISE 'resemblance must be between 0 and 1'; END $$;
\endif
\endif

BEGIN;
DROP TABLE IF EXISTS member, pair;

-- Equal pages counted as one text: the same bytes come first, then the same text. A text is named
-- by the number of its first page.
CREATE TEMP TABLE text_of_page ON COMMIT DROP AS
WITH twin AS (
    SELECT id, text_digest, min(id) OVER (PARTITION BY coalesce(payload, 'row ' || id)) AS first
    FROM signature
), text AS (
    SELECT id, min(id) OVER (PARTITION BY coalesce(text_digest, 'row ' || id)) AS text
    FROM twin WHERE id = first
)
SELECT twin.id, text.text FROM twin JOIN text ON text.id = twin.first;
CREATE INDEX ON text_of_page (text);

-- Texts that may have near duplicates: those with a sketch. A bare fingerprint may, too.
CREATE TEMP TABLE text ON COMMIT DROP AS
SELECT id, ('x' || fingerprint)::bit(64)::bigint AS fingerprint, bands
FROM signature
WHERE id IN (SELECT text FROM text_of_page)
    AND fingerprint IS NOT NULL AND (minima IS NOT NULL OR payload IS NULL);
CREATE INDEX ON text (fingerprint);

-- Equal fingerprints are collapsed: a million copies of one make one row of each index.
TRUNCATE run;
INSERT INTO run SELECT fingerprint, min(id), count(*) FROM text GROUP BY fingerprint;
ANALYZE run, text, text_of_page;

-- Each fingerprint probes four permuted tables. A pair is reported by the first quarter in which
-- its fingerprints agree.
CREATE TEMP TABLE near_run ON COMMIT DROP AS
SELECT a.fingerprint AS a, b.fingerprint AS b
FROM run a JOIN run b
    ON rotated(b.fingerprint, 0) BETWEEN first_of_quarter(rotated(a.fingerprint, 0))
        AND last_of_quarter(rotated(a.fingerprint, 0))
WHERE a.fingerprint < b.fingerprint AND distance(a.fingerprint, b.fingerprint) <= :distance
UNION ALL
SELECT a.fingerprint, b.fingerprint
FROM run a JOIN run b
    ON rotated(b.fingerprint, 16) BETWEEN first_of_quarter(rotated(a.fingerprint, 16))
        AND last_of_quarter(rotated(a.fingerprint, 16))
WHERE a.fingerprint < b.fingerprint AND distance(a.fingerprint, b.fingerprint) <= :distance
    AND NOT agree_in_quarter(a.fingerprint, b.fingerprint, 0)
UNION ALL
SELECT a.fingerprint, b.fingerprint
FROM run a JOIN run b
    ON rotated(b.fingerprint, 32) BETWEEN first_of_quarter(rotated(a.fingerprint, 32))
        AND last_of_quarter(rotated(a.fingerprint, 32))
WHERE a.fingerprint < b.fingerprint AND distance(a.fingerprint, b.fingerprint) <= :distance
    AND NOT agree_in_quarter(a.fingerprint, b.fingerprint, 0)
    AND NOT agree_in_quarter(a.fingerprint, b.fingerprint, 1)
UNION ALL
SELECT a.fingerprint, b.fingerprint
FROM run a JOIN run b
    ON rotated(b.fingerprint, 48) BETWEEN first_of_quarter(rotated(a.fingerprint, 48))
        AND last_of_quarter(rotated(a.fingerprint, 48))
WHERE a.fingerprint < b.fingerprint AND distance(a.fingerprint, b.fingerprint) <= :distance
    AND NOT agree_in_quarter(a.fingerprint, b.fingerprint, 0)
    AND NOT agree_in_quarter(a.fingerprint, b.fingerprint, 1)
    AND NOT agree_in_quarter(a.fingerprint, b.fingerprint, 2);
ANALYZE near_run;

-- Candidates by fingerprints. Where these decide alone, they are the pairs.
CREATE TEMP TABLE by_fingerprint ON COMMIT DROP AS
SELECT x.id AS a, y.id AS b FROM text x JOIN text y USING (fingerprint) WHERE x.id < y.id
UNION ALL
SELECT least(x.id, y.id), greatest(x.id, y.id)
FROM near_run JOIN text x ON x.fingerprint = near_run.a JOIN text y ON y.fingerprint = near_run.b;

CREATE TEMP TABLE similar_texts (a bigint, b bigint, distance integer, resemblance double precision)
ON COMMIT DROP;

\if :verify
-- Candidates by bands, and by fingerprints if no band is shared; each is verified once.
INSERT INTO similar_texts
WITH band AS (
    SELECT id, bands, number, key FROM text, unnest(bands) WITH ORDINALITY AS t(key, number)
), candidate AS (
    SELECT x.id AS a, y.id AS b
    FROM band x JOIN band y USING (number, key)
    WHERE x.id < y.id AND number = first_shared_band(x.bands, y.bands)
    UNION ALL
    SELECT by_fingerprint.a, by_fingerprint.b
    FROM by_fingerprint JOIN text x ON x.id = a JOIN text y ON y.id = b
    WHERE first_shared_band(x.bands, y.bands) IS NULL
)
SELECT candidate.a, candidate.b,
    distance(('x' || x.fingerprint)::bit(64)::bigint, ('x' || y.fingerprint)::bit(64)::bigint),
    of_shingles(x.minima, y.minima)
FROM candidate JOIN signature x ON x.id = candidate.a JOIN signature y ON y.id = candidate.b
WHERE is_near(x, y, :resemblance);
\else
INSERT INTO similar_texts
SELECT a, b,
    distance(('x' || x.fingerprint)::bit(64)::bigint, ('x' || y.fingerprint)::bit(64)::bigint),
    CASE WHEN x.minima IS NOT NULL THEN of_shingles(x.minima, y.minima) END
FROM by_fingerprint JOIN signature x ON x.id = a JOIN signature y ON y.id = b;
\endif
ANALYZE similar_texts;

-- Connected components: each text takes the least cluster among its neighbours, and then the
-- cluster of its cluster, until nothing changes.
CREATE TEMP TABLE component ON COMMIT DROP AS
SELECT text, text AS cluster
FROM (SELECT a AS text FROM similar_texts UNION SELECT b FROM similar_texts) AS connected;
CREATE UNIQUE INDEX ON component (text);
ANALYZE component;
DO $$
DECLARE
    changed bigint := 1;
    shortened bigint;
BEGIN
    WHILE changed > 0 LOOP
        UPDATE component SET cluster = lower.cluster
        FROM (
            SELECT text, min(other) AS cluster FROM (
                SELECT x.cluster AS text, y.cluster AS other
                FROM similar_texts JOIN component x ON x.text = a JOIN component y ON y.text = b
                WHERE y.cluster < x.cluster
                UNION ALL
                SELECT y.cluster, x.cluster
                FROM similar_texts JOIN component x ON x.text = a JOIN component y ON y.text = b
                WHERE x.cluster < y.cluster
            ) AS neighbour GROUP BY text
        ) AS lower
        WHERE component.text = lower.text AND lower.cluster < component.cluster;
        GET DIAGNOSTICS changed = ROW_COUNT;
        LOOP
            UPDATE component SET cluster = root.cluster
            FROM component root
            WHERE root.text = component.cluster AND root.cluster < component.cluster;
            GET DIAGNOSTICS shortened = ROW_COUNT;
            EXIT WHEN shortened = 0;
        END LOOP;
    END LOOP;
END
$$;

CREATE TABLE member AS
WITH placed AS (
    SELECT id, coalesce(cluster, text_of_page.text) AS cluster
    FROM text_of_page LEFT JOIN component ON component.text = text_of_page.text
), counted AS (
    SELECT id, cluster, count(*) OVER (PARTITION BY cluster) AS members FROM placed
)
SELECT cluster, id FROM counted WHERE members > 1;

CREATE TABLE pair AS
SELECT x.id AS a, y.id AS b, 0 AS distance, 1::double precision AS resemblance
FROM text_of_page x JOIN text_of_page y USING (text) WHERE x.id < y.id
UNION ALL
SELECT least(x.id, y.id), greatest(x.id, y.id), distance, resemblance
FROM similar_texts JOIN text_of_page x ON x.text = a JOIN text_of_page y ON y.text = b;
COMMIT;
