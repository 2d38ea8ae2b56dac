//! The payload of an exchange, in memory or outside it.
//!
//! The fetcher stores a large body on disk, so a page of any size needs only the memory of the part
//! being read. Invariant: the bytes of a body never change, and every reader sees all of them.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use bytes::Bytes;

/// Bytes of a stored body that a reader holds at once.
const PIECE: usize = 64 << 10;

/// Bytes outside memory that can be read repeatedly.
pub trait StoredBytes: Send + Sync + fmt::Debug {
    /// Returns the number of bytes.
    fn length(&self) -> u64;

    /// Reads some of the bytes at `offset` into `into` and returns their number; 0 at the end only.
    ///
    /// # Errors
    /// Errors of the system.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// A payload as received.
#[derive(Clone, Debug)]
pub struct Body(Storage);

#[derive(Clone, Debug)]
enum Storage {
    Held(Bytes),
    Stored(Arc<dyn StoredBytes>),
}

impl Body {
    /// Creates a body from stored bytes.
    #[must_use]
    pub fn stored(bytes: Arc<dyn StoredBytes>) -> Self {
        Self(Storage::Stored(bytes))
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Storage::Held(bytes) => bytes.len() as u64,
            Storage::Stored(bytes) => bytes.length(),
        }
    }

    /// Returns true if the body is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes, if they are in memory.
    #[must_use]
    pub fn held(&self) -> Option<&Bytes> {
        match &self.0 {
            Storage::Held(bytes) => Some(bytes),
            Storage::Stored(_) => None,
        }
    }

    /// Returns the first `most` bytes, or all bytes of a shorter body. Bytes in memory are not
    /// copied.
    ///
    /// # Errors
    /// Errors of the system while reading stored bytes.
    pub fn beginning(&self, most: u64) -> io::Result<Bytes> {
        match &self.0 {
            Storage::Held(bytes) => {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                Ok(bytes.slice(..bytes.len().min(most)))
            }
            Storage::Stored(bytes) => {
                let length = usize::try_from(bytes.length().min(most)).unwrap_or(usize::MAX);
                let mut beginning = Vec::with_capacity(length);
                self.reader().take(most).read_to_end(&mut beginning)?;
                Ok(beginning.into())
            }
        }
    }

    /// Returns a reader of the whole body.
    #[must_use]
    pub fn reader(&self) -> BodyReader<'_> {
        BodyReader(match &self.0 {
            Storage::Held(bytes) => Source::Held(bytes),
            Storage::Stored(bytes) => Source::Stored {
                bytes: &**bytes,
                offset: 0,
                piece: Vec::new(),
                used: 0,
            },
        })
    }

    /// Returns all the bytes, in memory.
    ///
    /// # Errors
    /// Errors of the system while reading stored bytes.
    pub fn to_bytes(&self) -> io::Result<Bytes> {
        self.beginning(u64::MAX)
    }

    /// Passes all the bytes to `use_piece`, piece by piece.
    ///
    /// # Errors
    /// Errors of the system while reading stored bytes.
    pub fn for_each_piece(&self, mut use_piece: impl FnMut(&[u8])) -> io::Result<()> {
        let mut reader = self.reader();
        loop {
            let piece = reader.fill_buf()?;
            if piece.is_empty() {
                return Ok(());
            }
            use_piece(piece);
            let length = piece.len();
            reader.consume(length);
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self(Storage::Held(Bytes::new()))
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self(Storage::Held(bytes.into()))
    }
}

/// A reader of a [`Body`].
#[derive(Debug)]
pub struct BodyReader<'a>(Source<'a>);

#[derive(Debug)]
enum Source<'a> {
    Held(&'a [u8]),
    Stored {
        bytes: &'a dyn StoredBytes,
        /// Offset of the next piece.
        offset: u64,
        piece: Vec<u8>,
        used: usize,
    },
}

impl BufRead for BodyReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.0 {
            Source::Held(rest) => Ok(rest),
            Source::Stored {
                bytes,
                offset,
                piece,
                used,
            } => {
                if *used == piece.len() {
                    piece.resize(PIECE, 0);
                    *used = 0;
                    let read = bytes.read_at(piece, *offset);
                    piece.truncate(*read.as_ref().unwrap_or(&0));
                    *offset += read? as u64;
                }
                Ok(&piece[*used..])
            }
        }
    }

    fn consume(&mut self, amount: usize) {
        match &mut self.0 {
            Source::Held(rest) => rest.consume(amount),
            Source::Stored { piece, used, .. } => *used = (*used + amount).min(piece.len()),
        }
    }
}

impl Read for BodyReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let piece = self.fill_buf()?;
        let length = piece.len().min(into.len());
        into[..length].copy_from_slice(&piece[..length]);
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct InPieces(Vec<u8>, usize);

    impl StoredBytes for InPieces {
        fn length(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
            let rest = &self.0[usize::try_from(offset).unwrap()..];
            let length = rest.len().min(into.len()).min(self.1);
            into[..length].copy_from_slice(&rest[..length]);
            Ok(length)
        }
    }

    #[derive(Debug)]
    struct Unreadable;

    impl StoredBytes for Unreadable {
        fn length(&self) -> u64 {
            1
        }

        fn read_at(&self, _into: &mut [u8], _offset: u64) -> io::Result<usize> {
            Err(io::ErrorKind::Other.into())
        }
    }

    #[test]
    fn a_stored_body_reads_like_one_in_memory() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        for body in [
            Body::from(bytes.clone()),
            Body::stored(Arc::new(InPieces(bytes.clone(), 7_001))),
            Body::stored(Arc::new(InPieces(bytes.clone(), 1 << 20))),
        ] {
            assert_eq!(body.len(), 200_000);
            assert_eq!(body.to_bytes().unwrap(), bytes);
            assert_eq!(body.beginning(3).unwrap(), &bytes[..3]);
            let mut pieces = Vec::new();
            body.for_each_piece(|piece| pieces.extend_from_slice(piece))
                .unwrap();
            assert_eq!(pieces, bytes);
            let mut read = Vec::new();
            body.reader().read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
        }
    }

    #[test]
    fn an_error_of_the_store_is_an_error_of_the_reader() {
        let body = Body::stored(Arc::new(Unreadable));
        assert!(body.to_bytes().is_err());
        assert!(body.for_each_piece(|_piece| ()).is_err());
    }
}
