//! Kinds of disk errors, by remedy.

use std::io::{self, ErrorKind};

/// Kind of a disk error, by its remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiskErrorKind {
    /// The disk is full: wait for space, or end.
    Full,
    /// Writing is not permitted: somebody must allow it.
    ReadOnly,
    /// The process or the system has too many files open: raise a limit. The disk is sound.
    TooManyFiles,
    /// Any other error: written data may be lost.
    Broken,
}

impl DiskErrorKind {
    /// Returns the kind of `error`.
    #[must_use]
    pub fn of(error: &io::Error) -> Self {
        match error.kind() {
            _ if is_shortage_of_files(error) => Self::TooManyFiles,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full
            }
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Self::ReadOnly,
            _ => Self::Broken,
        }
    }
}

/// Returns true if no file or connection can be opened because too many are open: in this process
/// (EMFILE), or in the whole system (ENFILE; POSIX, open()).
#[must_use]
pub fn is_shortage_of_files(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    const WSAEMFILE: i32 = 10_024;
    let codes: &[i32] = if cfg!(windows) {
        &[WSAEMFILE]
    } else {
        &[ENFILE, EMFILE]
    };
    error
        .raw_os_error()
        .is_some_and(|code| codes.contains(&code))
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
        #[cfg(unix)]
        for code in [23, 24] {
            let error = io::Error::from_raw_os_error(code);
            assert_eq!(
                DiskErrorKind::of(&error),
                DiskErrorKind::TooManyFiles,
                "{error}"
            );
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
