//! Several nodes of a shared crawl in one process: races of their admissions, nodes that are cut
//! off from the database, and nodes that join, leave and die.
//!
//! Terms, and the time after which a node is dead, are of the database's clock. So these tests run
//! in real time, and wait for conditions. Where PostgreSQL is not installed, they are ignored.

#![expect(clippy::unwrap_used, reason = "what the tests unwrap is part of them")]

mod database;
mod fences;
mod membership;
mod packing;
mod races;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc;

use contract::Setup;
use shared_store::SharedStore;

impl support::Node {
    /// Begins the next term of this node, and opens its store.
    async fn open(&mut self, setup: &Setup) -> Arc<SharedStore> {
        let session = self.begin().await;
        self.open_session(session, setup).await
    }
}
