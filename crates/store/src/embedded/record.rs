//! The records of the journal: one for each event that must not be forgotten.
//!
//! Records are coded with postcard, whose wire format is specified and stable
//! (<https://postcard.jamesmunns.com/wire-format>). Invariant: the order of variants and fields is
//! on disk for ever; a change raises `FORMAT` in `segment.rs`. `golden/journal.hex` pins it.

use std::time::Duration;

use neardup::{Likeness, PageSignature};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use web::{AfterDeath, Host, Pace, PageUrl, Timestamp, UrlKey};

use crate::frontier::{DiscoveredUrl, FinishedVisit, QueueEntry};
use crate::host_memory::Robots;
use crate::near_dup::Page;
use crate::patterns::PatternName;
use crate::visit_record::VisitRecord;

/// An event in a crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The crawl began; always the first record.
    Begun {
        /// The time of the event.
        at: Timestamp,
        /// The features that fingerprints are made of; stored signatures depend on them.
        features: String,
    },
    /// New URLs were queued, numbered from `first`.
    Discovered {
        /// The sequence of the first.
        first: u64,
        /// The URLs, in order.
        finds: Vec<DiscoveredUrl>,
    },
    /// A page was admitted as an original.
    Admitted {
        /// The page.
        page: Page,
        /// Its signature.
        signature: Box<PageSignature>,
    },
    /// An admission was revoked.
    Forgotten {
        /// The page.
        page: UrlKey,
    },
    /// A URL will be tried again.
    Postponed {
        /// Its entry in the queue.
        entry: QueueEntry,
        /// The earliest time of the next visit.
        at: Timestamp,
        /// The pacing state of its host.
        pace: Pace,
    },
    /// A visit ended.
    Settled(SettledVisit),
    /// A redirect of a seed widened the scope.
    SeedAdopted {
        /// The target of the redirect.
        url: PageUrl,
    },
    /// A page repeats an original, and is kept beside it.
    Retained(Box<RetainedPage>),
    /// Visits begin. Written before any request, so that the visits under way are known when a
    /// process dies.
    Leased {
        /// The numbers of their places in the queue.
        sequences: Vec<u64>,
    },
    /// The session ended in order: nothing is under way.
    Stopped,
    /// The session before died while these visits were under way.
    Died {
        /// The numbers of their places in the queue.
        sequences: Vec<u64>,
    },
    /// The pacing state of a host changed without a visit of its own: a redirect led there, or its
    /// robots.txt was read.
    Paced {
        /// The host.
        host: Host,
        /// Its pacing state.
        pace: Pace,
    },
    /// A robots.txt was read.
    RobotsRead {
        /// Its origin (scheme, host and port).
        origin: String,
        /// The robots.txt.
        robots: Robots,
    },
    /// The archive is on the disk up to this position; later bytes may be lost when the power
    /// fails.
    Archived {
        /// The last file, relative to the archive's directory.
        file: String,
        /// One past the last byte that is on the disk.
        end: u64,
    },
    /// A visit record is void: its URL waits again.
    Revoked {
        /// Its new entry in the queue.
        entry: QueueEntry,
        /// The void visit record.
        row: Box<VisitRecord>,
        /// URLs reached by its redirects; its next visit may reach them again.
        reached: Vec<PageUrl>,
    },
    /// A session begins after one that did not end in order: any host may have been asked up to
    /// now.
    Resumed {
        /// The time of the event.
        at: Timestamp,
        /// The rest of each host from then on; longer if its robots.txt asks for it.
        least_wait: Duration,
    },
    /// A visit was not begun: its URL keeps its place.
    Returned {
        /// The number of its place in the queue.
        sequence: u64,
        /// Its host.
        host: Host,
        /// The pacing state of that host.
        pace: Pace,
    },
    /// A URL pattern brings next to nothing new: its URLs are left out when they come up.
    PatternClosed(PatternName),
    /// A pattern brought something new when it was probed, or the user reopened it.
    PatternReopened(PatternName),
    /// An entry of the queue is given up: the URL was found on left-out pages only, and meanwhile
    /// has a better place or was reached.
    Superseded {
        /// The entry.
        entry: QueueEntry,
    },
    /// A session begins after one that did not end in order, in place of [`Record::Resumed`] since
    /// format 7: any host may have been asked up to now, and is left alone as
    /// [`Pace::after_restart`] says.
    Restarted {
        /// The time of the event.
        at: Timestamp,
        /// The rule in force.
        rule: AfterDeath,
    },
    /// A session begins by a clock that is behind the one by which something was written before:
    /// the times of hosts and pages are moved as [`Pace::set_back`] says.
    ClockSetBack {
        /// The present time by the new clock.
        to: Timestamp,
        /// The maximum wait of a host that never answered.
        least_wait: Duration,
    },
    /// The machine's clock was set while the session ran. Waits go on as they were; dates in the
    /// archive follow it from here on.
    ClockSet {
        /// The time of the event, by the clock of the waits.
        at: Timestamp,
        /// The amount by which dates are ahead of that clock from here on.
        ahead: Duration,
        /// The amount by which they are behind it; one of the two is zero.
        behind: Duration,
    },
}

/// A finished visit in the journal, with its place in the queue.
///
/// Its bytes interleave the fields of [`FinishedVisit`] with its own: `sequence`, `row`,
/// `archived`, `first`, `finds`, `reached`, `pace`, `priority`, `left_out`.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledVisit {
    /// The number of its place in the queue.
    pub sequence: u64,
    /// The priority of its place in the queue.
    pub priority: u8,
    /// The number of the first of the visit's new links.
    pub first: u64,
    /// The pacing state of its host.
    pub pace: Pace,
    /// The outcome.
    pub visit: FinishedVisit,
}

impl Serialize for SettledVisit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FinishedVisit {
            row,
            archived,
            finds,
            reached,
            left_out,
        } = &self.visit;
        let fields = (self.sequence, row, archived, self.first, finds, reached);
        (fields, self.pace, self.priority, left_out).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SettledVisit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (fields, pace, priority, left_out) = Deserialize::deserialize(deserializer)?;
        let (sequence, row, archived, first, finds, reached) = fields;
        Ok(Self {
            sequence,
            priority,
            first,
            pace,
            visit: FinishedVisit {
                row,
                archived,
                finds,
                reached,
                left_out,
            },
        })
    }
}

/// A page that is kept beside its original.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetainedPage {
    /// The page.
    pub page: Page,
    /// Its signature.
    pub signature: PageSignature,
    /// The original.
    pub of: Page,
    /// True if the original is a page of an earlier crawl.
    pub earlier: bool,
    /// The kind and degree of their likeness.
    pub likeness: Likeness,
    /// Its rank in the cluster; the original has rank 1.
    pub rank: u32,
    /// True if the original was found only because the page names it as its canonical page.
    pub by_canonical: bool,
}
