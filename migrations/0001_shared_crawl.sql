-- The store of a crawl that several nodes share: its journal, split by bucket.
--
-- A bucket holds the hosts of some registrable domains and has one owner at a time: the term of a
-- node. Only the owner adds rows to a bucket's journal. Links to other buckets go through `inbox`.
-- Admissions of all buckets are in one order, `signature_log`. docs/adr/0021 has the reasons.
--
-- Every change is one call of one of the functions below, which checks the caller's term and may be
-- repeated: so no lock waits for a node, and a lost answer costs a second call.
--
-- The keys begin with the bucket where a table has one, so that Citus can distribute them by it;
-- that is unverified.

CREATE TABLE crawl (
    -- There is one row.
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    -- The format of the records in `journal` and `signature_log`.
    format integer NOT NULL,
    -- The key of every hash, 8 bytes little-endian.
    hash_key bytea NOT NULL,
    -- The settings that all nodes share, as TOML.
    settings text NOT NULL,
    -- A node without a heartbeat for so long is dead.
    term_length interval NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT now(),
    -- The time at which nothing was left to visit.
    finished_at timestamptz,
    last_term bigint NOT NULL DEFAULT 0,
    -- The control file that nodes without one of their own apply.
    control text
);

CREATE TABLE term (
    term bigint PRIMARY KEY,
    node text NOT NULL,
    -- live: it may write; left: it ended in order; expired: it sent no heartbeat for its length.
    state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'left', 'expired')),
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The number of the last batch that was settled.
    batch bigint NOT NULL DEFAULT 0,
    -- The last row of the log of admissions that the node had applied when it had nothing to visit
    -- and nothing to send; null while it has.
    exhausted_at bigint,
    -- True if it has leased anything.
    asked boolean NOT NULL DEFAULT false,
    -- The end of the last settled visit in the node's archive.
    archive_file text,
    archive_end bigint,
    -- Sums over the visits of this term: `Totals`, postcard; and two of them.
    totals bytea NOT NULL DEFAULT '',
    pages bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    -- URLs that wait in the node's buckets.
    queued bigint NOT NULL DEFAULT 0,
    -- Pages of --max-pages that this term may visit.
    reserved bigint NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX one_live_term_of_a_node ON term (node) WHERE state = 'live';

CREATE TABLE bucket (
    bucket smallint PRIMARY KEY,
    -- The term that owns it; none while it passes from one to another.
    owner bigint REFERENCES term,
    -- True if an owner died, and none since then gave it up in order: its hosts may have been asked
    -- just before.
    rests boolean NOT NULL DEFAULT false
);

CREATE INDEX bucket_owner ON bucket (owner);

INSERT INTO bucket (bucket) SELECT generate_series(0, 4095);

-- Numbers the rows of `journal` and `signature_log` in one order.
CREATE SEQUENCE row_number;

CREATE TABLE journal (
    bucket smallint NOT NULL,
    number bigint NOT NULL DEFAULT nextval('row_number'),
    term bigint NOT NULL,
    -- 0: other; 1: a visit ended; 2: such a visit was revoked; 3: entries were leased.
    kind smallint NOT NULL,
    -- The key of the URL, of kinds 1 and 2.
    page bigint,
    -- The key of the original for which the page was left out.
    original bigint,
    -- A record of the journal, postcard.
    record bytea NOT NULL,
    PRIMARY KEY (bucket, number)
);

CREATE INDEX journal_original ON journal (original) WHERE original IS NOT NULL;
CREATE INDEX journal_revoked ON journal (page) WHERE kind = 2;

-- Rows of `journal` that were moved here to save space: packs of consecutive rows of one bucket, as
-- arrays that PostgreSQL compresses. A row is in `journal` or in one pack, never in both; read both
-- with `rows_after`. Revocations and huge records stay in `journal`, so rows there may have numbers
-- between the numbers of a pack.
CREATE TABLE packed_journal (
    bucket smallint NOT NULL,
    -- The number of the last row.
    last bigint NOT NULL,
    -- The columns of the rows, ordered by number. `originals` is null if no row has an original.
    numbers bigint[] NOT NULL,
    terms bigint[] NOT NULL,
    kinds smallint[] NOT NULL,
    pages bigint[] NOT NULL,
    originals bigint[],
    records bytea[] NOT NULL,
    PRIMARY KEY (bucket, last)
) WITH (toast_tuple_target = 128);

CREATE INDEX packed_journal_original ON packed_journal USING gin (originals);

CREATE TABLE inbox (
    bucket smallint NOT NULL,
    number bigint NOT NULL DEFAULT nextval('row_number'),
    -- A discovered URL, postcard.
    found bytea NOT NULL,
    PRIMARY KEY (bucket, number)
);

CREATE TABLE scope_seed (
    -- Numbers become visible in their order.
    number bigint PRIMARY KEY DEFAULT nextval('row_number'),
    -- A seed, or the target of its redirect: what it lets in is in the scope of all nodes.
    url text NOT NULL
);

-- A URL may be longer than a key of an index.
CREATE UNIQUE INDEX scope_seed_once ON scope_seed (md5(url));

CREATE TABLE signature_log (
    number bigint PRIMARY KEY,
    term bigint NOT NULL,
    -- The keys that another admission shares if its verdict depends on this row.
    keys bigint[] NOT NULL,
    -- A record of the journal, postcard.
    record bytea NOT NULL
);

-- Its one row is locked while rows are added to the log or to `scope_seed`, so that they become
-- visible in their order.
CREATE TABLE signature_head (singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton));

INSERT INTO signature_head DEFAULT VALUES;

CREATE TABLE earlier_crawl (
    -- The index of the crawl among the directories of --against.
    crawl smallint NOT NULL,
    number bigint NOT NULL DEFAULT nextval('row_number'),
    -- A record of its journal, postcard: of its pages and their signatures.
    record bytea NOT NULL,
    PRIMARY KEY (crawl, number)
);

-- Refuses a call of a term that has ended.
CREATE FUNCTION refuse_ended_term(p_term bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_state text;
BEGIN
    SELECT state INTO v_state FROM term WHERE term = p_term;
    RAISE EXCEPTION USING
        ERRCODE = 'CR001',
        MESSAGE = CASE v_state
            WHEN 'expired' THEN 'it sent no heartbeat in time, and its buckets were reassigned'
            WHEN 'left' THEN 'it left'
            ELSE 'the store does not know it'
        END;
END $$;

-- Writes the settings of a crawl that begins now. Does nothing if it has begun, and returns false.
CREATE FUNCTION begin_crawl(
    p_format integer, p_hash_key bytea, p_settings text, p_term_length interval
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO crawl (format, hash_key, settings, term_length)
    VALUES (p_format, p_hash_key, p_settings, p_term_length)
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

-- Writes the control file that nodes without one of their own apply. Returns false if no crawl has
-- begun.
CREATE FUNCTION set_control(p_control text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE crawl SET control = p_control;
    RETURN FOUND;
END $$;

-- Ends a term that is live. Its buckets are free afterwards, all at once.
CREATE FUNCTION end_term(p_term bigint, p_state text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_asked boolean;
BEGIN
    UPDATE term SET state = p_state, reserved = 0, queued = 0
    WHERE term = p_term AND state = 'live' RETURNING asked INTO v_asked;
    IF FOUND THEN
        UPDATE bucket SET owner = NULL, rests = rests OR (p_state = 'expired' AND v_asked)
        WHERE owner = p_term;
    END IF;
END $$;

-- Begins a term of a node, and returns its number. If a term of this node is live, returns the time
-- of its last heartbeat: the caller waits for the length of a term and passes that time.
-- `p_own` is a term of which the caller knows that it has ended.
CREATE FUNCTION begin_term(
    p_node text, p_own bigint, p_heartbeat timestamptz,
    OUT new_term bigint, OUT last_heartbeat timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    v_old term;
    v_length interval;
BEGIN
    -- Terms begin one after the other.
    SELECT term_length INTO v_length FROM crawl FOR UPDATE;
    SELECT * INTO v_old FROM term WHERE node = p_node AND state = 'live';
    IF FOUND THEN
        IF v_old.term = p_own
            OR (v_old.heartbeat_at = p_heartbeat AND v_old.heartbeat_at + v_length < clock_timestamp())
        THEN
            PERFORM end_term(v_old.term, 'expired');
        ELSE
            last_heartbeat := v_old.heartbeat_at;
            RETURN;
        END IF;
    END IF;
    UPDATE crawl SET last_term = last_term + 1, finished_at = NULL
    RETURNING last_term INTO new_term;
    INSERT INTO term (term, node, archive_file, archive_end)
    SELECT new_term, p_node, last.archive_file, last.archive_end
    FROM (SELECT) AS always LEFT JOIN LATERAL (
        SELECT archive_file, archive_end FROM term
        WHERE node = p_node AND archive_file IS NOT NULL ORDER BY term DESC LIMIT 1
    ) AS last ON true;
END $$;

-- Keeps a term alive. `p_in_touch` is true if the caller was in touch with the store for the length
-- of a term: only then it declares others dead. Returns the numbers of live terms, of the caller's
-- buckets and of free buckets.
CREATE FUNCTION beat(
    p_term bigint, p_in_touch boolean, OUT live bigint, OUT owned bigint, OUT free bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_dead bigint;
    v_length interval;
BEGIN
    UPDATE term SET heartbeat_at = clock_timestamp() WHERE term = p_term AND state = 'live';
    IF NOT FOUND THEN
        PERFORM refuse_ended_term(p_term);
    END IF;
    IF p_in_touch THEN
        SELECT term_length INTO v_length FROM crawl;
        FOR v_dead IN
            SELECT term FROM term
            WHERE state = 'live' AND heartbeat_at + v_length < clock_timestamp() ORDER BY term
        LOOP
            -- Locked, and looked at again: it may have sent a heartbeat meanwhile.
            PERFORM FROM term
            WHERE term = v_dead AND heartbeat_at + v_length < clock_timestamp() FOR UPDATE;
            IF FOUND THEN
                PERFORM end_term(v_dead, 'expired');
            END IF;
        END LOOP;
    END IF;
    SELECT count(*) INTO live FROM term WHERE state = 'live';
    SELECT count(*) FILTER (WHERE owner = p_term), count(*) FILTER (WHERE owner IS NULL)
    INTO owned, free FROM bucket;
END $$;

-- Gives free buckets to a term, so that it owns `p_share` as far as there are any; none once the
-- crawl has finished. Returns all buckets of the term, so that a lost answer loses none, and whether
-- their hosts are to rest. The caller has reported before that it is not exhausted.
CREATE FUNCTION acquire_buckets(p_term bigint, p_share bigint)
RETURNS TABLE (acquired smallint, acquired_rests boolean) LANGUAGE plpgsql AS $$
BEGIN
    -- Waits for a call that is about to end this term, and is waited for by it.
    PERFORM FROM term WHERE term = p_term AND state = 'live' FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM refuse_ended_term(p_term);
    END IF;
    IF (SELECT finished_at IS NULL FROM crawl) THEN
        WITH free AS (
            SELECT bucket FROM bucket WHERE owner IS NULL ORDER BY bucket
            LIMIT greatest(p_share - (SELECT count(*) FROM bucket WHERE owner = p_term), 0)
            FOR UPDATE
        )
        UPDATE bucket SET owner = p_term FROM free
        WHERE bucket.bucket = free.bucket AND bucket.owner IS NULL;
    END IF;
    RETURN QUERY SELECT bucket, rests FROM bucket WHERE owner = p_term ORDER BY bucket;
END $$;

-- Frees buckets whose owner has settled everything that it began there.
CREATE FUNCTION release_buckets(p_term bigint, p_buckets smallint[]) RETURNS void
LANGUAGE sql AS $$
    UPDATE bucket SET owner = NULL, rests = false
    WHERE owner = p_term AND bucket = ANY (p_buckets);
$$;

-- Settles a batch of a term: adds rows to the journal and to inboxes, and removes what the node has
-- taken out of its own. The same batch again changes nothing.
CREATE FUNCTION settle_batch(
    p_term bigint, p_batch bigint, p_exhausted_at bigint,
    p_buckets smallint[], p_kinds smallint[], p_pages bigint[], p_originals bigint[],
    p_records bytea[],
    p_inbox_buckets smallint[], p_inbox_found bytea[],
    p_taken_buckets smallint[], p_taken_numbers bigint[],
    p_seeds text[],
    p_archive_file text, p_archive_end bigint,
    p_totals bytea, p_page_total bigint, p_byte_total bigint, p_queued bigint
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint;
BEGIN
    -- Waits for a call that is about to end this term, and is waited for by it.
    SELECT batch INTO v_batch FROM term WHERE term = p_term AND state = 'live' FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM refuse_ended_term(p_term);
    END IF;
    IF p_batch <= v_batch THEN
        RETURN;
    END IF;
    INSERT INTO journal (bucket, term, kind, page, original, record)
    SELECT b, p_term, k, p, o, r
    FROM unnest(p_buckets, p_kinds, p_pages, p_originals, p_records)
        WITH ORDINALITY AS rows (b, k, p, o, r, i)
    ORDER BY i;
    INSERT INTO inbox (bucket, found)
    SELECT b, f FROM unnest(p_inbox_buckets, p_inbox_found) WITH ORDINALITY AS links (b, f, i)
    ORDER BY i;
    DELETE FROM inbox USING unnest(p_taken_buckets, p_taken_numbers) AS taken (b, n)
    WHERE bucket = b AND number = n;
    IF cardinality(p_seeds) > 0 THEN
        PERFORM FROM signature_head FOR UPDATE;
        INSERT INTO scope_seed (url) SELECT unnest(p_seeds) ON CONFLICT DO NOTHING;
    END IF;
    IF p_exhausted_at IS NULL THEN
        UPDATE crawl SET finished_at = NULL WHERE finished_at IS NOT NULL;
    END IF;
    UPDATE term SET
        batch = p_batch, exhausted_at = p_exhausted_at, asked = asked OR 3 = ANY (p_kinds),
        archive_file = coalesce(p_archive_file, archive_file),
        archive_end = coalesce(p_archive_end, archive_end),
        totals = p_totals, pages = p_page_total, bytes = p_byte_total, queued = p_queued
    WHERE term = p_term;
END $$;

-- Moves the first rows of these buckets of a term from the journal into a pack per bucket: 256 rows
-- at most. Leaves a bucket unchanged that has fewer than `p_min` rows to move, so the call may be
-- repeated.
CREATE FUNCTION pack_rows(p_term bigint, p_buckets smallint[], p_min bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_bucket smallint;
BEGIN
    -- Waits for a call that is about to end this term, and is waited for by it.
    PERFORM FROM term WHERE term = p_term AND state = 'live' FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM refuse_ended_term(p_term);
    END IF;
    FOR v_bucket IN
        SELECT bucket FROM bucket WHERE owner = p_term AND bucket = ANY (p_buckets)
    LOOP
        WITH movable AS (
            SELECT number FROM journal
            -- 256 of them stay far below the largest value of PostgreSQL, 1 GB.
            WHERE bucket = v_bucket AND kind <> 2 AND octet_length(record) <= 65536
            ORDER BY number LIMIT 256
        ), taken AS (
            DELETE FROM journal USING movable
            WHERE bucket = v_bucket AND journal.number = movable.number
                AND (SELECT count(*) FROM movable) >= p_min
            RETURNING journal.*
        )
        INSERT INTO packed_journal
            (bucket, last, numbers, terms, kinds, pages, originals, records)
        SELECT v_bucket, max(number), array_agg(number ORDER BY number),
            array_agg(term ORDER BY number), array_agg(kind ORDER BY number),
            array_agg(page ORDER BY number),
            CASE WHEN count(original) > 0 THEN array_agg(original ORDER BY number) END,
            array_agg(record ORDER BY number)
        FROM taken HAVING count(*) > 0;
    END LOOP;
END $$;

-- Returns the rows of buckets after a number per bucket, packed or not, in no order.
CREATE FUNCTION rows_after(p_buckets smallint[], p_numbers bigint[])
RETURNS TABLE (
    bucket smallint, number bigint, term bigint, kind smallint, page bigint, original bigint,
    record bytea, is_packed boolean
) LANGUAGE sql STABLE AS $$
    SELECT j.bucket, j.number, j.term, j.kind, j.page, j.original, j.record, false
    FROM unnest(p_buckets, p_numbers) AS mark (b, n)
        JOIN journal AS j ON j.bucket = b AND j.number > n
    UNION ALL
    SELECT p.bucket, r.number, r.term, r.kind, r.page, r.original, r.record, true
    FROM unnest(p_buckets, p_numbers) AS mark (b, n)
        JOIN packed_journal AS p ON p.bucket = b AND p.last > n
        CROSS JOIN LATERAL unnest(p.numbers, p.terms, p.kinds, p.pages, p.originals, p.records)
            AS r (number, term, kind, page, original, record)
    WHERE r.number > n
$$;

-- Returns the rows of pages that were left out as duplicates of an original, packed or not.
CREATE FUNCTION rows_of_original(p_original bigint)
RETURNS TABLE (bucket smallint, number bigint, page bigint, record bytea)
LANGUAGE sql STABLE AS $$
    SELECT j.bucket, j.number, j.page, j.record FROM journal AS j WHERE j.original = p_original
    UNION ALL
    SELECT p.bucket, r.number, r.page, r.record
    FROM packed_journal AS p
        CROSS JOIN LATERAL unnest(p.numbers, p.pages, p.originals, p.records)
            AS r (number, page, original, record)
    WHERE p.originals @> ARRAY[p_original] AND r.original = p_original
$$;

-- Appends admissions that were judged by the rows of the log up to `p_applied`. Adds those that share
-- no key with later rows, nor with an append before them. Returns the later rows in their order, with
-- the index of the append that became the row; an append that is missing is to be judged again.
CREATE FUNCTION append_admissions(
    p_term bigint, p_applied bigint, p_records bytea[],
    -- The keys of all appends, each with the index of its append, from 1.
    p_keys bigint[], p_owners integer[]
) RETURNS TABLE (row_number bigint, row_record bytea, row_append integer) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM term WHERE term = p_term AND state = 'live';
    IF NOT FOUND THEN
        PERFORM refuse_ended_term(p_term);
    END IF;
    PERFORM FROM signature_head FOR UPDATE;
    RETURN QUERY
    WITH appended AS (
        SELECT k, o FROM unnest(p_keys, p_owners) AS appends (k, o)
    ), later AS (
        SELECT number, keys, record FROM signature_log WHERE number > p_applied
    ), later_keys AS (
        SELECT DISTINCT unnest(keys) AS k FROM later
    ), refused AS (
        SELECT o FROM appended JOIN later_keys USING (k)
        UNION
        SELECT second.o FROM appended AS first JOIN appended AS second
            ON first.k = second.k AND first.o < second.o
    ), admitted AS (
        SELECT nextval('row_number') AS number, i, record
        FROM (
            SELECT i::integer AS i, record
            FROM unnest(p_records) WITH ORDINALITY AS appends (record, i)
            WHERE i NOT IN (SELECT o FROM refused) ORDER BY i
        ) AS accepted
    ), added AS (
        INSERT INTO signature_log (number, term, keys, record)
        SELECT number, p_term, keys, record
        FROM admitted JOIN (
            SELECT o, array_agg(k) AS keys FROM appended GROUP BY o
        ) AS keys_of_appends ON o = i
    )
    SELECT number, record, NULL::integer FROM later
    UNION ALL
    SELECT number, NULL::bytea, i FROM admitted
    ORDER BY 1;
END $$;

-- Reserves pages of a crawl that has at most `p_max` of them: as many as the term has reserved are
-- `p_total` afterwards, or fewer if there are no more. Returns their number.
CREATE FUNCTION reserve_pages(p_term bigint, p_max bigint, p_total bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_taken bigint;
    v_reserved bigint;
BEGIN
    PERFORM FROM crawl FOR UPDATE;
    -- A live term may still visit what it has reserved; one that ended has visited its pages.
    SELECT coalesce(sum(CASE state WHEN 'live' THEN greatest(reserved, pages) ELSE pages END), 0)
    INTO v_taken FROM term WHERE term <> p_term;
    UPDATE term SET reserved = least(p_total, greatest(p_max - v_taken, 0))
    WHERE term = p_term AND state = 'live' RETURNING reserved INTO v_reserved;
    IF NOT FOUND THEN
        PERFORM refuse_ended_term(p_term);
    END IF;
    RETURN v_reserved;
END $$;

-- Returns true if no bucket is free, no inbox holds anything, and no live node has anything to visit
-- or to send, by all admissions that there are.
CREATE FUNCTION note_finished() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE crawl SET finished_at = clock_timestamp()
    WHERE finished_at IS NULL
        AND NOT EXISTS (SELECT FROM bucket WHERE owner IS NULL)
        AND NOT EXISTS (SELECT FROM inbox)
        AND NOT EXISTS (
            SELECT FROM term WHERE state = 'live' AND (
                exhausted_at IS NULL
                OR exhausted_at < (SELECT coalesce(max(number), 0) FROM signature_log)
            )
        );
    RETURN (SELECT finished_at IS NOT NULL FROM crawl);
END $$;
