//! Open files: the number that a crawl may have open at a time, divided beforehand.
//!
//! Each connection is an open file. A process at its limit cannot open the next one, be it a page's
//! connection, a spooled body or a segment of the journal. So a crawl of 1,100 hosts ended with a
//! fault at the usual limit of 1,024. The limit is divided instead:
//!
//! | share | for |
//! |---|---|
//! | 128, or half of a limit under 256 | journal, tables, archive, indexes, dashboard |
//! | half of the rest | requests in flight |
//! | a quarter of the rest | idle connections, at most [`MAX_IDLE`] |
//! | a quarter of the rest | name look-ups, second attempts to connect, spooled bodies |
//!
//! Requests and look-ups beyond their share wait. If files are still short, because the whole
//! system is, a connection is tried again soon, and the host is not blamed.

use std::time::Duration;

/// Maximum number of files kept for everything but requests.
const RESERVED: u64 = 128;
/// Maximum number of idle connections, over all hosts. Each holds about 40 KiB of the engine's
/// buffers.
const MAX_IDLE: usize = 256;
/// Open files of a name look-up: its configuration and a socket for each of two families.
const FILES_OF_LOOK_UP: u64 = 4;
/// The usual soft limit of a process.
const USUAL_LIMIT: u64 = 1024;

/// Number of attempts to connect while files are short, and the time between them.
pub(crate) const SHORTAGE_TRIES: u32 = 10;
pub(crate) const SHORTAGE_WAIT: Duration = Duration::from_secs(1);

/// The open files of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBudget {
    /// Requests in flight.
    pub(crate) requests: usize,
    /// Idle connections, over all hosts.
    pub(crate) idle: usize,
    /// Name look-ups in flight.
    pub(crate) look_ups: usize,
}

impl FileBudget {
    /// Divides a limit of the process.
    #[must_use]
    pub fn of_limit(limit: u64) -> Self {
        let rest = limit - RESERVED.min(limit / 2);
        let share = |files: u64| usize::try_from(files).unwrap_or(usize::MAX).max(1);
        let look_ups = (rest / 8 / FILES_OF_LOOK_UP).max(1);
        let others = rest.saturating_sub(rest / 4 + look_ups * FILES_OF_LOOK_UP);
        Self {
            requests: share(others.min(rest / 2)),
            idle: share(rest / 4).min(MAX_IDLE),
            look_ups: share(look_ups),
        }
    }
}

impl Default for FileBudget {
    fn default() -> Self {
        Self::of_limit(USUAL_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_never_exceeded_by_its_shares() {
        for (limit, requests, idle, look_ups) in [
            (256, 64, 32, 4),
            (1024, 448, 224, 28),
            (4096, 1984, 256, 124),
            (524_288, 262_080, 256, 16_380),
        ] {
            let expected = FileBudget {
                requests,
                idle,
                look_ups,
            };
            assert_eq!(FileBudget::of_limit(limit), expected);
        }
        for limit in 16..3000 {
            let shares = FileBudget::of_limit(limit);
            let look_ups = shares.look_ups * 4;
            let open = (shares.requests + shares.idle + look_ups) as u64;
            assert!(
                open + RESERVED.min(limit / 2) <= limit,
                "{limit}: {shares:?}"
            );
        }
        let least = FileBudget::of_limit(0);
        assert_eq!((least.requests, least.idle, least.look_ups), (1, 1, 1));
    }
}
