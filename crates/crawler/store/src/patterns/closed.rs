//! Closed patterns and folders: their probes, and the last look at the URLs that they excluded.
//!
//! Invariant: both types are on disk as part of the frontier's tables (postcard). They are separate
//! types, because patterns and folders have other fields between them there.

use serde::{Deserialize, Serialize};

use super::left::LeftRecords;

/// Maximum number of excluded pages that are still visited, once, when the crawl is otherwise
/// finished.
const LAST_LOOK: usize = 256;
/// If at least one visit in this many brought something new, the limit of excluded pages rises to
/// the number of visits so far. So the pattern costs at most twice as much.
const HONEST_ONE_IN: u64 = 20;

/// The probes of a closed pattern or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Closed {
    /// URLs excluded since the last probe.
    pub(super) since: u32,
    /// URLs to exclude before the next probe.
    pub(super) gap: u32,
    /// Consecutive probes that brought something new; at most 1 for a folder.
    pub(super) hopeful: u8,
    /// True while a probe is in progress.
    #[serde(skip)]
    probing: bool,
}

impl Closed {
    /// Returns the state after closing, with the number of URLs to exclude before the first
    /// probe.
    pub(super) const fn new(gap: u32) -> Self {
        Self {
            since: 0,
            gap,
            hopeful: 0,
            probing: false,
        }
    }

    /// Counts a URL that was excluded.
    pub(super) fn exclude(&mut self) {
        self.since = self.since.saturating_add(1);
    }

    /// Returns true if the next URL should be visited as a probe.
    pub(super) fn probe(&mut self) -> bool {
        let probe = self.since >= self.gap && !self.probing;
        self.probing |= probe;
        probe
    }

    /// Ends the probe in progress, if any.
    pub(super) fn end_probe(&mut self) {
        self.probing = false;
    }
}

/// The last look of a pattern or folder: it was reopened although its probes brought nothing new,
/// at the end of the crawl or by hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LastLook {
    /// True once the last look has been taken.
    taken: bool,
    /// Number of visits before it may be closed again: at first, the number of URLs that it had
    /// excluded by then.
    grace: u64,
}

impl LastLook {
    /// Takes the last look at these records.
    pub(super) fn take(&mut self, left: &LeftRecords) {
        self.taken = true;
        self.grace = left.len() as u64;
    }

    /// Counts a visit.
    pub(super) fn count(&mut self) {
        self.grace = self.grace.saturating_sub(1);
    }

    /// Returns true if the pattern or folder may be closed.
    pub(super) const fn is_over(&self) -> bool {
        self.grace == 0
    }

    /// Returns true if the number of excluded pages is small enough to visit them when the crawl is
    /// otherwise finished. `new` and `fruitless` count the visits so far. A trap excludes more,
    /// or gets only one last look.
    pub(super) fn is_worth_it(&self, left: &LeftRecords, new: u64, fruitless: u64) -> bool {
        !self.taken && (1..=max_left(new, fruitless)).contains(&left.len())
    }
}

/// Returns the maximum number of excluded pages that are visited at the end.
pub(super) fn max_left(new: u64, fruitless: u64) -> usize {
    let visited = new + fruitless;
    if new * HONEST_ONE_IN < visited {
        return LAST_LOOK;
    }
    usize::try_from(visited).map_or(usize::MAX, |visited| visited.max(LAST_LOOK))
}
