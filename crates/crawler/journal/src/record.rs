//! Records of the journal: one per event that must not be forgotten.
//!
//! Records are encoded with postcard, whose wire format is specified and stable
//! (<https://postcard.jamesmunns.com/wire-format>). Invariant: the order of variants and fields is
//! on disk forever; a change raises `FORMAT` in `segment.rs`. `golden/journal.hex` pins it.

use std::time::Duration;

use neardup::{MatchKind, PageSignature};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use web::{Host, Pace, PageUrl, RestartRule, Timestamp, UrlKey};

use crate::discovered_url::DiscoveredUrl;
use crate::finished_visit::{ArchiveSpan, FinishedVisit};
use crate::page::Page;
use crate::pattern_name::PatternName;
use crate::queue_entry::QueueEntry;
use crate::reason::Reason;
use crate::robots::Robots;
use crate::visit_record::VisitRecord;

/// A visit record on disk, followed by its details.
pub mod with_details {
    use super::{Deserialize, Deserializer, Serialize, Serializer, VisitRecord};

    /// Writes the record and its details.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<S: Serializer>(visit: &VisitRecord, serializer: S) -> Result<S::Ok, S::Error> {
        (visit, &visit.details).serialize(serializer)
    }

    /// Reads a record and its details.
    ///
    /// # Errors
    /// Errors of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Box<VisitRecord>, D::Error> {
        let (mut visit, details): (Box<VisitRecord>, _) = Deserialize::deserialize(deserializer)?;
        visit.details = details;
        Ok(visit)
    }
}

/// Returns true if the payload of a frame is only about signatures: an admission, its end, or a
/// retained duplicate. These records are the larger part of a journal, and take most of the time to
/// decode it.
pub(crate) fn is_about_signatures(payload: &[u8]) -> bool {
    // The number of the variant comes first, as a varint (postcard's wire format, "tagged union").
    matches!(payload.first(), Some(2 | 3 | 7))
}

/// An event in a crawl.
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
        /// The URLs, numbered in this order.
        finds: Vec<DiscoveredUrl>,
    },
    /// A page was admitted as an original.
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
        /// Its queue entry.
        entry: QueueEntry,
        /// The earliest time of the retry.
        at: Timestamp,
        /// The pace of its host.
        pace: Pace,
        /// The failure.
        reason: Option<Reason>,
    },
    /// A visit ended.
    Settled(SettledVisit),
    /// A redirect of a seed widened the scope.
    SeedAdopted {
        /// The target of the redirect.
        url: PageUrl,
    },
    /// A page repeats an original, and is kept along with it.
    Retained(Box<RetainedPage>),
    /// Visits begin. Written before the first request, so that a later session knows which visits
    /// were in progress when a process died.
    Leased {
        /// The sequence numbers of their queue entries.
        sequences: Vec<u64>,
    },
    /// The session ended cleanly: no visit is in progress.
    Stopped,
    /// The previous session died while these visits were in progress.
    Died {
        /// The sequence numbers of their queue entries.
        sequences: Vec<u64>,
    },
    /// The pace of a host that none of its own visits reports: it was the target of a redirect, or
    /// its robots.txt was read.
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
    /// The archive is durable up to this position; a power cut may lose what follows.
    Archived {
        /// The last file, relative to the archive's directory.
        file: String,
        /// Offset just past the last durable byte.
        end: u64,
    },
    /// A visit is void: its page is queued again.
    Revoked {
        /// Its new queue entry.
        entry: QueueEntry,
        /// The void record of the visit.
        #[serde(with = "with_details")]
        visit: Box<VisitRecord>,
        /// URLs reached by redirects: its next visit may reach them again.
        reached: Vec<PageUrl>,
    },
    /// A leased visit did not start; its page keeps its queue entry.
    Returned {
        /// The sequence number of its queue entry.
        sequence: u64,
        /// Its host.
        host: Host,
        /// The pace of that host.
        pace: Pace,
    },
    /// A pattern of URLs brings next to nothing new; its further URLs are excluded.
    PatternClosed(PatternName),
    /// A probe of the pattern brought something new, or a user reopened it.
    PatternReopened(PatternName),
    /// A queue entry is dropped: its page was found only on unarchived pages, and has since been
    /// reached or has got a better entry.
    Superseded {
        /// The entry.
        entry: QueueEntry,
    },
    /// A session begins after a session that died: any host may have received requests until now,
    /// and rests as [`Pace::after_restart`] says.
    Restarted {
        /// The time.
        at: Timestamp,
        /// The rule for the waits of hosts.
        rule: RestartRule,
    },
    /// The session's clock is behind the clock of an earlier session: the times of hosts and pages
    /// are moved as [`Pace::set_back`] says.
    ClockSetBack {
        /// The present time by the new clock.
        to: Timestamp,
        /// Maximum wait of a host that never responded.
        min_wait: Duration,
    },
    /// The system clock was set while the session ran. Waits continue unchanged; dates in the
    /// archive follow the new clock from now on.
    ClockSet {
        /// The time, by the clock for waits.
        at: Timestamp,
        /// The lead of dates over that clock from now on.
        ahead: Duration,
        /// The lag of dates behind that clock; one of the two is zero.
        behind: Duration,
    },
    /// A user declares that a page does not repeat another: the two are never compared again.
    Distinct(DistinctPages),
    /// URLs were discovered that are claimed by redirects in progress. Each is queued when its
    /// claim is released, unless the settlement of its page names it in `reached` first.
    Held {
        /// The URLs.
        finds: Vec<DiscoveredUrl>,
    },
}

impl Record {
    /// Returns the URL that this record queues under a sequence number, if it queues one.
    #[must_use]
    pub fn queued(&self, sequence: u64) -> Option<&PageUrl> {
        let (first, finds) = match self {
            Self::Discovered { first, finds } => (*first, finds),
            Self::Settled(settled) => (settled.first, &settled.visit.finds),
            Self::Revoked { entry, .. } => {
                return (entry.sequence == sequence).then_some(&entry.discovered.url);
            }
            _ => return None,
        };
        let place = usize::try_from(sequence.checked_sub(first)?).ok()?;
        finds.get(place).map(|found| &found.url)
    }
}

/// A page, and another page that it does not repeat, as declared by a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistinctPages {
    /// The page that was not archived.
    pub page: PageUrl,
    /// The page that it was found to repeat.
    pub original: PageUrl,
}

/// A finished visit in the journal, with its queue entry.
///
/// Its bytes interleave the fields of [`FinishedVisit`] with its own: `sequence`, `record` (without
/// its details), `archived`, `first`, `finds`, `reached`, `pace`, `priority`, `excluded`,
/// `details`.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledVisit {
    /// The sequence number of its queue entry.
    pub sequence: u64,
    /// The priority of its queue entry.
    pub priority: u8,
    /// The sequence number of the first new link.
    pub first: u64,
    /// The pace of its host.
    pub pace: Pace,
    /// The outcome.
    pub visit: FinishedVisit,
}

/// The first fields of a [`SettledVisit`].
type SettledFields = (
    u64,
    Box<VisitRecord>,
    Option<ArchiveSpan>,
    u64,
    Vec<DiscoveredUrl>,
    Vec<PageUrl>,
);

impl Serialize for SettledVisit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FinishedVisit {
            record,
            archived,
            finds,
            reached,
            excluded,
        } = &self.visit;
        let fields = (self.sequence, record, archived, self.first, finds, reached);
        let details = &record.details;
        (fields, self.pace, self.priority, excluded, details).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SettledVisit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (fields, pace, priority, excluded, details) = Deserialize::deserialize(deserializer)?;
        let (sequence, mut record, archived, first, finds, reached): SettledFields = fields;
        record.details = details;
        Ok(Self {
            sequence,
            priority,
            first,
            pace,
            visit: FinishedVisit {
                record,
                archived,
                finds,
                reached,
                excluded,
            },
        })
    }
}

/// A near-duplicate that is kept along with its original.
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
    /// The kind and degree of the match.
    pub match_kind: MatchKind,
    /// Its rank in the cluster; the original has rank 1.
    pub rank: u32,
    /// True if the original was found only because the page names it as its canonical page.
    pub by_canonical: bool,
}
