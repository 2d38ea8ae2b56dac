//! Failures of the store. Every failure stops the crawl: a bad page is a value, a broken store is
//! an error.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error of the store: it is broken, full, in use, or belongs to another program.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// A file could not be read or written.
    #[error("cannot {action} {}", path.display())]
    File {
        /// The action that failed, as a verb: "create", "write".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// Another process has the directory open.
    #[error(
        "{} is in use by another crawler{}",
        path.display(),
        holder.as_ref().map(|holder| format!(" ({holder})")).unwrap_or_default()
    )]
    InUse {
        /// The lock file.
        path: PathBuf,
        /// The process that holds the lock, as recorded in the file.
        holder: Option<Holder>,
    },
    /// The journal is damaged before its end, so nothing after the damage can be trusted.
    #[error(
        "{} is damaged at byte {offset}: {what}; rebuild it from its remaining part and the \
         archive with `crawler rebuild DIR`",
        path.display()
    )]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// The offset in it, in bytes.
        offset: u64,
        /// The kind of damage.
        what: String,
    },
    /// The journal was written by another version of the program.
    #[error(
        "{} was written in format {found}, but this program reads format {known}",
        path.display()
    )]
    Format {
        /// The segment.
        path: PathBuf,
        /// The version found.
        found: u16,
        /// The version that this program writes.
        known: u16,
    },
    /// The crawl began with another value of a setting that the stored data depends on.
    #[error(
        "this crawl was begun with {setting} {begun}, not {asked}: continue with {begun}, or \
         choose another --out"
    )]
    Setting {
        /// The option's name.
        setting: &'static str,
        /// The value that the crawl began with.
        begun: String,
        /// The value requested now.
        asked: String,
    },
    /// The crawl began with another hash key. Neither key is shown: keys are secrets, and this text
    /// ends in logs.
    #[error(
        "this crawl was begun with another --hash-key: continue without the option, or choose \
         another --out"
    )]
    Key,
    /// An earlier crawl cannot count as seen, because its signatures are not comparable with ours.
    #[error(
        "{} was crawled with {setting} {theirs}, but this crawl with {ours}: their pages cannot be \
         compared",
        path.display()
    )]
    Incomparable {
        /// The earlier crawl's state.
        path: PathBuf,
        /// The setting that differs.
        setting: &'static str,
        /// The earlier crawl's value.
        theirs: String,
        /// This crawl's value.
        ours: String,
    },
    /// Tables with this design would miss near-duplicates.
    #[error(
        "{tables} tables for {bits}-bit fingerprints within {finds} bits do not support a distance \
         of {asked}: that distance requires 64 bits and at most 128 tables"
    )]
    Design {
        /// Number of bits of a fingerprint.
        bits: u32,
        /// Maximum distance, in bits, that the design covers.
        finds: u32,
        /// Number of tables.
        tables: usize,
        /// Distance, in bits, that the crawl requires.
        asked: u32,
    },
    /// The tables failed, and could not be rebuilt from the journal.
    #[error("the tables in {} failed: {what}", path.display())]
    Tables {
        /// The directory of the tables.
        path: PathBuf,
        /// The engine's error.
        what: String,
    },
    /// The database of a shared crawl failed, or rejected an operation.
    #[error("the shared store failed while it {action}: {what}")]
    Shared {
        /// The action, as a verb in the past tense: "settled visits".
        action: &'static str,
        /// The database's error, without any password.
        what: String,
    },
    /// The term of a node has ended: other nodes may have taken over its hosts.
    #[error("term {term} of node {node} has ended: {why}")]
    TermEnded {
        /// The node's name.
        node: String,
        /// The number of the term.
        term: u64,
        /// The reason.
        why: String,
    },
    /// An earlier write failed. The state of the disk is unknown, so nothing more is written.
    #[error("the journal stopped after an earlier failure: {0}")]
    Poisoned(String),
}

/// The process that has a directory open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process id.
    pub process: u32,
    /// The machine that it runs on, if it has a name, since several machines may share the
    /// directory.
    pub machine: Option<String>,
    /// The time of locking, in RFC 3339 format.
    pub since: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.process)?;
        if let Some(machine) = &self.machine {
            write!(f, " on {machine}")?;
        }
        if let Some(since) = &self.since {
            write!(f, ", since {since}")?;
        }
        Ok(())
    }
}

impl StoreFault {
    /// Returns a closure for `map_err` that names the action and the file.
    pub fn file(action: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}
