//! The membership of a node in a shared crawl: its name, the settings that all share, its own
//! directory, and its term.
//!
//! The first node writes the settings, and the others take them. Invariants: a node never crawls
//! with other shared settings than the first one, and never in the directory of another node, whose
//! archive it would cut.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use neardup::HashKey;
use shared_store::{Connection, CrawlSettings, NodeMark, Session};
use store::embedded::EmbeddedStore;
use web::Clock;

use super::shared;
use crate::args::{NodeArgs, NodeOwnArgs};
use crate::cli_error::{CliError, usage};
use crate::seeds::Seeds;
use crate::settings::Settings;
use crate::terminal::{printable, say};
use crate::values::Span;
use crate::{crawl_directory, machine, session_clock};

/// The length of a term, unless the first node is asked for another one.
const DEFAULT_TERM: Duration = Duration::from_secs(10);
/// The terms that may be asked for. Heartbeats are a quarter of a term apart; a dead node's hosts
/// wait for a whole one.
const TERMS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);
/// The variable by which a process tells its next image the term that has ended.
pub(super) const ENDED_TERM: &str = "CRAWLER_ENDED_TERM";

/// A node in its term.
pub(super) struct JoinedNode {
    pub(super) session: Session,
    /// The clock of the store.
    pub(super) clock: Clock,
    /// A warning about the machine's clock.
    pub(super) warning: Option<String>,
}

/// A node that has the settings of its crawl, and has not begun a term.
pub(super) struct Node {
    pub(super) settings: Settings,
    url: String,
    name: String,
    shared: CrawlSettings,
    /// The term of this process before, which has ended.
    ended: Option<u64>,
    seeds: Seeds,
}

/// Connects, and writes or takes the settings of the crawl.
pub(super) async fn prepare(args: &NodeArgs, url: String) -> Result<Node, CliError> {
    let name = name(&args.own)?;
    let term = term(&args.own)?;
    let connection = Connection::open(&url).await;
    let connection = connection.map_err(|error| shared::connect_error(&error))?;
    let join_error = |error| shared::join_error(&error);
    let found = connection.settings().await.map_err(join_error)?;
    let mut seeds = Seeds::default();
    let found = match found {
        Some(found) => found,
        None => {
            let settings = Settings::gather(&args.crawl)?;
            settings.refuse_unshared()?;
            seeds = Seeds::gather(&settings, &settings.canonical_form())?;
            let key = match settings.hash_key {
                Some(key) => key.0,
                None => HashKey::new(machine::random()?),
            };
            let begun = CrawlSettings {
                key,
                text: settings.shared_text()?,
                term: term.unwrap_or(DEFAULT_TERM),
            };
            connection.begin_crawl(&begun).await.map_err(join_error)?;
            let found = connection.settings().await.map_err(join_error)?;
            found.ok_or_else(|| usage("the store has lost the crawl that began just now"))?
        }
    };
    if let Some(term) = term.filter(|term| *term != found.term) {
        let (here, there) = (Span(term), Span(found.term));
        return Err(
            usage(format!("--term is {here} here and {there} in the crawl")).with_remedy(
                "leave it out: the first node of a crawl decides for all how long a term is",
            ),
        );
    }
    let mut settings = Settings::joined(&args.crawl, &found.text)?;
    settings.refuse_unshared()?;
    let ended = std::env::var(ENDED_TERM).ok();
    let ended = ended.and_then(|term| term.parse().ok());
    // The directory is this node's, by its earlier term, and the seeds are in the store.
    settings.fresh &= ended.is_none();
    if ended.is_none() && seeds.urls.is_empty() && settings.names_seeds() {
        seeds = Seeds::gather(&settings, &settings.canonical_form())?;
    }
    let crawl = connection.begun().await.map_err(join_error)?;
    refuse_directory(
        &settings.out,
        &NodeMark {
            node: name.clone(),
            crawl,
        },
    )?;
    settings.warc_prefix = format!("{}-{name}", settings.warc_prefix);
    Ok(Node {
        settings,
        url,
        name,
        shared: found,
        ended,
        seeds,
    })
}

/// Returns the name of the node.
fn name(args: &NodeOwnArgs) -> Result<String, CliError> {
    let Some(name) = args.name.clone() else {
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

/// Returns the length of a term, if one is given.
fn term(args: &NodeOwnArgs) -> Result<Option<Duration>, CliError> {
    let term = args.term.map(|term| term.0);
    match term {
        Some(term) if !TERMS.contains(&term) => {
            let (least, most) = (Span(*TERMS.start()), Span(*TERMS.end()));
            let what = format!(
                "--term must be between {least} and {most}, got {}",
                Span(term)
            );
            Err(usage(what))
        }
        term => Ok(term),
    }
}

/// Refuses a directory that is not this node's: its archive would be cut where the settled visits
/// of this node end.
fn refuse_directory(directory: &Path, mark: &NodeMark) -> Result<(), CliError> {
    let shown = directory.display();
    let archive = crawl_directory::archive(directory);
    let (what, remedy) = match crawl_directory::node_mark(directory)? {
        Some(found) if found == *mark => return Ok(()),
        Some(found) if found.crawl == mark.crawl => {
            let (theirs, ours) = (found.node, &mark.node);
            (
                format!("{shown} is the directory of node {theirs}, and this is node {ours}"),
                format!("--name {theirs}, or another --out"),
            )
        }
        Some(found) => (
            format!(
                "{shown} is the directory of node {} of another crawl",
                found.node
            ),
            "name the store of that crawl, or another --out".to_owned(),
        ),
        None if EmbeddedStore::exists(&crawl_directory::state(directory)) => (
            format!("{shown} holds a crawl of its own"),
            format!(
                "choose another --out; `crawler import {shown} --store URL` moves a crawl into an \
                 empty store"
            ),
        ),
        None if crawl_directory::archive_files(&archive).is_ok_and(|files| !files.is_empty()) => (
            format!(
                "{} holds an archive, and not of this node",
                archive.display()
            ),
            "choose another --out".to_owned(),
        ),
        None => return Ok(()),
    };
    Err(usage(what).with_remedy(remedy))
}

impl Node {
    /// Returns the seeds that were given to this node.
    pub(super) fn take_seeds(&mut self) -> Seeds {
        std::mem::take(&mut self.seeds)
    }

    /// Returns the name of the node.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Begins a term.
    pub(super) async fn join(self) -> Result<JoinedNode, CliError> {
        let connection = Connection::open(&self.url).await;
        let connection = connection.map_err(|error| shared::connect_error(&error))?;
        let wait = |wait: Duration| {
            say(&format!(
                "a term of node {} has not ended: waiting for {} s",
                self.name,
                wait.as_secs()
            ));
        };
        let join_error = |error| shared::join_error(&error);
        let session = Session::begin(&connection, &self.name, &self.shared, self.ended, wait);
        let session = session.await.map_err(join_error)?;
        let (there, at) = connection.time().await.map_err(join_error)?;
        let machine = machine::clock();
        let here = machine.now().before(at.elapsed());
        Ok(JoinedNode {
            session,
            clock: session_clock::moved(machine, here, there),
            warning: session_clock::difference(here, there),
        })
    }
}
