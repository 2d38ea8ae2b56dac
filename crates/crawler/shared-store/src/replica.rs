//! A replica: a local copy of a shared crawl, for commands that read a directory.
//!
//! Its journal has the rows of all buckets and of the log of admissions, ordered by number, so that
//! every reader sees one crawl. It lacks URLs on their way from one node to another: the record of
//! their discovery is written when they arrive.
//!
//! A replica can be refreshed. The rows of a bucket become visible in ascending order, because a
//! bucket has one owner at a time, and so do the rows of the log. This does not hold across
//! buckets. So the replica remembers the last row of each bucket.
//!
//! Invariant: after each refresh, a replica is a copy of one moment; nothing is ever written back.

use std::path::Path;
use std::sync::Arc;

use disk::SystemDisk;
use journal::{Journal, Record, SEGMENT_BYTES, StoreFault};
use sqlx::Row as _;

use crate::bucket::{BUCKETS, Bucket};
use crate::reading::{ReadError, SharedCrawl};

/// A local copy of a shared crawl.
pub struct Replica {
    crawl: SharedCrawl,
    journal: Journal,
    part: ReplicaPart,
    /// The number of the last copied row of each bucket.
    last_of_bucket: Vec<i64>,
    /// The number of the last copied row of the log.
    last_of_log: i64,
    last_seed: i64,
}

/// The rows that a replica contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicaPart {
    /// All rows.
    Whole,
    /// The decisions of the node with this name, in the order of its archive.
    Node(String),
}

impl Replica {
    /// Begins a replica of `crawl` in `state`, the state directory of a crawl that does not exist
    /// yet. `features` are the features of the crawl's fingerprints. No rows are copied yet.
    ///
    /// # Errors
    /// [`ReadError`] if the database cannot be read, or the journal cannot be written.
    pub async fn begin(
        crawl: SharedCrawl,
        part: ReplicaPart,
        state: &Path,
        features: String,
    ) -> Result<Self, ReadError> {
        let directory = state.join("journal");
        std::fs::create_dir_all(&directory).map_err(|source| StoreFault::File {
            action: "create",
            path: directory.clone(),
            source,
        })?;
        let key = crawl.settings().key;
        let journal = Journal::open(Arc::new(SystemDisk), &directory, key, SEGMENT_BYTES)?;
        let at = crawl.begun_at().await?;
        journal.append(&Record::Begun { at, features })?;
        Ok(Self {
            crawl,
            journal,
            part,
            last_of_bucket: vec![0; usize::from(BUCKETS)],
            last_of_log: 0,
            last_seed: 0,
        })
    }

    /// Copies the rows that were added since the last refresh. Calls `step` for each row, and
    /// returns the number of rows.
    ///
    /// # Errors
    /// [`ReadError`] if the database cannot be read, a row is damaged, or the journal cannot be
    /// written.
    pub async fn refresh(&mut self, mut step: impl FnMut()) -> Result<u64, ReadError> {
        if matches!(self.part, ReplicaPart::Whole) {
            for (number, url) in self.crawl.scope_seeds(self.last_seed).await? {
                self.journal.append(&Record::SeedAdopted { url })?;
                self.last_seed = number;
            }
        }
        let marks = self.last_of_bucket.clone();
        let buckets: Vec<i16> = (0..BUCKETS).map(u16::cast_signed).collect();
        let (query, node) = match &self.part {
            ReplicaPart::Whole => (WHOLE, None),
            ReplicaPart::Node(name) => (OF_NODE, Some(name.clone())),
        };
        let query = sqlx::query(query)
            .bind(buckets)
            .bind(marks)
            .bind(self.last_of_log)
            .bind(node);
        let (journal, crawl) = (&self.journal, &self.crawl);
        let (of_bucket, of_log) = (&mut self.last_of_bucket, &mut self.last_of_log);
        let mut copied = 0;
        let mut snapshot = crawl.snapshot().await?;
        let copy = |row: &sqlx::postgres::PgRow| {
            let (bucket, number): (Option<i16>, i64) = (row.get(0), row.get(1));
            let table = if bucket.is_some() {
                "journal"
            } else {
                "signature_log"
            };
            let record = postcard::from_bytes(row.get(2));
            let record: Record = record.map_err(|error| ReadError::Row {
                table,
                number,
                what: error.to_string(),
            })?;
            journal.append(&record)?;
            match bucket {
                Some(bucket) => of_bucket[Bucket::from_sql(bucket).index()] = number,
                None => *of_log = number,
            }
            copied += 1;
            step();
            Ok(())
        };
        snapshot.each(query, "copied the crawl", copy).await?;
        Ok(copied)
    }
}

/// The rows after the marks of their buckets ($1, $2) and of the log ($3).
const WHOLE: &str = "\
    DECLARE portion NO SCROLL CURSOR FOR \
    SELECT bucket, number, record FROM rows_after($1::smallint[], $2::bigint[]) \
    UNION ALL \
    SELECT NULL::smallint, number, record FROM signature_log \
        WHERE number > $3::bigint AND $4::text IS NULL \
    ORDER BY 2";

/// The rows of the terms of one node ($4). The log does not contain any; its mark is named so that
/// both queries have the same parameters.
const OF_NODE: &str = "\
    DECLARE portion NO SCROLL CURSOR FOR \
    SELECT bucket, number, record FROM rows_after($1::smallint[], $2::bigint[]) \
        JOIN term USING (term) \
    WHERE node = $4::text AND $3::bigint >= 0 \
    ORDER BY 2";
