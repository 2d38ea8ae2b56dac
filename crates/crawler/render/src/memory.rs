//! The memory of a browser, which is spread over its processes.

use std::collections::HashMap;
use std::fs;

/// Returns the memory of all processes that descend from `process`, in bytes; 0 without a `/proc`.
///
/// A page that processes share counts once (`Pss`, proc_pid_smaps(5)). If only a tracer may read
/// that, a process counts with all of its resident pages.
#[must_use]
pub fn memory_below(process: u32) -> u64 {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let id = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(id) = id
            && let Some(parent) = parent(id)
        {
            children.entry(parent).or_default().push(id);
        }
    }
    let mut found = children.remove(&process).unwrap_or_default();
    let mut bytes = 0;
    while let Some(id) = found.pop() {
        bytes += memory(id).unwrap_or_default();
        found.extend(children.remove(&id).unwrap_or_default());
    }
    bytes
}

/// Returns the parent of a process. Its name, in parentheses, may have spaces (proc_pid_stat(5)).
fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

fn memory(process: u32) -> Option<u64> {
    let shares = kibibytes(&format!("/proc/{process}/smaps_rollup"), "Pss:");
    let all = || kibibytes(&format!("/proc/{process}/status"), "VmRSS:");
    shares.or_else(all)?.checked_mul(1 << 10)
}

/// Returns the value of a line such as `VmRSS:  1840 kB`.
fn kibibytes(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse().ok()
}
