//! The machine that a crawl runs on: its processors, its memory, and the memory allocator.

use std::fs;
use std::path::PathBuf;
use std::thread::available_parallelism;

use messages::{CommandError, fault};
use web::{Clock, Timestamp};

/// Memory for bodies per processor: pages are read on all processors at the same time.
const MEMORY_EACH: u64 = 32 << 20;

/// Divisor of the machine's memory; the default is at most this share.
const MEMORY_SHARE: u64 = 8;

/// Returns the number of compute threads.
pub fn cores() -> usize {
    available_parallelism().map_or(2, std::num::NonZeroUsize::get)
}

/// Returns the default of `--memory`, in bytes.
pub(crate) fn memory_for_content() -> u64 {
    share_of(cores() as u64, memory())
}

fn share_of(cores: u64, memory: Option<u64>) -> u64 {
    let wanted = cores.saturating_mul(MEMORY_EACH);
    memory.map_or(wanted, |memory| wanted.min(memory / MEMORY_SHARE))
}

/// Returns the memory available to this process, in bytes: the machine's memory, or the limit of
/// its control group if that is lower. Returns `None` if the system does not report it.
fn memory() -> Option<u64> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let machine = total(&read("/proc/meminfo"));
    let group = read("/sys/fs/cgroup/memory.max").trim().parse().ok();
    machine.into_iter().chain(group).min()
}

/// Returns `MemTotal` of `/proc/meminfo`, in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

/// Limits the memory that the allocator keeps after it is freed. Must be called before threads
/// exist.
///
/// Pages are read on many threads, one after another on each. By default, glibc gives every thread
/// its own arena, up to eight per processor, and an arena does not return the memory that a large
/// page once needed. In a crawl of pages with 10,000 links, this cost 66 MiB, and 42 MiB with two
/// arenas (mallopt(3), `M_ARENA_MAX`). With fewer arenas than processors, threads would wait for
/// each other, because an arena has one lock.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_memory_small() {
    const MIN_ARENAS: usize = 2;
    /// Minimum size, in bytes, of an allocation that gets its own mapping, which is unmapped when
    /// it is freed.
    const MAPPED_FROM: libc::c_int = 1 << 20;
    /// Free bytes at the end of the heap that are kept for the next page.
    const KEPT: libc::c_int = 2 << 20;
    let arenas = libc::c_int::try_from(cores().max(MIN_ARENAS)).unwrap_or(libc::c_int::MAX);
    for (parameter, value) in [
        (libc::M_ARENA_MAX, arenas),
        (libc::M_MMAP_THRESHOLD, MAPPED_FROM),
        (libc::M_TRIM_THRESHOLD, KEPT),
    ] {
        #[expect(
            unsafe_code,
            reason = "mallopt only stores the number; no other thread exists that could allocate \
                      meanwhile"
        )]
        // SAFETY: any parameter and any value are allowed, and the program has one thread so far.
        let _done = unsafe { libc::mallopt(parameter, value) };
    }
}

/// Does nothing for other allocators.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_memory_small() {}

/// Raises the limit on open files to the maximum that the system allows a process (POSIX,
/// getrlimit()): each connection is a file, and the usual soft limit is 1,024. Does nothing if the
/// system refuses.
#[cfg(unix)]
pub fn raise_file_limit() {
    let Some(limit) = limit_of_files() else {
        return;
    };
    // macOS refuses more than OPEN_MAX, even if it reports no hard limit.
    for files in [limit.rlim_max.min(MAX_FILES), OPEN_MAX] {
        if limit.rlim_cur >= files {
            return;
        }
        let raised = libc::rlimit {
            rlim_cur: files,
            ..limit
        };
        #[expect(unsafe_code, reason = "the standard library has no function for it")]
        // SAFETY: the pointer is to a whole `rlimit`, which is only read.
        let refused = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) };
        if refused == 0 {
            return;
        }
    }
}

#[cfg(not(unix))]
pub fn raise_file_limit() {}

/// Returns the number of files that this process may still open. Files that are already open, such
/// as files inherited from its parent, are not included.
#[cfg(unix)]
pub fn file_limit() -> u64 {
    let limit = limit_of_files().map_or(OPEN_MAX, |limit| limit.rlim_cur);
    limit.saturating_sub(open_files()).min(MAX_FILES)
}

/// Returns the number of open files of this process, or 0 if the system does not list them.
#[cfg(unix)]
fn open_files() -> u64 {
    let listed = fs::read_dir("/proc/self/fd").or_else(|_none| fs::read_dir("/dev/fd"));
    listed.map_or(0, |files| files.count() as u64)
}

#[cfg(not(unix))]
pub fn file_limit() -> u64 {
    MAX_FILES
}

#[cfg(unix)]
fn limit_of_files() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    #[expect(unsafe_code, reason = "the standard library has no function for it")]
    // SAFETY: the pointer is to a whole `rlimit`, which the call fills in.
    let refused = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    (refused == 0).then_some(limit)
}

/// Maximum number of open files that is requested: more than any crawl needs.
const MAX_FILES: u64 = 1 << 20;
#[cfg(unix)]
const OPEN_MAX: u64 = 10_240;

/// Returns the machine's clock. No other code reads it. A crawl uses the session clock of `setup`,
/// which is not affected when the machine's clock is set.
pub fn clock() -> Clock {
    Clock::new(|| {
        #[expect(
            clippy::disallowed_methods,
            reason = "the command line is where time comes from"
        )]
        let now = std::time::SystemTime::now();
        let since = now
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    })
}

/// Returns 64 random bits from the operating system.
pub fn random() -> Result<u64, CommandError> {
    getrandom::u64().map_err(|error| fault(&error))
}

/// Returns the system's directory for temporary files.
#[expect(
    clippy::disallowed_methods,
    reason = "a corpus has no directory of the crawler to write below"
)]
pub fn usual_temp_dir() -> PathBuf {
    std::env::temp_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_for_content_depends_on_processors_and_memory() {
        const GIB: u64 = 1 << 30;
        for (cores, memory, expected) in [
            (2, Some(16 * GIB), 64 << 20),
            (2, None, 64 << 20),
            (64, Some(512 * GIB), 2 * GIB),
            (8, Some(GIB), GIB / 8),
        ] {
            assert_eq!(share_of(cores, memory), expected);
        }
    }

    #[test]
    fn the_total_is_in_kibibytes() {
        let meminfo = "MemTotal:       24689764 kB\nMemFree:        20330532 kB\n";
        assert_eq!(total(meminfo), Some(24_689_764 << 10));
        assert_eq!(total("MemFree: 1 kB\n"), None);
    }
}
