//! The listener of this binary: lines and counts on standard error.

use messages::{Counter, Listener};

use crate::progress::SlowCounter;
use crate::terminal;

/// Standard error.
pub(crate) struct StandardError;

impl Listener for StandardError {
    fn say(&self, line: &str) {
        terminal::say(line);
    }

    fn counter(&self, what: &'static str) -> Box<dyn Counter> {
        Box::new(SlowCounter::new(what))
    }
}
