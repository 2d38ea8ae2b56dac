//! The blocks of the queue in the database: tree `queue`, key = host · priority · first sequence ·
//! part (big-endian).
//!
//! Invariant: a page is in one block at most, and the blocks of a host and priority do not overlap.
//! Settled pages may stay in their blocks for a while; a reader skips them.
//!
//! A host's blocks are rewritten in what readers see as one step: `gate` is held during it. Readers
//! take it after the lock of the queue; the flush takes it alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use journal::StoreFault;

use super::super::database::{Batch, Tree};
use super::block::{self, FULL_BYTES, Malformed, Reader};
use super::parts::{self, Whole};
use super::place::{Body, Place, Rank};

const KEY_BYTES: usize = 16;
/// Maximum size of a host's last block that is still filled up.
const SMALL_BYTES: usize = FULL_BYTES / 2;
/// Approximate number of changes made in one step, during which readers wait.
const STEP_CHANGES: usize = 32;

/// The blocks of the queue.
#[derive(Clone)]
pub(super) struct QueueBlocks {
    tree: Tree,
    gate: Arc<Mutex<()>>,
}

impl QueueBlocks {
    pub(super) fn new(tree: Tree) -> Self {
        Self {
            tree,
            gate: Arc::default(),
        }
    }

    /// Returns the first entries of a host behind `after` that `accept` takes, at most `want`.
    pub(super) fn read(
        &self,
        host: u32,
        after: Option<Rank>,
        want: usize,
        mut accept: impl FnMut(Place) -> bool,
    ) -> Result<Vec<(Rank, Body)>, StoreFault> {
        let _still = self.gate();
        let mut found = Vec::with_capacity(want);
        let from = match after {
            Some(rank) => self.block_of(Place { host, rank })?,
            None => None,
        };
        let from = from.unwrap_or(Place {
            host,
            rank: after.unwrap_or(Place::first_of(host).rank),
        });
        let mut entries = self.tree.range(
            parts::key(&key_of(from), 0)..=parts::key(&key_of(Place::last_of(host)), u16::MAX),
        );
        while found.len() < want
            && let Some(whole) = parts::next(&mut entries, &self.tree)?
        {
            let mut place = self.place_of(&whole.key)?;
            let mut reader = self.intact(Reader::new(whole.bytes()))?;
            while found.len() < want
                && let Some(sequence) = self.intact(reader.next())?
            {
                place.rank.sequence = sequence;
                if after.is_none_or(|after| place.rank > after) && accept(place) {
                    found.push((place.rank, self.intact(reader.body())?));
                }
            }
        }
        Ok(found)
    }

    /// Returns the entry at this place.
    pub(super) fn body(&self, place: Place) -> Result<Option<Body>, StoreFault> {
        let found = self.read(place.host, place.rank.before(), 1, |found| found >= place)?;
        Ok(found
            .into_iter()
            .find_map(|(rank, body)| (rank == place.rank).then_some(body)))
    }

    /// Visits the place of every page.
    pub(super) fn each(&self, mut visit: impl FnMut(Place)) -> Result<(), StoreFault> {
        let _still = self.gate();
        let mut entries = self.tree.under(&[]);
        while let Some(whole) = parts::next(&mut entries, &self.tree)? {
            let mut place = self.place_of(&whole.key)?;
            let mut reader = self.intact(Reader::new(whole.bytes()))?;
            while let Some(sequence) = self.intact(reader.next())? {
                place.rank.sequence = sequence;
                visit(place);
            }
        }
        Ok(())
    }

    /// Removes `gone` and adds `new`. Both may have happened before.
    pub(super) fn write(
        &self,
        gone: &BTreeSet<Place>,
        new: &BTreeMap<Place, Body>,
    ) -> Result<(), StoreFault> {
        let lane = |place: &Place| (place.host, place.rank.priority);
        let mut lanes: Vec<(u32, u32)> =
            gone.iter().map(lane).chain(new.keys().map(lane)).collect();
        lanes.sort_unstable();
        lanes.dedup();
        let mut batch = Batch::default();
        for (host, priority) in lanes {
            self.rework(host, priority, gone, new, &mut batch)?;
            if batch.len() >= STEP_CHANGES {
                let _still = self.gate();
                self.tree.apply(std::mem::take(&mut batch))?;
            }
        }
        let _still = self.gate();
        self.tree.apply(batch)
    }

    /// Returns the changes to the blocks of a host and priority.
    fn rework(
        &self,
        host: u32,
        priority: u32,
        gone: &BTreeSet<Place>,
        new: &BTreeMap<Place, Body>,
        batch: &mut Batch,
    ) -> Result<(), StoreFault> {
        let at = |sequence| Place {
            host,
            rank: Rank { priority, sequence },
        };
        let lane = at(0)..=at(u64::MAX);
        // Blocks that change, with true for blocks that new pages are packed into.
        let mut touched: BTreeMap<u64, (Whole, bool)> = BTreeMap::new();
        let mut read_to = None;
        for place in gone.range(lane.clone()) {
            if read_to.is_some_and(|end| place.rank.sequence <= end) {
                continue;
            }
            if let Some(whole) = self.whole_of(*place)? {
                read_to = self.last_of(&whole)?;
                touched.insert(self.place_of(&whole.key)?.rank.sequence, (whole, false));
            }
        }
        // The last block, to fill it up; and more blocks if an interrupted flush has already added
        // some of these pages.
        let new = new.range(lane);
        if let Some((first, _)) = new.clone().next() {
            let from = self
                .block_of(*first)?
                .filter(|from| from.rank.priority == priority);
            let from = parts::key(&key_of(from.unwrap_or(*first)), 0);
            let to = parts::key(&key_of(at(u64::MAX)), u16::MAX);
            let mut entries = self.tree.range(from..=to);
            while let Some(whole) = parts::next(&mut entries, &self.tree)? {
                let overlaps = self.last_of(&whole)? >= Some(first.rank.sequence);
                if overlaps || whole.bytes().len() <= SMALL_BYTES {
                    touched.insert(self.place_of(&whole.key)?.rank.sequence, (whole, true));
                }
            }
        }
        let mut last: BTreeMap<u64, Body> = BTreeMap::new();
        for (whole, joins) in touched.into_values() {
            parts::remove(batch, &whole.key, whole.parts);
            let mut pages = self.pages(&whole)?;
            pages.retain(|(sequence, _)| !gone.contains(&at(*sequence)));
            if joins {
                last.extend(pages);
            } else {
                Self::put(batch, at, &pages.into_iter().collect());
            }
        }
        for (place, body) in new.filter(|(place, _)| !gone.contains(place)) {
            last.insert(place.rank.sequence, body.clone());
        }
        Self::put(batch, at, &last);
        Ok(())
    }

    fn put(batch: &mut Batch, at: impl Fn(u64) -> Place, pages: &BTreeMap<u64, Body>) {
        for (first, block) in block::pack(pages.iter().map(|(sequence, body)| (*sequence, body))) {
            parts::insert(batch, &key_of(at(first)), &block);
        }
    }

    /// Returns the first place of the block that this place falls into.
    fn block_of(&self, place: Place) -> Result<Option<Place>, StoreFault> {
        let key = parts::key(&key_of(place), u16::MAX);
        let Some((found, _)) = self.tree.at_or_before(&key)? else {
            return Ok(None);
        };
        let found = self.place_of(found.get(..KEY_BYTES).unwrap_or_default())?;
        Ok((found.host == place.host).then_some(found))
    }

    fn whole_of(&self, place: Place) -> Result<Option<Whole>, StoreFault> {
        let Some(found) = self.block_of(place)? else {
            return Ok(None);
        };
        if found.rank.priority != place.rank.priority {
            return Ok(None);
        }
        let mut entries = self.tree.under(&key_of(found));
        parts::next(&mut entries, &self.tree)
    }

    fn pages(&self, whole: &Whole) -> Result<Vec<(u64, Body)>, StoreFault> {
        let mut reader = self.intact(Reader::new(whole.bytes()))?;
        let mut pages = Vec::new();
        while let Some(sequence) = self.intact(reader.next())? {
            pages.push((sequence, self.intact(reader.body())?));
        }
        Ok(pages)
    }

    fn last_of(&self, whole: &Whole) -> Result<Option<u64>, StoreFault> {
        let mut reader = self.intact(Reader::new(whole.bytes()))?;
        let mut last = None;
        while let Some(sequence) = self.intact(reader.next())? {
            last = Some(sequence);
        }
        Ok(last)
    }

    fn place_of(&self, key: &[u8]) -> Result<Place, StoreFault> {
        let key = <[u8; KEY_BYTES]>::try_from(key);
        let key = key.map_err(|_length| {
            self.tree
                .broken("a key of the queue has another length".to_owned())
        })?;
        let short = |at: usize| u32::from_be_bytes(std::array::from_fn(|i| key[at + i]));
        let rank = Rank {
            priority: short(4),
            sequence: u64::from_be_bytes(std::array::from_fn(|i| key[8 + i])),
        };
        Ok(Place {
            host: short(0),
            rank,
        })
    }

    fn intact<T>(&self, read: Result<T, Malformed>) -> Result<T, StoreFault> {
        read.map_err(|what| self.tree.broken(what.to_owned()))
    }

    fn gate(&self) -> MutexGuard<'_, ()> {
        // A panic leaves nothing half done: a batch is applied completely or not at all.
        self.gate
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn key_of(place: Place) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..4].copy_from_slice(&place.host.to_be_bytes());
    key[4..8].copy_from_slice(&place.rank.priority.to_be_bytes());
    key[8..].copy_from_slice(&place.rank.sequence.to_be_bytes());
    key
}
