//! A directory of Markdown files, one per text, named after the URLs of their pages.

use std::path::Path;

use export::{ExportFault, ExtractedText, TextRules, Visits, markdown_file};
use messages::CommandError;
use unpack::{FileKind, FileNames};

use crate::tree::{Existing, Tree};

/// An unfinished directory of Markdown files.
pub struct MarkdownFiles {
    names: FileNames,
    tree: Tree,
}

impl MarkdownFiles {
    /// Begins the directory `output`, which must be empty or not exist. `state` is the state of the
    /// crawl whose texts are written: the name of a file depends on the URLs of all.
    ///
    /// # Errors
    /// The directory cannot be made, or the journal cannot be read.
    pub fn begin(output: &Path, state: &Path, rules: &TextRules) -> Result<Self, CommandError> {
        let mut urls = Vec::new();
        for visit in Visits::open(state, false)? {
            let record = visit?.record;
            if rules.is_wanted(&record) {
                urls.push((record.url.as_str().to_owned(), FileKind::Markdown));
            }
        }
        let remedy = "choose another directory, or remove this one";
        Ok(Self {
            names: FileNames::assign(urls),
            tree: Tree::begin(output, Existing::Refused(remedy))?,
        })
    }

    /// Writes the file of a text.
    pub(super) fn write(&self, text: &ExtractedText<'_>) -> Result<(), ExportFault> {
        // Every visited page has a host, so its URL has a file.
        let Some(path) = self.names.get(text.url) else {
            return Ok(());
        };
        let file = markdown_file(text);
        Ok(self.tree.add(path, &mut file.as_bytes())?)
    }

    /// Gives the directory its final name.
    pub(super) fn complete(self) -> Result<(), ExportFault> {
        Ok(self.tree.complete_new()?)
    }
}
