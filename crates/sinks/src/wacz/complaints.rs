//! What is wrong with a WACZ, in words as long as there is not too much of it.

/// Complaints that are kept in words; the rest are counted.
const KEPT: usize = 1_000;

/// Complaints, each with its culprit.
#[derive(Clone, Debug, Default)]
pub(super) struct Complaints {
    pub(super) told: Vec<String>,
    pub(super) count: u64,
}

impl Complaints {
    pub(super) fn add(&mut self, complaint: impl Into<String>) {
        self.count += 1;
        if self.told.len() < KEPT {
            self.told.push(complaint.into());
        }
    }
}
