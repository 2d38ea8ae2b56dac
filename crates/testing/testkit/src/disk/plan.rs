//! Plans of the calls that fail, and of their errors.

use std::io;
use std::path::PathBuf;

/// A call that changes files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The first is 1.
    pub number: u64,
    /// The kind of the call.
    pub kind: CallKind,
    /// The object that it changes: a file, by the name under which it was opened, or a directory.
    pub path: PathBuf,
}

/// The calls of [`::disk::Disk`] that change files, and the opening of one that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are the methods of the trait")]
pub enum CallKind {
    Create,
    Open,
    Append,
    Sync,
    SetLength,
    Rename,
    Remove,
    CreateDirectories,
    SyncDirectory,
}

/// The system's answer to a call that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no room (ENOSPC).
    NoSpace,
    /// A file may not be as long as that (EFBIG).
    TooLong,
    /// The device does not work (EIO).
    Broken,
    /// The file system may only be read (EROFS).
    ReadOnly,
}

impl Failure {
    /// As the system says it.
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::NoSpace => io::ErrorKind::StorageFull.into(),
            Self::TooLong => io::ErrorKind::FileTooLarge.into(),
            Self::Broken => io::Error::other("the device does not work"),
            Self::ReadOnly => io::ErrorKind::ReadOnlyFilesystem.into(),
        }
    }
}

/// A plan of calls that fail. A failed append has written a random part of its bytes; any other
/// failed call has done nothing. The bytes of a failed sync are never durable, whatever later syncs
/// report.
#[derive(Clone, Debug)]
pub struct Plan {
    first: u64,
    lasting: bool,
    kind: Option<CallKind>,
    failure: Failure,
    met: u64,
}

impl Plan {
    /// Call `number` fails, counted from the disk's first, which is 1. See [`Plan::of_kind`].
    #[must_use]
    pub fn once(number: u64, failure: Failure) -> Self {
        Self {
            first: number,
            lasting: false,
            kind: None,
            failure,
            met: 0,
        }
    }

    /// Call `number` fails, and every later one.
    #[must_use]
    pub fn from(number: u64, failure: Failure) -> Self {
        Self {
            lasting: true,
            ..Self::once(number, failure)
        }
    }

    /// Only calls of this kind fail, and they alone are counted, from the moment at which the plan
    /// is made.
    #[must_use]
    pub fn of_kind(self, kind: CallKind) -> Self {
        Self {
            kind: Some(kind),
            ..self
        }
    }

    /// Returns the failure of this call, the disk's `number`th, if it is to fail.
    pub(super) fn meets(&mut self, number: u64, kind: CallKind) -> Option<Failure> {
        let number = match self.kind {
            None => number,
            Some(only) if only == kind => {
                self.met += 1;
                self.met
            }
            Some(_) => return None,
        };
        let due = number == self.first || (self.lasting && number > self.first);
        due.then_some(self.failure)
    }
}
