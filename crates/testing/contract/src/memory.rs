//! The store in memory: a backend like any other, and the oracle for all of them.

use std::sync::Arc;

use async_trait::async_trait;
use store::{Frontier, NearDupIndex};
use web::Timestamp;

use crate::backend::{Backend, End, Session, Setup};
use crate::memory_store::MemoryStore;

/// [`MemoryStore`] as a backend.
#[derive(Clone, Copy, Debug)]
pub struct Memory;

struct MemorySession {
    store: Arc<MemoryStore>,
    frontier: Arc<dyn Frontier>,
    index: Arc<dyn NearDupIndex>,
}

#[async_trait]
impl Backend for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    async fn open(&self, setup: &Setup) -> Box<dyn Session> {
        let (rules, earlier) = (setup.rules.clone(), setup.earlier.clone());
        let store = Arc::new(MemoryStore::new(rules, setup.comparison, earlier));
        Box::new(MemorySession {
            frontier: store.clone(),
            index: store.clone(),
            store,
        })
    }
}

#[async_trait]
impl Session for MemorySession {
    fn frontier(&self) -> &Arc<dyn Frontier> {
        &self.frontier
    }

    fn index(&self) -> &Arc<dyn NearDupIndex> {
        &self.index
    }

    async fn reopen(self: Box<Self>, end: End, now: Timestamp) -> Box<dyn Session> {
        self.store.begin_session(now, end.is_in_order());
        self
    }
}
