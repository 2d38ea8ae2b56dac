//! Nodes of a shared crawl in one process.

use std::sync::Arc;
use std::time::Duration;

use contract::Setup;
use disk::SystemDisk;
use neardup::{Features, HashKey};
use shared_store::{Connection, CrawlSettings, JoinError, Session, SharedOptions, SharedStore};
use store::StoreOptions;
use tempfile::TempDir;
use web::Clock;

/// A node: its name, its directory and its connection.
pub(crate) struct Node {
    name: String,
    directory: TempDir,
    connection: Connection,
    settings: CrawlSettings,
    /// The last term, which has ended when the next one begins; none if the store is to find out.
    pub(crate) last_term: Option<u64>,
    /// The maximum number of pages of the crawl.
    pub(crate) max_pages: Option<u64>,
    /// Number of unpacked rows of a bucket that the node packs: few, so that most tests read packed
    /// rows.
    pub(crate) rows_per_pack: u32,
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
            max_pages: None,
            rows_per_pack: 3,
        }
    }

    /// Begins the next term of this node.
    pub(crate) async fn begin(&mut self) -> Session {
        let session = self.try_begin().await.unwrap();
        self.last_term = Some(session.term().number());
        session
    }

    /// Begins the next term of this node, unless another one of its name is alive.
    pub(crate) async fn try_begin(&self) -> Result<Session, JoinError> {
        let (name, settings) = (&self.name, &self.settings);
        Session::begin(&self.connection, name, settings, self.last_term, |_wait| {}).await
    }

    /// Opens the store of a session.
    pub(crate) async fn open_session(&self, session: Session, setup: &Setup) -> Arc<SharedStore> {
        let store = StoreOptions {
            rules: setup.rules.clone(),
            comparison: setup.comparison,
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
            max_pages: self.max_pages,
            widen: Arc::new(|_seed| {}),
            rows_per_pack: self.rows_per_pack,
        };
        let opened = SharedStore::open(session, self.directory.path(), options).await;
        opened.unwrap()
    }
}
