//! The options for turning files into documents.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::CorpusError;
use crate::names::{is_read_once, is_standard_input};
use crate::positioned_file::PositionedFile;

/// The options of reading documents from files.
#[derive(Clone, Debug)]
pub struct InputOptions {
    /// The field of JSON lines, or the column of a table, with the text. Without a name,
    /// `compared_text` precedes `text`. A dot selects a field within an object: `page.text`.
    pub text_field: Option<String>,
    /// The field or column with the id. Without a name it is `id`, and a document without one is
    /// named by its file and the number of its line or row. A dot selects a field within an object.
    pub id_field: Option<String>,
    /// True if PDF files are documents, for a [`Reader`](crate::Reader) that reads them.
    pub pdfs: bool,
    /// The directory for standard input if it is a format that is not read from front to back.
    pub temp_dir: PathBuf,
    /// Standard input, pipes and devices that were spooled.
    pub(crate) spooled: Vec<(PathBuf, PositionedFile)>,
}

impl InputOptions {
    /// Creates options with the usual fields.
    #[must_use]
    pub fn new(temp_dir: impl Into<PathBuf>) -> Self {
        Self {
            text_field: None,
            id_field: None,
            pdfs: false,
            temp_dir: temp_dir.into(),
            spooled: Vec::new(),
        }
    }

    /// Returns the spooled bytes of a path, if it was spooled.
    pub(crate) fn file(&self, path: &Path) -> Option<PositionedFile> {
        let mut spooled = self.spooled.iter();
        let (_, file) = spooled.find(|(spooled, _)| spooled == path)?;
        Some(file.clone())
    }

    /// Copies standard input, pipes and devices among `paths` to temporary files without a name, so
    /// that they can be read any number of times with these options.
    ///
    /// # Errors
    /// [`CorpusError::Spool`] if one cannot be read or [`InputOptions::temp_dir`] cannot take it.
    pub fn spool(&mut self, paths: &[PathBuf]) -> Result<(), CorpusError> {
        for path in paths.iter().filter(|path| is_read_once(path)) {
            if self.file(path).is_some() {
                continue;
            }
            let spooled = match is_standard_input(path) {
                true => PositionedFile::spool(&mut io::stdin().lock(), &self.temp_dir),
                false => File::open(path)
                    .and_then(|mut input| PositionedFile::spool(&mut input, &self.temp_dir)),
            };
            let spooled = spooled.map_err(|source| CorpusError::Spool {
                path: path.clone(),
                directory: self.temp_dir.clone(),
                source,
            })?;
            self.spooled.push((path.clone(), spooled));
        }
        Ok(())
    }
}
