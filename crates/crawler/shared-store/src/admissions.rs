//! The log of admissions: every node applies it, and appends its own admissions.
//!
//! A page is judged by the rows that have been applied. If it should be admitted, the record is
//! appended with the number of the last applied row. The database adds the record, unless it shares
//! a key with a row after that number; in this case, the new rows are applied and the page is
//! judged again. A single task appends and applies, so that rows are applied in order.
//!
//! Invariant: of like pages that several nodes append concurrently, one is admitted, because the
//! second shares a key with the first. An append may be repeated: it shares its keys with itself.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use journal::{Record, StoreFault};
use store::{EmbeddedStore, LogChunk};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use web::UrlKey;

use crate::connection::Connection;
use crate::rows::encode;
use crate::term::Term;

/// Maximum number of waiting appends; further callers wait for a place.
const WAITING: usize = 256;
/// Maximum number of appends per call.
const BATCH: usize = 128;
/// Number of rows that are read at a time.
const ROWS: i64 = 4_096;
/// Maximum number of reads that wait to be applied, when the whole log is applied.
const AHEAD: usize = 4;
/// Interval between reads of the log while no appends are made.
const POLL: Duration = Duration::from_millis(250);

/// The number and the record of a row of the log.
type LogRow = (i64, Vec<u8>);

/// A record to be added.
struct Append {
    record: Record,
    keys: Vec<i64>,
    /// The last row that had been applied when the record was made.
    applied: i64,
    answer: oneshot::Sender<bool>,
}

/// The node's side of the log.
pub(crate) struct Admissions {
    connection: Connection,
    appends: mpsc::Sender<Append>,
    applied: watch::Receiver<i64>,
    pub(crate) revoked: Arc<RevokedOriginals>,
}

/// The originals whose admission was revoked: pages that were not archived as their duplicates are
/// visited again.
#[derive(Default)]
pub(crate) struct RevokedOriginals {
    state: Mutex<Revoked>,
    changed: Notify,
    /// Notified when no more duplicates are being looked up.
    idle: Notify,
}

#[derive(Default)]
struct Revoked {
    /// Originals whose duplicates have yet to be looked up.
    due: BTreeSet<UrlKey>,
    /// True while the duplicates of an original are being looked up.
    is_looking: bool,
    /// All revoked originals that were not admitted again. A visit with an earlier verdict may
    /// still end.
    past: HashSet<UrlKey>,
}

impl RevokedOriginals {
    /// Requests a lookup of the pages that were not archived as duplicates of an original.
    pub(crate) fn look_up(&self, original: UrlKey) {
        self.state().due.insert(original);
        self.changed.notify_one();
    }

    /// Handles a page that was not archived as a duplicate of an original.
    pub(crate) fn not_archived(&self, original: UrlKey) {
        if self.state().past.contains(&original) {
            self.look_up(original);
        }
    }

    /// Waits for the next original whose duplicates should be looked up. Call it when the lookup
    /// for the previous original has finished.
    pub(crate) async fn next(&self) -> UrlKey {
        loop {
            {
                let mut state = self.state();
                let next = state.due.pop_first();
                state.is_looking = next.is_some();
                if let Some(original) = next {
                    return original;
                }
            }
            self.idle.notify_waiters();
            self.changed.notified().await;
        }
    }

    /// Returns true while pages may have to be visited again.
    pub(crate) fn is_busy(&self) -> bool {
        let state = self.state();
        state.is_looking || !state.due.is_empty()
    }

    /// Waits until there are no pages that may have to be visited again.
    pub(crate) async fn idle(&self, term: &Term) -> Result<(), StoreFault> {
        loop {
            let idle = self.idle.notified();
            if !self.is_busy() {
                return Ok(());
            }
            tokio::select! {
                () = idle => {}
                ended = term.ended() => return Err(ended),
            }
        }
    }

    fn apply(&self, record: &Record) {
        match record {
            Record::Admitted { page, .. } => {
                self.state().past.remove(&page.key());
            }
            Record::Forgotten { page } => {
                self.state().past.insert(*page);
                self.look_up(*page);
            }
            _ => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, Revoked> {
        self.state
            .lock()
            .expect("no panic can happen while the originals are locked")
    }
}

/// The task that appends and applies.
pub(crate) struct AdmissionTask {
    connection: Connection,
    term: Arc<Term>,
    local: Arc<EmbeddedStore>,
    appends: mpsc::Receiver<Append>,
    applied: watch::Sender<i64>,
    revoked: Arc<RevokedOriginals>,
}

impl Admissions {
    /// Returns the log of a crawl, and its task, which has not applied any row yet.
    pub(crate) fn new(
        connection: Connection,
        term: Arc<Term>,
        local: Arc<EmbeddedStore>,
    ) -> (Self, AdmissionTask) {
        let (appends, appended) = mpsc::channel(WAITING);
        let (sender, applied) = watch::channel(0);
        let revoked = Arc::new(RevokedOriginals::default());
        let task = AdmissionTask {
            connection: connection.clone(),
            term,
            local,
            appends: appended,
            applied: sender,
            revoked: Arc::clone(&revoked),
        };
        let admissions = Self {
            connection,
            appends,
            applied,
            revoked,
        };
        (admissions, task)
    }

    /// Returns the number of the last applied row. Call it before a judgement.
    pub(crate) fn applied(&self) -> i64 {
        *self.applied.borrow()
    }

    /// Appends a record that was made when the log was applied up to `applied`. Returns true once
    /// the record is in the log and applied, false if the page must be judged again.
    ///
    /// # Errors
    /// [`StoreFault::TermEnded`] if the term ends first.
    pub(crate) async fn append(
        &self,
        record: Record,
        keys: Vec<i64>,
        applied: i64,
        term: &Term,
    ) -> Result<bool, StoreFault> {
        let (answer, answered) = oneshot::channel();
        let append = Append {
            record,
            keys,
            applied,
            answer,
        };
        tokio::select! {
            Ok(()) = self.appends.send(append) => {}
            ended = term.ended() => return Err(ended),
        }
        tokio::select! {
            Ok(is_admitted) = answered => Ok(is_admitted),
            ended = term.ended() => Err(ended),
        }
    }

    /// Waits until everything that is in the log now has been applied.
    ///
    /// # Errors
    /// [`StoreFault`] if the term ends first, or the log cannot be read.
    pub(crate) async fn catch_up(&self, term: &Term) -> Result<(), StoreFault> {
        let query = "SELECT coalesce(max(number), 0) FROM signature_log";
        let call = || sqlx::query_as(query).fetch_one(&self.connection.pool);
        let (last,): (i64,) = term.call("read the log of admissions", call).await?;
        let mut applied = self.applied.clone();
        tokio::select! {
            // The sender lives until the term ends.
            _ = applied.wait_for(|applied| *applied >= last) => Ok(()),
            ended = term.ended() => Err(ended),
        }
    }
}

impl AdmissionTask {
    /// Applies everything in the log. The next rows are read while the last ones are applied.
    ///
    /// # Errors
    /// [`StoreFault`] if the database cannot be read, or the working copy cannot be written.
    pub(crate) async fn catch_up(&mut self) -> Result<(), StoreFault> {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let applying = {
            let (local, revoked) = (Arc::clone(&self.local), Arc::clone(&self.revoked));
            let before = *self.applied.borrow();
            tokio::task::spawn_blocking(move || apply_rows(&local, &revoked, before, receiver))
        };
        let read = self.send_rows(sender).await;
        let applied = applying.await.map_err(|panic| StoreFault::Shared {
            action: "read the log of admissions",
            what: panic.to_string(),
        })?;
        // If it has failed, the rows had no receiver.
        self.applied.send_replace(applied?);
        read
    }

    /// Reads the rest of the log, in order, until the receiver is gone.
    async fn send_rows(&self, sender: mpsc::Sender<Vec<LogRow>>) -> Result<(), StoreFault> {
        let mut after = *self.applied.borrow();
        loop {
            let rows = self.rows(after).await?;
            let Some((last, _)) = rows.last() else {
                return Ok(());
            };
            after = *last;
            if sender.send(rows).await.is_err() {
                return Ok(());
            }
        }
    }

    /// Appends and applies until the term ends.
    pub(crate) async fn run(mut self) {
        let mut appends = Vec::new();
        let mut ticks = tokio::time::interval(POLL);
        let term = Arc::clone(&self.term);
        loop {
            tokio::select! {
                received = self.appends.recv_many(&mut appends, BATCH) => if received == 0 {
                    return;
                },
                _ = ticks.tick() => {}
                _ended = term.ended() => return,
            }
            let done = match appends.is_empty() {
                true => self.read().await,
                false => self.add(&mut appends).await,
            };
            if let Err(fault) = done {
                // The crawl receives the fault at its next call.
                return term.end_by(&fault);
            }
        }
    }

    /// Reads the next rows and applies them.
    async fn read(&mut self) -> Result<(), StoreFault> {
        let after = *self.applied.borrow();
        for (number, record) in self.rows(after).await? {
            self.apply(number, &decoded(&record)?)?;
        }
        Ok(())
    }

    /// Returns the rows after this number, as many as are read at a time.
    async fn rows(&self, after: i64) -> Result<Vec<LogRow>, StoreFault> {
        let query = "SELECT number, record FROM signature_log WHERE number > $1 \
            ORDER BY number LIMIT $2";
        let call = || async {
            let rows = sqlx::query_as(query).bind(after).bind(ROWS);
            rows.fetch_all(&self.connection.pool).await
        };
        self.term.call("read the log of admissions", call).await
    }

    /// Adds the appends that do not depend on later rows, applies the rows, and answers.
    async fn add(&mut self, appends: &mut Vec<Append>) -> Result<(), StoreFault> {
        let applied = appends.iter().map(|append| append.applied).min();
        let records: Vec<Vec<u8>> = appends
            .iter()
            .map(|append| encode(&append.record))
            .collect();
        let (mut keys, mut owners): (Vec<i64>, Vec<i32>) = Default::default();
        for (number, append) in (1_i32..).zip(appends.iter()) {
            keys.extend(&append.keys);
            owners.resize(keys.len(), number);
        }
        let query = "SELECT row_number, row_record, row_append \
            FROM append_admissions($1, $2, $3, $4, $5)";
        let call = || async {
            sqlx::query_as(query)
                .bind(self.term.to_sql())
                .bind(applied.unwrap_or_default())
                .bind(&records)
                .bind(&keys)
                .bind(&owners)
                .fetch_all(&self.connection.pool)
                .await
        };
        let rows: Vec<(i64, Option<Vec<u8>>, Option<i32>)> =
            self.term.call("appended admissions", call).await?;
        let mut answers: HashMap<i32, Append> = (1_i32..).zip(appends.drain(..)).collect();
        for (number, record, append) in rows {
            match (record, append.and_then(|append| answers.remove(&append))) {
                (Some(record), _) => self.apply(number, &decoded(&record)?)?,
                (None, Some(append)) => {
                    self.apply(number, &append.record)?;
                    // The caller may have stopped waiting.
                    let _sent = append.answer.send(true);
                }
                (None, None) => {}
            }
        }
        for refused in answers.into_values() {
            let _sent = refused.answer.send(false);
        }
        Ok(())
    }

    fn apply(&self, number: i64, record: &Record) -> Result<(), StoreFault> {
        if number <= *self.applied.borrow() {
            return Ok(());
        }
        // A working copy that cannot be written ends the term; the next term recreates it.
        if let Err(fault) = self.local.apply_admission(record) {
            self.term.end_by(&fault);
            return Err(fault);
        }
        self.revoked.apply(record);
        self.applied.send_replace(number);
        Ok(())
    }
}

/// Applies received rows, which another thread decodes. Returns the number of the last one,
/// `applied` if there was none.
fn apply_rows(
    local: &EmbeddedStore,
    revoked: &RevokedOriginals,
    applied: i64,
    receiver: mpsc::Receiver<Vec<LogRow>>,
) -> Result<i64, StoreFault> {
    let (sender, chunks) = sync_channel(AHEAD);
    let last = thread::scope(|scope| {
        let decoding = scope.spawn(move || send_chunks(receiver, revoked, applied, &sender));
        // If this fails, the decoding thread has no receiver, and ends.
        chunks
            .into_iter()
            .try_for_each(|chunk| local.apply_log(chunk))?;
        decoding.join().unwrap_or_else(|panic| resume_unwind(panic))
    })?;
    local.index_log();
    Ok(last)
}

/// Decodes received rows until the sender or the receiver is gone. Returns the number of the last
/// one, `last` if there was none.
fn send_chunks(
    mut receiver: mpsc::Receiver<Vec<LogRow>>,
    revoked: &RevokedOriginals,
    mut last: i64,
    sender: &SyncSender<LogChunk>,
) -> Result<i64, StoreFault> {
    while let Some(rows) = receiver.blocking_recv() {
        let mut chunk = LogChunk::default();
        for (number, record) in rows {
            let record = chunk.push(&record).map_err(|error| unreadable(&error))?;
            revoked.apply(record);
            last = number;
        }
        if sender.send(chunk).is_err() {
            break;
        }
    }
    Ok(last)
}

fn decoded(bytes: &[u8]) -> Result<Record, StoreFault> {
    postcard::from_bytes(bytes).map_err(|error| unreadable(&error))
}

fn unreadable(error: &postcard::Error) -> StoreFault {
    StoreFault::Shared {
        action: "read the log of admissions",
        what: format!("a row cannot be read: {error}"),
    }
}
