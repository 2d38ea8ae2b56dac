//! The arguments of `crawler node`.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use setup::shared::StoreUrl;
use setup::values::Span;

use crate::args::CrawlArgs;

/// The help behind the options.
const EXAMPLES: &str = "\
The first node writes the settings that all share; the others take them, and need a store, a name
and a directory. Each may have its own --out, --concurrency, --memory, --min-free, --proxy and
secrets. Nodes may come and go: what one leaves unfinished, the others visit.

Examples:
  export CRAWLER_STORE=postgres://crawl@db.example.org/crawl
  crawler node --name n1 --out n1 --seeds seeds.txt --contact me@example.org   the first node
  crawler node --name n2 --out n2                                              on another machine
  crawler nodes                                                                who does what
  crawler verify --store $CRAWLER_STORE                                        is it whole?";

/// The arguments of a node.
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
    /// A node that is not heard of for so long is dead, and others take its hosts over; the first
    /// node decides it [default: 10s]
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
