//! The machine's side of a crawl: its process and memory, its disk, and the size of its archive.
//!
//! The process is found without the store's lock, which a starting crawl may want at that moment:
//! Linux lists locks in `/proc/locks` (proc_locks(5)). Elsewhere no process is found.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use disk::{Disk, SystemDisk};
use render::memory_below;

/// Maximum number of files of an archive whose sizes are added up.
const MAX_FILES: usize = 100_000;

/// The machine's statistics of a crawl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MachineValues {
    /// The process that has the crawl open for writing.
    pub(crate) process: Option<u32>,
    /// Its resident memory in bytes.
    pub(crate) memory: Option<u64>,
    /// The memory of its browser in bytes.
    pub(crate) browser: Option<u64>,
    /// Bytes of the files of the archive.
    pub(crate) archive: u64,
    /// Free bytes of the disk that it is on.
    pub(crate) free: Option<u64>,
}

impl MachineValues {
    /// Reads the statistics of the crawl with this state and archive.
    pub(crate) fn read(state: &Path, archive: &Path) -> Self {
        let process = process(state);
        Self {
            process,
            memory: process.and_then(memory),
            browser: process.map(memory_below).filter(|bytes| *bytes > 0),
            archive: size(archive),
            free: SystemDisk.free_space(archive),
        }
    }
}

/// Returns the process that has the crawl in `state` open for writing.
pub(crate) fn process(state: &Path) -> Option<u32> {
    let inode = fs::metadata(state.join("lock")).ok()?.ino();
    holder(&fs::read_to_string("/proc/locks").ok()?, inode)
}

/// Returns the process with a lock for writing on this file: `1: FLOCK  ADVISORY  WRITE 71
/// 08:01:260 0 EOF`.
fn holder(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let is_lock = fields.next()? == "FLOCK" && fields.nth(1)? == "WRITE";
        let process = fields.next()?.parse().ok()?;
        let file = fields.next()?.rsplit(':').next()?;
        (is_lock && file.parse() == Ok(inode)).then_some(process)
    })
}

/// Returns the resident memory of a process in bytes.
fn memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

/// Returns the bytes of the files in a directory, without those below it.
fn size(directory: &Path) -> u64 {
    let items = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = items
        .take(MAX_FILES)
        .filter_map(|item| item.metadata().ok());
    files
        .filter(fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_found_by_its_file() {
        let locks = "1: POSIX  ADVISORY  WRITE 5 08:01:260 0 EOF\n\
                     2: FLOCK  ADVISORY  READ 6 08:01:260 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 9 08:01:260 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 7 00:2f:260 0 EOF\n";
        assert_eq!(holder(locks, 260), Some(7));
        assert_eq!(holder(locks, 261), None);
        assert_eq!(holder("nonsense\n\n", 260), None);
    }
}
