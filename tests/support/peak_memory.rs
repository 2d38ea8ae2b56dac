//! The peak memory of a process, as the system counts it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use testkit::hostile::HostileServer;

use crate::support::{CommandOutput, Running};

/// The peak memory of a process, sampled at every event: the system discards it when the process
/// ends. It is 0 on systems without `/proc`.
#[derive(Clone, Default)]
pub(crate) struct Peak {
    process: Arc<AtomicU32>,
    bytes: Arc<AtomicU64>,
}

impl Peak {
    /// Takes a sample if the process is known already.
    pub(crate) fn look(&self) {
        let process = self.process.load(Ordering::Relaxed);
        if process != 0 {
            let _gone = self.look_at(process);
        }
    }

    /// Waits for the end of that process; returns its output and its peak memory.
    pub(crate) fn of(&self, running: Running, hostile: &HostileServer) -> (CommandOutput, u64) {
        let process = running.id();
        self.process.store(process, Ordering::Relaxed);
        let run = std::thread::scope(|scope| {
            scope.spawn(|| hostile.at_every_change(|_open| self.look_at(process)));
            let run = running.end();
            // An event, so that the watcher sees that the process has ended.
            hostile.knock();
            run
        });
        (run, self.bytes.load(Ordering::Relaxed))
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

/// Returns `VmHWM` of a running process, in bytes.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}
