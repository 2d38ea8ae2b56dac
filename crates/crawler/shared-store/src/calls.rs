//! Calls to the database within a term.
//!
//! A call is repeated while the database is unreachable, until it is answered or the term ends. So
//! a crash of the database, or a network outage, only costs a node time.
//!
//! Invariant: each function of `migrations/` that is called through this module may be repeated.

use std::fmt::Display;
use std::time::Duration;

use journal::StoreFault;
use sqlx::Error;
use tokio::time::{sleep, timeout};

use crate::connection::{code_of, message_of};
use crate::term::Term;

/// Wait between two attempts while the database is unreachable.
const RETRY: Duration = Duration::from_millis(100);
/// Our own code: the term of the caller has ended (`refuse_ended_term` of the migrations).
const ENDED_TERM: &str = "CR001";
/// The classes of transient errors (PostgreSQL's manual, appendix A): connections, a read-only
/// server, deadlocks, a full disk or memory, locks, shutdowns, input and output.
const PASSING: [&str; 7] = ["08", "25", "40", "53", "55", "57", "58"];

/// A failed call of the database.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The caller's term has ended, for this reason.
    TermEnded(String),
    /// The database was unreachable or temporarily unable to answer: the call may be repeated.
    Failed(String),
    /// The database rejected the call, and would reject it again.
    Refused(String),
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        match code_of(&error).as_deref() {
            Some(ENDED_TERM) => Self::TermEnded(message_of(&error)),
            Some(code) if !PASSING.contains(&&code[..2]) => Self::Refused(message_of(&error)),
            None if is_of_answer(&error) => Self::Refused(message_of(&error)),
            _ => Self::Failed(message_of(&error)),
        }
    }
}

/// Returns true if the database's answer cannot be read by this program.
fn is_of_answer(error: &Error) -> bool {
    matches!(
        error,
        Error::Decode(_)
            | Error::ColumnDecode { .. }
            | Error::ColumnNotFound(_)
            | Error::ColumnIndexOutOfBounds { .. }
            | Error::TypeNotFound { .. }
    )
}

impl Display for CallError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::TermEnded(what) | Self::Failed(what) | Self::Refused(what)) = self;
        formatter.write_str(what)
    }
}

/// A failed call that has not been answered since, until it is dropped.
pub(crate) struct WaitingCall<'a>(&'a Term);

impl<'a> WaitingCall<'a> {
    /// Counts a failed call. The first of several is logged.
    pub(crate) fn new(term: &'a Term, action: &'static str, why: &str) -> Self {
        if term.begin_waiting() == 1 {
            tracing::warn!(
                node = term.node(),
                action,
                why,
                "the shared store is unreachable: no page is leased until it is back"
            );
        }
        Self(term)
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        if self.0.end_waiting() == 0 && self.0.check().is_ok() {
            tracing::info!(node = self.0.node(), "the shared store is back");
        }
    }
}

impl Term {
    /// Makes a call, and repeats it while the database is unreachable.
    ///
    /// # Errors
    /// [`StoreFault::TermEnded`] if the term ends first; [`StoreFault::Shared`] if the database
    /// rejects the call permanently, which ends the term.
    pub(crate) async fn call<T, E, C>(
        &self,
        action: &'static str,
        call: impl Fn() -> C,
    ) -> Result<T, StoreFault>
    where
        E: Into<CallError>,
        C: Future<Output = Result<T, E>>,
    {
        let mut waiting = None;
        loop {
            self.check()?;
            // An answer after the term's end is useless.
            let why = match timeout(self.length(), call()).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => match error.into() {
                    CallError::TermEnded(why) => {
                        self.end(&why);
                        continue;
                    }
                    CallError::Refused(why) => {
                        self.fail(action, &why);
                        continue;
                    }
                    CallError::Failed(why) => why,
                },
                Err(_late) => "no answer".to_owned(),
            };
            waiting.get_or_insert_with(|| WaitingCall::new(self, action, &why));
            sleep(RETRY).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;

    use tokio::time::Instant;

    use super::*;

    fn term() -> Term {
        Term::new("n1".to_owned(), 1, Duration::from_secs(8), Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_repeated_while_the_store_is_away_and_no_longer_than_the_term() {
        let term = term();
        let tries = Cell::new(0);
        let call = || {
            tries.set(tries.get() + 1);
            let answer = match tries.get() {
                3 => Ok("done"),
                _ => Err(CallError::Failed("connection refused".to_owned())),
            };
            ready(answer)
        };
        assert_eq!(term.call("settled visits", call).await.unwrap(), "done");
        assert!(!term.is_waiting());
        let never = || ready(Err::<(), _>(CallError::Failed("refused".to_owned())));
        let fault = term.call("settled visits", never).await.unwrap_err();
        assert!(
            matches!(fault, StoreFault::TermEnded { .. }),
            "{fault}: a new term may begin"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_the_store_refuses_for_good_ends_the_crawl_and_not_the_term_alone() {
        let term = term();
        let refused = || {
            let error = CallError::Refused("relation \"journal\" does not exist".to_owned());
            ready(Err::<(), _>(error))
        };
        let fault = term.call("settled visits", refused).await.unwrap_err();
        let message = "relation \"journal\" does not exist";
        assert!(fault.to_string().contains(message), "{fault}");
        // Later callers get the same error.
        assert_eq!(term.ended().await.to_string(), fault.to_string());
    }
}
