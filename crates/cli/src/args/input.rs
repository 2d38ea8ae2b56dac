//! The options by which files become documents.

use std::path::{Path, PathBuf};

use clap::Args;
use corpus::InputOptions;

/// The fields of documents in JSON lines and tables.
#[derive(Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// The field with the text, in JSON lines, Parquet and Arrow; page.text is the field text
    /// within page [default: judged_text, else text]
    #[arg(long, value_name = "NAME")]
    pub(crate) text_field: Option<String>,
    /// The field with the id [default: id, else the file and the number of the line or row]
    #[arg(long, value_name = "NAME")]
    pub(crate) id_field: Option<String>,
}

impl InputArgs {
    /// Returns the options of reading, with the directory for temporary files [default: the
    /// system's].
    pub(crate) fn options(&self, temp_dir: Option<&Path>) -> InputOptions {
        let mut options = InputOptions::new(temp_dir.map_or_else(usual_temp_dir, Path::to_owned));
        options.text_field.clone_from(&self.text_field);
        options.id_field.clone_from(&self.id_field);
        options
    }
}

/// Returns the system's directory for temporary files.
#[expect(
    clippy::disallowed_methods,
    reason = "a corpus has no directory of ours to write below"
)]
pub(crate) fn usual_temp_dir() -> PathBuf {
    std::env::temp_dir()
}
