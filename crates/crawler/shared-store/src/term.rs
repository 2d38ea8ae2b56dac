//! The term of a node, by the node's own clock.
//!
//! A heartbeat that was answered keeps the term alive for its length, counted from the time when it
//! was *sent*; the database counts from a later time. In the last quarter of that time no request
//! begins, so that every request ends, or is cancelled, before another node may send requests to
//! the host.
//!
//! Invariant: before the database lets other nodes take the buckets of a term, the node's own clock
//! has ended it (Gray and Cheriton, "Leases", SOSP 1989, section 2).

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use journal::StoreFault;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The term of a node.
#[derive(Debug)]
pub struct Term {
    node: String,
    number: u64,
    length: Duration,
    state: watch::Sender<TermState>,
    /// Number of calls that are waiting because the database is unreachable.
    waiting: AtomicU32,
}

#[derive(Clone, Debug)]
enum TermState {
    /// It is live: the last answered heartbeat was sent at this time.
    Live(Instant),
    /// It has ended, for this reason.
    Ended(String),
    /// It has ended, and so would the next one: the database rejected a call.
    Failed { action: &'static str, what: String },
}

impl Term {
    /// Creates a term that was begun by a call sent at `sent`.
    pub(crate) fn new(node: String, number: u64, length: Duration, sent: Instant) -> Self {
        Self {
            node,
            number,
            length,
            state: watch::Sender::new(TermState::Live(sent)),
            waiting: AtomicU32::new(0),
        }
    }

    /// Returns the name of the node.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Returns its number, which is new at each start of a node.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Returns its number in the database.
    pub(crate) fn to_sql(&self) -> i64 {
        i64::try_from(self.number).unwrap_or(i64::MAX)
    }

    /// Returns the time that it lasts without a heartbeat.
    #[must_use]
    pub const fn length(&self) -> Duration {
        self.length
    }

    /// Returns true if a call is waiting because the database is unreachable.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Counts a call that begins to wait. Returns the number of waiting calls.
    pub(crate) fn begin_waiting(&self) -> u32 {
        self.waiting.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a call that stops waiting. Returns the number of calls that still wait.
    pub(crate) fn end_waiting(&self) -> u32 {
        self.waiting.fetch_sub(1, Ordering::Relaxed) - 1
    }

    /// Waits until a request may begin; forever, if the term has ended.
    pub async fn may_request(&self) {
        let mut state = self.state.subscribe();
        // The sender is `self`.
        let _live = state.wait_for(|state| self.allows(state)).await;
    }

    /// Returns true if a request may begin now.
    #[must_use]
    pub fn allows_requests(&self) -> bool {
        self.allows(&self.state.borrow())
    }

    fn allows(&self, state: &TermState) -> bool {
        matches!(state, TermState::Live(sent) if Instant::now() < *sent + self.length * 3 / 4)
    }

    /// Waits for the end of the term, and returns the fault that reports it.
    pub async fn ended(&self) -> StoreFault {
        let mut state = self.state.subscribe();
        loop {
            let end = match &*state.borrow_and_update() {
                TermState::Live(sent) => *sent + self.length,
                ended => return self.fault(ended),
            };
            tokio::select! {
                // The sender is `self`.
                _ = state.changed() => {}
                () = sleep_until(end) => self.expire(),
            }
        }
    }

    /// Returns the fault that reports the end of the term, if it has ended and a new one may begin.
    #[must_use]
    pub fn end_of(&self) -> Option<StoreFault> {
        let end = self.check().err()?;
        matches!(end, StoreFault::TermEnded { .. }).then_some(end)
    }

    /// Fails if the term has ended.
    pub(crate) fn check(&self) -> Result<(), StoreFault> {
        self.expire();
        match &*self.state.borrow() {
            TermState::Live(_) => Ok(()),
            ended => Err(self.fault(ended)),
        }
    }

    /// Records an answered heartbeat that was sent at `sent`.
    pub(crate) fn renew(&self, sent: Instant) {
        self.state.send_if_modified(|state| match state {
            TermState::Live(last) if *last < sent => {
                *last = sent;
                true
            }
            _ => false,
        });
    }

    /// Ends the term.
    pub(crate) fn end(&self, why: &str) {
        self.end_as(TermState::Ended(why.to_owned()));
    }

    /// Ends the term because the database rejected a call permanently.
    pub(crate) fn fail(&self, action: &'static str, what: &str) {
        let what = what.to_owned();
        self.end_as(TermState::Failed { action, what });
    }

    /// Ends the term because of a fault of this node. A fault of the store ends the crawl, because
    /// the next term would run into it again; any other fault may pass with a new working copy.
    pub(crate) fn end_by(&self, fault: &StoreFault) {
        match fault {
            StoreFault::Shared { action, what } => self.fail(action, what),
            other => self.end(&other.to_string()),
        }
    }

    fn end_as(&self, end: TermState) {
        self.state.send_if_modified(|state| {
            let is_live = matches!(state, TermState::Live(_));
            if is_live {
                *state = end;
            }
            is_live
        });
    }

    fn expire(&self) {
        let is_over = matches!(
            &*self.state.borrow(),
            TermState::Live(sent) if Instant::now() >= *sent + self.length
        );
        if is_over {
            self.end("the store was out of reach");
        }
    }

    /// Returns the fault that reports an end.
    fn fault(&self, end: &TermState) -> StoreFault {
        let why = match end {
            TermState::Failed { action, what } => {
                let what = what.clone();
                return StoreFault::Shared { action, what };
            }
            TermState::Ended(why) => why.clone(),
            TermState::Live(_) => "it was left".to_owned(),
        };
        StoreFault::TermEnded {
            node: self.node.clone(),
            term: self.number,
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term() -> Term {
        Term::new("n1".to_owned(), 1, Duration::from_secs(8), Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn no_request_begins_in_the_last_quarter_of_a_term_and_a_heartbeat_prolongs_it() {
        let term = term();
        tokio::time::advance(Duration::from_millis(5_999)).await;
        assert!(term.allows_requests());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!term.allows_requests());
        let sent = Instant::now();
        tokio::time::advance(Duration::from_millis(1_999)).await;
        term.check().unwrap();
        term.renew(sent);
        assert!(term.allows_requests());
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_without_a_heartbeat_ends_and_does_not_come_back() {
        let term = term();
        let fault = term.ended().await;
        assert_eq!(
            fault.to_string(),
            "term 1 of node n1 has ended: the store was out of reach"
        );
        term.renew(Instant::now());
        assert!(term.check().is_err());
        assert!(!term.allows_requests());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_to_an_old_heartbeat_does_not_shorten_a_term() {
        let term = term();
        let first = Instant::now() + Duration::from_secs(1);
        let second = first + Duration::from_secs(1);
        term.renew(second);
        term.renew(first);
        tokio::time::advance(Duration::from_millis(9_500)).await;
        term.check().unwrap();
    }
}
