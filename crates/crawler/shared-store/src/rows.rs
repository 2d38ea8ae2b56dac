//! The conversion of a record of a node's working copy to rows of the shared journal.
//!
//! A record concerns hosts of one bucket, except for the links of a page. They follow the record of
//! the page as separate records, one per run of links of the same bucket. Records only about a
//! session (its beginning and end, its clock, the end of its archive) do not concern a bucket.
//!
//! Invariant: applying the rows of a bucket in order yields the state of its hosts.

use journal::{DiscoveredUrl, Record, SettledVisit, VisitRecord};
use web::{CanonicalForm, PageUrl, UrlKey};

use crate::bucket::Bucket;

/// A row of the journal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) bucket: Bucket,
    pub(crate) kind: RowKind,
    /// The record, encoded with postcard.
    pub(crate) record: Vec<u8>,
}

/// The part of a record that the database inspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    Other,
    /// A visit ended. Includes the original if the page was not archived as its duplicate.
    Settled {
        page: UrlKey,
        original: Option<UrlKey>,
    },
    /// Entries were leased: the term may have sent requests to its hosts.
    Leased,
    /// A finished visit does not count.
    Revoked {
        page: UrlKey,
    },
}

impl Row {
    pub(crate) fn new(bucket: Bucket, record: &Record) -> Self {
        let kind = match record {
            Record::Settled(settled) => RowKind::Settled {
                page: settled.visit.record.url.key(),
                original: original_of(settled),
            },
            Record::Revoked { visit, .. } => RowKind::Revoked {
                page: visit.url.key(),
            },
            Record::Leased { .. } => RowKind::Leased,
            _ => RowKind::Other,
        };
        Self {
            bucket,
            kind,
            record: encode(record),
        }
    }
}

/// Returns the key of the original that an unarchived page duplicates: if the original is revoked,
/// the page is visited again.
pub(crate) fn original_of(settled: &SettledVisit) -> Option<UrlKey> {
    original_of_visit(&settled.visit.record)
}

/// Returns the key of the original that an unarchived page duplicates, from its visit record.
pub(crate) fn original_of_visit(visit: &VisitRecord) -> Option<UrlKey> {
    let original = visit.duplicate_of.as_ref()?;
    (!visit.kept && !visit.of_earlier).then(|| original.key())
}

/// Returns the rows of a record, in the order of their application.
pub(crate) fn rows_of(record: &Record) -> Vec<Row> {
    let of_entry = |url: &PageUrl| vec![Row::new(Bucket::of(url), record)];
    match record {
        Record::Discovered { first, finds } => discovered(*first, finds),
        Record::Held { finds } => {
            let held = |run: &[DiscoveredUrl]| Record::Held {
                finds: run.to_vec(),
            };
            let row = |run: &[DiscoveredUrl]| Row::new(Bucket::of(&run[0].url), &held(run));
            runs(finds).map(row).collect()
        }
        Record::Settled(settled) => {
            let finds = &settled.visit.finds;
            let mut alone = settled.clone();
            alone.visit.finds = Vec::new();
            let bucket = Bucket::of(&settled.visit.record.url);
            let mut rows = vec![Row::new(bucket, &Record::Settled(alone))];
            rows.extend(discovered(settled.first, finds));
            rows
        }
        Record::Postponed { entry, .. }
        | Record::Revoked { entry, .. }
        | Record::Superseded { entry } => of_entry(&entry.discovered.url),
        Record::SeedAdopted { url } => of_entry(url),
        Record::Returned { host, .. } | Record::Paced { host, .. } => {
            vec![Row::new(Bucket::of_host(host), record)]
        }
        Record::PatternClosed(name) | Record::PatternReopened(name) => {
            vec![Row::new(Bucket::of_host(&name.host), record)]
        }
        Record::RobotsRead { origin, .. } => {
            // The origin was made from a URL of the crawl.
            match PageUrl::parse(origin, &CanonicalForm::default()) {
                Ok(url) => of_entry(&url),
                Err(_no_url) => Vec::new(),
            }
        }
        // Leases and crashes name entries by number: `store.rs` adds their rows. The other records
        // concern only a session, or are in the log of admissions.
        Record::Leased { .. }
        | Record::Died { .. }
        | Record::Begun { .. }
        | Record::Stopped
        | Record::Archived { .. }
        | Record::Restarted { .. }
        | Record::ClockSetBack { .. }
        | Record::ClockSet { .. }
        | Record::Admitted { .. }
        | Record::Retained(_)
        | Record::Forgotten { .. }
        | Record::Distinct(_) => Vec::new(),
    }
}

/// Returns one row per run of URLs of the same bucket.
fn discovered(first: u64, finds: &[DiscoveredUrl]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut number = first;
    for run in runs(finds) {
        let record = Record::Discovered {
            first: number,
            finds: run.to_vec(),
        };
        rows.push(Row::new(Bucket::of(&run[0].url), &record));
        number += run.len() as u64;
    }
    rows
}

/// Returns the runs of URLs of the same bucket.
fn runs(finds: &[DiscoveredUrl]) -> impl Iterator<Item = &[DiscoveredUrl]> {
    finds.chunk_by(|one, other| Bucket::of(&one.url) == Bucket::of(&other.url))
}

/// Returns a record as stored in the database.
pub(crate) fn encode(record: &Record) -> Vec<u8> {
    postcard::to_allocvec(record).expect("encoding to memory cannot fail")
}

/// Returns the record of a row for the working copy of another session: without its place in the
/// archive, which belongs to another node.
pub(crate) fn decode(bytes: &[u8]) -> postcard::Result<Record> {
    let mut record = postcard::from_bytes(bytes)?;
    if let Record::Settled(settled) = &mut record {
        settled.visit.archived = None;
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use journal::{Fate, FinishedVisit};
    use web::{Pace, Timestamp};

    use super::*;

    fn found(url: &str) -> DiscoveredUrl {
        let url = PageUrl::parse(url, &CanonicalForm::default()).unwrap();
        DiscoveredUrl::new(url, 1, None)
    }

    #[test]
    fn links_follow_their_page_in_runs_of_one_bucket_and_keep_their_numbers() {
        let page = found("http://a.test/");
        let links = ["a.test/1", "b.test/1", "b.test/2", "a.test/2"];
        let finds: Vec<_> = links.map(|link| found(&format!("http://{link}"))).into();
        let record = Record::Settled(SettledVisit {
            sequence: 4,
            priority: 0,
            first: 10,
            pace: Pace::default(),
            visit: FinishedVisit {
                finds: finds.clone(),
                ..FinishedVisit::new(VisitRecord::new(
                    page.clone(),
                    Fate::Unique,
                    Timestamp::default(),
                ))
            },
        });
        let rows = rows_of(&record);
        let records: Vec<Record> = rows
            .iter()
            .map(|row| decode(&row.record).unwrap())
            .collect();
        let run = |first: u64, range: std::ops::Range<usize>| Record::Discovered {
            first,
            finds: finds[range].to_vec(),
        };
        assert!(matches!(&records[0], Record::Settled(settled) if settled.visit.finds.is_empty()));
        assert_eq!(records[1..], [run(10, 0..1), run(11, 1..3), run(13, 3..4)]);
        let buckets: Vec<Bucket> = rows.iter().map(|row| row.bucket).collect();
        let (a, b) = (Bucket::of(&page.url), Bucket::of(&finds[1].url));
        assert_eq!(buckets, [a, a, b, a]);
    }
}
