//! Membership of a node in a shared crawl: its name, the shared settings, its own directory, and
//! its term.
//!
//! The first node writes the settings; all later nodes read them. Invariants: a node never crawls
//! with shared settings that differ from the first node's, and never in the directory of another
//! node, whose archive it would truncate.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use journal::NodeFile;
use messages::{CommandError, SlowProgress, fault, pasted, printable, say, usage};
use neardup::HashKey;
use settings::seeds::{ReadAhead, Seeds, Suggest};
use settings::values::Span;
use settings::{Settings, crawl_directory, machine};
use shared_store::{ConnectError, Connection, CrawlSettings, EarlierError, JoinError, Session};
use store::EmbeddedStore;
use web::Clock;

use crate::{earlier, session_clock, shared};

/// Length of a term, unless the first node is started with another length.
const DEFAULT_TERM: Duration = Duration::from_secs(10);
/// Allowed lengths of a term. Heartbeats are a quarter of a term apart; a dead node's hosts wait
/// for a whole term.
const TERMS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);
/// Wait between two attempts to reach an unavailable store.
const AGAIN: Duration = Duration::from_secs(1);
/// Environment variable that passes the number of the ended term to the next image of the process.
pub const ENDED_TERM: &str = "CRAWLER_ENDED_TERM";

/// A node in its term.
pub struct JoinedNode {
    /// The session of the node.
    pub session: Session,
    /// The directories of earlier crawls, copied from the store.
    pub against: Vec<PathBuf>,
    /// The clock of the store.
    pub clock: Clock,
    /// A warning about the machine's clock.
    pub warning: Option<String>,
}

/// What a node is started with.
pub struct NodeOptions<'a> {
    /// Name of the node.
    pub name: Option<&'a str>,
    /// Length of a term.
    pub term: Option<Span>,
    /// The flags of the crawl.
    pub flags: &'a ArgMatches,
    /// `--config`.
    pub config: Option<&'a Path>,
    /// Returns the remedy for a seed that is neither a URL nor a command.
    pub suggest: Suggest,
}

/// A node with the settings of its crawl, before its term begins.
pub struct Node {
    /// The settings of the crawl, for this node.
    pub settings: Settings,
    out: PathBuf,
    url: String,
    name: String,
    shared: CrawlSettings,
    steps: Steps,
    seeds: Seeds,
}

/// Steps towards a term; each calls the store.
struct Steps {
    /// The previous term of this process, which has ended.
    ended: Option<u64>,
    /// True once the store was reached.
    was_in_touch: Cell<bool>,
}

/// Connects, and writes or reads the settings of the crawl.
pub async fn prepare(args: &NodeOptions<'_>, url: String) -> Result<Node, CommandError> {
    let name = name(args.name)?;
    let term = term(args.term)?;
    let ended = std::env::var(ENDED_TERM).ok();
    let ended = ended.and_then(|term| term.parse().ok());
    let steps = Steps {
        ended,
        was_in_touch: Cell::new(ended.is_some()),
    };
    let connection = steps.take(async || Connection::open(&url).await).await?;
    let found = steps.take(async || connection.settings().await).await?;
    let (shared, mut seeds) = match found {
        Some(found) => (found, Seeds::default()),
        None => begin_crawl(args, term, &connection, &steps).await?,
    };
    refuse_other_term(term, shared.term)?;
    let mut settings = Settings::joined(args.flags, args.config, &shared.text)?;
    settings.refuse_unshared()?;
    // The directory belongs to this node since its earlier term, and the seeds are in the store.
    settings.fresh &= ended.is_none();
    if ended.is_none() && seeds.urls.is_empty() && settings.names_seeds() {
        seeds = gather_seeds(args, &settings)?;
    }
    let earlier = steps
        .take(async || connection.earlier_crawls().await)
        .await?;
    if !settings.against.is_empty() && earlier == 0 {
        return Err(usage("the crawl began without --against").with_remedy(
            "omit it: the first node copies the earlier crawls into the store for all nodes",
        ));
    }
    let crawl = steps.take(async || connection.begun().await).await?;
    let node = name.clone();
    refuse_directory(&settings.out, &NodeFile { node, crawl })?;
    settings.warc_prefix = format!("{}-{name}", settings.warc_prefix);
    Ok(Node {
        out: settings.out.clone(),
        settings,
        url,
        name,
        shared,
        steps,
        seeds,
    })
}

/// Writes the settings of the first node. Returns the settings in the store, and the seeds.
async fn begin_crawl(
    args: &NodeOptions<'_>,
    term: Option<Duration>,
    connection: &Connection,
    steps: &Steps,
) -> Result<(CrawlSettings, Seeds), CommandError> {
    let mut settings = Settings::gather(args.flags, args.config)?;
    settings.refuse_unshared()?;
    let seeds = gather_seeds(args, &settings)?;
    earlier::resolve(&mut settings)?;
    let key = match (earlier::load(&settings)?, settings.hash_key) {
        // Pages hashed with different keys cannot be compared.
        (Some(earlier), _) => earlier.key(),
        (None, Some(key)) => key.0,
        (None, None) => HashKey::new(machine::random()?),
    };
    let begun = CrawlSettings {
        key,
        text: settings.shared_text()?,
        term: term.unwrap_or(DEFAULT_TERM),
    };
    begin(connection, &begun, &earlier::states(&settings)).await?;
    let found = steps.take(async || connection.settings().await).await?;
    let missing = || usage("the crawl that has just begun is missing in the store");
    Ok((found.ok_or_else(missing)?, seeds))
}

fn gather_seeds(args: &NodeOptions<'_>, settings: &Settings) -> Result<Seeds, CommandError> {
    let form = settings.canonical_form();
    Seeds::gather(settings, &form, ReadAhead::All, args.suggest)
}

/// Refuses a term that differs from the term of the crawl.
fn refuse_other_term(given: Option<Duration>, of_crawl: Duration) -> Result<(), CommandError> {
    let Some(given) = given.filter(|given| *given != of_crawl) else {
        return Ok(());
    };
    let (here, there) = (Span(given), Span(of_crawl));
    Err(usage(format!("--term is {here}, but {there} in the crawl"))
        .with_remedy("omit it: the first node sets the term for all nodes"))
}

/// Begins the crawl with the pages of earlier crawls, whose stores are in `states`.
async fn begin(
    connection: &Connection,
    settings: &CrawlSettings,
    states: &[PathBuf],
) -> Result<(), CommandError> {
    if states.is_empty() {
        let begun = connection.begin_crawl(settings).await;
        return begun.map_err(|error| shared::join_error(&error));
    }
    let mut progress = SlowProgress::new("records of earlier crawls written to the store");
    let step = || progress.step();
    let begun = connection.begin_crawl_against(settings, states, step).await;
    begun.map_err(|error| earlier_error(&error))
}

fn earlier_error(error: &EarlierError) -> CommandError {
    match error {
        EarlierError::Join(error) => shared::join_error(error),
        EarlierError::Local(_) | EarlierError::File { .. } => fault(error),
    }
}

/// The reason why a step towards a term failed.
enum StepError {
    /// The store is unreachable, or temporarily unable to take the step.
    Away(CommandError),
    Refused(CommandError),
}

impl From<ConnectError> for StepError {
    fn from(error: ConnectError) -> Self {
        let shown = shared::connect_error(&error);
        match error {
            ConnectError::Unreachable { .. } => Self::Away(shown),
            _ => Self::Refused(shown),
        }
    }
}

impl From<JoinError> for StepError {
    fn from(error: JoinError) -> Self {
        let shown = shared::join_error(&error);
        match error {
            JoinError::Failed { .. } => Self::Away(shown),
            _ => Self::Refused(shown),
        }
    }
}

impl From<EarlierError> for StepError {
    fn from(error: EarlierError) -> Self {
        let shown = earlier_error(&error);
        match error {
            EarlierError::Join(JoinError::Failed { .. }) => Self::Away(shown),
            _ => Self::Refused(shown),
        }
    }
}

impl Steps {
    /// Takes a step. Once the store was reached, a node waits until it is back.
    async fn take<T, E: Into<StepError>>(
        &self,
        step: impl AsyncFn() -> Result<T, E>,
    ) -> Result<T, CommandError> {
        let mut is_told = false;
        loop {
            match step().await.map_err(Into::into) {
                Ok(taken) => {
                    self.was_in_touch.set(true);
                    return Ok(taken);
                }
                Err(StepError::Away(error)) if self.was_in_touch.get() => {
                    if !is_told {
                        say(&format!("waiting for the store: {}", error.message()));
                        is_told = true;
                    }
                    tokio::time::sleep(AGAIN).await;
                }
                Err(StepError::Away(error) | StepError::Refused(error)) => return Err(error),
            }
        }
    }
}

/// Returns the name of the node.
fn name(given: Option<&str>) -> Result<String, CommandError> {
    let Some(name) = given.map(str::to_owned) else {
        return Err(usage("the node needs a name").with_remedy(
            "give --name, such as n1, different on each \
                node",
        ));
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > 32 || !name.bytes().all(fits) {
        let shown = printable(&name);
        return Err(usage(format!("{shown:?} is not a valid node name"))
            .with_remedy("use up to 32 letters, digits, - and _"));
    }
    Ok(name)
}

/// Returns the length of a term, if given.
fn term(given: Option<Span>) -> Result<Option<Duration>, CommandError> {
    let term = given.map(|term| term.0);
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

/// Refuses a directory that belongs to another node: its archive would be truncated where this
/// node's settled visits end.
fn refuse_directory(directory: &Path, node_file: &NodeFile) -> Result<(), CommandError> {
    let shown = directory.display();
    let archive = crawl_directory::archive(directory);
    let (what, remedy) = match crawl_directory::node_file(directory)? {
        Some(found) if found == *node_file => return Ok(()),
        Some(found) if found.crawl == node_file.crawl => {
            let (theirs, ours) = (found.node, &node_file.node);
            (
                format!("{shown} is the directory of node {theirs}, not of node {ours}"),
                format!("use --name {theirs}, or another --out"),
            )
        }
        Some(found) => (
            format!(
                "{shown} is the directory of node {} of another crawl",
                found.node
            ),
            "give the store of that crawl, or another --out".to_owned(),
        ),
        None if EmbeddedStore::exists(&crawl_directory::state(directory)) => (
            format!("{shown} contains a crawl that is not shared"),
            format!(
                "choose another --out; `crawler import {} --store URL` moves a crawl into an \
                 empty store",
                pasted(directory)
            ),
        ),
        None if crawl_directory::archive_files(&archive).is_ok_and(|files| !files.is_empty()) => (
            format!(
                "{} contains an archive of another node or crawl",
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
    pub fn take_seeds(&mut self) -> Seeds {
        std::mem::take(&mut self.seeds)
    }

    /// Returns the name of the node.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Begins a term.
    pub async fn join(self) -> Result<JoinedNode, CommandError> {
        // A connection that belongs to this runtime.
        let connection = self
            .steps
            .take(async || Connection::open(&self.url).await)
            .await?;
        let wait = |wait: Duration| {
            say(&format!(
                "the previous term of node {} has not expired: waiting for {} s",
                self.name,
                wait.as_secs()
            ));
        };
        let begin = async || {
            let ended = self.steps.ended;
            Session::begin(&connection, &self.name, &self.shared, ended, wait).await
        };
        let session = self.steps.take(begin).await?;
        let (there, at) = self.steps.take(async || connection.time().await).await?;
        let directory = crawl_directory::state(&self.out).join("earlier");
        let copy = async || {
            let mut progress = SlowProgress::new("records of earlier crawls copied from the store");
            let (key, step) = (self.shared.key, || progress.step());
            connection.copy_earlier(key, &directory, step).await
        };
        let against = self.steps.take(copy).await?;
        let machine = machine::clock();
        let here = machine.now().before(at.elapsed());
        Ok(JoinedNode {
            session,
            against,
            clock: session_clock::moved(machine, here, there),
            warning: session_clock::difference(here, there),
        })
    }
}
