//! Arguments that name a shared crawl, and arguments of commands that only work on shared crawls.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::cli_error::{CliError, usage};
use crate::output::Format;

/// The URL of a database. It may contain a password, so it is never shown.
#[derive(Clone)]
pub(crate) struct StoreUrl(pub(crate) String);

impl FromStr for StoreUrl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreUrl(..)")
    }
}

/// The option that names a shared crawl in place of a directory.
#[derive(Debug, Default, Args)]
pub(crate) struct StoreArg {
    /// In place of DIR, the PostgreSQL database of a shared crawl:
    /// postgres://USER@HOST:PORT/DATABASE [default: the variable CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
}

impl StoreArg {
    /// Returns the directory and the name of the positional arguments `DIR NAME`. With a store, the
    /// first argument is the name, and there is no directory.
    ///
    /// # Errors
    /// An argument is missing, or both a directory and a store are named.
    pub(crate) fn directory_and_name(
        &self,
        first: Option<&PathBuf>,
        second: Option<&String>,
    ) -> Result<(Option<PathBuf>, String), CliError> {
        let name = |first: &PathBuf| first.to_string_lossy().into_owned();
        match (first, second) {
            (Some(_), Some(_)) if self.store.is_some() => Err(usage(
                "the argument 'DIR' cannot be used with '--store <URL>'",
            )
            .with_remedy("name one crawl")),
            (Some(directory), Some(name)) => Ok((Some(directory.clone()), name.clone())),
            (Some(first), None) => Ok((None, name(first))),
            (None, _) => Err(usage("neither a crawl nor a page is named")
                .with_remedy("name the directory of the crawl and a page: DIR URL")),
        }
    }
}

/// List the nodes of a shared crawl, a row each: the state of its term, the number of that term,
/// its buckets, its pages, pages per second over the term, the URLs that wait in its buckets, and
/// the seconds since its last heartbeat.
#[derive(Debug, Args)]
#[command(after_help = "\
States:
  live    the node is heard of
  silent  it was not heard of for the length of a term, and its buckets pass on next
  left    it ended in order
  lapsed  it was found dead, and its buckets passed on

Examples:
  crawler nodes --store postgres://crawl@db.example.org/web
  CRAWLER_STORE=postgres://crawl:secret@db.example.org/web crawler nodes   not seen by `ps`

Exit codes: 0 done, 1 a fault, 2 wrong usage.")]
pub(crate) struct NodesArgs {
    /// The PostgreSQL database of the crawl: postgres://USER@HOST:PORT/DATABASE [default: the
    /// variable CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}

/// Change a shared crawl while it runs: each node that has no control.toml of its own obeys FILE
/// within seconds. An empty file ends all changes.
#[derive(Debug, Args)]
#[command(after_help = "\
The keys of FILE are those of DIR/control.toml (config/control.toml documents them): delay,
delay-factor, max-delay, concurrency, rate, exclude, pause, reopen, distinct and tables for hosts.
Concurrency and rate hold for each node.

Examples:
  echo 'pause = true' | crawler control --store postgres://crawl@db.example.org/web -
  crawler control --store postgres://crawl@db.example.org/web slower.toml

Exit codes: 0 done, 1 a fault, 2 wrong usage.")]
pub(crate) struct ControlArgs {
    /// The PostgreSQL database of the crawl: postgres://USER@HOST:PORT/DATABASE [default: the
    /// variable CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// The control file; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Move a crawl into an empty shared store on PostgreSQL.
#[derive(Debug, Args)]
#[command(after_help = "\
The store gets the crawl's settings, its hash key, its queue, its visits and the signatures of its
pages. The archive stays in DIR/archive. Nothing in DIR is changed; do not continue the crawl there.
The same command continues an import that was interrupted. Nodes continue the crawl: `crawler node`.

The way back: put the archive files of DIR and of all nodes into one directory NEW/archive, and
`crawler rebuild NEW --from-archive` makes a crawl of them.

Crawls with --since, --against or --group-by address, and those that learn the frequencies of words
for tf-idf, are refused: nodes cannot share what these need.

Examples:
  crawler verify monday
  crawler import monday --store postgres://crawl@db.example.org/web
  crawler node --store postgres://crawl@db.example.org/web --name n1 --out n1

Exit codes: 0 done, 1 a fault, 2 wrong usage.")]
pub(crate) struct ImportArgs {
    /// Directory of the crawl, which must not be running
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The PostgreSQL database, which holds no crawl: postgres://USER@HOST:PORT/DATABASE [default:
    /// the variable CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
}
