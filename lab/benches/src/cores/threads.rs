//! The threads of a process, by samples of proc(5).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

/// Ticks per second in proc(5), the same on all machines that we measure.
const TICKS: f64 = 100.0;

/// The last values seen of each thread, and the times when one waited for the disk.
#[derive(Default)]
pub(crate) struct Threads {
    seen: HashMap<String, Thread>,
    samples: Vec<Sample>,
}

struct Thread {
    name: String,
    ticks: u64,
    voluntary: u64,
    involuntary: u64,
}

/// A moment of a run.
struct Sample {
    at: Duration,
    waits_for_disk: bool,
}

impl Threads {
    /// Samples the threads of a process, `at` after its start. A thread that has ended keeps its
    /// last values, so up to a sample of its CPU time is missing.
    pub(crate) fn sample(&mut self, process: u32, at: Duration) {
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else {
            return;
        };
        let mut waits_for_disk = false;
        for task in tasks.flatten() {
            let Some((thread, state)) = read(&task.path()) else {
                continue;
            };
            waits_for_disk |= state == "D";
            let id = task.file_name().to_string_lossy().into_owned();
            self.seen.insert(id, thread);
        }
        self.samples.push(Sample { at, waits_for_disk });
    }

    /// Returns the CPU seconds by thread name.
    pub(crate) fn by_name(&self) -> BTreeMap<&str, f64> {
        let mut names = BTreeMap::new();
        for thread in self.seen.values() {
            *names.entry(thread.name.as_str()).or_insert(0.0) += thread.ticks as f64 / TICKS;
        }
        names
    }

    /// Returns the numbers of voluntary and of involuntary context switches.
    pub(crate) fn switches(&self) -> (u64, u64) {
        let threads = self.seen.values();
        let sums = threads.map(|thread| (thread.voluntary, thread.involuntary));
        sums.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1))
    }

    /// Returns the fraction of samples in this time with a thread waiting for the disk.
    pub(crate) fn disk_waits(&self, from: Duration, to: Duration) -> f64 {
        let within = self.samples.iter().filter(|it| (from..to).contains(&it.at));
        let (mut all, mut waits) = (0_u32, 0_u32);
        for sample in within {
            all += 1;
            waits += u32::from(sample.waits_for_disk);
        }
        f64::from(waits) / f64::from(all.max(1))
    }
}

/// Returns a thread and the letter of its state.
fn read(task: &Path) -> Option<(Thread, String)> {
    let stat = std::fs::read_to_string(task.join("stat")).ok()?;
    // The name may contain any character, a parenthesis too.
    let (name, fields) = stat.split_once('(')?.1.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let status = std::fs::read_to_string(task.join("status")).ok()?;
    let switches = |label: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(label))?;
        line.trim().parse::<u64>().ok()
    };
    let thread = Thread {
        name: name.to_owned(),
        ticks: ticks(11)? + ticks(12)?,
        voluntary: switches("voluntary_ctxt_switches:")?,
        involuntary: switches("nonvoluntary_ctxt_switches:")?,
    };
    Some((thread, (*fields.first()?).to_owned()))
}
