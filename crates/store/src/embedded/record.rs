//! What the journal says: one record for each thing that must not be forgotten.
//!
//! Records are coded with postcard, whose wire format is specified and stable
//! (<https://postcard.jamesmunns.com/wire-format>). Invariant: the order of variants and fields is on disk for ever; a change
//! raises `FORMAT` in `segment.rs`. `golden/journal.hex` pins it.

use neardup::{Likeness, Portrait};
use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp, UrlKey};

use crate::{ArchiveSpan, Find, Page, Row};

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
        finds: Vec<Find>,
    },
    /// A page was found to be new.
    Admitted {
        /// Which.
        page: Page,
        /// What it looks like.
        portrait: Box<Portrait>,
    },
    /// An admission was taken back.
    Forgotten {
        /// Of this page.
        page: UrlKey,
    },
    /// A page will be tried again.
    Postponed {
        /// Its place in the queue.
        entry: Entry,
        /// Not before then.
        at: Timestamp,
    },
    /// A visit ended.
    Settled {
        /// The number of its place in the queue.
        sequence: u64,
        /// What became of the page.
        row: Box<Row>,
        /// Its place in the archive.
        archived: Option<ArchiveSpan>,
        /// The number of the first of `finds`.
        first: u64,
        /// The links that were new.
        finds: Vec<Find>,
        /// URLs that were reached on the way.
        reached: Vec<PageUrl>,
    },
    /// A redirect of a seed widened the scope.
    SeedAdopted {
        /// To this.
        url: PageUrl,
    },
    /// A page repeats an original, and is kept all the same.
    LetThrough(Box<LetThrough>),
}

/// A page that is kept beside its original.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LetThrough {
    /// Which.
    pub page: Page,
    /// What it looks like.
    pub portrait: Portrait,
    /// The original.
    pub of: Page,
    /// Whether the original is a page of an earlier crawl.
    pub earlier: bool,
    /// In what the two are alike.
    pub likeness: Likeness,
    /// Which one of its kind it is; the original is the first.
    pub number: u32,
}

/// A page in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The order of discovery; no two entries of a crawl share it.
    pub sequence: u64,
    /// The page.
    pub find: Find,
    /// Visits that were begun.
    pub attempts: u32,
}

/// Numbers finds from `first` on, in order.
pub(super) fn entries(first: u64, finds: &[Find]) -> impl Iterator<Item = Entry> + '_ {
    (first..).zip(finds).map(|(sequence, find)| Entry {
        sequence,
        find: find.clone(),
        attempts: 0,
    })
}
