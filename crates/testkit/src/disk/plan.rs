//! Which calls fail, and with what.

use std::io;
use std::path::PathBuf;

/// A call that changes files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The first is 1.
    pub number: u64,
    /// Which.
    pub kind: CallKind,
    /// What it changes: a file, by the name under which it was opened, or a directory.
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

/// What the system says when a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no room (ENOSPC).
    NoRoom,
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
            Self::NoRoom => io::ErrorKind::StorageFull.into(),
            Self::TooLong => io::ErrorKind::FileTooLarge.into(),
            Self::Broken => io::Error::other("the device does not work"),
            Self::ReadOnly => io::ErrorKind::ReadOnlyFilesystem.into(),
        }
    }
}

/// Which calls fail. An append that fails has taken a random part of its bytes; of the others,
/// nothing was done. What a failed sync should have made durable never will be, whatever later
/// syncs say.
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

    /// Whether this call fails, which is the disk's `number`th.
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
