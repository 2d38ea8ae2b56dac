//! Writes a fingerprint file and its file of names.
//!
//! Both are written to `.part` files, which are renamed once they are complete. The file of names
//! is renamed first, so fingerprints are next to wrong names only for a moment.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use batch::FingerprintWriter;
use disk::{OutputFile, draft_of};
use messages::{CommandError, fault, usage};
use neardup::{Fingerprint, Parameter, SignatureBuilder};
use serde::Serialize;

use super::{Head, VERSION, names_of};

/// A writer of fingerprints and names. Neither file appears unless [`finish`](Self::finish) is
/// called.
pub struct NamedFingerprintWriter {
    path: PathBuf,
    /// The file that `fingerprints` writes.
    out: OutputFile,
    fingerprints: FingerprintWriter,
    names: BufWriter<OutputFile>,
    /// Position of the next name.
    at: u64,
}

impl NamedFingerprintWriter {
    /// Begins the file at `path` for fingerprints of `builder`.
    pub fn create(path: &Path, builder: &SignatureBuilder) -> Result<Self, CommandError> {
        let is_other = path.exists() && !path.is_file();
        if is_other {
            return Err(
                usage(format!("cannot write {}: it is not a file", path.display())).with_remedy(
                    "-o must be a file; the names of documents are written next to it",
                ),
            );
        }
        let digest = builder.fingerprint_digest();
        let out = OutputFile::begin(path).map_err(unwritable(path))?;
        let file = out.file().map_err(unwritable(path))?;
        let fingerprints = FingerprintWriter::of(file, draft_of(path), digest, true)
            .map_err(|error| CommandError::of_usage(&error))?;
        let names = OutputFile::begin(&names_of(path)).map_err(unwritable(path))?;
        let mut writer = Self {
            path: path.to_owned(),
            out,
            fingerprints,
            names: BufWriter::new(names),
            at: 0,
        };
        let parts = builder.fingerprint_parameters().into_iter();
        let head = Head {
            version: VERSION,
            parameters: parts
                .map(|Parameter { name, value }| (name.to_owned(), value))
                .collect(),
        };
        writer.line(&head)?;
        Ok(writer)
    }

    /// Adds a fingerprint and the name of its document.
    pub fn push(&mut self, fingerprint: Fingerprint, name: &str) -> Result<(), CommandError> {
        let at = self.at;
        self.line(&name)?;
        let pushed = self.fingerprints.push(fingerprint, at);
        pushed.map_err(|error| fault(&error))
    }

    /// Syncs both files and gives them their final names. Returns the number of fingerprints.
    pub fn finish(mut self) -> Result<u64, CommandError> {
        let written = self.fingerprints.finish().map_err(|error| fault(&error))?;
        let names = &mut self.names;
        let moved = names
            .flush()
            .and_then(|()| names.get_mut().complete())
            .and_then(|()| self.out.complete());
        moved.map_err(unwritable(&self.path))?;
        Ok(written.len())
    }

    /// Writes a line of the file of names.
    fn line(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        let written = serde_json::to_vec(value).map_err(io::Error::from);
        let written = written.and_then(|mut line| {
            line.push(b'\n');
            self.names.write_all(&line)?;
            Ok(line.len() as u64)
        });
        self.at += written.map_err(unwritable(&self.path))?;
        Ok(())
    }
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> CommandError + Copy {
    move |error| usage(format!("cannot write {}: {error}", path.display()))
}
