//! Options for reading documents from files, and options of long-running commands.

use std::path::{Path, PathBuf};

use clap::Args;
use corpus::{InputOptions, is_standard_input};
use settings::machine::usual_temp_dir;
use settings::values::Size;

/// The fields of documents in JSON lines and tables.
#[derive(Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// Field that contains the text, in JSON lines, Parquet and Arrow; page.text is the field text
    /// of the object page [default: compared_text, else text]
    #[arg(long, value_name = "NAME")]
    pub(crate) text_field: Option<String>,
    /// Field that contains the id [default: id, else the file and the line or row number]
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
        options.pdfs = true;
        options
    }
}

/// The options of a work that may exceed the memory and takes a while.
#[derive(Debug, Default, Args)]
pub(crate) struct WorkArgs {
    /// Approximate memory limit; the rest goes to temporary files [default: 512MiB; 256MiB for
    /// matches, pairs or an index of `query`]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Size>,
    /// Directory for temporary files [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
    /// Write to this file instead of standard output (-): to FILE.part, which is renamed to FILE
    /// when complete
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show neither progress nor the closing line
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl WorkArgs {
    /// Returns the file to write; `None` for standard output, including `-`.
    pub(crate) fn output(&self) -> Option<&Path> {
        let output = self.output.as_deref();
        output.filter(|path| !is_standard_input(path))
    }

    /// Returns the memory limit in bytes, if given.
    pub(crate) fn memory(&self) -> Option<usize> {
        let memory = self.memory?;
        Some(usize::try_from(memory.0).unwrap_or(usize::MAX))
    }

    /// Returns the directory for temporary files.
    pub(crate) fn temp_dir(&self) -> PathBuf {
        self.temp_dir.clone().unwrap_or_else(usual_temp_dir)
    }
}
