//! The points at which a crawl is killed: at an event, or anywhere between two events.
//!
//! The state that a killed process leaves depends on its last actions, which show outside: requests
//! arrive, files grow. A random spin after the event lets the kill fall anywhere before the next
//! event.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use testkit::{Gate, Random, Reply, Server};

use crate::support::Running;

/// The most requests of a session that are answered.
const MAX_REQUESTS: usize = 80;
/// The interval at which the sizes of files are read.
const POLL: Duration = Duration::from_micros(300);

/// The event that a kill follows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KillPoint {
    /// This long after its start: while it opens the files of the session before.
    Start(Duration),
    /// The last allowed request.
    Requests,
    /// This many bytes of the body of the last answer.
    Within(usize),
    /// Growth of the journal by this many bytes.
    Journal(u64),
    /// Growth of the archive by this many bytes.
    Archive(u64),
    /// After an interrupt, while it finishes.
    Closing,
}

/// One of the sessions that end in a kill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    /// Requests that are answered.
    pub(crate) requests: usize,
    pub(crate) kill_point: KillPoint,
    /// The time from the event to the kill.
    pub(crate) spin: Duration,
}

impl Session {
    /// Draws a random session.
    pub(crate) fn draw(random: &mut Random) -> Self {
        let kill_point = match random.below(16) {
            0 | 1 => KillPoint::Start(Duration::from_micros(random.below(80_000) as u64)),
            2..=5 => KillPoint::Requests,
            6 | 7 => KillPoint::Within(random.below(2_000)),
            8..=10 => KillPoint::Journal(random.below(60_000) as u64),
            11..=13 => KillPoint::Archive(random.below(60_000) as u64),
            _ => KillPoint::Closing,
        };
        // As often below a millisecond as above: the next event follows at once or after a wait.
        let most = 1 << random.below(15);
        Self {
            requests: 1 + random.below(MAX_REQUESTS),
            kill_point,
            spin: Duration::from_micros(random.below(most) as u64),
        }
    }
}

/// A limit on answered requests: it counts requests, and withholds answers beyond the limit.
#[derive(Clone, Default)]
pub(crate) struct RequestLimiter(Arc<(Mutex<Count>, Condvar)>);

#[derive(Default)]
struct Count {
    requests: usize,
    allowed: usize,
    within: Option<usize>,
    gate: Gate,
}

impl RequestLimiter {
    /// Counts a request; returns its reply, held back if the limit is exceeded.
    pub(crate) fn limit(&self, reply: Reply) -> Reply {
        let (count, changed) = &*self.0;
        let mut count = count.lock().unwrap();
        count.requests += 1;
        changed.notify_all();
        if count.requests <= count.allowed {
            return reply;
        }
        // The client is killed by then, so the rest is never sent, and the log says so.
        let bytes = count.within.unwrap_or(0).min(reply.body().len());
        match count.within {
            None => reply.hold(&count.gate).break_after(0),
            Some(_) => reply.hold_after(bytes, &count.gate).break_after(bytes),
        }
    }

    /// Starts a session, and kills it when one request more than `requests` has arrived.
    pub(crate) fn kill_after(&self, requests: usize, start: impl FnOnce() -> Running) {
        self.allow(requests, None);
        let mut running = start();
        while !self.poll(requests + 1) {
            assert!(
                !running.has_ended(),
                "the session ended by itself: {:?}",
                running.end()
            );
        }
        running.kill();
        self.release();
    }

    /// Answers every request from now on.
    pub(crate) fn open(&self) {
        self.allow(usize::MAX, None);
    }

    fn allow(&self, allowed: usize, within: Option<usize>) {
        let mut count = self.0.0.lock().unwrap();
        *count = Count {
            requests: 0,
            allowed,
            within,
            gate: Gate::new(),
        };
    }

    /// Releases the withheld answers.
    fn release(&self) {
        self.0.0.lock().unwrap().gate.open();
    }

    /// Waits for a short time or until this many requests have arrived; returns true if they have.
    fn poll(&self, requests: usize) -> bool {
        let (count, changed) = &*self.0;
        let count = count.lock().unwrap();
        let (count, _) = changed
            .wait_timeout_while(count, POLL, |count| count.requests < requests)
            .unwrap();
        count.requests >= requests
    }
}

/// Starts a session and kills it at its kill point. Returns the time of the kill on the server's
/// clock, and the session's standard error.
pub(crate) fn kill(
    session: Session,
    (server, limiter, directory): (&Server, &RequestLimiter, &Path),
    start: impl FnOnce() -> Running,
) -> (Duration, String) {
    let Session {
        requests,
        kill_point,
        spin,
    } = session;
    let within = match kill_point {
        KillPoint::Within(bytes) => Some(bytes),
        _ => None,
    };
    // An interrupted session finishes its active visits, so nothing is withheld from it.
    let closing = matches!(kill_point, KillPoint::Closing);
    limiter.allow(if closing { usize::MAX } else { requests }, within);
    let growing = match kill_point {
        KillPoint::Journal(bytes) => Some((directory.join("state/journal"), bytes)),
        KillPoint::Archive(bytes) => Some((directory.join("archive"), bytes)),
        _ => None,
    };
    let growing = growing.map(|(path, bytes)| (size(&path) + bytes, path));
    let grown = || {
        growing
            .as_ref()
            .is_some_and(|(bytes, path)| size(path) >= *bytes)
    };
    // One request more: the first that is not answered.
    let enough = requests + usize::from(!closing);
    let begun = server.elapsed();
    let mut running = start();
    let due = || matches!(kill_point, KillPoint::Start(after) if server.elapsed() >= begun + after);
    while !due() && !grown() && !limiter.poll(enough) {
        assert!(
            !running.has_ended(),
            "the session ended by itself: {session:?}: {:?}",
            running.end()
        );
    }
    if closing {
        running.interrupt();
    }
    let spun = server.elapsed() + spin;
    while server.elapsed() < spun {
        std::hint::spin_loop();
    }
    let killed = server.elapsed();
    let errors = running.kill();
    limiter.release();
    (killed, errors)
}

/// Returns the bytes in a directory's files; 0 if it does not exist.
fn size(directory: &PathBuf) -> u64 {
    let Ok(items) = std::fs::read_dir(directory) else {
        return 0;
    };
    let lengths = items.filter_map(|item| Some(item.ok()?.metadata().ok()?.len()));
    lengths.sum()
}
