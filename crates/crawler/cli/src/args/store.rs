//! Arguments that name a shared crawl, and arguments of commands that only work on shared crawls.

use std::path::PathBuf;

use clap::Args;
use messages::{CommandError, pasted, usage};
use setup::shared::StoreUrl;

use crate::output::ListArgs;

/// The option that names a shared crawl in place of a directory.
#[derive(Debug, Default, Args)]
pub(crate) struct StoreArg {
    /// Instead of DIR, the PostgreSQL database of a shared crawl:
    /// postgres://USER@HOST:PORT/DATABASE [default: the variable CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
}

impl StoreArg {
    /// Returns the directory and the name of the positional arguments `[DIR] NAME`. A single
    /// argument is the name. `what` is the name's meaning: `URL`.
    ///
    /// # Errors
    /// The name is missing, or both a directory and a store are named.
    pub(crate) fn directory_and_name(
        &self,
        first: Option<&PathBuf>,
        second: Option<&String>,
        what: &str,
    ) -> Result<(Option<PathBuf>, String), CommandError> {
        let name = |first: &PathBuf| first.to_string_lossy().into_owned();
        match (first, second) {
            (Some(_), Some(_)) if self.store.is_some() => Err(usage(
                "the argument 'DIR' cannot be used with '--store <URL>'",
            )
            .with_remedy("give one of them")),
            (Some(directory), Some(name)) => Ok((Some(directory.clone()), name.clone())),
            (Some(first), None) if self.store.is_none() && first.is_dir() => {
                let error = usage(format!("no {what} given, only a directory"));
                Err(error.with_remedy(format!("add it: {} {what}", pasted(first))))
            }
            (Some(first), None) => Ok((None, name(first))),
            (None, _) => {
                let error = usage(format!("no {what} given"));
                Err(error.with_remedy(format!(
                    "give it, after the directory of the crawl: DIR {what}"
                )))
            }
        }
    }
}

/// List the nodes of a shared crawl, one row per node: state and number of the term, buckets,
/// pages, pages per second over the term, queued URLs in the buckets, and seconds since the last
/// heartbeat.
#[derive(Debug, Args)]
#[command(after_help = "\
States:
  live     the node sends heartbeats
  silent   no heartbeat for one term; its buckets are about to be reassigned
  left     it ended normally
  expired  its term expired, and its buckets were reassigned

Examples:
  crawler nodes --store postgres://crawl@db.example.org/web
  CRAWLER_STORE=postgres://crawl:secret@db.example.org/web crawler nodes   hidden from `ps`

Exit codes: 0 done, 1 fault, 2 usage error.")]
pub(crate) struct NodesArgs {
    /// PostgreSQL database of the crawl: postgres://USER@HOST:PORT/DATABASE [default: the variable
    /// CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// Change a running shared crawl: each node without a control.toml of its own applies FILE within
/// seconds. An empty file reverts all changes.
#[derive(Debug, Args)]
#[command(after_help = "\
FILE has the keys of DIR/control.toml (documented in config/control.toml): delay, delay-factor,
max-delay, concurrency, rate, exclude, pause, reopen, distinct and tables for hosts. Concurrency and
rate apply per node.

Examples:
  echo 'pause = true' | crawler control --store postgres://crawl@db.example.org/web -
  crawler control --store postgres://crawl@db.example.org/web slower.toml

Exit codes: 0 done, 1 fault, 2 usage error.")]
pub(crate) struct ControlArgs {
    /// PostgreSQL database of the crawl: postgres://USER@HOST:PORT/DATABASE [default: the variable
    /// CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// The control file; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Move a crawl into an empty shared store on PostgreSQL.
#[derive(Debug, Args)]
#[command(after_help = "\
The store receives the crawl's settings, hash key, queue, visits and page signatures. The archive
stays in DIR/archive. DIR is not changed, but do not continue the crawl there: nodes continue it
(`crawler node`). If the import is interrupted, run the same command again.

To go back to one machine, put the archive files of DIR and of all nodes into one directory
NEW/archive, and run `crawler rebuild NEW --from-archive`.

Crawls with --since, --against or --group-by address, and crawls that learn word frequencies for
tf-idf, are refused: nodes cannot share the data that these options need.

Examples:
  crawler verify monday
  crawler import monday --store postgres://crawl@db.example.org/web
  crawler node --store postgres://crawl@db.example.org/web --name n1 --out n1

Exit codes: 0 done, 1 fault, 2 usage error.")]
pub(crate) struct ImportArgs {
    /// Directory of the crawl, which must not be running
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// An empty PostgreSQL database: postgres://USER@HOST:PORT/DATABASE [default: the variable
    /// CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
}
