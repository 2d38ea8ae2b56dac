//! Nodes of a shared crawl in one process.

use std::sync::Arc;
use std::time::Duration;

use contract::Setup;
use disk::SystemDisk;
use neardup::{Features, HashKey};
use shared_store::{Connection, CrawlSettings, Session, SharedOptions, SharedStore};
use store::embedded::StoreOptions;
use tempfile::TempDir;
use web::Clock;

/// A node: its name, its directory and its connection.
pub(crate) struct Node {
    name: String,
    directory: TempDir,
    connection: Connection,
    settings: CrawlSettings,
    /// The last term, which has ended when the next one begins.
    last_term: Option<u64>,
}

impl Node {
    pub(crate) async fn new(url: &str, name: &str, setup: &Setup) -> Self {
        let connection = Connection::open(url).await.unwrap();
        let earlier = setup.earlier.as_ref();
        let settings = CrawlSettings {
            key: earlier.map_or(HashKey::ZERO, |earlier| earlier.key()),
            text: String::new(),
            term: Duration::from_secs(10),
        };
        connection.begin_crawl(&settings).await.unwrap();
        Self {
            name: name.to_owned(),
            directory: tempfile::tempdir().unwrap(),
            settings: connection.settings().await.unwrap().unwrap(),
            connection,
            last_term: None,
        }
    }

    /// Begins the next term of this node.
    pub(crate) async fn begin(&mut self) -> Session {
        let session = Session::begin(
            &self.connection,
            &self.name,
            &self.settings,
            self.last_term,
            |_wait| {},
        );
        let session = session.await.unwrap();
        self.last_term = Some(session.term().number());
        session
    }

    /// Opens the store of a session.
    pub(crate) async fn open_session(&self, session: Session, setup: &Setup) -> Arc<SharedStore> {
        let store = StoreOptions {
            rules: setup.rules.clone(),
            likeness: setup.likeness,
            features: Features::default().to_string(),
            key: None,
            new_key: self.settings.key,
            earlier: setup.earlier.clone(),
            keys_in_memory: true,
            tables: None,
            now: setup.now,
            disk: Arc::new(SystemDisk),
        };
        let now = setup.now;
        let options = SharedOptions {
            store,
            clock: Clock::fixed(now),
            max_pages: None,
        };
        let opened = SharedStore::open(session, self.directory.path(), options).await;
        opened.unwrap()
    }
}
