//! The audit of a shared crawl: a comparison of its rows with each other, at one moment.
//!
//! A bucket has the hosts of some domains and therefore all visits of their URLs, so the journal is
//! read bucket by bucket and needs the memory for one bucket. The log of admissions is read
//! afterwards.
//!
//! | checked | rule |
//! |---|---|
//! | buckets | the owner, if any, is a live term |
//! | rows | the term is known, the record can be read, and the columns match the record |
//! | visits | a URL is settled once, unless the previous visit was revoked |
//! | terms | the sums match the term's visits |
//! | originals | the original of a page that was not archived is admitted |
//! | admissions | a row has the keys of its record |
//! | inboxes | a URL is in the inbox of its bucket |

use std::collections::{HashMap, HashSet};

use journal::{DiscoveredUrl, Record, Totals, VisitRecord};
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use web::{PageUrl, UrlKey};

use crate::bucket::{BUCKETS, Bucket};
use crate::keys::LogKeys;
use crate::reading::{ReadError, SharedCrawl, failed};
use crate::rows::{Row, original_of, rows_of};
use crate::shipping::{kind_to_sql, to_sql};

/// Number of buckets whose rows the database sorts at a time.
const SORTED_BUCKETS: usize = 64;

/// The counts of an audit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit {
    /// Number of terms of all nodes.
    pub terms: u64,
    /// Number of live terms.
    pub live: u64,
    /// Number of rows of the journal.
    pub rows: u64,
    /// Number of rows of the log of admissions.
    pub admissions: u64,
    /// Number of URLs on their way from one node to another.
    pub links: u64,
    /// Sums over the visits that count.
    pub totals: Totals,
    /// Number of visits that were revoked.
    pub revoked: u64,
    /// Number of unarchived pages whose original has been revoked, in a crawl with a live node,
    /// which will visit them again.
    pub due: u64,
}

/// The row of a term.
struct AuditedTerm {
    node: String,
    is_live: bool,
    stored: (Vec<u8>, u64, u64),
    /// The sums over the visits of this term, computed the same way as by its node.
    sums: Totals,
}

/// An unarchived page, by the key of its URL, and its original.
type NotArchived = HashMap<UrlKey, UrlKey>;

struct Auditor<F> {
    counts: Audit,
    terms: HashMap<i64, AuditedTerm>,
    /// The bucket whose rows are being read.
    bucket: i16,
    /// The URLs of the bucket that were settled.
    settled: HashSet<UrlKey>,
    not_archived: NotArchived,
    report: F,
}

impl SharedCrawl {
    /// Audits the crawl, whose near duplicates differ in at most `distance` bits. `see` receives
    /// the records of each bucket in order; `report` receives the differences.
    ///
    /// # Errors
    /// [`ReadError::Failed`] if the database cannot be read.
    pub async fn audit(
        &self,
        distance: u32,
        mut see: impl FnMut(&Record),
        report: impl FnMut(String),
    ) -> Result<Audit, ReadError> {
        let action = "audited the crawl";
        let mut snapshot = self.snapshot().await?;
        let mut auditor = Auditor {
            counts: Audit::default(),
            terms: HashMap::new(),
            bucket: -1,
            settled: HashSet::new(),
            not_archived: HashMap::new(),
            report,
        };
        let query = "DECLARE portion NO SCROLL CURSOR FOR \
            SELECT term, node, state, totals, pages, bytes FROM term";
        let term = |row: &PgRow| {
            auditor.add_term(row);
            Ok(())
        };
        snapshot.each(sqlx::query(query), action, term).await?;
        let query = "SELECT bucket, owner FROM bucket ORDER BY bucket";
        let buckets: Vec<(i16, Option<i64>)> = sqlx::query_as(query)
            .fetch_all(&mut *snapshot.transaction)
            .await
            .map_err(failed(action))?;
        auditor.check_buckets(&buckets);
        let query = "DECLARE portion NO SCROLL CURSOR FOR \
            SELECT bucket, number, term, kind, page, original, record \
            FROM rows_after($1::smallint[], $2::bigint[]) ORDER BY bucket, number";
        let mut row = |row: &PgRow| {
            if let Some(record) = auditor.check_row(row) {
                see(&record);
            }
            Ok(())
        };
        let numbers: Vec<i16> = (0..BUCKETS).map(u16::cast_signed).collect();
        for step in numbers.chunks(SORTED_BUCKETS) {
            let query = sqlx::query(query).bind(step);
            let query = query.bind(vec![0_i64; step.len()]);
            snapshot.each(query, action, &mut row).await?;
        }
        auditor.check_terms();
        let query = "DECLARE portion NO SCROLL CURSOR FOR \
            SELECT number, term, keys, record FROM signature_log ORDER BY number";
        let keys = LogKeys::new(self.settings().key, distance);
        let mut admitted = HashSet::new();
        let admission = |row: &PgRow| {
            auditor.check_admission(row, &keys, &mut admitted);
            Ok(())
        };
        snapshot.each(sqlx::query(query), action, admission).await?;
        for (original, pages) in auditor.without_original(&admitted) {
            let query = "SELECT record FROM rows_of_original($1) ORDER BY number DESC LIMIT 1";
            let (record,): (Vec<u8>,) = sqlx::query_as(query)
                .bind(to_sql(original))
                .fetch_one(&mut *snapshot.transaction)
                .await
                .map_err(failed(action))?;
            if let Ok(Record::Settled(settled)) = postcard::from_bytes(&record)
                && let Some(url) = &settled.visit.record.duplicate_of
            {
                (auditor.report)(format!(
                    "{pages} pages are duplicates of {url}, which is not admitted, including {}",
                    settled.visit.record.url
                ));
            }
        }
        let query = "DECLARE portion NO SCROLL CURSOR FOR \
            SELECT bucket, number, found FROM inbox ORDER BY bucket, number";
        let link = |row: &PgRow| {
            auditor.check_link(row);
            Ok(())
        };
        snapshot.each(sqlx::query(query), action, link).await?;
        Ok(auditor.counts)
    }
}

impl<F: FnMut(String)> Auditor<F> {
    fn add_term(&mut self, row: &PgRow) {
        let is_live = row.get::<&str, _>(2) == "live";
        self.counts.terms += 1;
        self.counts.live += u64::from(is_live);
        let count = |column: usize| row.get::<i64, _>(column).cast_unsigned();
        let term = AuditedTerm {
            node: row.get(1),
            is_live,
            stored: (row.get(3), count(4), count(5)),
            sums: Totals::default(),
        };
        self.terms.insert(row.get(0), term);
    }

    fn check_buckets(&mut self, buckets: &[(i16, Option<i64>)]) {
        if buckets.len() != usize::from(BUCKETS) {
            let found = buckets.len();
            (self.report)(format!("there must be {BUCKETS} buckets, got {found}"));
        }
        for (bucket, owner) in buckets {
            let Some(owner) = owner else { continue };
            match self.terms.get(owner) {
                Some(term) if term.is_live => {}
                Some(term) => (self.report)(format!(
                    "bucket {bucket} belongs to term {owner} of node {}, which has ended",
                    term.node
                )),
                None => (self.report)(format!(
                    "bucket {bucket} belongs to term {owner}, which is unknown"
                )),
            }
        }
    }

    /// Checks a row of the journal, and returns its record if it can be read.
    fn check_row(&mut self, row: &PgRow) -> Option<Record> {
        let (bucket, number, term): (i16, i64, i64) = (row.get(0), row.get(1), row.get(2));
        self.counts.rows += 1;
        if bucket != self.bucket {
            self.bucket = bucket;
            self.settled.clear();
        }
        if !self.terms.contains_key(&term) {
            (self.report)(format!(
                "row {number} of the journal names term {term}, which is unknown"
            ));
        }
        let record: Record = match postcard::from_bytes(row.get(6)) {
            Ok(record) => record,
            Err(error) => {
                (self.report)(format!(
                    "row {number} of the journal cannot be read: {error}"
                ));
                return None;
            }
        };
        let own = Row::new(Bucket::from_sql(bucket), &record);
        let (kind, page, original) = kind_to_sql(own.kind);
        let columns = (row.get::<i16, _>(3), row.get(4), row.get(5));
        if columns != (kind, page.map(to_sql), original.map(to_sql)) {
            (self.report)(format!(
                "the columns of row {number} of the journal are not those of its record"
            ));
        }
        // Records that name entries only by number do not have their own bucket.
        let expected = rows_of(&record).first().map(|row| row.bucket.to_sql());
        if let Some(expected) = expected.filter(|expected| *expected != bucket) {
            (self.report)(format!(
                "row {number} of the journal is in bucket {bucket}, its host in bucket {expected}"
            ));
        }
        match &record {
            Record::Settled(settled) => {
                let visit = &settled.visit.record;
                self.settle(term, number, visit, original_of(settled));
            }
            Record::Revoked { visit, .. } => self.revoke(term, number, visit),
            _ => {}
        }
        Some(record)
    }

    fn settle(&mut self, term: i64, number: i64, visit: &VisitRecord, original: Option<UrlKey>) {
        let page = visit.url.key();
        if let Some(term) = self.terms.get_mut(&term) {
            term.sums.count(visit);
        }
        self.counts.totals.count(visit);
        if !self.settled.insert(page) {
            (self.report)(format!(
                "{} was settled twice, again in row {number}",
                visit.url
            ));
        }
        match original {
            Some(original) => drop(self.not_archived.insert(page, original)),
            None => drop(self.not_archived.remove(&page)),
        }
    }

    fn revoke(&mut self, term: i64, number: i64, visit: &VisitRecord) {
        let page = visit.url.key();
        if let Some(term) = self.terms.get_mut(&term) {
            term.sums.uncount(visit);
        }
        self.counts.totals.uncount(visit);
        self.counts.revoked += 1;
        if !self.settled.remove(&page) {
            (self.report)(format!(
                "the visit of {} was revoked in row {number}, and was not settled before",
                visit.url
            ));
        }
        self.not_archived.remove(&page);
    }

    fn check_terms(&mut self) {
        for (number, term) in &self.terms {
            let (totals, pages, bytes) = &term.stored;
            // A term that has not settled anything has no stored sums.
            let stored = match totals.is_empty() {
                true => Ok(Totals::default()),
                false => postcard::from_bytes(totals),
            };
            let of = format!("term {number} of node {}", term.node);
            match stored {
                Ok(stored) if stored != term.sums => (self.report)(format!(
                    "{of} counts {} pages and {} bytes, but its visits have {} pages and {} bytes",
                    stored.pages, stored.bytes, term.sums.pages, term.sums.bytes
                )),
                Ok(stored) if (*pages, *bytes) != (stored.pages, stored.bytes) => {
                    (self.report)(format!(
                        "{of} has {pages} pages and {bytes} bytes in its columns, {} and {} in \
                         its sums",
                        stored.pages, stored.bytes
                    ));
                }
                Ok(_) => {}
                Err(error) => {
                    (self.report)(format!("the sums of {of} cannot be read: {error}"));
                }
            }
        }
    }

    fn check_admission(&mut self, row: &PgRow, keys: &LogKeys, admitted: &mut HashSet<UrlKey>) {
        let (number, term): (i64, i64) = (row.get(0), row.get(1));
        self.counts.admissions += 1;
        if !self.terms.contains_key(&term) {
            (self.report)(format!(
                "row {number} of the log of admissions names term {term}, which is unknown"
            ));
        }
        let record: Record = match postcard::from_bytes(row.get(3)) {
            Ok(record) => record,
            Err(error) => {
                return (self.report)(format!(
                    "row {number} of the log of admissions cannot be read: {error}"
                ));
            }
        };
        let stored: Vec<i64> = row.get(2);
        if keys
            .of(&record, None)
            .iter()
            .any(|key| !stored.contains(key))
        {
            (self.report)(format!(
                "row {number} of the log of admissions lacks a key of its record"
            ));
        }
        match &record {
            Record::Admitted { page, .. } => drop(admitted.insert(page.key())),
            Record::Retained(retained) => drop(admitted.insert(retained.page.key())),
            Record::Forgotten { page } => drop(admitted.remove(page)),
            Record::Distinct(_) => {}
            _ => (self.report)(format!(
                "row {number} of the log of admissions is not an admission"
            )),
        }
    }

    /// Returns the originals that are not admitted, each with the number of pages not archived as
    /// its duplicates. If a node is live, the pages are only counted: the node visits them again as
    /// soon as it has read that the original is gone.
    fn without_original(&mut self, admitted: &HashSet<UrlKey>) -> HashMap<UrlKey, u64> {
        let mut without: HashMap<UrlKey, u64> = HashMap::new();
        for original in self.not_archived.values() {
            if !admitted.contains(original) {
                *without.entry(*original).or_default() += 1;
            }
        }
        if self.counts.live > 0 {
            self.counts.due = without.values().sum();
            without.clear();
        }
        without
    }

    fn check_link(&mut self, row: &PgRow) {
        let (bucket, number): (i16, i64) = (row.get(0), row.get(1));
        self.counts.links += 1;
        let found: Result<DiscoveredUrl, _> = postcard::from_bytes(row.get(2));
        let of_url = |url: &PageUrl| Bucket::of(url).to_sql();
        match found {
            Ok(found) if of_url(&found.url) == bucket => {}
            Ok(found) => (self.report)(format!(
                "{} lies in the inbox of bucket {bucket}, not of bucket {}",
                found.url,
                of_url(&found.url)
            )),
            Err(error) => {
                (self.report)(format!("row {number} of the inbox cannot be read: {error}"));
            }
        }
    }
}
