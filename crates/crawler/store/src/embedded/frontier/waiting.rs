//! The entries that wait to be settled, by their places, in memory and in blocks.
//!
//! A URL keeps its place here from its discovery to its settlement, also while it is out on lease,
//! postponed or quarantined. New entries stay in memory until a flush writes them to their blocks.
//! The place of a settled entry is remembered until a flush has removed it from its block.
//!
//! Invariant: an entry can be read until it is taken out, from memory, from the flush in progress
//! or from a block; a place that was taken out is not returned again, even if a block has it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use journal::StoreFault;

use super::place::{Body, Place, Rank};
use super::queue_blocks::QueueBlocks;

/// The unsettled entries of the queue.
pub(super) struct Waiting {
    blocks: QueueBlocks,
    /// Entries added since the last flush.
    new: BTreeMap<Place, Body>,
    /// Sum of the weights of `new`.
    new_bytes: usize,
    /// Entries that a flush is writing.
    flushing: Arc<BTreeMap<Place, Body>>,
    /// Settled entries that may still be in a block.
    gone: BTreeSet<Place>,
    /// Entries before this number may be in blocks although they are in memory: a flush that
    /// contained them was interrupted, or may have been.
    doubtful: u64,
}

/// The changes of entries that a flush writes to the blocks.
pub(super) struct WaitingFlush {
    blocks: QueueBlocks,
    new: Arc<BTreeMap<Place, Body>>,
    gone: BTreeSet<Place>,
}

impl Waiting {
    /// Creates the queue of these blocks. Until [`Waiting::doubt_before`] is called, any entry may
    /// be in a block.
    pub(super) fn new(blocks: QueueBlocks) -> Self {
        Self {
            blocks,
            new: BTreeMap::new(),
            new_bytes: 0,
            flushing: Arc::default(),
            gone: BTreeSet::new(),
            doubtful: u64::MAX,
        }
    }

    /// Sets the number before which an entry in memory may be in a block as well.
    pub(super) fn doubt_before(&mut self, sequence: u64) {
        self.doubtful = sequence;
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, place: Place, body: Body) {
        self.new_bytes += body.weight();
        self.new.insert(place, body);
    }

    /// Takes out a settled entry. Returns true if its place is remembered from now on, because a
    /// block may have it.
    pub(super) fn take_out(&mut self, place: Place) -> bool {
        let removed = self.remove_new(place);
        let in_blocks = !removed || place.rank.sequence < self.doubtful;
        in_blocks && self.gone.insert(place)
    }

    /// Returns the first entries of a host behind `after` that `may_go` accepts, at most `want`, in
    /// order.
    pub(super) fn read(
        &self,
        host: u32,
        after: Option<Rank>,
        want: usize,
        may_go: impl Fn(Place) -> bool,
    ) -> Result<Vec<(Rank, Body)>, StoreFault> {
        let waits = |place: Place| !self.gone.contains(&place) && may_go(place);
        let mut found = self.blocks.read(host, after, want, waits)?;
        let from = Place {
            host,
            rank: after.unwrap_or(Place::first_of(host).rank),
        };
        for memory in [&*self.flushing, &self.new] {
            let places = memory.range(from..=Place::last_of(host));
            let behind = places.filter(|(place, _)| after.is_none_or(|after| place.rank > after));
            let waiting = behind.filter(|(place, _)| waits(**place));
            let first = waiting.take(want);
            found.extend(first.map(|(place, body)| (place.rank, body.clone())));
        }
        found.sort_unstable_by_key(|(rank, _)| *rank);
        found.dedup_by_key(|(rank, _)| *rank);
        found.truncate(want);
        Ok(found)
    }

    /// Returns the entry at this place.
    pub(super) fn body(&self, place: Place) -> Result<Option<Body>, StoreFault> {
        let memory = self.new.get(&place);
        match memory.or_else(|| self.flushing.get(&place)) {
            Some(body) => Ok(Some(body.clone())),
            None => self.blocks.body(place),
        }
    }

    /// Visits the place of every entry, some of them twice while a flush writes them.
    pub(super) fn each(&self, mut visit: impl FnMut(Place)) -> Result<(), StoreFault> {
        let mut visit_waiting = |place: Place| {
            if !self.gone.contains(&place) {
                visit(place);
            }
        };
        let memory = self.new.keys().chain(self.flushing.keys());
        memory.copied().for_each(&mut visit_waiting);
        self.blocks.each(visit_waiting)
    }

    /// Forgets the entries of a host that leaves this queue. Its blocks stay: the number of the
    /// host is not used again.
    pub(super) fn forget(&mut self, host: u32) {
        let places = || Place::first_of(host)..=Place::last_of(host);
        let new: Vec<Place> = self.new.range(places()).map(|(place, _)| *place).collect();
        for place in new {
            self.remove_new(place);
        }
        let gone: Vec<Place> = self.gone.range(places()).copied().collect();
        for place in gone {
            self.gone.remove(&place);
        }
    }

    /// Returns the size in memory of the entries added since the last flush.
    pub(super) fn new_bytes(&self) -> usize {
        self.new_bytes
    }

    /// Returns the number of settled entries that may still be in a block.
    pub(super) fn gone(&self) -> usize {
        self.gone.len()
    }

    /// Returns the settled entries of a host that may still be in a block.
    pub(super) fn gone_of(&self, host: u32) -> impl Iterator<Item = &Place> {
        self.gone
            .range(Place::first_of(host)..=Place::last_of(host))
    }

    /// Restores the settled entries of a host that may still be in a block.
    pub(super) fn restore_gone(&mut self, host: u32, gone: Vec<Rank>) {
        let places = gone.into_iter().map(|rank| Place { host, rank });
        self.gone.extend(places);
    }

    /// Takes the new entries, and everything that a failed flush left, for a flush that also
    /// removes these settled entries. They stay readable until [`Waiting::end_flush`].
    pub(super) fn begin_flush(&mut self, gone: BTreeSet<Place>) -> WaitingFlush {
        let mut new = std::mem::take(&mut self.new);
        // A failed flush has left something.
        let left = self.flushing.iter();
        new.extend(left.map(|(place, body)| (*place, body.clone())));
        self.new_bytes = 0;
        self.flushing = Arc::new(new);
        WaitingFlush {
            blocks: self.blocks.clone(),
            new: Arc::clone(&self.flushing),
            gone,
        }
    }

    /// Ends a flush that is durable. Calls `removed` with each settled entry that is not in a block
    /// any more.
    pub(super) fn end_flush(&mut self, flush: &WaitingFlush, mut removed: impl FnMut(Place)) {
        self.flushing = Arc::default();
        for place in &flush.gone {
            if self.gone.remove(place) {
                removed(*place);
            }
        }
    }

    /// Removes an entry that no flush has taken. Returns false if there is none.
    fn remove_new(&mut self, place: Place) -> bool {
        let removed = self.new.remove(&place);
        if let Some(body) = &removed {
            self.new_bytes = self.new_bytes.saturating_sub(body.weight());
        }
        removed.is_some()
    }
}

impl WaitingFlush {
    /// Writes the changes to the blocks. Writing again is harmless.
    pub(super) fn write(&self) -> Result<(), StoreFault> {
        self.blocks.write(&self.gone, &self.new)
    }
}

/// For crash_injection.rs.
impl WaitingFlush {
    /// Leaves out the removal of settled entries.
    pub(super) fn exclude_gone(&mut self) {
        self.gone.clear();
    }

    /// Leaves out every other new entry.
    pub(super) fn exclude_half(&mut self) {
        let every_other = self.new.iter().step_by(2);
        self.new = Arc::new(
            every_other
                .map(|(place, body)| (*place, body.clone()))
                .collect(),
        );
    }
}
