//! From settings to the context of a crawl.
//!
//! [`assembly`] puts the parts of a crawl together; [`secrets`] reads what is sent to some servers
//! only, [`signing`] the keys of signed requests. [`on_file`] hands over the files of the archive.
//! [`crawl_store`] and [`shared`] open crawls that exist. The settings themselves are in the crate
//! `settings`.

pub mod archiving;
pub mod assembly;
pub mod comparison_options;
pub mod control;
pub mod crawl_store;
pub mod disk_space;
pub mod earlier;
pub mod features;
pub mod focus;
pub mod membership;
pub mod on_file;
pub mod search_index;
pub mod secrets;
pub mod session_clock;
pub mod shared;
pub mod signing;
mod target_directory;
pub mod widened;
