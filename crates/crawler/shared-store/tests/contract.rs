//! The contract of a store, held against the shared store: one node that is alone, and three nodes
//! in turns.
//!
//! The tests are ignored, with a message, unless PostgreSQL is installed.

#![expect(clippy::unwrap_used, reason = "what the test unwraps is part of it")]

mod support;
mod turns;

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use contract::{Backend, End, Promise, Session, Setup};
use store::{Frontier, NearDupIndex};
use testkit::{Database, Postgres};
use web::Timestamp;

use self::support::Node;
use self::turns::Turns;

fn main() -> ExitCode {
    let alone = Nodes {
        name: "shared",
        count: 1,
        lacks: &[Promise::OrderOverSessions],
    };
    // Turns of hosts, and visits alone, hold within a node. A URL that is sent to another node
    // counts as new.
    let in_turns = Nodes {
        name: "in-turns",
        count: 3,
        lacks: &[
            Promise::HostOrder,
            Promise::NewCount,
            Promise::OrderOverSessions,
            Promise::QuarantinedAlone,
            Promise::HostsDown,
        ],
    };
    contract::run([Arc::new(alone) as Arc<dyn Backend>, Arc::new(in_turns)])
}

/// Crawls of some nodes, each of which does the next step.
struct Nodes {
    name: &'static str,
    count: u32,
    lacks: &'static [Promise],
}

#[async_trait]
impl Backend for Nodes {
    fn name(&self) -> &'static str {
        self.name
    }

    /// Few, since each step waits for the database; `CONTRACT_CASES=200` has so many.
    fn cases(&self, usual: u32) -> u32 {
        let wanted = std::env::var("CONTRACT_CASES").ok();
        match wanted.map(|cases| cases.parse()) {
            Some(cases) => cases.expect("CONTRACT_CASES is a number"),
            None => usual / (16 * self.count) + 1,
        }
    }

    fn lacks(&self) -> &'static [Promise] {
        self.lacks
    }

    fn missing(&self) -> Option<&'static str> {
        (!Postgres::is_installed()).then_some("PostgreSQL")
    }

    async fn open(&self, setup: &Setup) -> Box<dyn Session> {
        let database = Postgres::shared().create_database();
        let mut nodes = Vec::new();
        for number in 1..=self.count {
            nodes.push(Node::new(&database, &format!("n{number}"), setup).await);
        }
        Box::new(NodesSession::open(database, nodes, setup.clone()).await)
    }
}

struct NodesSession {
    nodes: Vec<Node>,
    turns: Arc<Turns>,
    frontier: Arc<dyn Frontier>,
    index: Arc<dyn NearDupIndex>,
    setup: Setup,
    database: Database,
}

impl NodesSession {
    async fn open(database: Database, mut nodes: Vec<Node>, setup: Setup) -> Self {
        let turns = Turns::open(&mut nodes, &setup).await;
        let (frontier, index): (Arc<dyn Frontier>, Arc<dyn NearDupIndex>) = match turns.alone() {
            Some(store) => (store.clone(), store.clone()),
            None => (turns.clone(), turns.clone()),
        };
        Self {
            nodes,
            turns,
            frontier,
            index,
            setup,
            database,
        }
    }
}

#[async_trait]
impl Session for NodesSession {
    fn frontier(&self) -> &Arc<dyn Frontier> {
        &self.frontier
    }

    fn index(&self) -> &Arc<dyn NearDupIndex> {
        &self.index
    }

    async fn flush(&self) {
        self.turns.flush().await;
    }

    async fn reopen(self: Box<Self>, end: End, now: Timestamp) -> Box<dyn Session> {
        let Self {
            nodes,
            turns,
            frontier,
            index,
            setup,
            database,
        } = *self;
        match end {
            End::InOrder => turns.close().await.unwrap(),
            End::Death | End::DeathInFlush(_) => turns.die().await,
        }
        // The directories are free again.
        drop((turns, frontier, index));
        let setup = Setup { now, ..setup };
        Box::new(Self::open(database, nodes, setup).await)
    }
}
