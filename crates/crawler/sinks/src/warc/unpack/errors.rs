//! The errors of unpacking, by kind: `InvalidData` for damage, `UnexpectedEof` for a torn end.

use std::io;

/// Returns the error of packed bytes that break their format.
pub(super) fn broken(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Returns the error of a file that ends within a member.
pub(super) fn torn() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
