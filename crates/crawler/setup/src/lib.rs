//! From settings and files to the context of a crawl.
//!
//! [`settings`] merges defaults, preset, file and flags; [`seeds`] and [`secrets`] read what they
//! name; [`assembly`] puts the parts of a crawl together. [`crawl_directory`], [`crawl_store`] and
//! [`shared`] open crawls that exist.

pub mod archiving;
pub mod assembly;
pub mod comparison_options;
pub mod control;
pub mod crawl_directory;
pub mod crawl_store;
pub mod disk_space;
pub mod earlier;
pub mod features;
pub mod focus;
pub mod input;
pub mod limits;
pub mod machine;
pub mod membership;
pub mod preset;
pub mod read_again;
pub mod search_index;
pub mod secrets;
pub mod seeds;
pub mod session_clock;
pub mod settings;
pub mod shared;
pub mod skip_report;
pub mod suggestions;
pub mod topic_of;
pub mod values;
pub mod widened;
