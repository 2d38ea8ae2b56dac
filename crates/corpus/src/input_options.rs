//! The options by which files become documents.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::CorpusError;
use crate::paths::is_standard_input;
use crate::positioned_file::PositionedFile;

/// The options of reading documents from files.
#[derive(Clone, Debug)]
pub struct InputOptions {
    /// The field of JSON lines, or the column of a table, with the text. Without a name,
    /// `judged_text` precedes `text`. A dot leads into an object: `page.text`.
    pub text_field: Option<String>,
    /// The field or column with the id. Without a name it is `id`, and a document without one is
    /// named by its file and the number of its line or row. A dot leads into an object.
    pub id_field: Option<String>,
    /// The directory for standard input if it is a format that is not read from front to back.
    pub temp_dir: PathBuf,
    /// Standard input, if it was spooled.
    pub(crate) standard_input: Option<PositionedFile>,
}

impl InputOptions {
    /// Creates options with the usual fields.
    #[must_use]
    pub fn new(temp_dir: impl Into<PathBuf>) -> Self {
        Self {
            text_field: None,
            id_field: None,
            temp_dir: temp_dir.into(),
            standard_input: None,
        }
    }

    /// Returns the spooled bytes of a path, if it is standard input that was spooled.
    pub(crate) fn file(&self, path: &Path) -> Option<PositionedFile> {
        let spooled = self.standard_input.clone();
        spooled.filter(|_| is_standard_input(path))
    }

    /// Copies standard input to a temporary file without a name, so that `-` can be read any number
    /// of times with these options.
    ///
    /// # Errors
    /// [`CorpusError::Spool`] if it cannot be read or [`InputOptions::temp_dir`] cannot take it.
    pub fn spool_standard_input(&mut self) -> Result<(), CorpusError> {
        if self.standard_input.is_none() {
            let spooled = PositionedFile::spool(&mut io::stdin().lock(), &self.temp_dir);
            self.standard_input = Some(spooled.map_err(|source| CorpusError::Spool {
                directory: self.temp_dir.clone(),
                source,
            })?);
        }
        Ok(())
    }
}
