//! A shared crawl as seen by a reader: its settings, its nodes, and all its rows at one moment.
//!
//! A reader has no term and changes nothing. It reads in one transaction, which sees the rows of
//! one moment regardless of its duration. It reads in portions, so that memory does not grow with
//! the crawl.

use std::time::Duration;

use journal::{NodeFile, StoreFault};
use sqlx::Row as _;
use sqlx::postgres::{PgRow, Postgres};
use sqlx::query::Query;
use sqlx::{Error, Transaction};
use web::{PageUrl, Timestamp};

use crate::connection::{ConnectError, Connection, LATEST_MIGRATION, message_of, server_of};
use crate::session::{CrawlSettings, JoinError};

/// Rows that are read at a time.
const PORTION: &str = "FETCH 2048 FROM portion";
/// A snapshot: all its queries see the rows of one moment.
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A shared crawl, open for reading.
#[derive(Clone, Debug)]
pub struct SharedCrawl {
    pub(crate) connection: Connection,
    settings: CrawlSettings,
}

/// The reason why a shared crawl cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The database cannot be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// No crawl has begun in the database.
    #[error("{server} does not contain a crawl")]
    NoCrawl {
        /// The server and the database.
        server: String,
    },
    /// The crawl cannot be read by this program.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The database failed.
    #[error("the shared store failed while it {action}: {what}")]
    Failed {
        /// The action, as a verb in the past tense.
        action: &'static str,
        /// The database's error.
        what: String,
    },
    /// A row is damaged.
    #[error("row {number} of {table} cannot be read: {what}")]
    Row {
        /// The table.
        table: &'static str,
        /// The number of the row.
        number: i64,
        /// The decoder's error.
        what: String,
    },
    /// A local file cannot be written.
    #[error(transparent)]
    Local(#[from] StoreFault),
}

/// Returns the conversion of the database's errors during an action, a verb in the past tense.
pub(crate) fn failed(action: &'static str) -> impl Fn(Error) -> ReadError + Copy {
    move |error| ReadError::Failed {
        action,
        what: message_of(&error),
    }
}

/// A node of a crawl, as of its last term.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeState {
    /// Its name.
    pub name: String,
    /// The state of its last term.
    pub state: TermState,
    /// The number of that term.
    pub term: u64,
    /// Number of buckets that it owns.
    pub buckets: u64,
    /// Number of pages that the node has visited in all its terms.
    pub pages: u64,
    /// Number of pages of its last term.
    pub pages_of_term: u64,
    /// Number of URLs that are waiting in its buckets.
    pub waiting: u64,
    /// The time from the start of its last term to the last heartbeat.
    pub lasted: Duration,
    /// The time since the last heartbeat, by the database's clock.
    pub since_heartbeat: Duration,
}

/// The state of a node's term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermState {
    /// The node sends heartbeats.
    Live,
    /// The node has not sent a heartbeat for the length of a term, but no other node has noticed
    /// yet.
    Silent,
    /// The node left cleanly.
    Left,
    /// Another node declared it dead, and its buckets were reassigned.
    Expired,
}

/// The parts of a crawl that no node owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unowned {
    /// Number of buckets without an owner.
    pub buckets: u64,
    /// Number of URLs on their way from one node to another.
    pub links: u64,
}

impl SharedCrawl {
    /// Opens the crawl in the database at `url`, without changing anything there.
    ///
    /// # Errors
    /// [`ReadError`]: the database cannot be opened, does not contain a crawl, or holds a crawl of
    /// another version.
    pub async fn open(url: &str) -> Result<Self, ReadError> {
        let connection = Connection::reach(url).await?;
        let server = server_of(url);
        let reading = failed("looked for a crawl");
        let (has_tables,): (bool,) =
            sqlx::query_as("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
                .fetch_one(&connection.pool)
                .await
                .map_err(reading)?;
        if !has_tables {
            return Err(ReadError::NoCrawl { server });
        }
        let (migration,): (Option<i64>,) =
            sqlx::query_as("SELECT max(version) FROM _sqlx_migrations WHERE success")
                .fetch_one(&connection.pool)
                .await
                .map_err(reading)?;
        match migration {
            Some(migration) if migration > LATEST_MIGRATION => {
                return Err(ConnectError::Newer { server, migration }.into());
            }
            Some(_) => {}
            None => return Err(ReadError::NoCrawl { server }),
        }
        match connection.settings().await? {
            Some(settings) => Ok(Self {
                connection,
                settings,
            }),
            None => Err(ReadError::NoCrawl { server }),
        }
    }

    /// Returns the settings that all nodes share.
    #[must_use]
    pub fn settings(&self) -> &CrawlSettings {
        &self.settings
    }

    /// Returns the start time of the crawl.
    pub(crate) async fn begun_at(&self) -> Result<Timestamp, ReadError> {
        let query = "SELECT (extract(epoch FROM begun_at) * 1000)::bigint FROM crawl";
        let (millis,): (i64,) = sqlx::query_as(query)
            .fetch_one(&self.connection.pool)
            .await
            .map_err(failed("read the settings"))?;
        Ok(Timestamp::from_millis(millis.unsigned_abs()))
    }

    /// Returns the nodes, sorted by name.
    ///
    /// # Errors
    /// [`ReadError::Failed`] if the database cannot be read.
    pub async fn nodes(&self) -> Result<Vec<NodeState>, ReadError> {
        let query = "SELECT DISTINCT ON (node) node, state, term, \
            (SELECT count(*) FROM bucket WHERE owner = term), \
            (SELECT sum(pages)::bigint FROM term AS own WHERE own.node = term.node), \
            pages, queued, \
            extract(epoch FROM heartbeat_at - begun_at)::double precision, \
            extract(epoch FROM clock_timestamp() - heartbeat_at)::double precision \
            FROM term ORDER BY node, term DESC";
        let rows = sqlx::query(query)
            .fetch_all(&self.connection.pool)
            .await
            .map_err(failed("listed the nodes"))?;
        let length = self.settings.term;
        Ok(rows.iter().map(|row| node_of(row, length)).collect())
    }

    /// Returns the parts of the crawl that no node owns.
    ///
    /// # Errors
    /// [`ReadError::Failed`] if the database cannot be read.
    pub async fn unowned(&self) -> Result<Unowned, ReadError> {
        let query = "SELECT (SELECT count(*) FROM bucket WHERE owner IS NULL), \
            (SELECT count(*) FROM inbox)";
        let (buckets, links): (i64, i64) = sqlx::query_as(query)
            .fetch_one(&self.connection.pool)
            .await
            .map_err(failed("counted what has no owner"))?;
        Ok(Unowned {
            buckets: buckets.unsigned_abs(),
            links: links.unsigned_abs(),
        })
    }

    /// Returns the node that wrote archive files with these names; `None` if the crawl does not
    /// know them.
    ///
    /// # Errors
    /// [`ReadError`] if the database cannot be read.
    pub async fn node_of_archive(&self, files: &[String]) -> Result<Option<String>, ReadError> {
        let query =
            "SELECT node FROM term WHERE archive_file = ANY ($1) ORDER BY term DESC LIMIT 1";
        let found: Option<(String,)> = sqlx::query_as(query)
            .bind(files)
            .fetch_optional(&self.connection.pool)
            .await
            .map_err(failed("looked for the node of an archive"))?;
        Ok(found.map(|(node,)| node))
    }

    /// Returns the seeds of all nodes, and the targets of their redirects, with numbers above
    /// `after`.
    pub(crate) async fn scope_seeds(&self, after: i64) -> Result<Vec<(i64, PageUrl)>, ReadError> {
        let query = "SELECT number, url FROM scope_seed WHERE number > $1 ORDER BY number";
        let rows: Vec<(i64, String)> = sqlx::query_as(query)
            .bind(after)
            .fetch_all(&self.connection.pool)
            .await
            .map_err(failed("read the seeds"))?;
        // They were written as page URLs.
        let seeds = rows.into_iter();
        let seeds =
            seeds.filter_map(|(number, url)| Some((number, PageUrl::of_stored(&url).ok()?)));
        Ok(seeds.collect())
    }

    /// Returns true if a directory with this node file belongs to a node of this crawl.
    ///
    /// # Errors
    /// [`ReadError`] if the database cannot be read.
    pub async fn has(&self, node_file: &NodeFile) -> Result<bool, ReadError> {
        Ok(self.connection.begun().await? == node_file.crawl)
    }

    /// Starts reading all rows as they are at this moment.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, ReadError> {
        let transaction = self.connection.pool.begin_with(SNAPSHOT).await;
        let transaction = transaction.map_err(failed("began to read"))?;
        Ok(Snapshot { transaction })
    }
}

fn node_of(row: &PgRow, length: Duration) -> NodeState {
    // A term that revoked more visits of other terms than it recorded counts as zero.
    let count = |column: usize| row.get::<i64, _>(column).max(0).unsigned_abs();
    let time = |column: usize| Duration::from_secs_f64(row.get::<f64, _>(column).max(0.0));
    let since_heartbeat = time(8);
    let state = match row.get::<&str, _>(1) {
        "live" if since_heartbeat > length => TermState::Silent,
        "live" => TermState::Live,
        "left" => TermState::Left,
        _ => TermState::Expired,
    };
    NodeState {
        name: row.get(0),
        state,
        term: count(2),
        buckets: count(3),
        pages: count(4),
        pages_of_term: count(5),
        waiting: count(6),
        lasted: time(7),
        since_heartbeat,
    }
}

/// The rows of a crawl at one moment.
pub(crate) struct Snapshot {
    pub(crate) transaction: Transaction<'static, Postgres>,
}

type Bound<'q> = Query<'q, Postgres, sqlx::postgres::PgArguments>;

impl Snapshot {
    /// Runs a query that declares the cursor `portion`, and passes on its rows one by one.
    pub(crate) async fn each(
        &mut self,
        declare: Bound<'_>,
        action: &'static str,
        mut give: impl FnMut(&PgRow) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let failed = failed(action);
        let declared = declare.execute(&mut *self.transaction).await;
        declared.map_err(failed)?;
        loop {
            let portion = sqlx::query(PORTION).persistent(false);
            let rows = portion.fetch_all(&mut *self.transaction).await;
            let rows = rows.map_err(failed)?;
            if rows.is_empty() {
                break;
            }
            rows.iter().try_for_each(&mut give)?;
        }
        let closed = sqlx::query("CLOSE portion").execute(&mut *self.transaction);
        closed.await.map(drop).map_err(failed)
    }
}
