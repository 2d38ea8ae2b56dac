//! Group commit: many wait for one fdatasync.
//!
//! Whoever needs a position durable joins. If no sync is under way, he leads: he syncs whatever has
//! been appended by then, for all. If one is, he follows: it may have begun before his append. When
//! it ends all are woken together; if it did not cover some of them, the same thread goes on at
//! once with another, so that the disk does not wait for a worker to be woken, nor the workers for
//! the disk: while some append, the others are synced. So nobody waits for more than the sync that
//! he found under way and one more (DeWitt et al., "Implementation Techniques for Main Memory
//! Database Systems", SIGMOD 1984).
//!
//! Invariants, which the model test holds against many orders of events: nobody is told durable
//! unless an fsync succeeded that began after his append. An fsync that failed is never repeated,
//! and nothing more becomes durable; one caller is told what the system said. The turn to lead ends
//! with the [`Turn`], whatever becomes of it; whoever waited for its end is woken by it.
//!
//! Locks: alone before state; see [`Locks`].

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::frame::Position;
use crate::StoreFault;

/// How far everything is durable, and whether somebody sees to more.
pub(super) struct State {
    durable: Position,
    led: bool,
    /// Up to where those need it durable who found somebody leading.
    wanted: Position,
    /// Why nothing more may be written; the first reason.
    failure: Option<String>,
    /// What the system said of a sync that nobody waits for by himself: for the first who asks.
    untold: Option<StoreFault>,
}

/// What somebody has to do who needs a position durable.
enum Step {
    Nothing,
    GiveUp(StoreFault),
    Follow,
    Lead,
}

impl State {
    pub(super) fn durable_to(durable: Position) -> Self {
        Self {
            durable,
            led: false,
            wanted: durable,
            failure: None,
            untold: None,
        }
    }

    fn step(&mut self, position: Position) -> Step {
        if self.durable >= position {
            return Step::Nothing;
        }
        if let Some(reason) = &self.failure {
            let untold = self.untold.take();
            return Step::GiveUp(untold.unwrap_or_else(|| StoreFault::Poisoned(reason.clone())));
        }
        if self.led {
            self.wanted = self.wanted.max(position);
            return Step::Follow;
        }
        self.led = true;
        Step::Lead
    }
}

/// The two locks of a group commit: the model test brings others, under which any order can be
/// tried.
pub(super) trait Locks {
    /// Looks at the state, or changes it; nothing waits inside.
    fn state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T;

    /// Runs an fsync while no other runs: the system tells a failure to one caller only, and of
    /// two, the second must know of it.
    fn alone<T>(&self, fsync: impl FnOnce() -> T) -> T;
}

/// The locks of the standard library.
pub(super) struct StdLocks {
    state: Mutex<State>,
    alone: Mutex<()>,
}

impl StdLocks {
    pub(super) fn new(state: State) -> Self {
        Self {
            state: Mutex::new(state),
            alone: Mutex::new(()),
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

    fn alone<T>(&self, fsync: impl FnOnce() -> T) -> T {
        let _alone = self
            .alone
            .lock()
            .expect("no panic can happen during an fsync");
        fsync()
    }
}

/// See the module.
pub(super) struct GroupCommit<L = StdLocks> {
    locks: L,
    /// A turn has ended, or more became durable.
    ended: Notify,
}

/// What became of the wish to have a position durable.
pub(super) enum Part<L: Locks> {
    Durable,
    /// It is not, and will not be; why.
    Failed(StoreFault),
    /// It is for the caller to sync.
    Lead(Turn<L>),
}

impl<L: Locks> GroupCommit<L> {
    pub(super) fn new(locks: L) -> Self {
        Self {
            locks,
            ended: Notify::new(),
        }
    }

    /// Waits until `position` is durable, or never will be, or it is the caller's turn. May be
    /// dropped at any time.
    pub(super) async fn join(self: &Arc<Self>, position: Position) -> Part<L> {
        loop {
            // Made before the step: whatever ends after the step wakes it, even if it was not yet
            // waited for.
            let ended = self.ended.notified();
            match self.locks.state(|state| state.step(position)) {
                Step::Nothing => return Part::Durable,
                Step::GiveUp(fault) => return Part::Failed(fault),
                Step::Lead => return Part::Lead(Turn(Some(Arc::clone(self)))),
                Step::Follow => ended.await,
            }
        }
    }

    /// Runs an fsync, of the file at `path`, unless one has failed before.
    pub(super) fn fsync(
        &self,
        path: &Path,
        fsync: impl FnOnce() -> io::Result<()>,
    ) -> Result<(), StoreFault> {
        self.locks.alone(|| {
            self.in_order()?;
            fsync().map_err(|source| {
                self.poison(&source);
                StoreFault::file("sync", path)(source)
            })
        })
    }

    /// Everything before `end` was synced.
    pub(super) fn reached(&self, end: Position) {
        self.locks
            .state(|state| state.durable = state.durable.max(end));
        self.ended.notify_waiters();
    }

    /// Everything before this is durable.
    pub(super) fn durable(&self) -> Position {
        self.locks.state(|state| state.durable)
    }

    /// Whether more may be written.
    pub(super) fn in_order(&self) -> Result<(), StoreFault> {
        match self.locks.state(|state| state.failure.clone()) {
            Some(failure) => Err(StoreFault::Poisoned(failure)),
            None => Ok(()),
        }
    }

    /// Nothing more is written; the first reason is the one that is told. A sync under way still
    /// counts if it succeeds.
    pub(super) fn poison(&self, reason: &dyn Display) {
        self.locks.state(|state| {
            state.failure.get_or_insert_with(|| reason.to_string());
        });
    }
}

/// The turn to sync for all. It ends when this is dropped, so that nobody waits for what will not
/// come.
///
/// Invariant: none inside once the turn was given up, for somebody else may lead then.
pub(super) struct Turn<L: Locks = StdLocks>(Option<Arc<GroupCommit<L>>>);

impl<L: Locks> Turn<L> {
    /// Syncs for as long as somebody waits for it: `sync` takes the end of what has been appended,
    /// and runs an fsync that keeps it, by [`GroupCommit::fsync`]. What came of the first is told
    /// to `tell`, who was given the turn.
    pub(super) fn lead(
        mut self,
        mut sync: impl FnMut(&GroupCommit<L>) -> Result<Position, StoreFault>,
        tell: impl FnOnce(Result<(), StoreFault>),
    ) {
        let mut tell = Some(tell);
        while let Some(commit) = self.0.clone() {
            let synced = sync(&commit).map(|end| commit.reached(end));
            let failed = synced.is_err();
            match (tell.take(), synced) {
                (Some(tell), first) => tell(first),
                (None, Err(fault)) => commit.locks.state(|state| state.untold = Some(fault)),
                (None, Ok(())) => {}
            }
            if failed || !self.goes_on(&commit) {
                return;
            }
        }
    }

    /// Whether somebody waits for more; if nobody does, the turn is given up in the same moment, so
    /// that whoever comes next leads.
    fn goes_on(&mut self, commit: &GroupCommit<L>) -> bool {
        let goes_on = commit.locks.state(|state| {
            state.led = state.failure.is_none() && state.wanted > state.durable;
            state.led
        });
        if !goes_on {
            self.0 = None;
            // Those who followed are durable, or are to be told that they will not be.
            commit.ended.notify_waiters();
        }
        goes_on
    }
}

impl<L: Locks> Drop for Turn<L> {
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
#[path = "group_commit_model.rs"]
mod model;
