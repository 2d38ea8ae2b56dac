//! The kinds of disk errors, by what can be done about them.

use std::io::{self, ErrorKind};

/// A kind of disk error, by its remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiskErrorKind {
    /// The disk is full: wait for space, or end.
    Full,
    /// Writing is not permitted: somebody must allow it.
    ReadOnly,
    /// Any other error: written data may be lost.
    Broken,
}

impl DiskErrorKind {
    /// Returns the kind of `error`.
    #[must_use]
    pub fn of(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full
            }
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Self::ReadOnly,
            _ => Self::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_classified_by_its_remedy() {
        for (kind, expected) in [
            (ErrorKind::StorageFull, DiskErrorKind::Full),
            (ErrorKind::QuotaExceeded, DiskErrorKind::Full),
            (ErrorKind::FileTooLarge, DiskErrorKind::Full),
            (ErrorKind::ReadOnlyFilesystem, DiskErrorKind::ReadOnly),
            (ErrorKind::PermissionDenied, DiskErrorKind::ReadOnly),
            (ErrorKind::NotFound, DiskErrorKind::Broken),
            (ErrorKind::UnexpectedEof, DiskErrorKind::Broken),
        ] {
            assert_eq!(DiskErrorKind::of(&kind.into()), expected, "{kind}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_error_numbers_of_linux_are_classified() {
        // ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, EIO
        for (number, expected) in [
            (28, DiskErrorKind::Full),
            (122, DiskErrorKind::Full),
            (27, DiskErrorKind::Full),
            (30, DiskErrorKind::ReadOnly),
            (13, DiskErrorKind::ReadOnly),
            (1, DiskErrorKind::ReadOnly),
            (5, DiskErrorKind::Broken),
        ] {
            assert_eq!(
                DiskErrorKind::of(&io::Error::from_raw_os_error(number)),
                expected
            );
        }
    }
}
