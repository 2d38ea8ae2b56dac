//! The heartbeat that keeps a term: it has its own thread and connection, so that a busy node does
//! not lose its term.
//!
//! It also returns the numbers of live nodes and of buckets, so that a node can compute its share.
//! Invariant: a node declares another node dead only if it has itself been in contact with the
//! database for a whole term.

use std::sync::Arc;
use std::{io, thread};

use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, timeout};

use crate::bucket::BUCKETS;
use crate::calls::{CallError, WaitingCall};
use crate::connection::Connection;
use crate::term::Term;

/// Number of heartbeats per term length.
const BEATS: u32 = 4;
/// The action of a heartbeat, in messages.
const BEAT: &str = "sent a heartbeat";

/// The answer to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beat {
    /// The time when the heartbeat was sent.
    sent: Instant,
    /// Number of live terms.
    pub(crate) live: u64,
    /// Number of buckets of this term.
    pub(crate) owned: u64,
    /// Number of buckets without an owner.
    pub(crate) free: u64,
}

impl Beat {
    /// Returns the state before the first heartbeat.
    pub(crate) fn none_before(sent: Instant) -> Self {
        Self {
            sent,
            live: 0,
            owned: 0,
            free: 0,
        }
    }

    /// Returns the number of buckets per node if they are divided equally.
    pub(crate) fn share(self) -> u64 {
        u64::from(BUCKETS).div_ceil(self.live.max(1))
    }
}

/// Starts the thread that keeps a term alive until it ends.
pub(crate) fn start(
    connection: &Connection,
    term: &Arc<Term>,
    beats: &watch::Sender<Beat>,
) -> io::Result<()> {
    let (pool, term, beats) = (connection.clone(), Arc::clone(term), beats.clone());
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let thread = thread::Builder::new().name("heartbeat".to_owned());
    let beating = thread.spawn(move || {
        runtime.block_on(async {
            // Connections belong to the runtime that opened them.
            let connection = pool.alone();
            keep(connection, term, beats).await;
        });
    });
    beating.map(drop)
}

/// Keeps a term alive until it ends.
async fn keep(connection: Connection, term: Arc<Term>, beats: watch::Sender<Beat>) {
    let every = term.length() / BEATS;
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut in_touch_since: Option<Instant> = None;
    let mut last_answer = Instant::now();
    let mut waiting: Option<WaitingCall<'_>> = None;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ended = term.ended() => return,
        }
        let sent = Instant::now();
        // A gap interrupts the contact: other nodes may have been in the same situation.
        if sent - last_answer > every * 2 {
            in_touch_since = None;
        }
        let is_in_touch = in_touch_since.is_some_and(|since| sent - since >= term.length());
        match timeout(every, beat(&connection, &term, is_in_touch)).await {
            Ok(Ok(beat)) => {
                term.renew(sent);
                last_answer = Instant::now();
                in_touch_since.get_or_insert(sent);
                waiting = None;
                note(&beats, beat);
            }
            Ok(Err(CallError::TermEnded(why))) => return term.end(&why),
            Ok(Err(CallError::Refused(why))) => return term.fail(BEAT, &why),
            Ok(Err(CallError::Failed(why))) => {
                in_touch_since = None;
                waiting.get_or_insert_with(|| WaitingCall::new(&term, BEAT, &why));
            }
            Err(_late) => {
                in_touch_since = None;
                waiting.get_or_insert_with(|| WaitingCall::new(&term, BEAT, "no answer"));
            }
        }
    }
}

/// Notes the answer to a heartbeat, unless the answer to a later heartbeat is known.
pub(crate) fn note(beats: &watch::Sender<Beat>, beat: Beat) {
    beats.send_if_modified(|last| {
        let is_later = last.sent < beat.sent;
        if is_later {
            *last = beat;
        }
        is_later
    });
}

pub(crate) async fn beat(
    connection: &Connection,
    term: &Term,
    is_in_touch: bool,
) -> Result<Beat, CallError> {
    let sent = Instant::now();
    let (live, owned, free): (i64, i64, i64) =
        sqlx::query_as("SELECT live, owned, free FROM beat($1, $2)")
            .bind(term.to_sql())
            .bind(is_in_touch)
            .fetch_one(&connection.pool)
            .await?;
    Ok(Beat {
        sent,
        live: live.unsigned_abs(),
        owned: owned.unsigned_abs(),
        free: free.unsigned_abs(),
    })
}
