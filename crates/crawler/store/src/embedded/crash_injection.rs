//! Crashes at a chosen point, for tests of recovery in this crate and in others.
//!
//! A flush happens when the journal has grown; a test cannot wait for that, nor kill its process in
//! the middle of a flush. Both methods leave a directory that a crawl can also leave: the journal
//! is the source of truth, and the tables are behind it.

use journal::StoreFault;

use super::store::EmbeddedStore;

impl EmbeddedStore {
    /// Makes everything durable and writes the tables, as the end of a session does.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn flush(&self) -> Result<(), StoreFault> {
        self.save(None, true).await.map(drop)
    }

    /// Leaves the state of a process that dies while it writes a flush of the frontier. Each bit of
    /// `excluded` is a part of the flush that is not written (see `frontier::Flush::exclude`).
    ///
    /// # Errors
    /// A fault of the store.
    pub fn crash_in_flush(self, excluded: u8) -> Result<(), StoreFault> {
        let mut flush = self.queue().begin_flush(self.journal.end());
        flush.exclude(excluded);
        flush.write(&self.database)?;
        self.database.flush()
    }
}
