//! The processors that a process may use.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::Failure;

/// This thread.
const SELF: Pid = Pid::from_raw(0);

/// Returns the numbers of the processors that this process may use.
pub(crate) fn allowed() -> Result<Vec<usize>, Failure> {
    let set = sched_getaffinity(SELF)?;
    let is_allowed = |processor: &usize| set.is_set(*processor).unwrap_or(false);
    Ok((0..CpuSet::count()).filter(is_allowed).collect())
}

/// Starts a process on these processors: it inherits them from this thread.
pub(crate) fn pinned<T>(
    processors: &[usize],
    start: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let before = sched_getaffinity(SELF)?;
    let mut set = CpuSet::new();
    for &processor in processors {
        set.set(processor)?;
    }
    sched_setaffinity(SELF, &set)?;
    let started = start();
    sched_setaffinity(SELF, &before)?;
    started
}
