//! One process a directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::StoreFault;

/// Held for as long as the store is open; the system lets go of it when the process ends, however it ends.
pub(super) struct DirectoryLock(
    #[expect(dead_code, reason = "holding the file is what holds the lock")] File,
);

impl DirectoryLock {
    pub(super) fn take(directory: &Path) -> Result<Self, StoreFault> {
        let path = directory.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreFault::file("open", &path))?;
        let locked = file.try_lock();
        held(locked, &mut file, &path)?;
        let written = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_start| writeln!(file, "{}", std::process::id()));
        written.map_err(StoreFault::file("write", &path))?;
        Ok(Self(file))
    }

    /// For reading only: nobody writes there meanwhile, and nothing is written there. None where nobody ever had it
    /// open, as in a copy without the lock.
    pub(super) fn share(directory: &Path) -> Result<Option<Self>, StoreFault> {
        let path = directory.join("lock");
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(StoreFault::file("open", &path))?,
        };
        let locked = file.try_lock_shared();
        held(locked, &mut file, &path)?;
        Ok(Some(Self(file)))
    }
}

/// What became of locking `file`; where somebody else has it, who that is.
fn held(locked: Result<(), TryLockError>, file: &mut File, path: &Path) -> Result<(), StoreFault> {
    let path = path.to_owned();
    match locked {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let holder = file
                .read_to_string(&mut holder)
                .ok()
                .and_then(|_length| holder.trim().parse().ok());
            Err(StoreFault::InUse { path, holder })
        }
        Err(TryLockError::Error(source)) => Err(StoreFault::File {
            action: "lock",
            path,
            source,
        }),
    }
}
