//! Writes a fingerprint index and its file of names.
//!
//! The names are the same as for the fingerprint file: a hard link to its file of names, or a copy
//! if the file system does not support links. Both files are drafts until they are complete, and
//! the names appear first, as for a fingerprint file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use batch::{Control, FingerprintIndex, IndexOptions, IndexWriter};
use disk::{DraftPath, OutputFile, clear_draft, draft_of};
use messages::{CommandError, usage};

use super::{NamedFingerprints, names_of, of_batch};

/// A writer of an index and its names. Neither file appears unless [`write`](Self::write) is
/// called.
pub struct NamedIndexWriter<'s> {
    source: &'s NamedFingerprints,
    path: PathBuf,
    out: OutputFile,
}

impl<'s> NamedIndexWriter<'s> {
    /// Begins the index of `source` at `path`.
    pub fn create(source: &'s NamedFingerprints, path: &Path) -> Result<Self, CommandError> {
        if path.exists() && !path.is_file() {
            let message = format!("cannot write {}: it is not a file", path.display());
            return Err(usage(message));
        }
        let is_source = [source.path(), path].map(Path::canonicalize);
        if let [Ok(one), Ok(other)] = is_source
            && one == other
        {
            let path = path.display();
            return Err(
                usage(format!("{path} is the file of fingerprints to index"))
                    .with_remedy("choose another file for --save-index"),
            );
        }
        Ok(Self {
            source,
            path: path.to_owned(),
            out: OutputFile::begin(path).map_err(unwritable(path))?,
        })
    }

    /// Writes the index and gives both files their final names.
    pub fn write(
        mut self,
        options: &IndexOptions,
        control: Control<'_>,
    ) -> Result<FingerprintIndex, CommandError> {
        let unwritable = unwritable(&self.path);
        let file = self.out.file().map_err(unwritable)?;
        let writer = IndexWriter::new(draft_of(&self.path), file);
        let written = writer.write(self.source.file()?, options, control);
        written.map_err(|error| of_batch(&error))?;
        let own = names_of(&self.path);
        match &self.source.names {
            Some(names) => link_or_copy(&names.path, &own).map_err(unwritable)?,
            // Otherwise the names of an earlier index would be mistaken for this index's names.
            None => match fs::remove_file(&own) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(unwritable(error));
                }
                _ => {}
            },
        }
        self.out.complete().map_err(unwritable)?;
        FingerprintIndex::open(&self.path).map_err(|error| of_batch(&error))
    }
}

/// Gives `path` the content of a file that is never modified in place.
fn link_or_copy(from: &Path, path: &Path) -> io::Result<()> {
    // A link is not an `OutputFile`: nothing is written.
    let linked = DraftPath::begin(&draft_of(path), |draft| {
        drop(clear_draft(draft)?);
        fs::hard_link(from, draft)
    });
    if let Ok(((), draft)) = linked {
        return draft.complete_with(|draft| {
            fs::rename(draft, path)?;
            // Nothing is renamed if both are links to one file already (POSIX rename()).
            match fs::remove_file(draft) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            }
        });
    }
    let mut copy = OutputFile::begin(path)?;
    io::copy(&mut File::open(from)?, &mut copy)?;
    copy.complete()
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> CommandError + Copy {
    move |error| usage(format!("cannot write {}: {error}", path.display()))
}
