//! A failure of the attack itself, not of the crawler.

use std::error::Error;

/// Any error; its section becomes a row that misses.
pub(crate) type Failure = Box<dyn Error>;
