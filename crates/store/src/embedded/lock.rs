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
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let holder = file
                    .read_to_string(&mut holder)
                    .ok()
                    .and_then(|_length| holder.trim().parse().ok());
                return Err(StoreFault::InUse { path, holder });
            }
            Err(TryLockError::Error(source)) => {
                return Err(StoreFault::File {
                    action: "lock",
                    path,
                    source,
                });
            }
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_start| writeln!(file, "{}", std::process::id()));
        written.map_err(StoreFault::file("write", &path))?;
        Ok(Self(file))
    }
}
