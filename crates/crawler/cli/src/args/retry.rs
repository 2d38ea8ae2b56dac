//! The arguments of `crawler retry`.

use std::path::PathBuf;

use clap::Args;
use policy::{FailedPages, StatusRange};
use web::Host;

use crate::args::store::StoreArg;

/// The selection of failed pages.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler retry crawl                           then `crawler --out crawl` requests them
  crawler retry crawl --status 404,5xx          also missing pages
  crawler retry crawl --host shop.example.org
  crawler retry crawl --reason 'timed out'

While the crawl runs, write a one-time action into its control.toml:
  retry = [\"temporary\", \"status=404 host=shop.example.org\"]")]
pub(crate) struct RetryArgs {
    /// Directory of the crawl, which must not be running [default: crawl]
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// Only pages with one of these statuses: 404, or 5xx for 500 to 599 (repeatable)
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<StatusRange>,
    /// Only pages of this host (repeatable)
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = host)]
    host: Vec<Host>,
    /// Only pages whose reason, as in `crawler export`, contains these words
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
