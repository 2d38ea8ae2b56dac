//! The arguments of `crawler node`.

use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::store::StoreUrl;
use crate::settings::CrawlArgs;
use crate::values::Span;

/// Take part in a crawl that several nodes share.
#[derive(Clone)]
pub(crate) struct NodeArgs {
    pub(crate) own: NodeOwnArgs,
    pub(crate) crawl: CrawlArgs,
}

/// The options of a node that a crawl without nodes does not have.
#[derive(Clone, Debug, Args)]
pub(crate) struct NodeOwnArgs {
    /// The PostgreSQL database of the crawl: postgres://USER@HOST:PORT/DATABASE [default: the
    /// variable CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// The name of this node, of letters, digits, - and _; the names of its archive files have it
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A node that is not heard of for so long is dead, and others take its hosts over. The first
    /// node decides it
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) term: Span,
}

impl NodeOwnArgs {
    /// The shortest term: heartbeats are a quarter of it apart.
    pub(crate) const LEAST_TERM: Duration = Duration::from_secs(1);
}

impl FromArgMatches for NodeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            own: NodeOwnArgs::from_arg_matches(matches)?,
            crawl: CrawlArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for NodeArgs {
    fn augment_args(command: Command) -> Command {
        CrawlArgs::augment_args(NodeOwnArgs::augment_args(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
