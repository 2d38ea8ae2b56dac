//! The faults that end a crawl.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use journal::StoreFault;
use sinks::SinkFault;

/// A failure of our own machinery. No page is lost: the next run leases the leased pages again.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// The archive failed.
    #[error(transparent)]
    Sink(#[from] SinkFault),
    /// The disk is full, and stayed so. Settled visits are saved.
    #[error("the disk is full: {shortage}; the crawl waited {patience:?} for free space")]
    NoSpace {
        /// The space that is missing.
        shortage: Shortage,
        /// The longest wait for free space.
        patience: Duration,
    },
    /// A directory of the crawl was deleted or moved while it ran.
    #[error("{} is missing: it was deleted or moved while the crawl ran", path.display())]
    Gone {
        /// The directory.
        path: PathBuf,
    },
    /// The disk refused the reserve, and not because it is full.
    #[error("cannot reserve disk space")]
    Reserve(#[source] io::Error),
    /// A body that is too large for memory cannot be written to the disk, or not be read back.
    #[error("cannot keep a large body on disk")]
    Spool(#[source] io::Error),
    /// The topic of a focused crawl, or the frequencies of its words, cannot be written.
    #[error("cannot keep the topic of the crawl")]
    Topic(#[source] io::Error),
    /// The links that wait for their check cannot be kept in a temporary file.
    #[error("cannot keep the links to check")]
    Links(#[source] io::Error),
    /// The browser that runs scripts is gone, and starts no more. Archiving pages without their
    /// scripts would lose what they say.
    #[error("the browser is gone and cannot be started: {0}")]
    Browser(String),
    /// A defect in this program.
    #[error("a visit panicked: this is a defect of the crawler")]
    Panicked(#[source] tokio::task::JoinError),
}

/// A shortage of disk space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// A directory on the file system that is full.
    pub path: PathBuf,
    /// The bytes that are free there; `None` if unknown.
    pub free: Option<u64>,
    /// The bytes that must be free there before the crawl continues.
    pub needed: u64,
}

impl fmt::Display for Shortage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |count: u64| ByteSize(count).display().iec();
        let needed = bytes(self.needed);
        match self.free {
            Some(free) => write!(out, "{} are free and {needed} are needed", bytes(free))?,
            None => write!(out, "{needed} are needed")?,
        }
        write!(out, " where {} is", self.path.display())
    }
}
