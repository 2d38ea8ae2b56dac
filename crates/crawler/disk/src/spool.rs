//! Temporary bytes that do not fit in memory, in an unnamed file.
//!
//! A spool never outlives the process: its file is created without a name (`O_TMPFILE`) or loses
//! the name at once, so a killed process leaves nothing behind. The bytes are not durable and do
//! not go through [`crate::Disk`]; an error ends one piece of work and never damages a file.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// An unnamed file, open for appending.
#[derive(Debug)]
pub struct Spool {
    file: File,
    length: u64,
}

/// The bytes of a finished [`Spool`].
#[derive(Debug)]
pub struct Spooled(Spool);

impl Spool {
    /// Creates an empty spool on the file system of `directory`, which exists.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub fn in_directory(directory: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(directory)?;
        Ok(Self { file, length: 0 })
    }

    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// I/O errors of the system; then none of `bytes` counts as appended.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.seek(SeekFrom::Start(self.length));
        written.and_then(|_at| self.file.write_all(bytes))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Reads bytes at `offset` into `into` and returns their number, which is 0 only at the end.
    ///
    /// # Errors
    /// I/O errors of the system; [`io::ErrorKind::UnexpectedEof`] if written bytes are gone.
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = self.length.saturating_sub(offset);
        let most = into.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        match read_at(&self.file, &mut into[..most], offset)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }

    /// Returns the number of bytes appended.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Ends writing.
    #[must_use]
    pub fn finish(self) -> Spooled {
        Spooled(self)
    }
}

impl Spooled {
    /// Returns the number of bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.0.length
    }

    /// Reads bytes at `offset` into `into` and returns their number, which is 0 only at the end.
    ///
    /// # Errors
    /// I/O errors of the system; [`io::ErrorKind::UnexpectedEof`] if written bytes are gone.
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }
}

/// Reads bytes at `offset` into `into` and returns their number. Does not move the position that
/// clones of `file` share.
///
/// # Errors
/// I/O errors of the system.
#[cfg(unix)]
pub fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, offset)
}

/// Reads bytes at `offset` into `into` and returns their number. Moves the position of `file`.
///
/// # Errors
/// I/O errors of the system.
#[cfg(windows)]
pub fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spooled_bytes_can_be_read_at_any_offset_and_leave_no_name() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = Spool::in_directory(directory.path()).unwrap();
        spool.append(b"hello, ").unwrap();
        spool.append(b"disk").unwrap();
        assert_eq!(
            spool.read_at(&mut [0; 4], 9).unwrap(),
            2,
            "readable before its end"
        );
        assert_eq!(spool.length(), 11);
        let spooled = spool.finish();
        let mut piece = [0; 4];
        for (offset, expected) in [(0, "hell"), (7, "disk"), (9, "sk"), (11, ""), (99, "")] {
            let read = spooled.read_at(&mut piece, offset).unwrap();
            assert_eq!(&piece[..read], expected.as_bytes(), "{offset}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
