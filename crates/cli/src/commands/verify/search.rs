//! The search index against rows: every unique page with text that is settled and covered is in it
//! exactly once, at its place in the archive, and nothing else is.
//!
//! Pages behind the last settled one are left aside: a kill leaves them, and the crawl takes them
//! out when it goes on. Places are compared in sorted lists of bounded length, a stretch of the
//! archive at a time: as many readings as there are millions of pages in fours.

use std::path::Path;

use search::{Finder, IndexFault, RecordLocation};
use serde::Serialize;
use store::{StoreFault, VisitRecord, embedded};

use super::Complaints;
use crate::{history, index};

/// Places that are compared at a time.
const AT_A_TIME: usize = 4_000_000;

/// What the index has.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Counts {
    /// Pages that can be searched.
    pub(super) indexed_pages: u64,
}

/// Where a record is: the number of its file, its offset.
type Spot = (Option<u64>, u64);

/// Compares the index of a crawl with its rows, where there is one.
pub(super) fn check(
    crawl: &Path,
    state: &Path,
    complaints: &mut Complaints,
) -> Result<Counts, StoreFault> {
    let finder = match Finder::open(&index::directory(crawl)) {
        Ok(finder) => finder,
        Err(IndexFault::Missing { .. }) => return Ok(Counts::default()),
        Err(other) => {
            complaints.add(format!("search: {other}"));
            return Ok(Counts::default());
        }
    };
    match finder.damaged_files() {
        Ok(files) => {
            for file in files {
                complaints.add(format!("search: {} is damaged", file.display()));
            }
        }
        Err(error) => complaints.add(format!("search: {error}")),
    }
    let counts = Counts {
        indexed_pages: finder.pages(),
    };
    let mut from = Some((None, 0));
    while let Some(begin) = from {
        from = check_from(begin, &finder, state, complaints)?;
    }
    Ok(counts)
}

/// Compares what stands from `begin` on, as much as fits; says where to go on.
fn check_from(
    begin: Spot,
    finder: &Finder,
    state: &Path,
    complaints: &mut Complaints,
) -> Result<Option<Spot>, StoreFault> {
    let mut rows = Smallest::from(begin);
    let mut last = None;
    for row in embedded::rows(state)? {
        let row = row?;
        let Some(spot) = spot_of(&row) else { continue };
        last = last.max(Some(spot));
        if is_expected(&row, spot, finder) {
            rows.add(spot);
        }
    }
    let mut places = Smallest::from(begin);
    let told = finder.locations(|RecordLocation { file, offset }| {
        let spot = (history::file_number(&file), offset);
        if Some(spot) <= last && is_covered(spot, finder) {
            places.add(spot);
        }
    });
    if let Err(error) = told {
        complaints.add(format!("search: {error}"));
        return Ok(None);
    }
    let cut = [&rows, &places].iter().filter_map(|list| list.cut()).min();
    compare(&rows.sorted(cut), &places.sorted(cut), complaints);
    Ok(cut)
}

/// Whether the index must have a page.
fn is_expected(row: &VisitRecord, spot: Spot, finder: &Finder) -> bool {
    // A charset is what a text has, and nothing else.
    is_covered(spot, finder)
        && row.kept
        && row.charset.is_some()
        && index::has(finder.rules(), row.fate)
}

/// Whether the index says that it tells this place; what it has behind that is taken out when the
/// crawl goes on.
fn is_covered(spot: Spot, finder: &Finder) -> bool {
    let covered = finder.covered();
    covered.is_some_and(|end| spot < (history::file_number(&end.file), end.end))
}

fn spot_of(row: &VisitRecord) -> Option<Spot> {
    Some((
        history::file_number(row.warc_file.as_deref()?),
        row.warc_offset?,
    ))
}

fn compare(rows: &[Spot], places: &[Spot], complaints: &mut Complaints) {
    let (mut rows, mut places) = (rows.iter().peekable(), places.iter().peekable());
    let mut before = None;
    let place = |(file, offset): &Spot| format!("file {} at {offset}", file.unwrap_or_default());
    loop {
        match (rows.peek(), places.peek()) {
            (None, None) => return,
            (Some(row), Some(found)) if row == found => {
                before = rows.next().copied();
                places.next();
            }
            (Some(row), found) if found.is_none_or(|found| row < found) => {
                complaints.add(format!(
                    "search: the page in {} cannot be found",
                    place(row)
                ));
                rows.next();
            }
            (_, Some(found)) => {
                let what = if before == Some(**found) {
                    "is indexed twice"
                } else {
                    "should not be found"
                };
                complaints.add(format!("search: the page in {} {what}", place(found)));
                places.next();
            }
            (Some(_), None) => {
                rows.next();
            }
        }
    }
}

/// The smallest of many places, not below `begin`, in bounded memory.
struct Smallest {
    begin: Spot,
    kept: Vec<Spot>,
    /// Nothing from here on was kept.
    cut: Option<Spot>,
}

impl Smallest {
    fn from(begin: Spot) -> Self {
        Self {
            begin,
            kept: Vec::new(),
            cut: None,
        }
    }

    fn add(&mut self, spot: Spot) {
        if spot < self.begin || self.cut.is_some_and(|cut| spot >= cut) {
            return;
        }
        self.kept.push(spot);
        if self.kept.len() >= 2 * AT_A_TIME {
            self.kept.sort_unstable();
            let cut = self.kept[AT_A_TIME];
            self.kept.retain(|spot| *spot < cut);
            self.cut = Some(cut);
        }
    }

    fn cut(&self) -> Option<Spot> {
        self.cut
    }

    fn sorted(mut self, cut: Option<Spot>) -> Vec<Spot> {
        self.kept.retain(|spot| cut.is_none_or(|cut| *spot < cut));
        self.kept.sort_unstable();
        self.kept
    }
}
