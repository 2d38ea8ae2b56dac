//! The most memory that a process holds, as the system counts it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use testkit::hostile::HostileServer;

use crate::support::{Ran, Running};

/// The peak of a process, which is looked at whenever something happens: the system forgets it when
/// the process ends. Where there is no such file it is 0.
#[derive(Clone, Default)]
pub(crate) struct Peak {
    process: Arc<AtomicU32>,
    bytes: Arc<AtomicU64>,
}

impl Peak {
    /// Looks, if the process is known already.
    pub(crate) fn look(&self) {
        let process = self.process.load(Ordering::Relaxed);
        if process != 0 {
            let _gone = self.look_at(process);
        }
    }

    /// The end of that process, and the most that it held.
    pub(crate) fn of(&self, running: Running, hostile: &HostileServer) -> (Ran, u64) {
        let process = running.id();
        self.process.store(process, Ordering::Relaxed);
        let ran = std::thread::scope(|scope| {
            scope.spawn(|| hostile.at_every_change(|_open| self.look_at(process)));
            let ran = running.end();
            // The change that shows the watcher that the process has gone.
            hostile.knock();
            ran
        });
        (ran, self.bytes.load(Ordering::Relaxed))
    }

    fn look_at(&self, process: u32) -> ControlFlow<()> {
        match peak(process) {
            Some(peak) => {
                self.bytes.fetch_max(peak, Ordering::Relaxed);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    }
}

/// `VmHWM` of a process that is there, in bytes.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}
