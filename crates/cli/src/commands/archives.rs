//! Input of commands that read several archives: archives of crawls, and WARC files of any crawler.

pub(super) mod extent;
pub(super) mod inputs;
pub(super) mod merged;
