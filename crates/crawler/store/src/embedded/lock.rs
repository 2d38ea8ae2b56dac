//! The lock of a store's directory: one process at a time.
//!
//! The file has three lines: the process id, the name of the machine (or an empty line), and the
//! time. They are for people; only the operating system's lock counts.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use journal::{Holder, StoreFault};
use web::Timestamp;

/// Maximum number of bytes of a lock file that are read.
const MAX_BYTES: u64 = 1024;

/// Number of attempts to take a lock of this process again, and the pause between them.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);

/// A lock on a store's directory, held while the store is open. The operating system releases it
/// when the process ends in any way.
pub struct DirectoryLock(
    #[expect(dead_code, reason = "holding the file is what holds the lock")] File,
);

impl DirectoryLock {
    /// Takes the lock for writing.
    ///
    /// # Errors
    /// [`StoreFault::InUse`] if another process holds it, otherwise the operating system's error.
    pub fn take(directory: &Path, now: Timestamp) -> Result<Self, StoreFault> {
        let path = directory.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreFault::file("open", &path))?;
        held(File::try_lock, &mut file, &path)?;
        let written = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_start| file.write_all(holder_lines(now).as_bytes()));
        written.map_err(StoreFault::file("write", &path))?;
        Ok(Self(file))
    }

    /// Takes the lock for reading: no process can write while it is held, and the lock file is not
    /// written. Returns `None` if there is no lock file, as in a copy without it.
    ///
    /// # Errors
    /// [`StoreFault::InUse`] if another process writes there, otherwise the operating system's
    /// error.
    pub fn share(directory: &Path) -> Result<Option<Self>, StoreFault> {
        let path = directory.join("lock");
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(StoreFault::file("open", &path))?,
        };
        held(File::try_lock_shared, &mut file, &path)?;
        Ok(Some(Self(file)))
    }
}

/// Locks `file`, or returns an error that names the holder. A process that is being started has a
/// copy of every lock of this process until its program is executed. So a lock that this process
/// has just released is retried for a while.
fn held(
    lock: impl Fn(&File) -> Result<(), TryLockError>,
    file: &mut File,
    path: &Path,
) -> Result<(), StoreFault> {
    let mut attempts = 0..ATTEMPTS;
    loop {
        match lock(file) {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(source)) => return Err(StoreFault::file("lock", path)(source)),
            Err(TryLockError::WouldBlock) => {}
        }
        let mut text = String::new();
        let read = file
            .rewind()
            .and_then(|()| file.take(MAX_BYTES).read_to_string(&mut text));
        let holder = read.ok().and_then(|_length| holder(&text));
        let is_own = |holder: &Holder| holder.process == std::process::id();
        if !holder.as_ref().is_some_and(is_own) || attempts.next().is_none() {
            let path = path.to_owned();
            return Err(StoreFault::InUse { path, holder });
        }
        std::thread::park_timeout(PAUSE);
    }
}

/// Returns the three lines that the holder writes.
fn holder_lines(now: Timestamp) -> String {
    // Without this file, the machine has no name.
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let process = std::process::id();
    format!("{process}\n{}\n{now}\n", machine.trim())
}

/// Parses the holder; returns `None` if the first line is not a number, for example while it is
/// being written.
fn holder(text: &str) -> Option<Holder> {
    let mut lines = text.lines().map(str::trim);
    let process = lines.next()?.parse().ok()?;
    let mut rest = lines.map(|line| Some(line.to_owned()).filter(|line| !line.is_empty()));
    Some(Holder {
        process,
        machine: rest.next().flatten(),
        since: rest.next().flatten(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_process_learns_the_holder_of_the_lock_and_the_time() {
        let directory = tempfile::tempdir().unwrap();
        let first = DirectoryLock::take(directory.path(), Timestamp::from_millis(0)).unwrap();
        for second in [
            DirectoryLock::take(directory.path(), Timestamp::from_millis(1)).err(),
            DirectoryLock::share(directory.path()).err(),
        ] {
            let Some(StoreFault::InUse { holder, .. }) = second else {
                panic!("{second:?}");
            };
            let holder = holder.unwrap();
            assert_eq!(holder.process, std::process::id());
            assert_eq!(holder.since.as_deref(), Some("1970-01-01T00:00:00.000Z"));
        }
        drop(first);
        assert!(DirectoryLock::take(directory.path(), Timestamp::from_millis(2)).is_ok());
    }

    #[test]
    fn the_holder_is_read_as_far_as_the_lock_file_has_it() {
        for (text, expected) in [
            ("", None),
            ("who\n", None),
            ("7\n", Some("process 7")),
            ("7\nhere\n", Some("process 7 on here")),
            ("7\n\nnoon\n", Some("process 7, since noon")),
            (
                "7\nhere\nnoon\nmore\n",
                Some("process 7 on here, since noon"),
            ),
        ] {
            let found = holder(text).map(|holder| holder.to_string());
            assert_eq!(found.as_deref(), expected, "{text:?}");
        }
    }
}
