//! The arguments of `crawler retry`.

use std::path::PathBuf;

use clap::Args;
use crawl::{FailedPages, StatusRange};
use web::Host;

use crate::args::store::StoreArg;

/// Request failed pages of a crawl again. Without --status and --reason these are the pages whose
/// failure may have passed: no response, 408, 421, 425, 429 or 5xx, but not 404. They are queued;
/// the next session requests them, before all other pages of their hosts.
///
/// Pages of a host that was down when the crawl ended are not failed: they are still queued, and
/// the same crawl command requests them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler retry crawl                           then `crawler --out crawl` requests them
  crawler retry crawl --status 404,5xx          also pages that were gone
  crawler retry crawl --host shop.example.org
  crawler retry crawl --reason 'timed out'

While the crawl runs, write an order into its control.toml:
  retry = [\"temporary\", \"status=404 host=shop.example.org\"]")]
pub(crate) struct RetryArgs {
    /// Directory of the crawl, which must not be running
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// Only pages that failed with one of these statuses: 404, or 5xx for 500 to 599 (repeatable)
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<StatusRange>,
    /// Only pages of this host (repeatable)
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = host)]
    host: Vec<Host>,
    /// Only pages whose reason contains these words, as `crawler export` has it
    #[arg(long, value_name = "WORDS")]
    reason: Option<String>,
}

impl RetryArgs {
    /// Returns the selection of pages.
    pub(crate) fn pages(&self) -> FailedPages {
        FailedPages {
            statuses: self.status.clone(),
            hosts: self.host.clone(),
            reason: self.reason.clone(),
        }
    }
}

fn host(name: &str) -> Result<Host, String> {
    let hosts = FailedPages::hosts_in(name).map_err(|error| error.to_string())?;
    hosts.into_iter().next().ok_or_else(|| "no host".to_owned())
}
