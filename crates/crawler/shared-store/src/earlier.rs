//! Earlier crawls whose pages count as seen (`--against`). The node that begins the crawl reads
//! them into the database once, and each node copies them into its own journals.
//!
//! Only the records of pages and their signatures are kept, without the links of the pages.
//! Invariant: a crawl that has begun has all of these records, because both are written in one
//! transaction.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::SystemDisk;
use journal::{History, Journal, Record, SEGMENT_BYTES, StoreFault};
use neardup::HashKey;
use sqlx::PgConnection;
use store::DirectoryLock;

use crate::connection::Connection;
use crate::rows::{decode, encode};
use crate::session::{CrawlSettings, JoinError, format, joining};

/// Number of records that are written or read at a time.
const RECORDS: usize = 4_096;

/// The reason why earlier crawls could not be written or copied.
#[derive(Debug, thiserror::Error)]
pub enum EarlierError {
    /// The database failed.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// A journal cannot be read or written.
    #[error(transparent)]
    Local(#[from] StoreFault),
    /// A directory cannot be written.
    #[error("cannot write {}", .path.display())]
    File {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Connection {
    /// Writes the settings of a crawl that begins now, and the pages of earlier crawls, whose
    /// stores are in `states`. If another node was first, its settings stay: read them afterwards.
    /// Calls `step` for each record.
    ///
    /// # Errors
    /// [`EarlierError`]: the database failed, or a journal cannot be read. In this case, nothing is
    /// written.
    pub async fn begin_crawl_against(
        &self,
        settings: &CrawlSettings,
        states: &[PathBuf],
        mut step: impl FnMut(),
    ) -> Result<(), EarlierError> {
        let failed = joining("wrote the earlier crawls");
        let mut transaction = self.pool.begin().await.map_err(failed)?;
        if !settings.write(&mut transaction, format()).await? {
            return Ok(());
        }
        for (number, state) in (0_i16..).zip(states) {
            let _nobody_writes = DirectoryLock::share(state)?;
            let mut records = Vec::new();
            for record in History::open(state)? {
                let Some(record) = kept(record?) else {
                    continue;
                };
                records.push(encode(&record));
                step();
                if records.len() == RECORDS {
                    write(&mut transaction, number, &records).await?;
                    records.clear();
                }
            }
            write(&mut transaction, number, &records).await?;
        }
        transaction.commit().await.map_err(failed)?;
        Ok(())
    }

    /// Returns the number of earlier crawls whose pages count as seen.
    ///
    /// # Errors
    /// [`JoinError::Failed`] if the database fails.
    pub async fn earlier_crawls(&self) -> Result<u16, JoinError> {
        let query = "SELECT coalesce(max(crawl) + 1, 0) FROM earlier_crawl";
        let count: i32 = sqlx::query_scalar(query)
            .fetch_one(&self.pool)
            .await
            .map_err(joining("counted the earlier crawls"))?;
        Ok(u16::try_from(count).unwrap_or_default())
    }

    /// Copies the earlier crawls into `directory`, each in a subdirectory with the layout of a
    /// crawl, unless they are already there. Returns these subdirectories. Calls `step` for each
    /// record.
    ///
    /// # Errors
    /// [`EarlierError`]: the database failed, or a journal cannot be written.
    pub async fn copy_earlier(
        &self,
        key: HashKey,
        directory: &Path,
        mut step: impl FnMut(),
    ) -> Result<Vec<PathBuf>, EarlierError> {
        let mut copies = Vec::new();
        for crawl in 0..self.earlier_crawls().await? {
            let (copy, part) = (
                directory.join(crawl.to_string()),
                directory.join(format!("{crawl}.part")),
            );
            if !copy.exists() {
                let file = |path: &Path| {
                    let path = path.to_owned();
                    move |source| EarlierError::File { path, source }
                };
                if part.exists() {
                    std::fs::remove_dir_all(&part).map_err(file(&part))?;
                }
                let journal = part.join("state/journal");
                std::fs::create_dir_all(&journal).map_err(file(&part))?;
                let journal = Journal::open(Arc::new(SystemDisk), &journal, key, SEGMENT_BYTES)?;
                self.copy_records(crawl, &journal, &mut step).await?;
                journal.sync(journal.end()).await?;
                drop(journal);
                std::fs::rename(&part, &copy).map_err(file(&copy))?;
            }
            copies.push(copy);
        }
        Ok(copies)
    }

    async fn copy_records(
        &self,
        crawl: u16,
        journal: &Journal,
        step: &mut impl FnMut(),
    ) -> Result<(), EarlierError> {
        let mut after = 0_i64;
        loop {
            let query = "SELECT number, record FROM earlier_crawl \
                WHERE crawl = $1 AND number > $2 ORDER BY number LIMIT $3";
            let rows: Vec<(i64, Vec<u8>)> = sqlx::query_as(query)
                .bind(crawl.cast_signed())
                .bind(after)
                .bind(RECORDS as i64)
                .fetch_all(&self.pool)
                .await
                .map_err(joining("read the earlier crawls"))?;
            for (number, record) in &rows {
                let record = decode(record).map_err(|error| StoreFault::Shared {
                    action: "read the earlier crawls",
                    what: format!("a record cannot be read: {error}"),
                })?;
                journal.append(&record)?;
                after = *number;
                step();
            }
            if rows.len() < RECORDS {
                return Ok(());
            }
        }
    }
}

/// Returns the part of a record that a later crawl needs; `None` if it does not need the record.
fn kept(record: Record) -> Option<Record> {
    match record {
        Record::Begun { .. }
        | Record::Admitted { .. }
        | Record::Retained(_)
        | Record::Forgotten { .. } => Some(record),
        Record::Settled(mut settled) => {
            settled.visit.finds.clear();
            settled.visit.reached.clear();
            Some(Record::Settled(settled))
        }
        _ => None,
    }
}

async fn write(
    connection: &mut PgConnection,
    crawl: i16,
    records: &[Vec<u8>],
) -> Result<(), JoinError> {
    let query = "INSERT INTO earlier_crawl (crawl, record) \
        SELECT $1, record FROM unnest($2::bytea[]) WITH ORDINALITY AS given (record, i) ORDER BY i";
    let written = sqlx::query(query).bind(crawl).bind(records);
    let written = written.execute(connection).await;
    written
        .map(drop)
        .map_err(joining("wrote the earlier crawls"))
}
