//! The nearest of many hits, in bounded memory.

use std::cmp::Ordering;

/// Minimum number of hits before they are sorted and truncated.
const SLACK: usize = 1_024;

/// The nearest hits so far, and a few more.
pub(crate) struct Nearest<T> {
    hits: Vec<T>,
    most: usize,
    /// Orders two hits, the nearer one first.
    order: fn(&T, &T) -> Ordering,
}

impl<T> Nearest<T> {
    pub(crate) const fn new(most: usize, order: fn(&T, &T) -> Ordering) -> Self {
        Self {
            hits: Vec::new(),
            most,
            order,
        }
    }

    pub(crate) fn push(&mut self, hit: T) {
        self.hits.push(hit);
        if self.hits.len() > self.most.max(SLACK).saturating_mul(2) {
            self.cut();
        }
    }

    /// Returns the hits, nearest first; ties are in the order of the pushes.
    pub(crate) fn sorted(mut self) -> Vec<T> {
        self.cut();
        self.hits
    }

    fn cut(&mut self) {
        self.hits.sort_by(self.order);
        self.hits.truncate(self.most);
    }
}
