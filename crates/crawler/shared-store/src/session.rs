//! A session of a node: its membership in a crawl, from the beginning to the end of a term.
//!
//! The first node writes the settings that all nodes share. A term begins with a call, and is kept
//! alive by a heartbeat (`heartbeat.rs`).
//!
//! Invariant: two live terms never have the same node name. A term that may still be alive is
//! waited for.

use std::sync::Arc;
use std::time::Duration;

use journal::{NodeFile, StoreFault};
use neardup::HashKey;
use sqlx::PgConnection;
use store::ArchivePlace;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use web::Timestamp;

use crate::connection::{Connection, message_of};
use crate::heartbeat::{self, Beat};
use crate::term::Term;

/// Number of calls that query the time; the fastest counts.
const TIME_CALLS: u32 = 4;
/// The format of a crawl whose import is unfinished: no node may take part in it.
pub(crate) const IMPORTING: i32 = 0;

/// The settings that all nodes of a crawl share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlSettings {
    /// The key of every hash.
    pub key: HashKey,
    /// The settings of the crawl, as a text in the caller's format.
    pub text: String,
    /// Maximum time between heartbeats of a live node.
    pub term: Duration,
}

/// The reason why a node cannot take part in a crawl.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Another node with this name is alive.
    #[error("a node named {node} is already running")]
    NameInUse {
        /// The name.
        node: String,
    },
    /// A crawl is being imported, or its import was interrupted.
    #[error("the import of the crawl into this store is unfinished")]
    Importing,
    /// The records in the database are from another version of the program.
    #[error("the crawl is stored in format {found}, but this program reads format {known}")]
    Format {
        /// The format found.
        found: i32,
        /// The format of this program.
        known: i32,
    },
    /// The database failed.
    #[error("the shared store failed while it {action}: {what}")]
    Failed {
        /// The action, as a verb in the past tense.
        action: &'static str,
        /// The database's error.
        what: String,
    },
}

/// Returns the conversion of the database's errors during an action.
pub(crate) fn joining(action: &'static str) -> impl Fn(sqlx::Error) -> JoinError + Copy {
    move |error| JoinError::Failed {
        action,
        what: message_of(&error),
    }
}

/// Returns the format of the records of this program.
pub(crate) fn format() -> i32 {
    i32::from(journal::FORMAT)
}

impl Connection {
    /// Returns the settings of the crawl; `None` if it has not begun.
    ///
    /// # Errors
    /// [`JoinError::Format`] if this program cannot read the crawl's records.
    pub async fn settings(&self) -> Result<Option<CrawlSettings>, JoinError> {
        let query = "SELECT format, hash_key, settings, \
            extract(epoch FROM term_length)::double precision FROM crawl";
        let found: Option<(i32, Vec<u8>, String, f64)> = sqlx::query_as(query)
            .fetch_optional(&self.pool)
            .await
            .map_err(joining("read the settings"))?;
        let Some((found, key, text, term)) = found else {
            return Ok(None);
        };
        let known = format();
        if found == IMPORTING {
            return Err(JoinError::Importing);
        }
        if found != known {
            return Err(JoinError::Format { found, known });
        }
        let key = key.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let key = HashKey::new(key.unwrap_or_default());
        let term = Duration::from_secs_f64(term.max(0.0));
        Ok(Some(CrawlSettings { key, text, term }))
    }

    /// Returns the start time of the crawl, in microseconds since 1970. It distinguishes crawls.
    ///
    /// # Errors
    /// [`JoinError::Failed`] if the database fails, or no crawl has begun.
    pub async fn begun(&self) -> Result<i64, JoinError> {
        let query = "SELECT (extract(epoch FROM begun_at) * 1000000)::bigint FROM crawl";
        let (begun,) = sqlx::query_as(query)
            .fetch_one(&self.pool)
            .await
            .map_err(joining("read the beginning of the crawl"))?;
        Ok(begun)
    }

    /// Returns the time by the database's clock, and the corresponding local moment. The error is
    /// at most half the duration of a call.
    ///
    /// # Errors
    /// [`JoinError::Failed`] if the database does not answer.
    pub async fn time(&self) -> Result<(Timestamp, Instant), JoinError> {
        let mut fastest: Option<(Duration, Timestamp, Instant)> = None;
        for _ in 0..TIME_CALLS {
            let sent = Instant::now();
            let query = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
            let (millis,): (i64,) = sqlx::query_as(query)
                .fetch_one(&self.pool)
                .await
                .map_err(joining("read the time"))?;
            let took = sent.elapsed();
            if fastest.is_none_or(|(least, ..)| took < least) {
                let time = Timestamp::from_millis(millis.unsigned_abs());
                fastest = Some((took, time, sent + took / 2));
            }
        }
        let (_, time, at) = fastest.expect("TIME_CALLS is not zero");
        Ok((time, at))
    }

    /// Writes the settings of a crawl that begins now. If another node was first, its settings
    /// stay: read them afterwards.
    ///
    /// # Errors
    /// [`JoinError::Failed`] if the database cannot be written.
    pub async fn begin_crawl(&self, settings: &CrawlSettings) -> Result<(), JoinError> {
        self.begin_crawl_as(format(), settings).await
    }

    /// Writes the settings of a crawl that begins now, whose records have this format.
    pub(crate) async fn begin_crawl_as(
        &self,
        format: i32,
        settings: &CrawlSettings,
    ) -> Result<(), JoinError> {
        let failed = joining("wrote the settings");
        let mut connection = self.pool.acquire().await.map_err(failed)?;
        settings.write(&mut connection, format).await.map(drop)
    }
}

impl CrawlSettings {
    /// Writes the settings of a crawl that begins now, whose records have this format. If a crawl
    /// has already begun, does nothing and returns false.
    pub(crate) async fn write(
        &self,
        connection: &mut PgConnection,
        format: i32,
    ) -> Result<bool, JoinError> {
        sqlx::query_scalar("SELECT begin_crawl($1, $2, $3, make_interval(secs => $4))")
            .bind(format)
            .bind(self.key.as_u64().to_le_bytes().to_vec())
            .bind(&self.text)
            .bind(self.term.as_secs_f64())
            .fetch_one(connection)
            .await
            .map_err(joining("wrote the settings"))
    }
}

/// A node's membership in a crawl, for one term. The heartbeat stops when it is dropped.
pub struct Session {
    pub(crate) connection: Connection,
    pub(crate) term: Arc<Term>,
    key: HashKey,
    node_file: NodeFile,
    pub(crate) archive: Option<ArchivePlace>,
    pub(crate) resumed: bool,
    pub(crate) beats: watch::Receiver<Beat>,
    beaten: watch::Sender<Beat>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.term.end("it was left");
    }
}

impl Session {
    /// Begins a term of the node with this name, in a crawl that has begun. `ended` is the node's
    /// last term if it is known to have ended. If a term of this name may be alive, waits for the
    /// length of a term, after calling `wait` with that duration.
    ///
    /// # Errors
    /// [`JoinError::NameInUse`] if the other term sent a heartbeat in the meantime.
    pub async fn begin(
        connection: &Connection,
        node: &str,
        settings: &CrawlSettings,
        ended: Option<u64>,
        wait: impl FnOnce(Duration),
    ) -> Result<Self, JoinError> {
        let (mut number, heartbeat, mut sent) = begin_term(connection, node, ended, None).await?;
        if number.is_none() {
            wait(settings.term);
            tokio::time::sleep(settings.term).await;
            (number, _, sent) = begin_term(connection, node, ended, heartbeat).await?;
        }
        let Some(number) = number else {
            let node = node.to_owned();
            return Err(JoinError::NameInUse { node });
        };
        let number = u64::try_from(number).unwrap_or_default();
        let term = Arc::new(Term::new(node.to_owned(), number, settings.term, sent));
        let (sender, beats) = watch::channel(Beat::none_before(sent));
        let node_file = NodeFile {
            node: node.to_owned(),
            crawl: connection.begun().await?,
        };
        let archive = archive_of(connection, &term).await?;
        // Last, so that it does not keep a term that nobody has.
        heartbeat::start(connection, &term, &sender).map_err(|error| JoinError::Failed {
            action: "started the heartbeat",
            what: error.to_string(),
        })?;
        let session = Self {
            connection: connection.clone(),
            node_file,
            archive,
            resumed: number > 1,
            key: settings.key,
            term,
            beats,
            beaten: sender,
        };
        Ok(session)
    }

    /// Returns the current share of a node in the buckets.
    pub(crate) async fn share(&self) -> Result<u64, StoreFault> {
        let call = || heartbeat::beat(&self.connection, &self.term, false);
        let beat = self.term.call("counted the nodes", call).await?;
        heartbeat::note(&self.beaten, beat);
        Ok(beat.share())
    }

    /// Ends the term on this side, including the heartbeat.
    pub(crate) fn abandon(&self, why: &str) {
        self.term.end(why);
    }

    /// Returns a handle that ends the term if the node fails.
    #[must_use]
    pub fn failure(&self) -> NodeFailure {
        NodeFailure {
            connection: self.connection.clone(),
            term: Arc::clone(&self.term),
        }
    }

    /// Returns the key of every hash of the crawl.
    #[must_use]
    pub fn key(&self) -> HashKey {
        self.key
    }

    /// Returns the node file of the node's directory.
    pub(crate) fn node_file(&self) -> &NodeFile {
        &self.node_file
    }

    /// Returns the node's term.
    #[must_use]
    pub fn term(&self) -> &Arc<Term> {
        &self.term
    }
}

/// The end of a term whose node fails for its own reasons.
pub struct NodeFailure {
    connection: Connection,
    term: Arc<Term>,
}

impl NodeFailure {
    /// Ends the term, so that the other nodes do not wait for its length. Its hosts rest, as after
    /// a death. Does nothing if the database does not answer immediately; the term then expires.
    pub async fn end(self) {
        self.term.end("its node has failed");
        let call = sqlx::query("SELECT end_term($1, 'expired')").bind(self.term.to_sql());
        let ended = timeout(self.term.length(), call.execute(&self.connection.pool));
        if let Ok(Err(error)) = ended.await {
            tracing::warn!(%error, "the term expires, since its end cannot be written");
        }
    }
}

/// Returns the number of the new term, or the time of the last heartbeat of the live term with this
/// name; and the time of the call.
pub(crate) async fn begin_term(
    connection: &Connection,
    node: &str,
    ended: Option<u64>,
    heartbeat: Option<String>,
) -> Result<(Option<i64>, Option<String>, Instant), JoinError> {
    let sent = Instant::now();
    let query =
        "SELECT new_term, last_heartbeat::text FROM begin_term($1, $2, $3::text::timestamptz)";
    let (number, heartbeat) = sqlx::query_as(query)
        .bind(node)
        .bind(ended.and_then(|term| i64::try_from(term).ok()))
        .bind(heartbeat)
        .fetch_one(&connection.pool)
        .await
        .map_err(joining("began a term"))?;
    Ok((number, heartbeat, sent))
}

async fn archive_of(
    connection: &Connection,
    term: &Term,
) -> Result<Option<ArchivePlace>, JoinError> {
    let found: Option<(Option<String>, Option<i64>)> =
        sqlx::query_as("SELECT archive_file, archive_end FROM term WHERE term = $1")
            .bind(term.to_sql())
            .fetch_optional(&connection.pool)
            .await
            .map_err(joining("read the end of the archive"))?;
    let place = found.and_then(|(file, end)| file.zip(end));
    Ok(place.map(|(file, end)| ArchivePlace {
        file,
        end: end.unsigned_abs(),
    }))
}
