//! The counts of a host's unsettled entries, by what they wait for.

/// The recorded unsettled entries of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitCounts {
    /// All entries.
    pub(super) live: u64,
    /// Postponed entries.
    pub(super) later: u64,
    /// Leased entries whose settlement is not recorded.
    pub(super) out: u64,
    /// Entries that are quarantined.
    pub(super) quarantined: u64,
}

impl WaitCounts {
    /// Returns the number of entries that can be leased when the host's turn comes.
    pub(super) fn waiting(&self) -> u64 {
        self.live
            .saturating_sub(self.later + self.out + self.quarantined)
    }
}
