//! The output at a path: a file that gets its name once it is complete, a device, a pipe, or
//! standard output.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use disk::OutputFile;

use crate::names::is_standard_input;

/// An error of an output, with the number of bytes before it.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {} after {written} bytes", path.display())]
pub(crate) struct DraftError {
    pub(crate) path: PathBuf,
    pub(crate) written: u64,
    pub(crate) source: io::Error,
}

impl DraftError {
    /// Adds the output to an error of the system.
    pub(crate) fn of(out: &OutputFile, source: io::Error) -> Self {
        Self {
            path: out.path().to_owned(),
            written: out.written(),
            source,
        }
    }
}

/// Begins the output at `path`. Other targets than files are written directly; `-` is standard
/// output.
pub(crate) fn begin(path: &Path) -> Result<OutputFile, DraftError> {
    let is_special = path.metadata().is_ok_and(|about| !about.is_file());
    let begun = if is_standard_input(path) {
        let out = io::stdout().as_fd().try_clone_to_owned();
        out.map(|out| OutputFile::direct(path, File::from(out)))
    } else if is_special {
        let device = File::options().write(true).open(path);
        device.map(|device| OutputFile::direct(path, device))
    } else {
        OutputFile::begin(path)
    };
    begun.map_err(|source| DraftError {
        path: path.to_owned(),
        written: 0,
        source,
    })
}

/// Completes an output and returns the number of bytes written.
pub(crate) fn complete(out: &mut OutputFile) -> Result<u64, DraftError> {
    match out.complete() {
        Ok(()) => Ok(out.written()),
        Err(source) => Err(DraftError::of(out, source)),
    }
}
