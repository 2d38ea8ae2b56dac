//! The problems of a WACZ, in words up to a limit.

/// Problems that are kept in words; the rest are only counted.
const MAX_PROBLEMS: usize = 1_000;

/// Problems, each with its culprit.
#[derive(Clone, Debug, Default)]
pub(super) struct Problems {
    pub(super) kept: Vec<String>,
    pub(super) count: u64,
}

impl Problems {
    pub(super) fn add(&mut self, problem: impl Into<String>) {
        self.count += 1;
        if self.kept.len() < MAX_PROBLEMS {
            self.kept.push(problem.into());
        }
    }

    /// Adds the problems of a package in this one.
    pub(super) fn add_all(&mut self, package: &str, of_package: Self) {
        let unnamed = of_package.count - of_package.kept.len() as u64;
        for problem in of_package.kept {
            self.add(format!("{package}: {problem}"));
        }
        self.count += unnamed;
    }
}

/// Returns a name from the file for a message: one line, and not too long.
pub(super) fn shown(name: &str) -> String {
    let short: String = name.chars().take(200).collect();
    short.escape_debug().collect()
}
