//! What can be wrong with our own memory. All of it stops the crawl: a page is a value, a store is
//! not.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The store is broken, full, in use, or not one of ours.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// A file could not be read or written.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried, as a verb: "create", "write".
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Another process has the directory open.
    #[error("{} is in use by another crawler{}", path.display(), holder.as_ref().map(|holder| format!(" ({holder})")).unwrap_or_default())]
    InUse {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it, as it wrote there.
        holder: Option<Holder>,
    },
    /// The journal is damaged before its end, so what follows cannot be trusted.
    #[error("{} is damaged at byte {offset}: {what}; `crawler rebuild DIR` makes it again from what is left and from the archive", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// The journal was written by another version of the program.
    #[error("{} was written in format {found}, this program reads format {known}", path.display())]
    Format {
        /// The segment.
        path: PathBuf,
        /// The version found.
        found: u16,
        /// The version that this program writes.
        known: u16,
    },
    /// The crawl was begun with other settings, which what is stored depends on.
    #[error(
        "this crawl was begun with {setting} {begun}, not {asked}: go on with {begun}, or choose another --out"
    )]
    Setting {
        /// The option's name.
        setting: &'static str,
        /// The crawl's own value.
        begun: String,
        /// The value asked for now.
        asked: String,
    },
    /// The crawl was begun with another hash key. Neither is told: keys are secrets, and this ends
    /// in logs.
    #[error(
        "this crawl was begun with another --hash-key: go on without the option, or choose another --out"
    )]
    Key,
    /// An earlier crawl cannot count as seen: its pages look different to us.
    #[error("{} was crawled with {setting} {theirs}, this crawl with {ours}: their pages cannot be compared", path.display())]
    Incomparable {
        /// The earlier crawl's state.
        path: PathBuf,
        /// What differs.
        setting: &'static str,
        /// The earlier crawl's value.
        theirs: String,
        /// This crawl's value.
        ours: String,
    },
    /// Tables of this design would not find what is alike.
    #[error(
        "{tables} tables for fingerprints of {bits} bits that differ in at most {finds} do not serve a distance of {asked}: \
         64 bits, that distance, and at most 128 tables are needed"
    )]
    Design {
        /// Bits of a fingerprint.
        bits: u32,
        /// Everything within so many bits is found.
        finds: u32,
        /// How many tables there are.
        tables: usize,
        /// Everything within so many must be.
        asked: u32,
    },
    /// The tables failed, and could not be made again from the journal.
    #[error("the tables in {} failed: {what}", path.display())]
    Tables {
        /// The directory of the tables.
        path: PathBuf,
        /// What the engine said.
        what: String,
    },
    /// An earlier write failed: what is on the disk is not known, so nothing more is written.
    #[error("the journal stopped after an earlier failure: {0}")]
    Poisoned(String),
}

/// Who has a directory open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process.
    pub process: u32,
    /// The machine that it runs on, where that has a name: the directory may be shared by several.
    pub machine: Option<String>,
    /// Since when, as RFC 3339 has it.
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
    /// For `map_err`: names the action and the file.
    pub(crate) fn file(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}
