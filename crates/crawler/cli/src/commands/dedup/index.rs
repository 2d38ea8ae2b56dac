//! The index of originals that `--save-index` writes for later runs.

use std::io;
use std::path::{Path, PathBuf};

use batch::BatchError;
use batch::dedup::{Document, Original};
use batch::signature_file::{SignatureHeader, SignatureWriter};
use disk::OutputFile;
use messages::{CommandError, fault, usage};
use settings::input::unwritable;

/// An index that gets its final name once it is complete, so a run can replace the index that it
/// reads.
pub(super) struct IndexDraft {
    path: PathBuf,
    writer: SignatureWriter<OutputFile>,
    originals: u64,
}

impl IndexDraft {
    /// Begins the index at `path`. An existing index is replaced only if it is in `against`, so
    /// that its entries are not lost.
    pub(super) fn begin(
        path: &Path,
        against: &[PathBuf],
        header: &SignatureHeader,
    ) -> Result<Self, CommandError> {
        let is_same = |other: &PathBuf| match (other.canonicalize(), path.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        };
        if path.exists() && !against.iter().any(is_same) {
            let shown = path.display();
            return Err(usage(format!("{shown} exists")).with_remedy(format!(
                "--against {shown} --save-index {shown} adds to it; otherwise choose another file"
            )));
        }
        let draft = OutputFile::replacing(path).map_err(unwritable(path))?;
        let writer = SignatureWriter::begin(draft, path, header);
        Ok(Self {
            path: path.to_owned(),
            writer: writer.map_err(|error| fault(&error))?,
            originals: 0,
        })
    }

    /// Adds an original.
    pub(super) fn add(&mut self, original: &Original<'_>) -> Result<(), BatchError> {
        let document = Document {
            id: original.document.clone(),
            signature: original.signature.clone(),
        };
        self.writer.push(self.originals, &document)?;
        self.originals += 1;
        Ok(())
    }

    /// Syncs the index and gives it its name.
    pub(super) fn complete(self) -> Result<(), CommandError> {
        let draft = self.writer.finish(self.originals);
        let completed = draft
            .map_err(io::Error::other)
            .and_then(|mut draft| draft.complete());
        completed.map_err(unwritable(&self.path))
    }
}
