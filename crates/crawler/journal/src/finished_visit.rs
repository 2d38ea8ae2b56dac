//! Finished visits: what a visit brought, and its place in the archive.

use serde::{Deserialize, Serialize};
use web::PageUrl;

use crate::discovered_url::DiscoveredUrl;
use crate::visit_record::VisitRecord;

/// The outcome of a visit that ended: one entry of the queue becomes one visit record.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedVisit {
    /// The visit record.
    pub record: Box<VisitRecord>,
    /// The span of the visit in the archive, if it was archived.
    pub archived: Option<ArchiveSpan>,
    /// The links to queue, in the order of the page. In the journal: only the new links.
    pub finds: Vec<DiscoveredUrl>,
    /// URLs reached by redirects; they need no visit of their own.
    pub reached: Vec<PageUrl>,
    /// Links that a rule excluded as traps; one entry per rule.
    pub excluded: Vec<ExcludedLinks>,
}

impl FinishedVisit {
    /// Returns the outcome of a visit that was not archived and found no links.
    #[must_use]
    pub fn new(record: VisitRecord) -> Self {
        Self {
            record: Box::new(record),
            archived: None,
            finds: Vec::new(),
            reached: Vec::new(),
            excluded: Vec::new(),
        }
    }
}

/// The span of a visit in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveSpan {
    /// Sequence number of the span in this session, from 0 and without gaps, in the order of the
    /// archive.
    pub archive_sequence: u64,
    /// The file, relative to the archive's directory.
    pub file: String,
    /// Offset just past the span's last byte.
    pub end: u64,
}

/// Links of a page that a rule excluded. They are neither queued nor remembered individually.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedLinks {
    /// The rule's name.
    pub rule: String,
    /// The number of links.
    pub links: u64,
    /// One of these links.
    pub example: PageUrl,
}
