//! The journal positions of visits by the keys of their URLs: 16 bytes a visit.
//!
//! Sorted runs of geometrically decreasing lengths (the logarithmic method: Bentley and Saxe,
//! J. Algorithms 1(4), 1980), the newest last. A later entry of a key hides the earlier ones.

use store::embedded::Position;
use web::UrlKey;

use crate::limits::MAX_INDEXED;

/// Entries of a run before it is sorted.
const SHORTEST_RUN: usize = 4_096;
/// The position of a visit that was revoked.
const REVOKED: Position = Position::MAX;

/// The positions of visits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VisitIndex {
    runs: Vec<Vec<(u64, Position)>>,
    /// The newest entries, in the order in which they came.
    recent: Vec<(u64, Position)>,
}

impl VisitIndex {
    /// Adds a visit. Visits beyond [`MAX_INDEXED`] are not added.
    pub(crate) fn insert(&mut self, url: UrlKey, position: Position) {
        if self.recent.len() == SHORTEST_RUN {
            if self.len() + SHORTEST_RUN > MAX_INDEXED {
                return;
            }
            self.sort_recent();
        }
        self.recent.push((url.as_u64(), position));
    }

    /// Takes back the visit of a URL.
    pub(crate) fn remove(&mut self, url: UrlKey) {
        self.insert(url, REVOKED);
    }

    /// Returns the position of the last visit of a URL, unless it was revoked.
    pub(crate) fn get(&self, url: UrlKey) -> Option<Position> {
        let key = url.as_u64();
        let recent = self.recent.iter().rev().find(|(known, _)| *known == key);
        let sorted = || {
            self.runs.iter().rev().find_map(|run| {
                let place = run.binary_search_by_key(&key, |(known, _)| *known).ok()?;
                run.get(place)
            })
        };
        let (_, position) = recent.or_else(sorted)?;
        Some(*position).filter(|position| *position != REVOKED)
    }

    fn len(&self) -> usize {
        self.runs.iter().map(Vec::len).sum::<usize>() + self.recent.len()
    }

    /// Makes a run of the newest entries, and merges runs of similar lengths.
    fn sort_recent(&mut self) {
        // Stable, so that the last entry of a key stays the last.
        self.recent.sort_by_key(|(key, _)| *key);
        let mut run = Vec::with_capacity(self.recent.len());
        for entry in self.recent.drain(..) {
            push_newer(&mut run, entry);
        }
        while let Some(older) = self.runs.pop_if(|older| older.len() < 2 * run.len()) {
            run = merged(&older, &run);
        }
        self.runs.push(run);
    }
}

/// Returns the entries of two runs; of a key in both, the newer one.
fn merged(older: &[(u64, Position)], newer: &[(u64, Position)]) -> Vec<(u64, Position)> {
    let mut run = Vec::with_capacity(older.len() + newer.len());
    let (mut older, mut newer) = (older.iter().peekable(), newer.iter().peekable());
    loop {
        let is_older_next = match (older.peek(), newer.peek()) {
            (None, None) => return run,
            (Some((one, _)), Some((other, _))) => one <= other,
            (one, _) => one.is_some(),
        };
        let next = if is_older_next {
            older.next()
        } else {
            newer.next()
        };
        if let Some(entry) = next {
            push_newer(&mut run, *entry);
        }
    }
}

/// Appends an entry to a run in place of an older one of the same key.
fn push_newer(run: &mut Vec<(u64, Position)>, entry: (u64, Position)) {
    match run.last_mut().filter(|last| last.0 == entry.0) {
        Some(last) => *last = entry,
        None => run.push(entry),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_last_position_of_a_url_is_found_unless_it_was_revoked() {
        let (mut index, mut oracle) = (VisitIndex::default(), HashMap::new());
        let mut drawn = 1_u64;
        for position in 0..50_000 {
            drawn = drawn
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(7);
            let url = UrlKey::from_u64(drawn >> 49);
            if drawn.is_multiple_of(5) {
                index.remove(url);
                oracle.remove(&url);
            } else {
                index.insert(url, position);
                oracle.insert(url, position);
            }
        }
        assert!(index.runs.len() > 1, "more than one run is searched");
        for key in 0..1 << 15 {
            let url = UrlKey::from_u64(key);
            assert_eq!(index.get(url), oracle.get(&url).copied());
        }
    }
}
