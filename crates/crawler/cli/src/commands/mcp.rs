//! `crawler mcp`: tools for agents that read a crawl.

use mcp::Crawls;
use messages::CommandError;
use settings::crawl_directory;

use crate::args::McpArgs;

pub(crate) fn run(args: McpArgs) -> Result<(), CommandError> {
    mcp::serve(Crawls {
        directory: args
            .directory
            .map_or_else(crawl_directory::default_crawl, Ok)?,
        against: args.against,
    })
}
