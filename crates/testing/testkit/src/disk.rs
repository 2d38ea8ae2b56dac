//! A disk that fails, runs full, and forgets what was not synced.
//!
//! A [`FaultyDisk`] works on a real directory. It counts the calls that change files; [`Plan`]s say
//! which of them fail and how; a budget makes it small; [`FaultyDisk::power_cut`] leaves in the
//! directory what a crash could leave there by the promises of [`::disk::Disk`], and no more. It
//! exposes code that syncs too little, too early, or twice after a failure.
//!
//! `plan.rs` has the failures, `ledger.rs` what was synced and what was not, `wreck.rs` what a
//! power cut makes of it, `foreign.rs` the directories that other code writes.

mod foreign;
mod ledger;
mod plan;
#[cfg(test)]
mod tests;
mod wreck;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::disk::{Disk, DiskFile, ShortWrite, SystemDisk};

use self::foreign::Foreign;
use self::ledger::{Ledger, Node};
pub use self::plan::{Call, CallKind, Failure, Plan};
use crate::random::Random;

/// A directory on a disk that fails on demand. Nothing is really synced, so it is fast, too.
#[derive(Debug)]
pub struct FaultyDisk {
    root: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: Random,
    calls: Vec<Call>,
    plans: Vec<Plan>,
    budget: Option<u64>,
    power: bool,
    /// The file of each opening since the last power cut.
    openings: HashMap<u64, Node>,
    ledger: Ledger,
    foreign: Vec<Foreign>,
}

impl FaultyDisk {
    /// A disk for the files below `root`, which is there; what is in it is durable. The same seed
    /// and the same calls, one after another, give the same short writes.
    #[must_use]
    pub fn new(root: &Path, seed: u64) -> Self {
        Self {
            root: root.to_owned(),
            state: Mutex::new(State {
                random: Random::of(seed, 0),
                calls: Vec::new(),
                plans: Vec::new(),
                budget: None,
                power: true,
                openings: HashMap::new(),
                ledger: Ledger::default(),
                foreign: Vec::new(),
            }),
        }
    }

    /// Has calls fail from now on as `plan` says, beside the plans that were made before.
    pub fn fail(&self, plan: Plan) {
        self.state().plans.push(plan);
    }

    /// Forgets all plans: nothing fails any more.
    pub fn mend(&self) {
        self.state().plans.clear();
    }

    /// Sets the number of bytes that all files below the root may have together; `None` removes the
    /// limit.
    pub fn set_budget(&self, bytes: Option<u64>) {
        self.state().budget = bytes;
    }

    /// Returns the number of bytes in the files below the root.
    #[must_use]
    pub fn used(&self) -> u64 {
        used(&self.root)
    }

    /// The calls so far that change files, in order; those that failed are among them.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// Returns the number of calls so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.state().calls.len() as u64
    }

    /// Returns the number of bytes of the file at `path` that survive a power cut if its name does.
    #[must_use]
    pub fn durable_length(&self, path: &Path) -> u64 {
        self.state().ledger.durable_length(path)
    }

    /// Somebody else writes what is at `path`, a file or a directory, and not through this disk: at
    /// a power cut it is kept, removed, made what it was when it was last remembered, or cut short
    /// somewhere.
    pub fn foreign(&self, path: &Path) {
        self.state().foreign.push(Foreign::new(path));
    }

    /// Takes a copy of what is at `path`, which is foreign: a power cut may bring it back.
    ///
    /// # Errors
    /// What the system said while it was read.
    pub fn remember(&self, path: &Path) -> io::Result<()> {
        for foreign in self
            .state()
            .foreign
            .iter_mut()
            .filter(|foreign| foreign.is(path))
        {
            foreign.remember()?;
        }
        Ok(())
    }

    /// The power fails: the directory becomes one of those that it could leave, chosen by `seed`.
    /// Every call fails until [`FaultyDisk::power_on`], and files that are open now can never be
    /// written again.
    ///
    /// # Errors
    /// What the system said while the directory was changed.
    pub fn power_cut(&self, seed: u64) -> io::Result<()> {
        let mut state = self.state();
        state.power = false;
        state.openings.clear();
        let mut random = Random::of(seed, 1);
        let ledger = std::mem::take(&mut state.ledger);
        wreck::wreck(&ledger, &mut random)?;
        for foreign in &state.foreign {
            foreign.wreck(&mut random)?;
        }
        Ok(())
    }

    /// The machine is started again: plans and budget are forgotten, what is in the directory is
    /// durable.
    pub fn power_on(&self) {
        let mut state = self.state();
        state.power = true;
        state.plans.clear();
        state.budget = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that failed while it held this has said so already.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn room(&self, state: &State) -> Option<u64> {
        state
            .budget
            .map(|budget| budget.saturating_sub(used(&self.root)))
    }

    /// For calls that need a little room: a name in a directory.
    fn room_for_a_name(&self, state: &State) -> io::Result<()> {
        match self.room(state) {
            Some(0) => Err(Failure::NoSpace.error()),
            _ => Ok(()),
        }
    }
}

impl State {
    /// Counts the call, and lets it fail if it is its turn.
    fn call(&mut self, kind: CallKind, path: &Path) -> io::Result<()> {
        if !self.power {
            return Err(io::Error::other("the power is off"));
        }
        let number = self.calls.len() as u64 + 1;
        self.calls.push(Call {
            number,
            kind,
            path: path.to_owned(),
        });
        let failures = self
            .plans
            .iter_mut()
            .filter_map(|plan| plan.meets(number, kind));
        match failures.last() {
            Some(failure) => Err(failure.error()),
            None => Ok(()),
        }
    }

    fn opened(&mut self, file: DiskFile, node: Node) -> DiskFile {
        self.openings.insert(file.opening(), node);
        file
    }

    fn node(&self, file: &DiskFile) -> io::Result<Node> {
        let node = self.openings.get(&file.opening()).copied();
        node.ok_or_else(|| io::Error::other("the file was opened before the power failed"))
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<DiskFile> {
        let mut state = self.state();
        state.call(CallKind::Create, path)?;
        self.room_for_a_name(&state)?;
        let file = SystemDisk.create(path)?;
        let node = state.ledger.created(path);
        Ok(state.opened(file, node))
    }

    fn open(&self, path: &Path) -> io::Result<DiskFile> {
        let mut state = self.state();
        state.call(CallKind::Open, path)?;
        let file = SystemDisk.open(path)?;
        let node = state.ledger.node_at(path)?;
        Ok(state.opened(file, node))
    }

    fn append(&self, file: &DiskFile, bytes: &[u8]) -> Result<(), ShortWrite> {
        let none = |source| ShortWrite { written: 0, source };
        let mut state = self.state();
        let turn = state.call(CallKind::Append, file.path());
        state.node(file).map_err(none)?;
        let (taken, refusal) = match (turn, self.room(&state)) {
            (Err(error), _) if !state.power => (0, error),
            (Err(error), _) => (state.random.below(bytes.len() + 1), error),
            (Ok(()), Some(room)) if room < bytes.len() as u64 => (
                usize::try_from(room).unwrap_or_default(),
                Failure::NoSpace.error(),
            ),
            (Ok(()), _) => return SystemDisk.append(file, bytes),
        };
        SystemDisk.append(file, &bytes[..taken])?;
        Err(ShortWrite {
            written: taken as u64,
            source: refusal,
        })
    }

    fn sync(&self, file: &DiskFile) -> io::Result<()> {
        let mut state = self.state();
        let turn = state.call(CallKind::Sync, file.path());
        let node = state.node(file)?;
        if turn.is_err() {
            state.ledger.sync_failed(node);
            return turn;
        }
        let length = file.length()?;
        state.ledger.synced(node, length);
        Ok(())
    }

    fn set_length(&self, file: &DiskFile, length: u64) -> io::Result<()> {
        let mut state = self.state();
        state.call(CallKind::SetLength, file.path())?;
        let node = state.node(file)?;
        let growth = length.saturating_sub(file.length()?);
        if self.room(&state).is_some_and(|room| room < growth) {
            return Err(Failure::NoSpace.error());
        }
        state.ledger.cut(node, length)?;
        SystemDisk.set_length(file, length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.call(CallKind::Rename, from)?;
        state.ledger.renaming(from, to)?;
        SystemDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.call(CallKind::Remove, path)?;
        state.ledger.removing(path)?;
        SystemDisk.remove(path)
    }

    fn create_directories(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.call(CallKind::CreateDirectories, path)?;
        if !path.is_dir() {
            self.room_for_a_name(&state)?;
        }
        // Their names are durable, as the trait has it: the ledger knows names of files only.
        fs::create_dir_all(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.call(CallKind::SyncDirectory, path)?;
        if !path.is_dir() {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.ledger.directory_synced(path);
        Ok(())
    }

    fn free_space(&self, path: &Path) -> Option<u64> {
        let state = self.state();
        self.room(&state).or_else(|| SystemDisk.free_space(path))
    }
}

/// The bytes of all files below `path`; what vanishes meanwhile counts nothing.
fn used(path: &Path) -> u64 {
    let Ok(items) = fs::read_dir(path) else {
        return 0;
    };
    let mut sum = 0;
    for item in items.flatten() {
        match item.metadata() {
            Ok(found) if found.is_dir() => sum += used(&item.path()),
            Ok(found) => sum += found.len(),
            Err(_) => {}
        }
    }
    sum
}
