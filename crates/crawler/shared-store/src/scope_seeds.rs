//! The seeds of all nodes, and the targets of their redirects, which define the scope of the crawl.
//!
//! The node that has a page judges its links, so every node needs the seeds of all nodes.
//! Invariant: a node knows a seed before it leases a URL found through that seed, because the seed
//! is sent first, and is read before arriving URLs are queued.

use std::fmt;
use std::sync::Arc;

use journal::StoreFault;
use tokio::sync::Mutex;
use web::PageUrl;

use crate::connection::Connection;
use crate::term::Term;

/// Number of seeds that are read at a time.
const SEEDS: i64 = 4_096;

/// A function that adds a seed to the scope of a node.
pub type Widen = Arc<dyn Fn(&PageUrl) + Send + Sync>;

/// The seeds that this node knows.
pub(crate) struct ScopeSeeds {
    widen: Widen,
    /// The number of the last seed that was read.
    read: Mutex<i64>,
}

impl fmt::Debug for ScopeSeeds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ScopeSeeds").finish_non_exhaustive()
    }
}

impl ScopeSeeds {
    pub(crate) fn new(widen: Widen) -> Self {
        let read = Mutex::new(0);
        Self { widen, read }
    }

    /// Reads the seeds that arrived since the last call.
    pub(crate) async fn read(
        &self,
        connection: &Connection,
        term: &Term,
    ) -> Result<(), StoreFault> {
        let mut read = self.read.lock().await;
        loop {
            let after = *read;
            let query =
                "SELECT number, url FROM scope_seed WHERE number > $1 ORDER BY number LIMIT $2";
            let call = || async {
                let rows = sqlx::query_as(query).bind(after).bind(SEEDS);
                rows.fetch_all(&connection.pool).await
            };
            let rows: Vec<(i64, String)> = term.call("read the seeds", call).await?;
            for (number, url) in &rows {
                // They were written as page URLs.
                if let Ok(url) = PageUrl::of_stored(url) {
                    (self.widen)(&url);
                }
                *read = *number;
            }
            if (rows.len() as i64) < SEEDS {
                return Ok(());
            }
        }
    }
}
