//! The contract of a store, held against both stores of this crate.

#![expect(clippy::unwrap_used, reason = "what the test unwraps is part of it")]

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use contract::{Backend, End, Memory, Session, Setup};
use disk::SystemDisk;
use neardup::{Features, HashKey};
use store::{EmbeddedStore, Frontier, NearDupIndex, StoreOptions, audit};
use tempfile::TempDir;
use web::Timestamp;

fn main() -> ExitCode {
    contract::run([Arc::new(Memory) as Arc<dyn Backend>, Arc::new(Embedded)])
}

/// The embedded store.
struct Embedded;

#[async_trait]
impl Backend for Embedded {
    fn name(&self) -> &'static str {
        "embedded"
    }

    /// Fewer than of the store in memory, since each session opens tables; `CONTRACT_CASES=1000`
    /// has so many.
    fn cases(&self, usual: u32) -> u32 {
        let wanted = std::env::var("CONTRACT_CASES").ok();
        match wanted.map(|cases| cases.parse()) {
            Some(cases) => cases.expect("CONTRACT_CASES is a number"),
            None => usual.min(100),
        }
    }

    async fn open(&self, setup: &Setup) -> Box<dyn Session> {
        let directory = tempfile::tempdir().unwrap();
        Box::new(EmbeddedSession::open(directory, setup.clone()))
    }
}

struct EmbeddedSession {
    store: Arc<EmbeddedStore>,
    frontier: Arc<dyn Frontier>,
    index: Arc<dyn NearDupIndex>,
    setup: Setup,
    directory: TempDir,
}

impl EmbeddedSession {
    fn open(directory: TempDir, setup: Setup) -> Self {
        let options = StoreOptions {
            rules: setup.rules.clone(),
            comparison: setup.comparison,
            features: Features::default().to_string(),
            key: None,
            new_key: HashKey::ZERO,
            earlier: setup.earlier.clone(),
            keys_in_memory: true,
            tables: None,
            now: setup.now,
            disk: Arc::new(SystemDisk),
        };
        let store = Arc::new(EmbeddedStore::open(directory.path(), &options).unwrap());
        Self {
            frontier: store.clone(),
            index: store.clone(),
            store,
            setup,
            directory,
        }
    }

    /// Returns the store, which nothing else refers to, its setup and its directory.
    fn into_parts(self) -> (EmbeddedStore, Setup, TempDir) {
        drop((self.frontier, self.index));
        let store = Arc::into_inner(self.store).unwrap();
        (store, self.setup, self.directory)
    }
}

#[async_trait]
impl Session for EmbeddedSession {
    fn frontier(&self) -> &Arc<dyn Frontier> {
        &self.frontier
    }

    fn index(&self) -> &Arc<dyn NearDupIndex> {
        &self.index
    }

    async fn flush(&self) {
        self.store.flush().await.unwrap();
    }

    async fn reopen(self: Box<Self>, end: End, now: Timestamp) -> Box<dyn Session> {
        let (store, setup, directory) = self.into_parts();
        match end {
            End::InOrder => {
                store.close().await.unwrap();
                drop(store);
            }
            End::Death => drop(store),
            End::DeathInFlush(excluded) => store.crash_in_flush(excluded).unwrap(),
        }
        Box::new(Self::open(directory, Setup { now, ..setup }))
    }

    async fn differences(self: Box<Self>) -> Vec<String> {
        let (store, _, directory) = self.into_parts();
        drop(store);
        audit(directory.path()).unwrap().findings
    }
}
