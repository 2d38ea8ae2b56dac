//! The connection to the database of a shared crawl.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection as _, Error, SqlSafeStr};
use tokio::time::timeout;

/// The oldest version of PostgreSQL with everything that the migrations use.
const MIN_VERSION: i32 = 14;
/// Number of connections of a node: settlements, admissions, polls, packing, and two for buckets
/// that are acquired. The heartbeat has its own.
const CONNECTIONS: u32 = 6;
/// Idle time before a connection is tested again.
const IDLE: Duration = Duration::from_secs(1);
/// Maximum wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The migrations, by number. A published migration never changes.
const MIGRATIONS: [(i64, &str, &str); 1] = [(
    1,
    "shared crawl",
    include_str!("../../../../migrations/0001_shared_crawl.sql"),
)];

/// The number of the last migration.
pub(crate) const LATEST_MIGRATION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].0;

/// A pool of connections to the database of a shared crawl.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) pool: PgPool,
}

/// The reason why a store cannot be opened. No variant contains the password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL is not the URL of a PostgreSQL database.
    #[error(
        "{shown:?} is not the URL of a PostgreSQL database, such as \
        postgres://user@host/crawl"
    )]
    Url {
        /// The URL without a password.
        shown: String,
    },
    /// The server rejected the user or the password.
    #[error("{server} rejected the user or the password")]
    Refused {
        /// The server and the database.
        server: String,
    },
    /// The server does not support TLS, which the URL requires, or its certificate is not trusted.
    #[error("no TLS with {server}: {what}")]
    Tls {
        /// The server and the database.
        server: String,
        /// The error.
        what: String,
    },
    /// The server cannot be reached, or the database does not exist.
    #[error("cannot open {server}: {what}")]
    Unreachable {
        /// The server and the database.
        server: String,
        /// The error.
        what: String,
    },
    /// The server is too old.
    #[error("{server} is PostgreSQL {found}, but version {MIN_VERSION} or later is required")]
    Old {
        /// The server and the database.
        server: String,
        /// Its version.
        found: i32,
    },
    /// The tables were made by a later version of this program.
    #[error("{server} was written by a later version of this program (migration {migration})")]
    Newer {
        /// The server and the database.
        server: String,
        /// The number of the migration.
        migration: i64,
    },
    /// The tables are not from this program.
    #[error("the tables of {server} were not made by this program: {what}")]
    Foreign {
        /// The server and the database.
        server: String,
        /// The difference.
        what: String,
    },
    /// The database is read-only.
    #[error("{server} is read-only")]
    ReadOnly {
        /// The server and the database.
        server: String,
    },
}

impl Connection {
    /// Connects to the database at `url` (postgres://user:password@host:port/database?sslmode=…),
    /// and creates the tables if they are missing.
    ///
    /// # Errors
    /// [`ConnectError`]: the URL, the server, or its tables are not usable.
    pub async fn open(url: &str) -> Result<Self, ConnectError> {
        let connection = Self::reach(url).await?;
        connection.migrate(&server_of(url)).await?;
        Ok(connection)
    }

    /// Connects to the database at `url` without changing it.
    ///
    /// # Errors
    /// [`ConnectError`], as for [`Connection::open`].
    pub async fn reach(url: &str) -> Result<Self, ConnectError> {
        let is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
        let shown = || ConnectError::Url {
            shown: server_of(url),
        };
        if !is_postgres {
            return Err(shown());
        }
        let options = PgConnectOptions::from_str(url).map_err(|_unreadable| shown())?;
        let server = server_of(url);
        // Every call reads few rows by an index, so it is planned once and not compiled. Without
        // sequential scans, a plan made while a table is empty also suits it later.
        let options = options.application_name("crawler").options([
            ("jit", "off"),
            ("plan_cache_mode", "force_generic_plan"),
            ("enable_seqscan", "off"),
            ("synchronous_commit", "on"),
        ]);
        let query = "SELECT current_setting('server_version_num')::integer / 10000";
        let tried = async {
            let mut first = PgConnection::connect_with(&options).await?;
            let version: (i32,) = sqlx::query_as(query).fetch_one(&mut first).await?;
            first.close().await?;
            Ok(version)
        };
        // A pool retries and reports that time ran out; a single connection reports the reason.
        let version = match timeout(CONNECT_TIMEOUT, tried).await {
            Ok(answer) => answer.map_err(|error| explain(&error, &server))?,
            Err(_late) => {
                let what = format!("no answer within {} s", CONNECT_TIMEOUT.as_secs());
                return Err(ConnectError::Unreachable { server, what });
            }
        };
        let pool = pool_of(CONNECTIONS).connect_lazy_with(options);
        if version.0 < MIN_VERSION {
            let found = version.0;
            return Err(ConnectError::Old { server, found });
        }
        Ok(Self { pool })
    }

    /// Returns a separate connection to the same database.
    pub(crate) fn alone(&self) -> Self {
        let options = PgConnectOptions::clone(&self.pool.connect_options());
        Self {
            pool: pool_of(1).connect_lazy_with(options),
        }
    }

    /// Writes the control file that applies to nodes without their own. Returns false if no crawl
    /// has begun.
    ///
    /// # Errors
    /// [`ConnectError`] if the database cannot be written.
    pub async fn set_control(&self, url: &str, text: &str) -> Result<bool, ConnectError> {
        let call = sqlx::query_scalar("SELECT set_control($1)").bind(text);
        let answer = call.fetch_one(&self.pool).await;
        answer.map_err(|error| explain(&error, &server_of(url)))
    }

    async fn migrate(&self, server: &str) -> Result<(), ConnectError> {
        let migrations = MIGRATIONS.map(|(version, description, sql)| {
            let sql = sql.into_sql_str();
            Migration::new(
                version,
                Cow::Borrowed(description),
                MigrationType::Simple,
                sql,
                false,
            )
        });
        let migrator = Migrator::with_migrations(migrations.to_vec());
        let server = server.to_owned();
        migrator.run(&self.pool).await.map_err(|error| match error {
            MigrateError::VersionMissing(migration) => ConnectError::Newer { server, migration },
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                match code_of(&error).as_deref() {
                    Some(READ_ONLY) => ConnectError::ReadOnly { server },
                    Some(DUPLICATE_TABLE) => ConnectError::Foreign {
                        server,
                        what: message_of(&error),
                    },
                    _ => explain(&error, &server),
                }
            }
            other => ConnectError::Foreign {
                server,
                what: other.to_string(),
            },
        })
    }
}

fn pool_of(connections: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(CONNECT_TIMEOUT)
        // A connection in use is not checked before each call.
        .test_before_acquire(false)
        .before_acquire(|connection, found| {
            Box::pin(async move {
                if found.idle_for >= IDLE {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}

/// PostgreSQL's error codes (its manual, appendix A).
const READ_ONLY: &str = "25006";
const DUPLICATE_TABLE: &str = "42P07";
/// Invalid authorization: a user, or a password.
const INVALID_AUTHORIZATION: &str = "28";

fn explain(error: &Error, server: &str) -> ConnectError {
    let server = server.to_owned();
    match error {
        Error::Tls(what) => ConnectError::Tls {
            server,
            what: what.to_string(),
        },
        // rustls reports an untrusted certificate this way.
        Error::Io(what) if what.kind() == ErrorKind::InvalidData => ConnectError::Tls {
            server,
            what: what.to_string(),
        },
        error if code_of(error).is_some_and(|code| code.starts_with(INVALID_AUTHORIZATION)) => {
            ConnectError::Refused { server }
        }
        error => ConnectError::Unreachable {
            server,
            what: message_of(error),
        },
    }
}

/// Returns the server and the database of a URL, without user and password.
pub(crate) fn server_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, server)| server);
    rest.split(['?', '#']).next().unwrap_or_default().to_owned()
}

pub(crate) fn code_of(error: &Error) -> Option<String> {
    let code = error.as_database_error()?.code()?;
    Some(code.into_owned())
}

/// Returns the database's error message, which does not contain the password.
pub(crate) fn message_of(error: &Error) -> String {
    match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_has_no_password() {
        let shown = [
            (
                "postgres://crawl:se:c@ret@db.test:5432/web?sslmode=require",
                "db.test:5432/web",
            ),
            ("postgres://db.test/web", "db.test/web"),
            ("mysql://root:secret@db.test/web", "db.test/web"),
        ];
        for (url, expected) in shown {
            assert_eq!(server_of(url), expected);
        }
    }
}
