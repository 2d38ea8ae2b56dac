//! Input of commands that read several archives: archives of crawls, and WARC files of any crawler.

pub(crate) mod extent;
pub(crate) mod inputs;
pub(crate) mod merged;
