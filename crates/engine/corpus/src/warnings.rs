//! Documents that were read although something about them is odd.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use messages::counted_as;
use sinks::warc::Deviations;

/// Maximum number of names that a description gives per kind.
const NAMED: usize = 5;

/// The warnings of the documents that were read, reported once all are read. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    deviations: Deviations,
    /// By [`Warning`].
    documents: [Named; Warning::ALL.len()],
}

/// A kind of warning of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warning {
    /// Longer than the part of a document that is read.
    Cut,
    /// Cut by its archiver, or by the server.
    Truncated,
    /// Its content coding breaks off or is damaged.
    Undecoded,
    /// A response whose HTTP head cannot be read: it is not a document.
    Headless,
    /// A response that does not represent a page: it is not a document.
    NoPage,
    /// A file in a directory whose name means that it is not data.
    PassedOver,
    /// The text could not be extracted.
    Unextracted,
}

impl Warning {
    const ALL: [Self; 7] = [
        Self::Cut,
        Self::Truncated,
        Self::Undecoded,
        Self::Headless,
        Self::NoPage,
        Self::PassedOver,
        Self::Unextracted,
    ];

    /// Returns a count of documents with what happened to them.
    fn counted(self, count: u64) -> String {
        let (one, many) = match self {
            Self::Cut => (
                "document was truncated, because it is too long (the rest is compared only by its \
                 digest)",
                "documents were truncated, because they are too long (the rest is compared only by \
                 its digest)",
            ),
            Self::Truncated => (
                "document is incomplete in the archive, and counts as equal to no other document",
                "documents are incomplete in the archive, and count as equal to no other document",
            ),
            Self::Undecoded => (
                "document could not be decoded completely, and counts as equal to no other \
                 document",
                "documents could not be decoded completely, and count as equal to no other \
                 document",
            ),
            Self::PassedOver => (
                "file was skipped, because its name means that it is not data",
                "files were skipped, because their names mean that they are not data",
            ),
            Self::NoPage => (
                "capture was skipped, because it is not a page (responses to HEAD, POST and \
                 others, partial content)",
                "captures were skipped, because they are not pages (responses to HEAD, POST and \
                 others, partial content)",
            ),
            Self::Headless => (
                "response was skipped, because its HTTP head cannot be read",
                "responses were skipped, because their HTTP head cannot be read",
            ),
            Self::Unextracted => (
                "document was compared only by its bytes, because reading it panicked (a bug in \
                 the crawler: please report it)",
                "documents were compared only by their bytes, because reading them panicked (a bug \
                 in the crawler: please report it)",
            ),
        };
        counted_as(count, one, many)
    }
}

/// Documents of one kind: their number, and the names of the first ones.
#[derive(Debug, Default)]
struct Named {
    count: u64,
    first: Vec<String>,
}

impl Warnings {
    /// Describes the warnings, one kind per line; `None` without warnings.
    pub fn describe(&self) -> Option<String> {
        let seen = self.locked();
        let deviations: Vec<String> = seen
            .deviations
            .seen()
            .map(|(warning, count)| format!("{count} {}", warning.as_str()))
            .collect();
        let mut lines = Vec::new();
        if !deviations.is_empty() {
            let all = deviations.join(", ");
            lines.push(format!("records with warnings, still read: {all}"));
        }
        for warning in Warning::ALL {
            seen.documents[warning as usize].describe(warning, &mut lines);
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Adds the deviations of an archive that was read to its end.
    pub(crate) fn add_deviations(&self, deviations: &Deviations) {
        self.locked().deviations.add(deviations);
    }

    /// Adds a document of this name.
    pub(crate) fn add(&self, warning: Warning, document: String) {
        self.locked().documents[warning as usize].add(document);
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

    fn describe(&self, warning: Warning, lines: &mut Vec<String>) {
        if self.count > 0 {
            let more = if self.count > NAMED as u64 {
                ", …"
            } else {
                ""
            };
            let (counted, first) = (warning.counted(self.count), self.first.join(", "));
            lines.push(format!("{counted}: {first}{more}"));
        }
    }
}
