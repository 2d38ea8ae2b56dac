//! The database of a test, and conditions in it that a test waits for.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use neardup::HashKey;
use shared_store::{Connection, CrawlSettings};
use sqlx::PgPool;
use testkit::{FaultyNetwork, Postgres};

/// The functions of the database, as nodes create them.
const MIGRATION: &str = include_str!("../../../../../migrations/0001_shared_crawl.sql");

/// Counts the visits in the rows, packed or not.
pub(crate) const VISITS: &str = "SELECT count(*) FROM rows_after( \
    array(SELECT bucket FROM bucket), array_fill(0::bigint, ARRAY[4096])) WHERE kind = 1";

/// The interval at which a condition in the database is looked at.
const POLL: Duration = Duration::from_millis(5);

/// The database of one crawl.
pub(crate) struct Database {
    pub(crate) url: testkit::Database,
    server: SocketAddr,
    pool: PgPool,
}

impl Database {
    /// Begins a crawl with terms of this length, on the server that all tests share.
    pub(crate) async fn begin(term: Duration) -> Self {
        static SERVER: OnceLock<Postgres> = OnceLock::new();
        // Lines of the log begin with the database, so that each test finds its own.
        let server = SERVER.get_or_init(|| Postgres::start(&["log_line_prefix=%d:"]));
        Self::begin_on(server, term).await
    }

    /// Begins a crawl with terms of this length on a server.
    pub(crate) async fn begin_on(server: &Postgres, term: Duration) -> Self {
        let url = server.create_database();
        let connection = Connection::open(&url).await.unwrap();
        let settings = CrawlSettings {
            key: HashKey::ZERO,
            text: String::new(),
            term,
        };
        connection.begin_crawl(&settings).await.unwrap();
        let pool = PgPool::connect(&url).await.unwrap();
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
        Self { url, server, pool }
    }

    /// Returns a network that leads to the server, and the URL of the database through it.
    pub(crate) fn network(&self) -> (FaultyNetwork, String) {
        let network = FaultyNetwork::before(self.server);
        let (direct, through) = (self.server.to_string(), network.address().to_string());
        let url = self.url.replace(&direct, &through);
        (network, url)
    }

    /// Creates a function of the migration again, with these parts of its text replaced.
    pub(crate) async fn replace(&self, function: &str, parts: &[(&str, &str)]) {
        let begin = MIGRATION.find(&format!("CREATE FUNCTION {function}("));
        let definition = &MIGRATION[begin.unwrap()..];
        let end = definition.find("END $$;").unwrap() + "END $$;".len();
        let mut definition = definition[..end].to_owned();
        for (part, replacement) in [("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")]
            .iter()
            .chain(parts)
        {
            assert_eq!(definition.matches(part).count(), 1, "{part} in {function}");
            definition = definition.replace(part, replacement);
        }
        self.run(&definition).await;
    }

    /// Runs a statement.
    pub(crate) async fn run(&self, statement: &str) {
        let statement = sqlx::AssertSqlSafe(statement.to_owned());
        sqlx::raw_sql(statement).execute(&self.pool).await.unwrap();
    }

    /// Returns the number that a query returns.
    pub(crate) async fn number(&self, query: &str) -> i64 {
        let query = sqlx::AssertSqlSafe(query.to_owned());
        sqlx::query_scalar(query)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    /// Waits until a query returns this number.
    pub(crate) async fn until(&self, query: &str, number: i64) {
        let mut ticks = tokio::time::interval(POLL);
        while self.number(query).await != number {
            ticks.tick().await;
        }
    }
}
