//! `crawler node`: takes part in a crawl that several nodes share.
//!
//! The first node writes the settings that all share, and the others take them. A node whose term
//! ends before it left (the store was out of reach, or the node hung) begins a new term in a new
//! image of its process: what it had not settled is cut from its archive, and visited again.
//!
//! Invariant: a node never crawls with other shared settings than the first one.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use ::crawl::CrawlContext;
use neardup::HashKey;
use shared_store::{Connection, CrawlSettings, Session, SharedStore};
use tokio::time::MissedTickBehavior;

use super::crawl::{self, SessionEnd};
use super::shared;
use crate::args::NodeArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::machine;
use crate::settings::Settings;
use crate::terminal::{printable, say};

/// The interval at which redirects of seeds on other nodes widen the scope.
const WIDEN: Duration = Duration::from_secs(1);

/// A node that has the settings of its crawl, and has not begun a term.
pub(super) struct Node {
    pub(super) settings: Settings,
    url: String,
    name: String,
    shared: CrawlSettings,
}

pub(crate) fn run(args: &NodeArgs) -> Result<ExitCode, CliError> {
    let url = shared::required_url(args.own.store.as_ref())?;
    let node = shared::runtime()?.block_on(prepare(args, url))?;
    match crawl::run_as(&args.crawl, Some(node))? {
        SessionEnd::Finished(code) => Ok(code),
        SessionEnd::TermEnded(ended) => {
            say(&format!("{ended}; a new term begins"));
            // A new image has no lock, connection or task of the old term.
            let program = std::env::current_exe().map_err(|error| fault(&error))?;
            let error = Command::new(program)
                .args(std::env::args_os().skip(1))
                .exec();
            Err(fault(&error))
        }
    }
}

/// Connects, and writes or takes the settings of the crawl.
async fn prepare(args: &NodeArgs, url: String) -> Result<Node, CliError> {
    let name = name(args)?;
    let connection = Connection::open(&url).await;
    let connection = connection.map_err(|error| shared::connect_error(&error))?;
    let join_error = |error| shared::join_error(&error);
    let found = connection.settings().await.map_err(join_error)?;
    let found = match found {
        Some(found) => found,
        None => {
            let settings = Settings::gather(&args.crawl)?;
            refuse(&settings)?;
            let key = match settings.hash_key {
                Some(key) => key.0,
                None => HashKey::new(machine::random()?),
            };
            let begun = CrawlSettings {
                key,
                text: settings.shared_text()?,
                term: args.own.term.0,
            };
            connection.begin_crawl(&begun).await.map_err(join_error)?;
            let found = connection.settings().await.map_err(join_error)?;
            found.ok_or_else(|| usage("the store has lost the crawl that began just now"))?
        }
    };
    let mut settings = Settings::joined(&args.crawl, &found.text)?;
    refuse(&settings)?;
    settings.warc_prefix = format!("{}-{name}", settings.warc_prefix);
    Ok(Node {
        settings,
        url,
        name,
        shared: found,
    })
}

/// Returns the name of the node: that of the machine by default.
fn name(args: &NodeArgs) -> Result<String, CliError> {
    let Some(name) = args.own.name.clone() else {
        return Err(
            usage("the node has no name").with_remedy("--name n1, another one on each node")
        );
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > 32 || !name.bytes().all(fits) {
        let shown = printable(&name);
        return Err(usage(format!("{shown:?} cannot be the name of a node"))
            .with_remedy("--name takes up to 32 letters, digits, - and _"));
    }
    Ok(name)
}

/// Refuses what nodes cannot share.
fn refuse(settings: &Settings) -> Result<(), CliError> {
    let refused = [
        (
            settings.feature_settings()?.has_to_learn(),
            "tf-idf weights that are learned",
            "each node would learn others: give --frequencies FILE",
        ),
        (
            settings.group_by == web::GroupBy::Address,
            "--group-by address",
            "hosts of one address may be on several nodes: use --group-by domain",
        ),
        (
            !settings.since.is_empty(),
            "--since",
            "pages of the earlier crawl are in one directory: crawl again without nodes",
        ),
        (
            !settings.against.is_empty(),
            "--against",
            "signatures of the earlier crawl are in one directory: crawl again without nodes",
        ),
    ];
    for (is_given, what, remedy) in refused {
        if is_given {
            return Err(usage(format!("nodes cannot share {what}")).with_remedy(remedy));
        }
    }
    Ok(())
}

impl Node {
    /// Begins a term.
    pub(super) async fn join(self) -> Result<Session, CliError> {
        let connection = Connection::open(&self.url).await;
        let connection = connection.map_err(|error| shared::connect_error(&error))?;
        let wait = |wait: Duration| {
            say(&format!(
                "a term of node {} has not ended: waiting for {} s",
                self.name,
                wait.as_secs()
            ));
        };
        let session = Session::begin(&connection, &self.name, &self.shared, None, wait);
        session.await.map_err(|error| shared::join_error(&error))
    }
}

/// Widens the scope by the redirects of seeds on all nodes, while the crawl runs.
pub(super) async fn widen(context: Arc<CrawlContext>, shared: Arc<SharedStore>) {
    let mut ticks = tokio::time::interval(WIDEN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut known = 0;
    loop {
        ticks.tick().await;
        let seeds = shared.adopted_seeds();
        if seeds.len() == known {
            continue;
        }
        known = seeds.len();
        let mut scope = context
            .scope
            .write()
            .expect("no panic can happen while the scope is locked");
        seeds.iter().for_each(|seed| scope.add_seed(seed));
    }
}
