//! The progress of a function that may take a while.

use crate::listener::{Counter, installed};

/// A count of items, shown by the listener if the work takes a while.
pub struct SlowProgress {
    counter: Option<Box<dyn Counter>>,
    steps: u64,
}

impl SlowProgress {
    /// Begins to count. `what` names the counted items.
    pub fn new(what: &'static str) -> Self {
        Self {
            counter: installed().map(|listener| listener.counter(what)),
            steps: 0,
        }
    }

    /// Counts one more item.
    pub fn step(&mut self) {
        self.steps += 1;
        if self.steps.is_multiple_of(256) {
            self.show(self.steps);
        }
    }

    /// Shows this number of items.
    pub fn show(&self, items: u64) {
        if let Some(counter) = &self.counter {
            counter.show(items);
        }
    }

    /// Changes the name of the counted items.
    pub fn name(&self, what: &'static str) {
        if let Some(counter) = &self.counter {
            counter.name(what);
        }
    }
}
