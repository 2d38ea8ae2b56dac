//! Records of the journal: one for each thing that must not be forgotten.
//!
//! Records are encoded with postcard, whose wire format is specified and stable
//! (<https://postcard.jamesmunns.com/wire-format>). Invariant: the order of variants and fields is
//! on disk for ever; a change raises `FORMAT` in `segment.rs`. `golden/journal.hex` pins it.

use std::time::Duration;

use neardup::{Likeness, PageSignature};
use serde::{Deserialize, Serialize};
use web::{RestartRule, Host, Pace, PageUrl, Timestamp, UrlKey};

use crate::frontier::{ArchiveSpan, DiscoveredUrl, LeftOut};
use crate::near_dup::Page;
use crate::patterns::name::PatternName;
use crate::visit_record::VisitRecord;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The crawl began; always the first record.
    Begun {
        /// The time.
        at: Timestamp,
        /// The features of fingerprints; the stored data depends on them.
        features: String,
    },
    /// New URLs were queued, numbered from `first`.
    Discovered {
        /// The sequence number of the first URL.
        first: u64,
        /// The URLs, in order.
        finds: Vec<DiscoveredUrl>,
    },
    /// A page was found to be new.
    Admitted {
        /// The page.
        page: Page,
        /// Its signature.
        signature: Box<PageSignature>,
    },
    /// An admission was withdrawn.
    Forgotten {
        /// The page.
        page: UrlKey,
    },
    /// A page will be retried.
    Postponed {
        /// Its place in the queue.
        entry: Entry,
        /// The earliest time of the retry.
        at: Timestamp,
        /// The pace of its host.
        pace: Pace,
    },
    /// A visit ended.
    Settled {
        /// The sequence number of its queue entry.
        sequence: u64,
        /// The record of the visit.
        row: Box<VisitRecord>,
        /// Its place in the archive.
        archived: Option<ArchiveSpan>,
        /// The sequence number of the first of `finds`.
        first: u64,
        /// The links that were new.
        finds: Vec<DiscoveredUrl>,
        /// URLs that redirects led to.
        reached: Vec<PageUrl>,
        /// The pace of its host.
        pace: Pace,
        /// The priority of its queue entry.
        priority: u8,
        /// The links that a rule left out.
        left_out: Vec<LeftOut>,
    },
    /// A redirect of a seed widened the scope.
    SeedAdopted {
        /// The redirect's target.
        url: PageUrl,
    },
    /// A page repeats an original, and is kept all the same.
    LetThrough(Box<LetThrough>),
    /// Visits begin. Written before the first request, so that a later session knows which visits
    /// were under way when a process died.
    Leased {
        /// The sequence numbers of their queue entries.
        sequences: Vec<u64>,
    },
    /// The session ended in order: no visit is under way.
    Stopped,
    /// The previous session died while these visits were under way.
    Died {
        /// The sequence numbers of their queue entries.
        sequences: Vec<u64>,
    },
    /// The pace of a host that no visit of its own reports: a redirect led there, or its robots.txt
    /// was read.
    Paced {
        /// The host.
        host: Host,
        /// Its pace.
        pace: Pace,
    },
    /// A robots.txt was read.
    RobotsRead {
        /// The origin: scheme, host and port.
        origin: String,
        /// Its text and expiry.
        robots: Robots,
    },
    /// The archive is durable up to here; a power cut may lose what follows.
    Archived {
        /// The last file, below the archive's directory.
        file: String,
        /// One past the last durable byte.
        end: u64,
    },
    /// A visit is void: its page waits again.
    Revoked {
        /// Its new queue entry.
        entry: Entry,
        /// The void record of the visit.
        row: Box<VisitRecord>,
        /// URLs that redirects led to: its next visit may reach them again.
        reached: Vec<PageUrl>,
    },
    /// A session begins after one that did not end in order: any host may have been requested up to
    /// now.
    Resumed {
        /// The time.
        at: Timestamp,
        /// The least wait of every host from then on; longer if its robots.txt asks for it.
        least_wait: Duration,
    },
    /// A leased visit did not begin; its page keeps its queue entry.
    Returned {
        /// The sequence number of its queue entry.
        sequence: u64,
        /// Its host.
        host: Host,
        /// The pace of that host.
        pace: Pace,
    },
    /// A pattern of URLs brings next to nothing new: further URLs of it are left out.
    PatternClosed(PatternName),
    /// A probe of the pattern brought something new, or a user reopened it.
    PatternReopened(PatternName),
    /// A queue entry is given up: its page was found on left-out pages only, and meanwhile has a
    /// better entry or was reached.
    Superseded {
        /// The entry.
        entry: Entry,
    },
    /// A session begins after one that did not end in order. Written in place of
    /// [`Record::Resumed`] since format 7: any host may have been requested up to now, and is left
    /// alone as [`Pace::after_restart`] says.
    Restarted {
        /// The time.
        at: Timestamp,
        /// The rule for the waits of hosts.
        rule: RestartRule,
    },
    /// The session's clock is behind the one of an earlier session: the times of hosts and pages
    /// are moved as [`Pace::set_back`] says.
    ClockSetBack {
        /// The present, by the clock that counts from here on.
        to: Timestamp,
        /// The longest wait of a host that never answered.
        least_wait: Duration,
    },
    /// The machine's clock was set while the session ran. Waits go on unchanged; dates in the
    /// archive follow the new clock from here on.
    ClockSet {
        /// The time, by the clock of the waits.
        at: Timestamp,
        /// The time by which dates are ahead of that clock from here on.
        ahead: Duration,
        /// The time by which they are behind it; one of the two is zero.
        behind: Duration,
    },
}

/// A robots.txt as it is remembered over sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    /// Its text, at most [`web::MAX_ROBOTS_BYTES`]; none where there is none and everything is
    /// allowed.
    pub text: Option<Vec<u8>>,
    /// The time at which it expires.
    pub until: Timestamp,
}

/// A near-duplicate that is kept beside its original.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LetThrough {
    /// The page.
    pub page: Page,
    /// Its signature.
    pub signature: PageSignature,
    /// The original.
    pub of: Page,
    /// True if the original is a page of an earlier crawl.
    pub earlier: bool,
    /// The likeness of the two.
    pub likeness: Likeness,
    /// Its rank in the cluster; the original is the first.
    pub number: u32,
    /// True if the original was found only because the page calls it canonical.
    pub by_canonical: bool,
}

/// A queue entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The order of discovery, unique in a crawl.
    pub sequence: u64,
    /// The page.
    pub find: DiscoveredUrl,
    /// The number of visits that began.
    pub attempts: u32,
    /// The number of sessions that died while it was leased.
    pub strikes: u32,
}
