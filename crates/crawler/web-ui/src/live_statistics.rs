//! The statistics of a crawl, kept up to date while somebody looks.
//!
//! A look catches up with the journal first, unless that was done less than [`FRESH`] ago. So
//! several viewers cost as much as one, a crawl without viewers costs nothing, and the shown
//! statistics are at most half a second old. Looks follow each other: each takes milliseconds.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use journal::{JournalFollower, Position, StoreFault};
use statistics::{CrawlStatistics, LinkStatistics};
use web::Timestamp;

/// Maximum age of statistics that are shown without reading on.
const FRESH: Duration = Duration::from_millis(500);

/// The statistics of a crawl.
pub(crate) struct LiveStatistics {
    state: PathBuf,
    reading: Mutex<Reading>,
}

/// A journal that is being read.
struct Reading {
    statistics: CrawlStatistics,
    links: LinkStatistics,
    /// `None` until the journal could be opened.
    follower: Option<JournalFollower>,
    read_at: Option<Timestamp>,
    damage: Option<String>,
}

/// The statistics at one time.
pub(crate) struct Look<'a> {
    pub(crate) statistics: &'a CrawlStatistics,
    /// The checked links.
    pub(crate) links: &'a LinkStatistics,
    /// The reason why the statistics are incomplete, if they are.
    pub(crate) damage: Option<&'a str>,
    /// The end of the part of the journal that was read.
    pub(crate) position: Position,
    pub(crate) now: Timestamp,
}

impl LiveStatistics {
    /// Returns empty statistics of the journal in `state`, before anything is read.
    pub(crate) fn of(state: PathBuf) -> Self {
        Self {
            state,
            reading: Mutex::new(Reading {
                statistics: CrawlStatistics::with_index(),
                links: LinkStatistics::default(),
                follower: None,
                read_at: None,
                damage: None,
            }),
        }
    }

    /// Calls `look` with the statistics at the time `now`. Reads the disk.
    pub(crate) fn look<T>(&self, now: Timestamp, look: impl FnOnce(&Look<'_>) -> T) -> T {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back counts as a long time.
        let is_fresh = |read: Timestamp| read <= now && now.since(read) < FRESH;
        if !reading.read_at.is_some_and(is_fresh) || reading.is_replaced() {
            reading.damage = reading.catch_up(&self.state).err().map(|fault| {
                let position = reading.position();
                format!("{fault}. The values cover the {position} bytes before.")
            });
            reading.read_at = Some(now);
        }
        look(&Look {
            statistics: &reading.statistics,
            links: &reading.links,
            damage: reading.damage.as_deref(),
            position: reading.position(),
            now,
        })
    }
}

impl Reading {
    fn catch_up(&mut self, state: &Path) -> Result<(), StoreFault> {
        let follower = match &mut self.follower {
            Some(follower) => follower,
            empty => empty.insert(JournalFollower::open(state)?),
        };
        self.statistics.catch_up(follower)?;
        // The state is a directory in the directory of the crawl.
        self.links.catch_up(state.parent().unwrap_or(state))
    }

    /// Returns true if another journal has replaced this one: its positions would point into the
    /// middle of a record.
    fn is_replaced(&self) -> bool {
        let replaced = self.follower.as_ref().map(JournalFollower::is_replaced);
        !matches!(replaced, None | Some(Ok(false)))
    }

    fn position(&self) -> Position {
        self.follower.as_ref().map_or(0, JournalFollower::position)
    }
}
