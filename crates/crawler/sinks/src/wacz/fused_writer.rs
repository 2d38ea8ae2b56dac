//! A writer that discards everything after an error.
//!
//! A dropped ZIP writer completes its file as if it were whole, and reports errors on standard
//! error. Neither is acceptable: an incomplete file must not look complete, and the error was
//! returned already. So after an error, or once the packer is dropped, nothing passes.

use std::cell::Cell;
use std::io::{self, Seek, SeekFrom, Write};
use std::rc::Rc;

/// Forwards writes until it is shut or fails.
pub struct FusedWriter<W> {
    out: W,
    is_shut: Rc<Cell<bool>>,
    at: u64,
}

/// Shuts the writer when it is dropped.
pub(super) struct FuseGuard(Rc<Cell<bool>>);

impl<W> FusedWriter<W> {
    pub(super) fn over(out: W) -> (Self, FuseGuard) {
        let is_shut = Rc::new(Cell::new(false));
        let guard = FuseGuard(Rc::clone(&is_shut));
        (
            Self {
                out,
                is_shut,
                at: 0,
            },
            guard,
        )
    }

    /// Returns the inner writer.
    #[must_use]
    pub fn into_inner(self) -> W {
        self.out
    }

    fn shut_on_error<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.is_shut.set(true);
        }
        done
    }
}

impl Drop for FuseGuard {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

impl<W: Write> Write for FusedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self.is_shut.get() {
            true => Ok(bytes.len()),
            false => self.out.write(bytes),
        };
        let length = self.shut_on_error(written)?;
        self.at += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_shut.get() {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.shut_on_error(flushed)
    }
}

impl<W: Seek> Seek for FusedWriter<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if !self.is_shut.get() {
            let sought = self.out.seek(to);
            self.at = self.shut_on_error(sought)?;
            return Ok(self.at);
        }
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(_) => self.at,
        };
        Ok(self.at)
    }
}
