//! Progress and cancellation of long work.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::BatchError;

/// A stage of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Documents or fingerprints are read.
    Reading,
    /// Records are sorted or split by the bits that candidates share.
    Sorting,
    /// Candidates are looked for.
    Joining,
    /// Candidates are compared by their sketches.
    Verifying,
    /// Findings are handed over.
    Reporting,
}

/// A listener for progress. Called from time to time, often for the same step, from one thread at a
/// time.
pub trait Progress: Sync {
    /// Reports that `done` things are done in this step, of `of` if that is known.
    fn advanced(&self, step: Step, done: u64, of: Option<u64>);
}

/// A listener that ignores progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn advanced(&self, _: Step, _: u64, _: Option<u64>) {}
}

/// The caller's control over running work.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    progress: &'a dyn Progress,
    cancelled: &'a AtomicBool,
}

impl<'a> Control<'a> {
    /// Creates a control that reports to `progress`, and ends the work with
    /// [`BatchError::Cancelled`] soon after `cancelled` has become true.
    #[must_use]
    pub fn new(progress: &'a dyn Progress, cancelled: &'a AtomicBool) -> Self {
        Self {
            progress,
            cancelled,
        }
    }

    /// Creates a control that reports nothing and is never cancelled.
    #[must_use]
    pub fn none() -> Control<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Control {
            progress: &Silent,
            cancelled: &NEVER,
        }
    }

    /// Reports progress; an error if the work is cancelled.
    pub(crate) fn advanced(
        &self,
        step: Step,
        done: u64,
        of: Option<u64>,
    ) -> Result<(), BatchError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(BatchError::Cancelled);
        }
        self.progress.advanced(step, done, of);
        Ok(())
    }
}

/// A progress counter that reports to the caller.
pub(crate) struct Gauge<'a> {
    control: Control<'a>,
    done: u64,
    of: Option<u64>,
    counts: bool,
}

impl<'a> Gauge<'a> {
    pub(crate) fn new(control: Control<'a>, of: Option<u64>) -> Self {
        Self {
            control,
            done: 0,
            of,
            counts: true,
        }
    }

    /// Returns a gauge for additional work, which can be cancelled but does not count as progress.
    pub(crate) fn uncounted(&self) -> Self {
        Self {
            counts: false,
            ..*self
        }
    }

    /// Counts `more` done things; an error if the work is cancelled.
    pub(crate) fn advance(&mut self, step: Step, more: u64) -> Result<(), BatchError> {
        if self.counts {
            self.done += more;
        }
        self.control.advanced(step, self.done, self.of)
    }
}
