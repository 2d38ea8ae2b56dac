//! The settings of a crawl and its directory, as values.
//!
//! [`Settings`] merges defaults, preset, file and flags; [`seeds`] reads the seeds that they name.
//! [`rules`] derives the rules of a crawl from them. [`crawl_directory`] finds the files of a crawl
//! that exists, [`read_again`] reads its archived pages by these rules. Nothing here sends a
//! request, and nothing opens a store or a search index: `setup` assembles a crawl, and questions
//! about a crawl need no more than this.

pub mod control_in_force;
pub mod crawl_directory;
pub mod crawl_topic;
pub mod features;
pub mod input;
pub mod limits;
pub mod machine;
pub mod preset;
pub mod read_again;
pub mod rules;
pub mod seeds;
pub mod series;
pub mod settings_as_input;
pub mod skip_report;
pub mod suggestions;
pub mod topic_of;
pub mod values;

mod secret_options;
mod settings;

pub use secret_options::SECRET_OPTIONS;
pub use settings::{
    HostTables, Origin, Origins, PrefixTables, SETTINGS_FILE, SeedTables, Settings, one_line,
};
