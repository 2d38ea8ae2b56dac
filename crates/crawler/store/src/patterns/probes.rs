//! Pages known only from unarchived pages: visited as a sample, and closed folder by folder.
//!
//! The links of a duplicate resolve against its own URL, so they may point to unseen pages or to a
//! mirror of known pages. An example of the former is the second edition of a manual behind an
//! index equal to the first edition's. Only a visit shows which. So the targets of such links wait
//! behind everything else of their registrable domain
//! ([`DiscoveredUrl::PROBED`](journal::DiscoveredUrl::PROBED)), or of the crawl
//! ([`DiscoveredUrl::MIRRORED`](journal::DiscoveredUrl::MIRRORED)), in an order derived from the
//! URLs. Each visit is counted for every folder above it:
//!
//! | level | closed after this many visits in a row that brought nothing new |
//! |---|---|
//! | a folder, the host's root included | 160 |
//! | all hosts of a registrable domain | 640 |
//!
//! In a closed level, one URL is visited after 64 URLs were excluded, then after 128, … 4,096. One
//! page with something new reopens it.
//!
//! The URLs that a closed folder excluded are remembered by the places of their records, and queued
//! again when the folder reopens. `probe_simulation.rs` shows the cost of a full mirror, and the
//! loss for an edition that is half new.
//!
//! Invariants: it is a function of the journal, and on disk as part of the frontier's tables
//! (postcard). The number of folders and of places of records in a crawl is capped. Folders beyond
//! the cap are not closed.

use std::collections::{BTreeMap, BTreeSet};

use journal::{PatternName, Reason, VisitRecord};
use serde::{Deserialize, Serialize};
use web::{Host, PageUrl, UrlKey, UrlPattern};

use super::closed::{Closed, LastLook};
use super::left::LeftRecords;
use super::pattern::{Example, PatternState, Visit};
use super::scripts::RenderedPages;
use super::{PatternReport, set_member};

/// Number of consecutive fruitless visits that close a folder.
const CLOSED_AFTER: u32 = 160;
/// The same for all hosts of a registrable domain.
const CLOSED_AFTER_OF_DOMAIN: u32 = 640;
/// Number of URLs of a closed folder that are excluded before one is visited. It doubles before
/// each further visit, up to the last gap.
const FIRST_GAP: u32 = 64;
const LAST_GAP: u32 = 4_096;
/// Maximum number of folders. One takes about 200 bytes.
const MAX_FOLDERS: usize = 16_384;
/// Maximum number of folders of a path that are counted, starting with the root.
const MAX_LEVELS: usize = 8;
/// The end of a folder's name, which cannot occur in a path.
const SUFFIX: &str = "{duplicates}";

/// The folders of a crawl that were reached only through excluded pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Probes {
    folders: BTreeMap<PatternName, Folder>,
    /// Folders to close or reopen.
    due: BTreeSet<PatternName>,
    closed: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Folder {
    new: u64,
    fruitless: u64,
    excluded: u64,
    /// Fruitless visits since the last visit that brought something new.
    in_a_row: u32,
    closed: Option<Closed>,
    /// True if it was closed and is open again.
    reopened: bool,
    last_look: LastLook,
    examples: Vec<Example>,
    left: LeftRecords,
}

impl Probes {
    /// Returns true for the name of a folder; other names are patterns of URLs.
    pub(super) fn names(name: &PatternName) -> bool {
        name.pattern.as_str().ends_with(SUFFIX)
    }

    /// Counts the end of a visit for each folder above the page.
    pub(super) fn count(&mut self, visit: Visit, record: &VisitRecord) {
        for name in levels(&record.url) {
            if !self.folders.contains_key(&name) {
                if self.folders.len() >= MAX_FOLDERS {
                    continue;
                }
                self.folders.insert(name.clone(), Folder::default());
            }
            self.change(&name, |folder, name| folder.count(visit, record, name));
        }
    }

    /// Counts a URL that was excluded because of this folder, and remembers the place of its record
    /// if given. Returns true if the record was not remembered before.
    pub(super) fn excluded(
        &mut self,
        name: &PatternName,
        page: UrlKey,
        place: Option<u64>,
    ) -> bool {
        let folder = self.folders.entry(name.clone()).or_default();
        folder.excluded += 1;
        folder.closed.iter_mut().for_each(Closed::exclude);
        place.is_some_and(|place| folder.left.insert(page, place))
    }

    /// Takes back that a URL was excluded: its record is void. Returns true if the record was
    /// remembered.
    pub(super) fn take_back(&mut self, name: &PatternName, page: UrlKey) -> bool {
        let Some(folder) = self.folders.get_mut(name) else {
            return false;
        };
        folder.excluded = folder.excluded.saturating_sub(1);
        folder.left.remove(page)
    }

    /// Returns the reason to exclude a URL that comes up for lease, if its folder is closed. From
    /// time to time, a URL is let through.
    pub(super) fn exclusion(&mut self, url: &PageUrl) -> Option<Reason> {
        if self.closed == 0 {
            return None;
        }
        let name = levels(url).find(|name| self.is_closed(name))?;
        let folder = self.folders.get_mut(&name)?;
        if folder.closed.as_mut().is_some_and(Closed::probe) {
            return None;
        }
        let visits = folder.in_a_row;
        let because = format!("none of its last {visits} pages said something new");
        Some(Reason::LinksOfDuplicates { name, because })
    }

    /// Returns the reason to exclude a URL if such links are never followed.
    pub(super) fn unfollowed(url: &PageUrl) -> Reason {
        let name = folder_name(url.host(), "/");
        let because = "not followed (--duplicate-links none)".to_owned();
        Reason::LinksOfDuplicates { name, because }
    }

    /// Returns the place of the record of a URL that was excluded because of a folder.
    pub(super) fn place_of(&self, url: &PageUrl) -> Option<u64> {
        let page = url.key();
        levels(url).find_map(|name| self.folders.get(&name)?.left.get(page))
    }

    pub(super) fn close(&mut self, name: &PatternName) {
        self.change(name, |folder, _| folder.close());
    }

    pub(super) fn reopen(&mut self, name: &PatternName) {
        self.change(name, |folder, name| {
            if folder.closed.is_some() && !folder.is_due(name) {
                folder.last_look.take(&folder.left);
            }
            (folder.closed, folder.reopened, folder.in_a_row) = (None, true, 0);
        });
    }

    /// Returns the next folder to close or reopen, and true if it is closed now.
    pub(super) fn due(&self) -> Option<(&PatternName, bool)> {
        let name = self.due.first()?;
        Some((name, self.is_closed(name)))
    }

    /// Returns the records that a folder excluded while it was closed, if it is open again.
    pub(super) fn to_requeue(&self) -> Option<&LeftRecords> {
        let open = |folder: &&Folder| folder.reopened && !folder.left.is_empty();
        self.folders.values().find(open).map(|folder| &folder.left)
    }

    /// Returns a closed folder with few enough excluded pages to visit them when the crawl is
    /// otherwise finished.
    pub(super) fn worth_a_last_look(&self) -> Option<&PatternName> {
        let is_worth_it = |(_, folder): &(&PatternName, &Folder)| {
            let (new, fruitless) = (folder.new, folder.fruitless);
            folder.closed.is_some() && folder.last_look.is_worth_it(&folder.left, new, fruitless)
        };
        self.folders.iter().find(is_worth_it).map(|(name, _)| name)
    }

    pub(super) fn contains(&self, name: &PatternName) -> bool {
        self.folders.contains_key(name)
    }

    /// Begins a session of the selected hosts. If `probes` is set, the URLs that an earlier session
    /// without probes excluded are queued again.
    pub(super) fn begin_session_of(&mut self, probes: bool, is_meant: &impl Fn(&str) -> bool) {
        let folders = self.folders.iter_mut();
        for (_, folder) in folders.filter(|(name, _)| is_meant(name.host.as_str())) {
            folder.closed.iter_mut().for_each(Closed::end_probe);
            folder.reopened |= probes && folder.closed.is_none();
        }
    }

    /// Forgets the folders of the selected hosts. Returns the number of records that they
    /// remembered.
    pub(super) fn forget(&mut self, is_meant: &impl Fn(&str) -> bool) -> usize {
        let mut records = 0;
        self.folders.retain(|name, folder| {
            let is_forgotten = is_meant(name.host.as_str());
            if is_forgotten {
                records += folder.left.len();
                self.closed -= usize::from(folder.closed.is_some());
            }
            !is_forgotten
        });
        self.due.retain(|name| !is_meant(name.host.as_str()));
        records
    }

    /// Returns all folders that are closed or have excluded URLs.
    pub(super) fn reports(&self) -> impl Iterator<Item = PatternReport<'_>> {
        let is_reported =
            |(_, folder): &(&PatternName, &Folder)| folder.closed.is_some() || folder.excluded > 0;
        let folders = self.folders.iter().filter(is_reported);
        folders.map(|(name, folder)| folder.report(name))
    }

    fn is_closed(&self, name: &PatternName) -> bool {
        self.folders
            .get(name)
            .is_some_and(|folder| folder.closed.is_some())
    }

    fn change(&mut self, name: &PatternName, change: impl FnOnce(&mut Folder, &PatternName)) {
        let Some(folder) = self.folders.get_mut(name) else {
            return;
        };
        let was_closed = folder.closed.is_some();
        change(folder, name);
        let is_closed = folder.closed.is_some();
        self.closed = self.closed + usize::from(is_closed) - usize::from(was_closed);
        set_member(&mut self.due, name, folder.is_due(name));
    }
}

impl Folder {
    fn count(&mut self, visit: Visit, record: &VisitRecord, name: &PatternName) {
        self.closed.iter_mut().for_each(Closed::end_probe);
        self.last_look.count();
        let is_new = visit == Visit::New;
        if is_new {
            self.new += 1;
            self.in_a_row = 0;
        } else {
            self.fruitless += 1;
            self.in_a_row = self.in_a_row.saturating_add(1);
            if self.in_a_row + 1 >= limit(name) {
                Example::remember(&mut self.examples, record);
            }
        }
        if let Some(closed) = &mut self.closed {
            closed.since = 0;
            closed.gap = (closed.gap * 2).min(LAST_GAP);
            closed.hopeful |= u8::from(is_new);
        }
    }

    fn is_due(&self, name: &PatternName) -> bool {
        match &self.closed {
            Some(closed) => closed.hopeful > 0,
            None => self.last_look.is_over() && self.in_a_row >= limit(name),
        }
    }

    fn close(&mut self) {
        self.reopened = false;
        self.closed = Some(Closed::new(FIRST_GAP));
    }

    fn report<'a>(&'a self, name: &'a PatternName) -> PatternReport<'a> {
        PatternReport {
            host: name.host.as_str(),
            pattern: &name.pattern,
            state: match self.closed {
                Some(_) => PatternState::Closed,
                None => PatternState::Poor,
            },
            visited: self.new + self.fruitless,
            new: self.new,
            repeated: self.fruitless,
            nothing: 0,
            off_topic: 0,
            excluded: self.excluded,
            scripts: RenderedPages::default(),
            examples: &self.examples,
        }
    }
}

fn limit(name: &PatternName) -> u32 {
    match name.host.as_str().starts_with("*.") {
        true => CLOSED_AFTER_OF_DOMAIN,
        false => CLOSED_AFTER,
    }
}

/// Returns the levels above a page, the widest first: its registrable domain, its host's root, each
/// folder.
fn levels(url: &PageUrl) -> impl Iterator<Item = PatternName> + use<> {
    let host = url.host();
    let domain = folder_name(Host::new(&format!("*.{}", url.registrable_domain())), "/");
    let path = url.as_url().path();
    let slashes = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/');
    let folders = slashes
        .take(MAX_LEVELS)
        .map(|(slash, _)| folder_name(host.clone(), &path[..=slash]));
    let folders: Vec<PatternName> = folders.collect();
    std::iter::once(domain).chain(folders)
}

fn folder_name(host: Host, folder: &str) -> PatternName {
    PatternName {
        host,
        pattern: UrlPattern::from_text(&format!("{folder}{SUFFIX}")),
    }
}
