//! The archives of crawls and WARC files of any crawler, as the commands that take several of them
//! read them.

pub(super) mod extent;
pub(super) mod inputs;
pub(super) mod merged;
