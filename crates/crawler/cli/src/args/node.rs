//! The arguments of `crawler node`.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use settings::values::Span;
use setup::shared::StoreUrl;

use crate::args::CrawlArgs;

/// The help behind the options.
const EXAMPLES: &str = "\
The first node writes the settings of the crawl. Further nodes only need a store, a name and a
directory. --out, --concurrency, --memory, --min-free, --proxy and secrets are set per node. Nodes
can join and leave at any time; other nodes take over their unfinished work.

Examples:
  export CRAWLER_STORE=postgres://crawl@db.example.org/crawl
  crawler node --name n1 --out n1 --seeds seeds.txt --contact me@example.org   the first node
  crawler node --name n2 --out n2                                              on another machine
  crawler nodes                                                                list the nodes
  crawler verify --store $CRAWLER_STORE                                        check the crawl";

/// The arguments of a node.
#[derive(Clone)]
pub(crate) struct NodeArgs {
    pub(crate) own: NodeOwnArgs,
    pub(crate) crawl: CrawlArgs,
}

/// The options of a node that a crawl without nodes does not have.
#[derive(Clone, Debug, Args)]
pub(crate) struct NodeOwnArgs {
    /// PostgreSQL database of the crawl: postgres://USER@HOST:PORT/DATABASE [default: the variable
    /// CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// Name of this node: letters, digits, - and _; part of the names of its archive files
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Time without a heartbeat after which a node counts as dead and other nodes take over its
    /// hosts; set by the first node [default: 10s]
    #[arg(long, value_name = "TIME")]
    pub(crate) term: Option<Span>,
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
        CrawlArgs::augment_args(NodeOwnArgs::augment_args(command)).after_help(EXAMPLES)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
