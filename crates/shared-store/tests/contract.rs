//! The contract of a store, held against the shared store: one node that is alone.
//!
//! Where PostgreSQL is not installed, no test runs, and a line says so.

#![expect(clippy::unwrap_used, reason = "what the test unwraps is part of it")]

mod support;

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use contract::{Backend, End, Promise, Session, Setup};
use shared_store::SharedStore;
use store::{Frontier, NearDupIndex};
use testkit::Postgres;
use web::Timestamp;

use self::support::Node;

fn main() -> ExitCode {
    match Postgres::shared() {
        Some(server) => contract::run([Arc::new(Alone { server }) as Arc<dyn Backend>]),
        None => ExitCode::SUCCESS,
    }
}

/// A crawl of one node.
struct Alone {
    server: &'static Postgres,
}

#[async_trait]
impl Backend for Alone {
    fn name(&self) -> &'static str {
        "shared"
    }

    /// A session of a dead node waits for the length of a term.
    fn cases(&self, usual: u32) -> u32 {
        usual / 16 + 1
    }

    fn lacks(&self) -> &'static [Promise] {
        &[]
    }

    async fn open(&self, setup: &Setup) -> Box<dyn Session> {
        let url = self.server.create_database();
        let node = Node::new(&url, "n1", setup).await;
        Box::new(AloneSession::open(node, setup.clone()).await)
    }
}

struct AloneSession {
    node: Node,
    store: Arc<SharedStore>,
    frontier: Arc<dyn Frontier>,
    index: Arc<dyn NearDupIndex>,
    setup: Setup,
}

impl AloneSession {
    async fn open(mut node: Node, setup: Setup) -> Self {
        let store = node.open(&setup).await;
        Self {
            frontier: store.clone(),
            index: store.clone(),
            store,
            node,
            setup,
        }
    }
}

#[async_trait]
impl Session for AloneSession {
    fn frontier(&self) -> &Arc<dyn Frontier> {
        &self.frontier
    }

    fn index(&self) -> &Arc<dyn NearDupIndex> {
        &self.index
    }

    async fn flush(&self) {
        self.store.working_copy().flush().await.unwrap();
    }

    async fn reopen(self: Box<Self>, end: End, now: Timestamp) -> Box<dyn Session> {
        let Self {
            node,
            store,
            frontier,
            index,
            setup,
        } = *self;
        match end {
            End::InOrder => store.close().await.unwrap(),
            End::Death | End::DeathInFlush(_) => {
                // A process hands its records to the operating system; a node, to the database.
                store.checkpoint(None).await.unwrap();
                store.abandon().await;
            }
        }
        // The directory is free again.
        drop((store, frontier, index));
        let setup = Setup { now, ..setup };
        Box::new(Self::open(node, setup).await)
    }
}
