//! Temporary storage for data that exceed the memory: files without names, which vanish with the
//! process however it ends.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::BatchError;

/// A directory for temporary files, which counts the bytes written there.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: PathBuf,
    written: AtomicU64,
}

impl Scratch {
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            written: AtomicU64::new(0),
        }
    }

    /// Returns the number of bytes written in all.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    pub(crate) fn file(&self) -> Result<SpillFile, BatchError> {
        let file = tempfile::tempfile_in(&self.directory).map_err(|source| self.error(source))?;
        Ok(SpillFile {
            file,
            directory: self.directory.clone(),
            len: 0,
        })
    }

    fn error(&self, source: io::Error) -> BatchError {
        BatchError::Scratch {
            directory: self.directory.clone(),
            written: self.written(),
            source,
        }
    }
}

/// A file that is appended to and read anywhere.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: File,
    directory: PathBuf,
    len: u64,
}

impl SpillFile {
    /// Appends `bytes`; returns their position.
    pub(crate) fn append(&mut self, scratch: &Scratch, bytes: &[u8]) -> Result<u64, BatchError> {
        let at = self.len;
        self.file
            .write_all_at(bytes, at)
            .map_err(|source| scratch.error(source))?;
        self.len += bytes.len() as u64;
        scratch
            .written
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(at)
    }

    /// Reads `bytes` from position `at` on.
    pub(crate) fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<(), BatchError> {
        self.file
            .read_exact_at(bytes, at)
            .map_err(|source| BatchError::Scratch {
                directory: self.directory.clone(),
                written: self.len,
                source,
            })
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }
}

/// A growing byte string, in memory up to a limit and in a file beyond it.
#[derive(Debug)]
pub(crate) struct SpillBuffer<'s> {
    scratch: &'s Scratch,
    limit: usize,
    file: Option<SpillFile>,
    /// The part that is not in the file: all, or the end.
    tail: Vec<u8>,
}

/// The number of bytes that are written to the file at once.
const AT_ONCE: usize = 1 << 20;

impl<'s> SpillBuffer<'s> {
    /// Creates an empty buffer that holds `limit` bytes in memory.
    pub(crate) fn new(scratch: &'s Scratch, limit: usize) -> Self {
        Self {
            scratch,
            limit,
            file: None,
            tail: Vec::new(),
        }
    }

    /// Appends `bytes`.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), BatchError> {
        self.tail.extend_from_slice(bytes);
        if self.file.is_none() && self.tail.len() > self.limit {
            self.file = Some(self.scratch.file()?);
        }
        if let Some(file) = &mut self.file
            && self.tail.len() >= AT_ONCE.min(self.limit)
        {
            file.append(self.scratch, &self.tail)?;
            self.tail.clear();
            self.tail.shrink_to(AT_ONCE);
        }
        Ok(())
    }

    /// Reads `bytes` from position `at` on; they must have been appended.
    pub(crate) fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<(), BatchError> {
        let in_file = self.filed().saturating_sub(at).min(bytes.len() as u64) as usize;
        let (from_file, from_tail) = bytes.split_at_mut(in_file);
        if let (Some(file), false) = (&self.file, from_file.is_empty()) {
            file.read_at(at, from_file)?;
        }
        if !from_tail.is_empty() {
            let start = (at + in_file as u64 - self.filed()) as usize;
            from_tail.copy_from_slice(&self.tail[start..start + from_tail.len()]);
        }
        Ok(())
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.filed() + self.tail.len() as u64
    }

    fn filed(&self) -> u64 {
        self.file.as_ref().map_or(0, SpillFile::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_missing_directory_is_named() {
        let error = Scratch::new(Path::new("/no/such/place"))
            .file()
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot use /no/such/place for temporary files"
        );
    }

    proptest! {
        #[test]
        fn a_buffer_reads_appended_bytes_at_any_position(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..30),
            limit in 0_usize..400,
            places in prop::collection::vec((0.0..1.0, 0.0..1.0), 10),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let scratch = Scratch::new(directory.path());
            let mut buffer = SpillBuffer::new(&scratch, limit);
            for part in &parts {
                buffer.append(part).unwrap();
            }
            let all = parts.concat();
            prop_assert_eq!(buffer.len(), all.len() as u64);
            prop_assert_eq!(scratch.written() > 0, all.len() > limit);
            for (start, length) in places {
                let start = (start * all.len() as f64) as usize;
                let length = (length * (all.len() - start) as f64) as usize;
                let mut read = vec![0; length];
                buffer.read_at(start as u64, &mut read).unwrap();
                prop_assert_eq!(&read, &all[start..start + length]);
            }
        }
    }
}
