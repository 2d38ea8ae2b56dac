//! Disk errors: the operating system error behind a fault, and its remedy.

use std::error::Error;
use std::io;
use std::path::Path;

use disk::DiskErrorKind;

use crate::shell::pasted;

/// Returns the remedy for a fault, based on the operating system error behind it.
pub fn remedy_of(error: &(dyn Error + 'static), out: &Path) -> String {
    let kind = io_error_in(error).map_or(DiskErrorKind::Broken, DiskErrorKind::of);
    remedy_for(kind, out)
}

/// Returns true if a full disk caused an error. EFBIG does not count: waiting does not help against
/// a file size limit.
pub(crate) fn is_full(error: &(dyn Error + 'static)) -> bool {
    let kind = io_error_in(error).map(io::Error::kind);
    kind.is_some_and(|kind| {
        [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded].contains(&kind)
    })
}

/// Returns the operating system error in the chain of causes.
fn io_error_in<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e io::Error> {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.find_map(|cause| cause.downcast_ref())
}

/// Returns the remedy for a kind of disk error.
pub fn remedy_for(kind: DiskErrorKind, out: &Path) -> String {
    let what = match kind {
        DiskErrorKind::Full => "free some space",
        DiskErrorKind::ReadOnly => {
            "mount the file system for writing, and check your write permission"
        }
        DiskErrorKind::TooManyFiles => {
            "allow more open files (`ulimit -n 4096`, or LimitNOFILE= of a service)"
        }
        DiskErrorKind::Broken => "repair the disk (see the system log)",
    };
    format!(
        "nothing is lost: {what}, then continue with `crawler --out {}`",
        pasted(out)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_follows_the_io_error_at_any_depth() {
        #[derive(Debug)]
        struct Outer(io::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("outer")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let full = Outer(io::ErrorKind::StorageFull.into());
        assert!(
            remedy_of(&full, Path::new("monday"))
                .contains("free some space, then continue with `crawler --out monday`")
        );
        #[cfg(unix)]
        {
            let too_many = remedy_of(
                &Outer(io::Error::from_raw_os_error(24)),
                Path::new("monday"),
            );
            assert!(too_many.contains("allow more open files"), "{too_many}");
            assert!(!too_many.contains("repair the disk"), "{too_many}");
        }
        let read_only = Outer(io::ErrorKind::ReadOnlyFilesystem.into());
        assert!(remedy_of(&read_only, Path::new("monday")).contains("for writing"));
    }
}
