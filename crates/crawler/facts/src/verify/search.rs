//! Compares the search index with the visits: every settled and covered unique page with text must
//! be in the index exactly once, at its position in the archive, and no other page may be in it.
//!
//! Pages after the last settled page are ignored: a kill leaves them, and the crawl removes them
//! when it continues. Positions are compared in sorted lists of bounded length, one part of the
//! archive at a time: the visits are read once per four million pages.

use std::path::Path;

use journal::{StoreFault, VisitRecord};
use search::{Finder, IndexFault, RecordLocation};
use serde::Serialize;
use settings::crawl_directory;
use settings::rules::is_indexed;

use super::Findings;

/// Positions that are compared at a time.
const AT_A_TIME: usize = 4_000_000;

/// The counts of a search index.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Pages that can be searched.
    pub indexed_pages: u64,
    /// 1 if the index has another version's format: it is intact, but was not compared.
    pub indexes_of_other_format: u64,
}

/// The position of a record: the number of its file, and its offset.
type RecordPosition = (Option<u64>, u64);

/// Compares the index of a crawl with its visits, if the index exists.
pub(super) fn check(
    crawl: &Path,
    state: &Path,
    findings: &mut Findings,
) -> Result<Counts, StoreFault> {
    let finder = match Finder::open(&crawl_directory::search_index(crawl)) {
        Ok(finder) => finder,
        Err(IndexFault::Missing { .. }) => return Ok(Counts::default()),
        Err(IndexFault::OtherFormat { .. }) => {
            return Ok(Counts {
                indexes_of_other_format: 1,
                ..Counts::default()
            });
        }
        Err(other) => {
            findings.add(format!("search: {other}"));
            return Ok(Counts::default());
        }
    };
    match finder.damaged_files() {
        Ok(files) => {
            for file in files {
                findings.add(format!("search: {} is damaged", file.display()));
            }
        }
        Err(error) => findings.add(format!("search: {error}")),
    }
    let mut from = Some((None, 0));
    while let Some(begin) = from {
        from = check_from(begin, &finder, state, findings)?;
    }
    Ok(Counts {
        indexed_pages: finder.pages(),
        indexes_of_other_format: 0,
    })
}

/// Compares positions from `begin` until the list is full. Returns the position to continue at.
fn check_from(
    begin: RecordPosition,
    finder: &Finder,
    state: &Path,
    findings: &mut Findings,
) -> Result<Option<RecordPosition>, StoreFault> {
    let mut visits = Smallest::from(begin);
    let mut last = None;
    for visit in journal::visits(state)? {
        let visit = visit?;
        let Some(position) = position_of(&visit) else {
            continue;
        };
        last = last.max(Some(position));
        if is_expected(&visit, position, finder) {
            visits.add(position);
        }
    }
    let mut found = Smallest::from(begin);
    let read = finder.locations(|RecordLocation { file, offset }| {
        let position = (crawl_directory::file_number(&file), offset);
        if Some(position) <= last && is_covered(position, finder) {
            found.add(position);
        }
    });
    if let Err(error) = read {
        findings.add(format!("search: {error}"));
        return Ok(None);
    }
    let cut = [visits.cut, found.cut].into_iter().flatten().min();
    compare(&visits.sorted(cut), &found.sorted(cut), findings);
    Ok(cut)
}

/// Returns true if the index must contain the page.
fn is_expected(visit: &VisitRecord, position: RecordPosition, finder: &Finder) -> bool {
    // Only what has text has a charset.
    is_covered(position, finder)
        && visit.kept
        && visit.charset.is_some()
        && is_indexed(finder.rules(), visit.fate)
}

/// Returns true if the index covers this position. Entries after the covered part are removed when
/// the crawl is continued.
fn is_covered(position: RecordPosition, finder: &Finder) -> bool {
    let covered = finder.covered();
    covered.is_some_and(|end| position < (crawl_directory::file_number(&end.file), end.end))
}

fn position_of(visit: &VisitRecord) -> Option<RecordPosition> {
    let (file, offset) = visit.content_place()?;
    Some((crawl_directory::file_number(file), offset))
}

/// Compares sorted positions.
fn compare(visits: &[RecordPosition], found: &[RecordPosition], findings: &mut Findings) {
    let (mut visits, mut found) = (visits.iter().peekable(), found.iter().peekable());
    let mut before = None;
    let mut report = |(file, offset): &RecordPosition, what: &str| {
        let file = file.unwrap_or_default();
        findings.add(format!(
            "search: the page in file {file} at {offset} {what}"
        ));
    };
    while let Some(next) = visits.peek().into_iter().chain(found.peek()).min().copied() {
        match (visits.next_if_eq(&next), found.next_if_eq(&next)) {
            (Some(_), Some(_)) => before = Some(next),
            (Some(_), None) => report(next, "cannot be found"),
            (None, _) if before == Some(next) => report(next, "is indexed twice"),
            (None, _) => report(next, "should not be found"),
        }
    }
}

/// The smallest of many positions at or after `begin`, in bounded memory.
struct Smallest {
    begin: RecordPosition,
    kept: Vec<RecordPosition>,
    /// The first position that was dropped, if any.
    cut: Option<RecordPosition>,
}

impl Smallest {
    fn from(begin: RecordPosition) -> Self {
        Self {
            begin,
            kept: Vec::new(),
            cut: None,
        }
    }

    fn add(&mut self, position: RecordPosition) {
        if position < self.begin || self.cut.is_some_and(|cut| position >= cut) {
            return;
        }
        self.kept.push(position);
        if self.kept.len() >= 2 * AT_A_TIME {
            self.kept.sort_unstable();
            let cut = self.kept[AT_A_TIME];
            self.kept.retain(|position| *position < cut);
            self.cut = Some(cut);
        }
    }

    fn sorted(mut self, cut: Option<RecordPosition>) -> Vec<RecordPosition> {
        self.kept
            .retain(|position| cut.is_none_or(|cut| *position < cut));
        self.kept.sort_unstable();
        self.kept
    }
}
