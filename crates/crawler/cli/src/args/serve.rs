//! The arguments of `crawler serve`, and the options of the dashboard of a running crawl.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::args::store::StoreArg;

/// Show a crawl in a browser: counts and rates, hosts, duplicates, failures, skipped URLs, search,
/// single pages, and controls. It reads the journal, the archive and the search index without a
/// lock, so the crawl may be running. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Directory of the crawl, which may be running [default: crawl]
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// Directory of an earlier crawl, which /api/changes compares with
    #[arg(long, value_name = "OLD")]
    pub(crate) against: Option<PathBuf>,
    /// Listen on this address: IP:PORT, a port, or localhost:PORT; port 0 is any free one
    #[arg(long, value_name = "ADDR", default_value = DEFAULT)]
    pub(crate) listen: ListenAddress,
    /// Read the token that allows changes from this file; at least 16 characters [default: a new
    /// token on each start]. Required for addresses other than loopback, where every request needs
    /// the token
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

/// Answer the questions of agents about a crawl: search, pages, links, similar pages, counts and
/// changes, by the Model Context Protocol on standard input and output. Agents start this command;
/// it only reads, and it ends when its input ends.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler mcp monday                                agents may read this crawl, and no other file
  crawler mcp tuesday --against monday              and list the changes since monday

docs/guide/agents.md has the configuration of an agent.

Exit codes: 0 the input ended, 1 fault, 2 usage error.")]
pub(crate) struct McpArgs {
    /// Directory of the crawl, which may be running [default: crawl]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Directory of an earlier crawl, which the tool `changes` compares with
    #[arg(long, value_name = "OLD")]
    pub(crate) against: Option<PathBuf>,
}

/// The address of a dashboard that is not named: loopback, and any free port.
pub(crate) const DEFAULT: &str = "127.0.0.1:0";

/// An address to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListenAddress(pub(crate) SocketAddr);

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        if let Ok(port) = text.parse() {
            return Ok(Self(SocketAddr::new(loopback, port)));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self(SocketAddr::new(address, 0)));
        }
        let named = text.strip_prefix("localhost:");
        if let Some(port) = named.and_then(|port| port.parse().ok()) {
            return Ok(Self(SocketAddr::new(loopback, port)));
        }
        if text.contains("://") {
            return Err(format!(
                "{text:?} is a URL: write URLs before --serve, or --serve=ADDR"
            ));
        }
        let address = text.parse().map(Self);
        address.map_err(|_error| {
            if text.contains("://") {
                return format!(
                    "{text:?} is not an address; write URLs before --serve, or --serve=ADDRESS"
                );
            }
            format!("{text:?} is not an address (for example 127.0.0.1:8080, [::1]:8080, 8080)")
        })
    }
}

const EXAMPLES: &str = "\
Examples:
  crawler serve monday                              a free port; the URL is printed
  crawler serve monday --listen 127.0.0.1:8080
  crawler serve monday --listen 0.0.0.0:8080 --token-file token
  crawler --seeds seeds.txt --serve                 the same, while it crawls

Changes are lines of monday/control.toml, shown before they are written. /metrics serves metrics for
Prometheus, and /healthz reports if the crawl is readable. See docs/guide/dashboard.md.

Exit codes: 0 ended by Ctrl-C, 1 fault, 2 usage error: no crawl in the directory, or an address that
is in use or does not belong to this machine.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let address = |text: &str| {
            text.parse()
                .map(|ListenAddress(address)| address.to_string())
        };
        for (text, expected) in [
            (DEFAULT, "127.0.0.1:0"),
            ("8080", "127.0.0.1:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("::1", "[::1]:0"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(address(text).as_deref(), Ok(expected), "{text}");
        }
        let url = address("http://site.test/").unwrap_err();
        assert!(url.contains("before --serve"), "{url}");
        for wrong in [
            "",
            "example.org:80",
            "http://127.0.0.1",
            "127.0.0.1:99999",
            ":80",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
