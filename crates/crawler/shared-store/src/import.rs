//! The import of an embedded crawl into an empty shared store.
//!
//! The records of its journal become rows, in order and in batches; admissions become rows of the
//! log. A batch is one transaction and includes the number of records up to its end, so an
//! interrupted import continues after its last batch. Until the import has ended, the crawl's
//! format is [`IMPORTING`], and nodes refuse it.
//!
//! Leases and crashes name queue entries only by number. A later session needs only the leases and
//! crashes of entries that are still waiting, and few entries have any. A first pass over the
//! journal ([`ImportScan`]) finds these entries, and the second pass learns their buckets.
//!
//! Invariant: nodes see either a completely imported crawl or none.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use journal::{Record, Totals};
use store::ArchivePlace;
use web::{PageUrl, Timestamp};

use crate::bucket::Bucket;
use crate::connection::{ConnectError, Connection, message_of, server_of};
use crate::keys::LogKeys;
use crate::rows::{Row, RowKind, encode, rows_of};
use crate::session::{CrawlSettings, IMPORTING, JoinError, begin_term, format};
use crate::shipping::{kind_to_sql, to_sql};

/// Name of the importing node.
const NODE: &str = "import";
/// Maximum number of records of a batch, and the size of its rows in bytes at which it ends.
const BATCH: u64 = 4_096;
const BATCH_BYTES: usize = 4 << 20;

/// The reason why a crawl cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The database cannot be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A term cannot begin.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The store holds a crawl.
    #[error("{server} already contains a crawl")]
    Occupied {
        /// The server and the database.
        server: String,
    },
    /// The store holds a part of another crawl.
    #[error("{server} contains an unfinished import of another crawl")]
    OtherImport {
        /// The server and the database.
        server: String,
    },
    /// The database failed.
    #[error("the shared store failed while it {action}: {what}")]
    Failed {
        /// The action, as a verb in the past tense.
        action: &'static str,
        /// The database's error.
        what: String,
    },
    /// The times in the journal are from two clocks.
    #[error("the clock was set back during the crawl, so the waits of its hosts are inconsistent")]
    ClockSetBack,
}

/// Returns the conversion of the database's errors during an action.
fn failed(action: &'static str) -> impl Fn(sqlx::Error) -> ImportError + Copy {
    move |error| ImportError::Failed {
        action,
        what: message_of(&error),
    }
}

/// The first pass over a journal.
#[derive(Debug, Default)]
pub struct ImportScan {
    records: u64,
    begun_at: Timestamp,
    /// Waiting entries that sessions died with.
    struck: BTreeSet<u64>,
    /// Entries that are in progress at the end of the journal.
    in_flight: BTreeSet<u64>,
}

impl ImportScan {
    /// Applies the next record.
    ///
    /// # Errors
    /// [`ImportError::ClockSetBack`] if the crawl cannot be imported.
    pub fn apply(&mut self, record: &Record) -> Result<(), ImportError> {
        self.records += 1;
        match record {
            Record::Begun { at, .. } => self.begun_at = *at,
            Record::Leased { sequences } => self.in_flight.extend(sequences),
            Record::Died { sequences } => {
                for sequence in sequences {
                    self.in_flight.remove(sequence);
                    self.struck.insert(*sequence);
                }
            }
            Record::Returned { sequence, .. } => drop(self.in_flight.remove(sequence)),
            Record::Postponed { entry, .. } => drop(self.in_flight.remove(&entry.sequence)),
            Record::Settled(settled) => self.end(settled.sequence),
            Record::Superseded { entry } => self.end(entry.sequence),
            Record::Stopped => self.in_flight.clear(),
            Record::ClockSetBack { .. } => return Err(ImportError::ClockSetBack),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, sequence: u64) {
        self.in_flight.remove(&sequence);
        self.struck.remove(&sequence);
    }

    /// Returns the entries in this range of numbers whose buckets are needed.
    fn needed(&self, first: u64, count: usize) -> Vec<u64> {
        let range = first..first + count as u64;
        let struck = self.struck.range(range.clone());
        struck.chain(self.in_flight.range(range)).copied().collect()
    }
}

/// The rows of a batch, by columns. A row without a bucket belongs to the log.
#[derive(Default)]
struct Rows {
    buckets: Vec<Option<i16>>,
    kinds: Vec<i16>,
    pages: Vec<Option<i64>>,
    originals: Vec<Option<i64>>,
    records: Vec<Vec<u8>>,
    /// The keys of the log's rows, each with the index of its row, starting at 1.
    keys: Vec<i64>,
    owners: Vec<i64>,
    seeds: Vec<String>,
    bytes: usize,
}

impl Rows {
    fn add(&mut self, row: Row) {
        let (kind, page, original) = kind_to_sql(row.kind);
        self.push(
            Some(row.bucket),
            kind,
            page.map(to_sql),
            original.map(to_sql),
            row.record,
        );
    }

    fn add_to_log(&mut self, record: &Record, keys: Vec<i64>) {
        let (other, ..) = kind_to_sql(RowKind::Other);
        self.push(None, other, None, None, encode(record));
        let place = i64::try_from(self.records.len()).unwrap_or(i64::MAX);
        self.owners.extend(keys.iter().map(|_| place));
        self.keys.extend(keys);
    }

    fn push(
        &mut self,
        bucket: Option<Bucket>,
        kind: i16,
        page: Option<i64>,
        original: Option<i64>,
        record: Vec<u8>,
    ) {
        self.bytes += record.len();
        self.buckets.push(bucket.map(Bucket::to_sql));
        self.kinds.push(kind);
        self.pages.push(page);
        self.originals.push(original);
        self.records.push(record);
    }
}

/// An import in progress.
pub struct Import {
    connection: Connection,
    term: i64,
    keys: LogKeys,
    scan: ImportScan,
    /// Number of records that are in the store.
    done: u64,
    /// Number of records that were added, in this run or an earlier one.
    position: u64,
    rows: Rows,
    /// The buckets of the entries that the scan found.
    buckets: HashMap<u64, Bucket>,
    /// Sums over the visits of this run.
    totals: Totals,
    archive: Option<ArchivePlace>,
}

impl Import {
    /// Begins or continues the import of a crawl into the database at `url`. Near duplicates of the
    /// crawl differ in at most `distance` bits.
    ///
    /// Returns `None` if this crawl has already been imported completely.
    ///
    /// The caller must have exclusive access to the crawl: no other process may import it.
    ///
    /// # Errors
    /// [`ImportError`]: the database cannot be opened, or holds a crawl.
    pub async fn begin(
        url: &str,
        settings: &CrawlSettings,
        distance: u32,
        scan: ImportScan,
    ) -> Result<Option<Self>, ImportError> {
        let connection = Connection::open(url).await?;
        let server = server_of(url);
        connection.begin_crawl_as(IMPORTING, settings).await?;
        let (found, key, text): (i32, Vec<u8>, String) =
            sqlx::query_as("SELECT format, hash_key, settings FROM crawl")
                .fetch_one(&connection.pool)
                .await
                .map_err(failed("read the settings"))?;
        let is_same = key == settings.key.as_u64().to_le_bytes() && text == settings.text;
        let (done, live): (Option<i64>, Option<i64>) = sqlx::query_as(
            "SELECT max(batch), max(term) FILTER (WHERE state = 'live') \
                FROM term WHERE node = $1",
        )
        .bind(NODE)
        .fetch_one(&connection.pool)
        .await
        .map_err(failed("looked for an earlier import"))?;
        let done = done.unwrap_or_default().unsigned_abs();
        match (found == IMPORTING, is_same) {
            (true, true) => {}
            (true, false) => return Err(ImportError::OtherImport { server }),
            (false, true) if done > 0 && done == scan.records => return Ok(None),
            (false, _) => return Err(ImportError::Occupied { server }),
        }
        // An earlier run has ended, because the caller has exclusive access to the crawl.
        let ended = live.map(i64::unsigned_abs);
        let (term, ..) = begin_term(&connection, NODE, ended, None).await?;
        let Some(term) = term else {
            let node = NODE.to_owned();
            return Err(JoinError::NameInUse { node }.into());
        };
        Ok(Some(Self {
            keys: LogKeys::new(settings.key, distance),
            connection,
            term,
            scan,
            done,
            position: 0,
            rows: Rows::default(),
            buckets: HashMap::new(),
            totals: Totals::default(),
            archive: None,
        }))
    }

    /// Returns the number of records that an earlier run has imported.
    #[must_use]
    pub fn done_before(&self) -> u64 {
        self.done
    }

    /// Adds a seed of the crawl. Call it before the first record is added.
    pub fn add_seed(&mut self, seed: &PageUrl) {
        self.rows.seeds.push(seed.to_string());
    }

    /// Adds the next record of the journal, starting at its beginning.
    ///
    /// # Errors
    /// [`ImportError::Failed`] if the database cannot be written.
    pub async fn add(&mut self, record: &Record) -> Result<(), ImportError> {
        self.position += 1;
        self.learn_buckets(record);
        if self.position <= self.done {
            return Ok(());
        }
        self.add_rows(record);
        if self.position - self.done >= BATCH || self.rows.bytes >= BATCH_BYTES {
            self.write().await?;
        }
        Ok(())
    }

    /// Ends the import: from now on, nodes may take part in the crawl. Their first requests to each
    /// host come after a full delay, like after a death.
    ///
    /// # Errors
    /// [`ImportError::Failed`] if the database cannot be written.
    pub async fn finish(mut self) -> Result<(), ImportError> {
        self.write().await?;
        let failed = failed("ended the import");
        let mut transaction = self.connection.pool.begin().await.map_err(failed)?;
        sqlx::query("UPDATE bucket SET rests = true")
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        sqlx::query("SELECT end_term($1, 'left')")
            .bind(self.term)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        let millis = i64::try_from(self.scan.begun_at.as_millis()).unwrap_or(i64::MAX);
        sqlx::query("UPDATE crawl SET format = $1, begun_at = to_timestamp($2::float8 / 1000)")
            .bind(format())
            .bind(millis)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }

    /// Learns the buckets of entries that the scan found.
    fn learn_buckets(&mut self, record: &Record) {
        let (first, count) = match record {
            Record::Discovered { first, finds } => (*first, finds.len()),
            Record::Settled(settled) => (settled.first, settled.visit.finds.len()),
            Record::Revoked { entry, .. } => (entry.sequence, 1),
            _ => return,
        };
        for sequence in self.scan.needed(first, count) {
            if let Some(url) = record.queued(sequence) {
                self.buckets.insert(sequence, Bucket::of(url));
            }
        }
    }

    fn add_rows(&mut self, record: &Record) {
        match record {
            Record::Settled(settled) => {
                self.totals.count(&settled.visit.record);
                if let Some(span) = &settled.visit.archived {
                    let (file, end) = (span.file.clone(), span.end);
                    self.archive = Some(ArchivePlace { file, end });
                }
            }
            Record::Revoked { visit, .. } => self.totals.uncount(visit),
            Record::SeedAdopted { url } => self.rows.seeds.push(url.to_string()),
            Record::Leased { sequences } => {
                let is_in_flight = |sequence: &&u64| self.scan.in_flight.contains(sequence);
                let sequences: Vec<u64> = sequences.iter().filter(is_in_flight).copied().collect();
                for (bucket, sequences) in self.by_bucket(&sequences) {
                    self.rows
                        .add(Row::new(bucket, &Record::Leased { sequences }));
                }
            }
            Record::Died { sequences } => {
                for (bucket, sequences) in self.by_bucket(sequences) {
                    self.rows.add(Row::new(bucket, &Record::Died { sequences }));
                }
            }
            Record::Admitted { .. }
            | Record::Retained(_)
            | Record::Forgotten { .. }
            | Record::Distinct(_) => {
                // The keys are compared with the keys of later appends, which know these rows.
                self.rows.add_to_log(record, self.keys.of(record, None));
            }
            _ => {}
        }
        for row in rows_of(record) {
            self.rows.add(row);
        }
    }

    fn by_bucket(&self, sequences: &[u64]) -> BTreeMap<Bucket, Vec<u64>> {
        let mut of_buckets: BTreeMap<Bucket, Vec<u64>> = BTreeMap::new();
        for sequence in sequences {
            // The other entries were settled later.
            if let Some(bucket) = self.buckets.get(sequence) {
                of_buckets.entry(*bucket).or_default().push(*sequence);
            }
        }
        of_buckets
    }

    /// Writes the records that have been added.
    ///
    /// # Errors
    /// [`ImportError::Failed`] if the database cannot be written.
    pub async fn write(&mut self) -> Result<(), ImportError> {
        if self.position <= self.done {
            return Ok(());
        }
        let failed = failed("imported a batch");
        let rows = std::mem::take(&mut self.rows);
        let mut transaction = self.connection.pool.begin().await.map_err(failed)?;
        let (place, totals) = (self.archive.as_ref(), &self.totals);
        let stored = postcard::to_allocvec(totals).expect("encoding to memory cannot fail");
        // This checks that the term has not ended. The rows follow in the same transaction, in one
        // order with the rows of the log.
        sqlx::query(SETTLE)
            .bind(self.term)
            .bind(to_i64(self.position))
            .bind(&rows.seeds)
            .bind(place.map(|place| place.file.as_str()))
            .bind(place.map(|place| to_i64(place.end)))
            .bind(stored)
            .bind(to_i64(totals.pages))
            .bind(to_i64(totals.bytes))
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        sqlx::query(ADD_ROWS)
            .bind(self.term)
            .bind(&rows.buckets)
            .bind(&rows.kinds)
            .bind(&rows.pages)
            .bind(&rows.originals)
            .bind(&rows.records)
            .bind(&rows.keys)
            .bind(&rows.owners)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        self.done = self.position;
        Ok(())
    }
}

fn to_i64(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Settles a batch without rows, links or inboxes.
const SETTLE: &str = "SELECT settle_batch($1, $2, NULL, '{}', '{}', '{}', '{}', '{}', '{}', '{}', \
    '{}', '{}', $3, $4, $5, $6, $7, $8, 0)";

/// Adds rows to the journal and to the log, numbered in the given order.
const ADD_ROWS: &str = "\
    WITH numbered AS ( \
        SELECT nextval('row_number') AS number, i, bucket, kind, page, original, record \
        FROM ( \
            SELECT * FROM unnest($2::smallint[], $3::smallint[], $4::bigint[], $5::bigint[], \
                $6::bytea[]) WITH ORDINALITY AS given (bucket, kind, page, original, record, i) \
            ORDER BY i \
        ) AS ordered \
    ), journalled AS ( \
        INSERT INTO journal (bucket, number, term, kind, page, original, record) \
        SELECT bucket, number, $1, kind, page, original, record FROM numbered \
        WHERE bucket IS NOT NULL \
    ) \
    INSERT INTO signature_log (number, term, keys, record) \
    SELECT number, $1, keys, record FROM numbered JOIN ( \
        SELECT o, array_agg(k) AS keys FROM unnest($7::bigint[], $8::bigint[]) AS given (k, o) \
        GROUP BY o \
    ) AS of_row ON o = i WHERE bucket IS NULL";
