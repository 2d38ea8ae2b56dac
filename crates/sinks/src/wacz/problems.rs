//! What is wrong with a WACZ, in words as long as there is not too much of it.

/// Problems that are kept in words; the rest are counted.
const KEPT: usize = 1_000;

/// Problems, each with its culprit.
#[derive(Clone, Debug, Default)]
pub(super) struct Problems {
    pub(super) told: Vec<String>,
    pub(super) count: u64,
}

impl Problems {
    pub(super) fn add(&mut self, problem: impl Into<String>) {
        self.count += 1;
        if self.told.len() < KEPT {
            self.told.push(problem.into());
        }
    }
}

/// A name from the file, in a problem: one line, and not too long.
pub(super) fn shown(name: &str) -> String {
    let short: String = name.chars().take(200).collect();
    short.escape_debug().collect()
}
