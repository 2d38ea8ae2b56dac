//! Group commit: many callers share one fdatasync.
//!
//! A caller that needs a position durable joins. If no sync is in progress, it leads: it syncs
//! everything appended by then, for all callers. Otherwise it follows, because the current sync may
//! have begun before its append. When a sync ends, all followers are woken together. If it did not
//! cover some of them, the same thread begins another immediately. The disk does not wait for a
//! worker to wake up, nor the workers for the disk. So no caller waits for more than the current
//! sync and one more (DeWitt et al., "Implementation Techniques for Main Memory Database Systems",
//! SIGMOD 1984).
//!
//! Invariants, which the model test checks under many orders of events: a caller learns that its
//! position is durable only after the success of an fsync that began after its append. A failed
//! fsync is never repeated, nothing becomes durable after it, and one caller gets the operating
//! system's error. The leader's turn always ends with the [`Leader`], and its end wakes all
//! followers.
//!
//! Lock order: exclusive before state; see [`Locks`].

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::fault::StoreFault;
use crate::frame::Position;

/// The durable position, and the state of the leader.
pub(crate) struct State {
    durable: Position,
    led: bool,
    /// The highest position that a follower needs durable.
    wanted: Position,
    /// The first reason why further writes are forbidden.
    failure: Option<String>,
    /// The error of a sync that no caller was waiting for; the next caller gets it.
    unreported: Option<StoreFault>,
}

/// The next step of a caller that needs a position durable.
enum Step {
    Nothing,
    GiveUp(StoreFault),
    Follow,
    Lead,
}

impl State {
    pub(crate) fn durable_to(durable: Position) -> Self {
        Self {
            durable,
            led: false,
            wanted: durable,
            failure: None,
            unreported: None,
        }
    }

    fn step(&mut self, position: Position) -> Step {
        if self.durable >= position {
            return Step::Nothing;
        }
        if let Some(reason) = &self.failure {
            let unreported = self.unreported.take();
            return Step::GiveUp(
                unreported.unwrap_or_else(|| StoreFault::Poisoned(reason.clone())),
            );
        }
        if self.led {
            self.wanted = self.wanted.max(position);
            return Step::Follow;
        }
        self.led = true;
        Step::Lead
    }
}

/// The two locks of a group commit. The model test uses its own, to try any order of events.
pub(crate) trait Locks {
    /// Reads or changes the state without waiting inside.
    fn state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T;

    /// Runs an fsync while no other is running: the operating system reports a failure to only one
    /// caller, and the second of two must know about it.
    fn exclusive<T>(&self, fsync: impl FnOnce() -> T) -> T;
}

/// The locks of the standard library.
pub(crate) struct StdLocks {
    state: Mutex<State>,
    exclusive: Mutex<()>,
}

impl StdLocks {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: Mutex::new(state),
            exclusive: Mutex::new(()),
        }
    }
}

impl Locks for StdLocks {
    fn state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(
            &mut self
                .state
                .lock()
                .expect("no panic can happen while it is locked"),
        )
    }

    fn exclusive<T>(&self, fsync: impl FnOnce() -> T) -> T {
        let _exclusive = self
            .exclusive
            .lock()
            .expect("no panic can happen during an fsync");
        fsync()
    }
}

/// A group commit. See the module's documentation.
pub(crate) struct GroupCommit<L = StdLocks> {
    locks: L,
    /// Notified when a turn ends or a higher position becomes durable.
    ended: Notify,
}

/// The outcome of joining a group commit.
pub(crate) enum Role<L: Locks> {
    Durable,
    /// The position will never be durable, for this reason.
    Failed(StoreFault),
    /// The caller must sync.
    Lead(Leader<L>),
}

impl<L: Locks> GroupCommit<L> {
    pub(crate) fn new(locks: L) -> Self {
        Self {
            locks,
            ended: Notify::new(),
        }
    }

    /// Waits until `position` is durable, or can never be, or the caller must lead. Cancel-safe.
    pub(crate) async fn join(self: &Arc<Self>, position: Position) -> Role<L> {
        loop {
            // Created before the step: a turn that ends after the step wakes it, even if it is not
            // awaited yet.
            let ended = self.ended.notified();
            match self.locks.state(|state| state.step(position)) {
                Step::Nothing => return Role::Durable,
                Step::GiveUp(fault) => return Role::Failed(fault),
                Step::Lead => return Role::Lead(Leader(Some(Arc::clone(self)))),
                Step::Follow => ended.await,
            }
        }
    }

    /// Runs an fsync of the file at `path`, unless an fsync has failed before.
    pub(crate) fn fsync(
        &self,
        path: &Path,
        fsync: impl FnOnce() -> io::Result<()>,
    ) -> Result<(), StoreFault> {
        self.locks.exclusive(|| {
            self.check_writable()?;
            fsync().map_err(|source| {
                self.poison(&source);
                StoreFault::file("sync", path)(source)
            })
        })
    }

    /// Records that everything before `end` was synced.
    pub(crate) fn reached(&self, end: Position) {
        self.locks
            .state(|state| state.durable = state.durable.max(end));
        self.ended.notify_waiters();
    }

    /// Returns the durable position.
    pub(crate) fn durable(&self) -> Position {
        self.locks.state(|state| state.durable)
    }

    /// Fails if further writes are forbidden.
    pub(crate) fn check_writable(&self) -> Result<(), StoreFault> {
        match self.locks.state(|state| state.failure.clone()) {
            Some(failure) => Err(StoreFault::Poisoned(failure)),
            None => Ok(()),
        }
    }

    /// Forbids further writes; the first reason counts. A sync in progress still counts if it
    /// succeeds.
    pub(crate) fn poison(&self, reason: &dyn Display) {
        self.locks.state(|state| {
            state.failure.get_or_insert_with(|| reason.to_string());
        });
    }
}

/// The caller that syncs for all. Its turn ends when this is dropped, so that no caller waits
/// forever.
///
/// Invariant: `None` once the turn has been released, because then another caller may lead.
pub(crate) struct Leader<L: Locks = StdLocks>(Option<Arc<GroupCommit<L>>>);

impl<L: Locks> Leader<L> {
    /// Syncs while any caller waits. `sync` runs an fsync by [`GroupCommit::fsync`] and returns the
    /// end position that it covers. `report` gets the result of the first sync, for the leading
    /// caller.
    pub(crate) fn lead(
        mut self,
        mut sync: impl FnMut(&GroupCommit<L>) -> Result<Position, StoreFault>,
        report: impl FnOnce(Result<(), StoreFault>),
    ) {
        let mut report = Some(report);
        while let Some(commit) = self.0.clone() {
            let synced = sync(&commit).map(|end| commit.reached(end));
            let failed = synced.is_err();
            match (report.take(), synced) {
                (Some(report), first) => report(first),
                (None, Err(fault)) => commit.locks.state(|state| state.unreported = Some(fault)),
                (None, Ok(())) => {}
            }
            if failed || !self.goes_on(&commit) {
                return;
            }
        }
    }

    /// Returns true if a caller waits for more. Otherwise, releases the turn under the same lock,
    /// so that the next caller leads.
    fn goes_on(&mut self, commit: &GroupCommit<L>) -> bool {
        let goes_on = commit.locks.state(|state| {
            state.led = state.failure.is_none() && state.wanted > state.durable;
            state.led
        });
        if !goes_on {
            self.0 = None;
            // The followers are durable, or learn that they will not be.
            commit.ended.notify_waiters();
        }
        goes_on
    }
}

impl<L: Locks> Drop for Leader<L> {
    fn drop(&mut self) {
        let Some(commit) = &self.0 else {
            return;
        };
        if std::thread::panicking() {
            commit.poison(&"a sync of the journal panicked");
        }
        commit.locks.state(|state| state.led = false);
        commit.ended.notify_waiters();
    }
}

#[cfg(test)]
mod model;
