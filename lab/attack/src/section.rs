//! The context that each section of an attack gets.

use std::time::{Duration, Instant};

use crate::process::Crawler;

/// The context of a section.
pub(crate) struct Attack<'a> {
    pub(crate) crawler: &'a Crawler,
    pub(crate) seed: u64,
    /// The time that it may take; a step in progress is finished.
    pub(crate) budget: Duration,
    pub(crate) began: Instant,
    /// True if disks can be mounted.
    pub(crate) may_mount: bool,
}

impl Attack<'_> {
    /// Returns true while the budget lasts.
    pub(crate) fn has_time(&self) -> bool {
        self.began.elapsed() < self.budget
    }
}
