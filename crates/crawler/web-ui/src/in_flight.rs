//! The URLs of visits in flight.
//!
//! The journal names them by sequence numbers. The record that queued a URL is looked for in a
//! small part of the journal, once for each visit: URLs are remembered while their visits last.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use journal::{JournalFollower, Position, Record, StoreFault};
use statistics::VisitInFlight;
use web::PageUrl;

/// A visit in flight, and the part of the journal that has its URL.
pub(crate) type Wanted = (VisitInFlight, Option<Range<Position>>);

/// The known URLs of visits. A number may come again in a rebuilt journal, but not with its time.
#[derive(Debug, Default)]
pub(crate) struct UrlsInFlight(Mutex<HashMap<VisitInFlight, PageUrl>>);

impl UrlsInFlight {
    /// Returns the URLs of these visits, which are sorted by their sequence numbers; `None` for a
    /// URL that cannot be read from the journal. All other URLs are forgotten. Reads the disk.
    pub(crate) fn of(&self, state: &Path, wanted: &[Wanted]) -> Vec<Option<PageUrl>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reader = None;
        let urls = wanted.iter().map(|(visit, within)| {
            known.remove(visit).or_else(|| {
                let within = within.clone()?;
                // A damaged journal is reported by the statistics.
                find(&mut reader, state, visit.sequence, &within).ok()?
            })
        });
        let urls: Vec<Option<PageUrl>> = urls.collect();
        let visits = wanted.iter().map(|(visit, _)| *visit);
        let found = visits.zip(urls.iter().cloned());
        *known = found
            .filter_map(|(visit, url)| Some((visit, url?)))
            .collect();
        urls
    }
}

/// A reader of the journal, and the record that it read last.
struct Reader {
    follower: JournalFollower,
    last: Record,
}

/// Returns the URL that was queued under a sequence number by a record in this part of the journal.
/// Continues from the last record found, if that is in the same part.
fn find(
    reader: &mut Option<Reader>,
    state: &Path,
    sequence: u64,
    within: &Range<Position>,
) -> Result<Option<PageUrl>, StoreFault> {
    let last = reader
        .take()
        .filter(|last| within.contains(&last.follower.position()));
    let mut follower = match last {
        Some(last) => {
            if let Some(url) = last.last.queued(sequence) {
                let url = url.clone();
                *reader = Some(last);
                return Ok(Some(url));
            }
            last.follower
        }
        None => JournalFollower::open_at(state, within.start)?,
    };
    while let Some((position, record)) = follower.next_record()? {
        if position >= within.end {
            return Ok(None);
        }
        if let Some(url) = record.queued(sequence) {
            let url = url.clone();
            *reader = Some(Reader {
                follower,
                last: record,
            });
            return Ok(Some(url));
        }
    }
    Ok(None)
}
