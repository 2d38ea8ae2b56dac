//! What ends a crawl.

use sinks::SinkFault;
use store::StoreFault;

/// Our own machinery is broken. Nothing is lost: what was leased is leased again by the next run.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The memory of the crawl.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// The archive.
    #[error(transparent)]
    Sink(#[from] SinkFault),
    /// A defect in this program.
    #[error("a visit panicked: this is a defect of the crawler")]
    Panicked(#[source] tokio::task::JoinError),
}
