//! A failure of the attack itself, not of the crawler.

use std::error::Error;

/// Any error; the section that meets it is a row that misses.
pub(crate) type Failure = Box<dyn Error>;
