//! What the journal says: one record for each thing that must not be forgotten.
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

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The crawl began: always the first record.
    Begun {
        /// When.
        at: Timestamp,
        /// What fingerprints are made of; what is stored depends on it.
        features: String,
    },
    /// New URLs were queued, numbered from `first`.
    Discovered {
        /// The first one's number.
        first: u64,
        /// In order.
        finds: Vec<DiscoveredUrl>,
    },
    /// A page was found to be new.
    Admitted {
        /// Which.
        page: Page,
        /// What it looks like.
        signature: Box<PageSignature>,
    },
    /// An admission was taken back.
    Forgotten {
        /// Of this page.
        page: UrlKey,
    },
    /// A page will be tried again.
    Postponed {
        /// Its place in the queue.
        entry: QueueEntry,
        /// Not before then.
        at: Timestamp,
        /// How its host wants to be asked.
        pace: Pace,
    },
    /// A visit ended.
    Settled(SettledVisit),
    /// A redirect of a seed widened the scope.
    SeedAdopted {
        /// To this.
        url: PageUrl,
    },
    /// A page repeats an original, and is kept beside it.
    Retained(Box<RetainedPage>),
    /// Visits begin. Written before anything is asked for, so that it is known what was under way
    /// when a process died.
    Leased {
        /// The numbers of their places in the queue.
        sequences: Vec<u64>,
    },
    /// The session ended in order: nothing is under way.
    Stopped,
    /// The session before died while these were under way.
    Died {
        /// The numbers of their places in the queue.
        sequences: Vec<u64>,
    },
    /// How a host wants to be asked, where no visit of its own tells it (a redirect led there,
    /// robots.txt was read).
    Paced {
        /// Which.
        host: Host,
        /// How.
        pace: Pace,
    },
    /// What a robots.txt said.
    RobotsRead {
        /// Of which origin (scheme, host and port).
        origin: String,
        /// What.
        robots: Robots,
    },
    /// The archive is on the disk up to here: what lies beyond may be lost when the power goes.
    Archived {
        /// The last file, below the archive's directory.
        file: String,
        /// One past the last byte that is on the disk.
        end: u64,
    },
    /// What became of a page is void: it waits again.
    Revoked {
        /// Its new place in the queue.
        entry: QueueEntry,
        /// What was said of it.
        row: Box<VisitRecord>,
        /// URLs that were reached on the way: its next visit may reach them again.
        reached: Vec<PageUrl>,
    },
    /// A session begins after one that did not end in order: any host may have been asked up to
    /// now.
    Resumed {
        /// When.
        at: Timestamp,
        /// What each host is left alone for from then on, or longer if its robots.txt asks for it.
        least_wait: Duration,
    },
    /// A visit was not begun after all: its page keeps its place.
    Returned {
        /// The number of its place in the queue.
        sequence: u64,
        /// Its host.
        host: Host,
        /// How that wants to be asked.
        pace: Pace,
    },
    /// A pattern of URLs brings next to nothing new: what comes up of it is left out.
    PatternClosed(PatternName),
    /// It brought something new again when it was probed, or somebody opened it.
    PatternReopened(PatternName),
    /// A place in the queue is given up: the page was found on left-out pages only, and meanwhile
    /// has a better place or was reached.
    Superseded {
        /// The place.
        entry: QueueEntry,
    },
    /// A session begins after one that did not end in order, in place of [`Record::Resumed`] since
    /// format 7: any host may have been asked up to now, and is left alone as
    /// [`Pace::after_restart`] says.
    Restarted {
        /// When.
        at: Timestamp,
        /// The rule that counts.
        rule: AfterDeath,
    },
    /// A session begins by a clock that is behind the one by which something was written before:
    /// the times of hosts and pages are moved as [`Pace::set_back`] says.
    ClockSetBack {
        /// The present, by the clock that counts from here on.
        to: Timestamp,
        /// No host waits for longer that never answered.
        least_wait: Duration,
    },
    /// The machine's clock was set while the session ran. Waits go on as they were; dates in the
    /// archive follow it from here on.
    ClockSet {
        /// When, by the clock of the waits.
        at: Timestamp,
        /// By how much dates are ahead of that clock from here on.
        ahead: Duration,
        /// By how much they are behind it; one of the two is zero.
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
    /// Which.
    pub page: Page,
    /// What it looks like.
    pub signature: PageSignature,
    /// The original.
    pub of: Page,
    /// Whether the original is a page of an earlier crawl.
    pub earlier: bool,
    /// In what the two are alike.
    pub likeness: Likeness,
    /// Its rank in the cluster; the original has rank 1.
    pub rank: u32,
    /// Whether the original was found only because of what the page calls canonical.
    pub by_canonical: bool,
}
