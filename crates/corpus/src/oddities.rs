//! Documents that were read although something about them is odd.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinks::warc::Deviations;

/// Names that a description gives for each kind, at most.
const NAMED: usize = 5;

/// The oddities of the documents that were read, reported once all are read. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Oddities(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    deviations: Deviations,
    cut: Named,
    unextracted: Named,
    passed_over: Named,
}

/// Documents of one kind: their number, and the names of the first ones.
#[derive(Debug, Default)]
struct Named {
    count: u64,
    first: Vec<String>,
}

impl Oddities {
    /// Describes the oddities, each kind in a line; none if there are none.
    pub fn describe(&self) -> Option<String> {
        let seen = self.locked();
        let deviations: Vec<String> = seen
            .deviations
            .seen()
            .map(|(oddity, count)| format!("{count} {}", oddity.as_str()))
            .collect();
        let mut lines = Vec::new();
        if !deviations.is_empty() {
            let all = deviations.join(", ");
            lines.push(format!("odd records, read all the same: {all}"));
        }
        seen.cut
            .describe("documents were cut, because they are too long", &mut lines);
        seen.unextracted.describe(
            "documents were judged by their bytes alone, because reading them panicked (a fault of \
             ours: please report it)",
            &mut lines,
        );
        seen.passed_over.describe(
            "files were left out, because their names mean that they are no data",
            &mut lines,
        );
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Adds the deviations of an archive that was read to its end.
    pub(crate) fn add_deviations(&self, deviations: &Deviations) {
        self.locked().deviations.add(deviations);
    }

    /// Adds a document of which only the beginning was read.
    pub(crate) fn add_cut(&self, document: String) {
        self.locked().cut.add(document);
    }

    /// Adds a file in a directory whose name means that it is no data.
    pub(crate) fn add_passed_over(&self, file: String) {
        self.locked().passed_over.add(file);
    }

    /// Adds a document of which the text could not be extracted.
    pub(crate) fn add_unextracted(&self, document: &str) {
        self.locked().unextracted.add(document.to_owned());
    }

    fn locked(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Named {
    fn add(&mut self, name: String) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(name);
        }
    }

    fn describe(&self, what: &str, lines: &mut Vec<String>) {
        if self.count > 0 {
            let more = if self.count > NAMED as u64 {
                ", …"
            } else {
                ""
            };
            let (count, first) = (self.count, self.first.join(", "));
            lines.push(format!("{count} {what}: {first}{more}"));
        }
    }
}
