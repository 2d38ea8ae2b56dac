//! The moments at which a crawl is killed: at an event, or anywhere between two events.
//!
//! The state that a killed process leaves depends on its last actions, which show outside: requests
//! arrive, files grow. A random spin after the event lets the kill fall anywhere before the next
//! event.
//!
//! What a killed process leaves depends on what it was doing, and that is told by what it does to
//! others: requests that arrive, files that grow. A random spin after the event lets the kill fall
//! anywhere before the next one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use testkit::{Gate, Random, Reply, Server};

use crate::support::Running;

/// Requests that a session is let make before its answers are withheld, at most.
const MOST_REQUESTS: usize = 80;
/// The interval at which the sizes of files are read.
const LOOK: Duration = Duration::from_micros(300);

/// The event that a kill follows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// So long after its start: while it opens what the one before it left.
    Start(Duration),
    /// The last allowed request.
    Requests,
    /// This many bytes of the body of the last answer.
    Within(usize),
    /// Growth of the journal by this many bytes.
    Journal(u64),
    /// Growth of the archive by this many bytes.
    Archive(u64),
    /// After it was interrupted, while it finishes.
    Closing,
}

/// One of the sessions that end in a kill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    /// Requests that are answered.
    pub(crate) requests: usize,
    pub(crate) moment: Moment,
    /// So long after the event.
    pub(crate) spin: Duration,
}

impl Session {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let moment = match random.below(16) {
            0 | 1 => Moment::Start(Duration::from_micros(random.below(80_000) as u64)),
            2..=5 => Moment::Requests,
            6 | 7 => Moment::Within(random.below(2_000)),
            8..=10 => Moment::Journal(random.below(60_000) as u64),
            11..=13 => Moment::Archive(random.below(60_000) as u64),
            _ => Moment::Closing,
        };
        // As often below a millisecond as above: what follows an event does so at once or after a
        // wait.
        let most = 1 << random.below(15);
        Self {
            requests: 1 + random.below(MOST_REQUESTS),
            moment,
            spin: Duration::from_micros(random.below(most) as u64),
        }
    }
}

/// Counts requests, and withholds answers once there were enough.
#[derive(Clone, Default)]
pub(crate) struct Turnstile(Arc<(Mutex<Count>, Condvar)>);

#[derive(Default)]
struct Count {
    passed: usize,
    allowed: usize,
    within: Option<usize>,
    gate: Gate,
}

impl Turnstile {
    /// The reply, or what is to become of it.
    pub(crate) fn pass(&self, reply: Reply) -> Reply {
        let (count, passed) = &*self.0;
        let mut count = count.lock().unwrap();
        count.passed += 1;
        passed.notify_all();
        if count.passed <= count.allowed {
            return reply;
        }
        // Nobody is left to hear the rest, so that it is never told, and the log says so.
        let bytes = count.within.unwrap_or(0).min(reply.body().len());
        match count.within {
            None => reply.hold(&count.gate).break_after(0),
            Some(_) => reply.hold_after(bytes, &count.gate).break_after(bytes),
        }
    }

    /// Starts a session, and kills it when it has made `requests` requests and one more.
    pub(crate) fn kill_after(&self, requests: usize, start: impl FnOnce() -> Running) {
        self.allow(requests, None);
        let mut running = start();
        while !self.look(requests + 1) {
            assert!(
                !running.has_ended(),
                "it ended by itself: {:?}",
                running.end()
            );
        }
        running.kill();
        self.release();
    }

    /// Answers everything.
    pub(crate) fn open(&self) {
        self.allow(usize::MAX, None);
    }

    fn allow(&self, allowed: usize, within: Option<usize>) {
        let mut count = self.0.0.lock().unwrap();
        *count = Count {
            passed: 0,
            allowed,
            within,
            gate: Gate::new(),
        };
    }

    /// Ends what is withheld.
    fn release(&self) {
        self.0.0.lock().unwrap().gate.open();
    }

    /// Waits a little, or until one more request came; says whether there were as many as that.
    fn look(&self, requests: usize) -> bool {
        let (count, passed) = &*self.0;
        let count = count.lock().unwrap();
        let (count, _) = passed
            .wait_timeout_while(count, LOOK, |count| count.passed < requests)
            .unwrap();
        count.passed >= requests
    }
}

/// Starts a session, kills it at its moment, and returns when that was on the server's clock, and
/// what it had said.
pub(crate) fn kill(
    session: Session,
    (server, turnstile, directory): (&Server, &Turnstile, &Path),
    start: impl FnOnce() -> Running,
) -> (Duration, String) {
    let Session {
        requests,
        moment,
        spin,
    } = session;
    let within = match moment {
        Moment::Within(bytes) => Some(bytes),
        _ => None,
    };
    // What is under way when it is interrupted is to be finished, so nothing is withheld then.
    let closing = matches!(moment, Moment::Closing);
    turnstile.allow(if closing { usize::MAX } else { requests }, within);
    let growing = match moment {
        Moment::Journal(bytes) => Some((directory.join("state/journal"), bytes)),
        Moment::Archive(bytes) => Some((directory.join("archive"), bytes)),
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
    let due = || matches!(moment, Moment::Start(after) if server.elapsed() >= begun + after);
    while !due() && !grown() && !turnstile.look(enough) {
        assert!(
            !running.has_ended(),
            "it ended by itself: {session:?}: {:?}",
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
    let said = running.kill();
    turnstile.release();
    (killed, said)
}

/// The bytes in a directory's files; 0 where there is none.
fn size(directory: &PathBuf) -> u64 {
    let Ok(items) = std::fs::read_dir(directory) else {
        return 0;
    };
    let lengths = items.filter_map(|item| Some(item.ok()?.metadata().ok()?.len()));
    lengths.sum()
}
