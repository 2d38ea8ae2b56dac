//! The reading part of exports: visits, and the links and texts of archived pages.

mod audit;
mod destination;
mod links;
mod markdown_files;
mod pages;

pub use self::audit::SiteAudit;
pub use self::destination::{Destination, Target};
pub use self::links::FailedUrls;
pub use self::markdown_files::MarkdownFiles;
pub use self::pages::{PageBatch, PageRecords};
