//! What an error of the disk asks for.

use std::io::{self, ErrorKind};

/// Why the disk refused, sorted by what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// There is no room: wait for some, or end.
    Full,
    /// Nothing may be written there: somebody must allow it.
    ReadOnly,
    /// Anything else: what was written may be gone.
    Broken,
}

impl Trouble {
    /// What `error` is.
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
    fn an_error_is_sorted_by_what_can_be_done_about_it() {
        for (kind, expected) in [
            (ErrorKind::StorageFull, Trouble::Full),
            (ErrorKind::QuotaExceeded, Trouble::Full),
            (ErrorKind::FileTooLarge, Trouble::Full),
            (ErrorKind::ReadOnlyFilesystem, Trouble::ReadOnly),
            (ErrorKind::PermissionDenied, Trouble::ReadOnly),
            (ErrorKind::NotFound, Trouble::Broken),
            (ErrorKind::UnexpectedEof, Trouble::Broken),
        ] {
            assert_eq!(Trouble::of(&kind.into()), expected, "{kind}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_says_it_in_numbers() {
        // ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, EIO
        for (number, expected) in [
            (28, Trouble::Full),
            (122, Trouble::Full),
            (27, Trouble::Full),
            (30, Trouble::ReadOnly),
            (13, Trouble::ReadOnly),
            (1, Trouble::ReadOnly),
            (5, Trouble::Broken),
        ] {
            assert_eq!(Trouble::of(&io::Error::from_raw_os_error(number)), expected);
        }
    }
}
