//! A session of a crawl, from its settings to its summary. [`SessionStart::crawl`] has the steps.

mod ending;

use std::sync::Arc;
use std::time::Duration;

use crawl::{CrawlContext, Fault, Finish, Limits, Stop};
use indicatif::ProgressBar;
use inspect::{link_check, report};
use messages::{CommandError, say};
use settings::seeds::Seeds;
use settings::values::Share;
use settings::{Settings, crawl_directory, machine, rules};
use setup::assembly::{self, AssembledCrawl, Components};
use setup::control::ControlWatch;
use setup::membership::Node;
use setup::on_file::OnFile;
use setup::secrets::{self, GivenSecrets};
use setup::session_clock::SessionClock;
use shared_store::Session as NodeSession;
use store::FrontierStats;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;
use web::Clock;
use web_ui::DashboardServer;

use super::greeting::{cut_list, greet};
use super::listening::Listening;
use super::outcome::{EarlyEnd, Outcome};
use super::served_dashboard::ServedDashboard;
use crate::args::RunArgs;
use crate::commands::serve;
use crate::log_file::LostLines;
use crate::terminal::is_seen;
use crate::{log, progress, seed_news};

/// Maximum wait for running visits after an interrupt or at the end of `--max-time`. Without it,
/// slow servers would decide when the crawl ends.
const DRAIN: Duration = Duration::from_secs(30);

/// Input of a session.
pub(super) struct SessionStart<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) settings: Settings,
    pub(super) seeds: Seeds,
    pub(super) secrets: GivenSecrets,
    pub(super) node: Option<Node>,
    /// Sentence about pages that need their scripts, for the greeting.
    pub(super) advice: Option<String>,
}

/// The clock that a crawl uses, and the term of a node.
struct Membership {
    clock: Clock,
    node: Option<NodeSession>,
    /// Name of the node.
    name: Option<String>,
    warnings: Vec<String>,
}

/// A session whose directory and log are open.
struct Session<'a> {
    args: &'a RunArgs,
    settings: Settings,
    seeds: Seeds,
    /// Name of the node.
    name: Option<String>,
    /// Warnings for the greeting.
    warnings: Vec<String>,
    /// Sentence about pages that need their scripts, for the greeting.
    advice: Option<String>,
    /// Line of progress.
    bar: ProgressBar,
    log: LostLines,
    stop: Stop,
}

/// Parts of a crawl that is not assembled yet.
struct Prepared {
    components: Components,
    node: Option<NodeSession>,
}

/// Parts of a session that watch the clock, the control file, the crawl's directory and signals.
struct Watchers {
    clock: SessionClock,
    control: ControlWatch,
    dashboard: Option<DashboardServer>,
    listening: Listening,
}

/// A crawl whose loop has ended.
struct EndedCrawl {
    context: Arc<CrawlContext>,
    /// Statistics before the loop.
    before: FrontierStats,
    started: Instant,
    result: Result<Finish, Fault>,
    /// Result of the check of links.
    links: Result<(), CommandError>,
}

impl<'a> SessionStart<'a> {
    /// Runs the session. If a node's session fails, ends the node's term.
    pub(super) async fn run(mut self) -> Outcome {
        let membership = match self.join().await {
            Ok(membership) => membership,
            Err(error) => return EarlyEnd::Failed(error).into(),
        };
        let failure = membership.node.as_ref().map(NodeSession::failure);
        let outcome = self.crawl(membership).await.unwrap_or_else(Outcome::from);
        if let (Err(_), Some(failure)) = (&outcome.end, failure) {
            failure.end().await;
        }
        outcome
    }

    /// Takes the steps of a session, in order.
    async fn crawl(self, membership: Membership) -> Result<Outcome, EarlyEnd> {
        let (mut session, prepared, mut watchers) = self.prepare(membership).await?;
        let mut crawl = session.assemble(prepared, &mut watchers).await?;
        let on_file = session.begin_on_file()?;
        session.greet(&crawl);
        let dashboard = watchers.dashboard.take().map(ServedDashboard::begin);

        let started = Instant::now();
        let cut_by = session.catch_up(&mut crawl, started).await?;
        let ended = session.run(crawl, watchers, started).await;
        // Waits for the last file.
        drop(on_file);
        let outcome = session.end(ended, cut_by);
        let stays = is_seen() && outcome.as_ref().is_ok_and(Outcome::has_finished);
        let dashboard = match dashboard {
            Some(dashboard) if !stays => {
                dashboard.end().await;
                None
            }
            dashboard => dashboard,
        };
        Ok(Outcome {
            dashboard,
            ..outcome?
        })
    }

    /// Begins the term of a node.
    async fn join(&mut self) -> Result<Membership, CommandError> {
        let missing = secrets::missing(&self.settings.secrets, &self.secrets.options);
        self.settings.remember_secrets(&self.secrets.options);
        let Some(node) = self.node.take() else {
            crawl_directory::refuse_node(&self.settings.out)?;
            return Ok(Membership {
                clock: machine::clock(),
                node: None,
                name: None,
                warnings: missing.into_iter().collect(),
            });
        };
        let name = node.name().to_owned();
        let joined = node.join().await?;
        self.settings.against = joined.against;
        Ok(Membership {
            clock: joined.clock,
            node: Some(joined.session),
            name: Some(name),
            warnings: missing.into_iter().chain(joined.warning).collect(),
        })
    }

    /// Creates everything that the settings can make impossible, then opens the directory.
    async fn prepare(
        self,
        membership: Membership,
    ) -> Result<(Session<'a>, Prepared, Watchers), CommandError> {
        let (args, settings, seeds) = (self.args, self.settings, self.seeds);
        let (verbosity, node) = (args.verbosity(), membership.node);
        let clock = SessionClock::start(membership.clock);
        let dates = clock.clock();
        let (secrets, mut warnings) = self.secrets.bind(&seeds.urls, &dates);
        warnings.extend(membership.warnings);
        let node_session = node.as_ref();
        let mut components = Components::new(&settings, &seeds, secrets, &dates, node_session)?;
        components.start_browser(&settings).await?;
        let control = ControlWatch::open(&settings.out, rules::pacing(&settings))?;
        let dashboard = open_dashboard(args, &settings, &seeds).await?;
        let file = assembly::prepare_directory(&settings)?;
        let bar = progress::line(verbosity.is_quiet());
        let log = log::begin(file, &bar, dates, verbosity);
        let (handle, stop) = crawl::stop();
        let listening = Listening::new(handle, &bar, verbosity.is_quiet());
        let session = Session {
            args,
            settings,
            seeds,
            name: membership.name,
            warnings,
            advice: self.advice,
            bar,
            log,
            stop,
        };
        let prepared = Prepared { components, node };
        let watchers = Watchers {
            clock,
            control,
            dashboard,
            listening,
        };
        Ok((session, prepared, watchers))
    }
}

impl Session<'_> {
    /// Assembles the crawl, applies its control file, and begins to listen to signals.
    async fn assemble(
        &mut self,
        prepared: Prepared,
        watchers: &mut Watchers,
    ) -> Result<AssembledCrawl, EarlyEnd> {
        let (settings, seeds, node) = (&self.settings, &mut self.seeds, prepared.node);
        let term = node.as_ref().map(|node| Arc::clone(node.term()));
        let listen = || {
            // Reading a long list takes time, and an interrupt must work meanwhile.
            watchers.listening.begin();
            self.stop.clone()
        };
        let components = prepared.components;
        let assembled = assembly::assemble(settings, seeds, components, node, listen).await;
        let crawl = assembled.map_err(|error| match term.and_then(|term| term.end_of()) {
            Some(ended) => EarlyEnd::TermEnded(ended),
            None => EarlyEnd::Failed(error),
        })?;
        let begun = watchers
            .control
            .begin(&crawl.context, &crawl.action_store)
            .await;
        begun.map_err(CommandError::from)?;
        // Before the greeting, which tells the user how to interrupt.
        watchers.listening.begin();
        Ok(crawl)
    }

    /// Begins to hand over the files of the archive, if the user wants that.
    fn begin_on_file(&self) -> Result<Option<OnFile>, CommandError> {
        let command = self.args.on_file.clone();
        let begun = command.map(|command| OnFile::begin(command, &self.settings.out));
        begun.transpose()
    }

    fn greet(&self, crawl: &AssembledCrawl) {
        if self.is_quiet() {
            return;
        }
        let list = &crawl.list;
        let warnings: Vec<String> = self
            .warnings
            .iter()
            .cloned()
            .chain(list.warnings.lines())
            .collect();
        let count = self.seeds.urls.len() + list.seeds;
        greet(
            &self.settings,
            (&self.seeds, count),
            &warnings,
            crawl.resumed,
            self.name.as_deref(),
        );
        if let Some(advice) = &self.advice {
            say(advice);
        }
        if list.is_cut {
            say(&cut_list(&self.settings));
        }
    }

    /// Queues the URLs that the settings admit now. Returns the end of the session, if it cut the
    /// search for them short.
    async fn catch_up(
        &self,
        crawl: &mut AssembledCrawl,
        started: Instant,
    ) -> Result<Option<Finish>, CommandError> {
        let Some(widened) = crawl.widened.take() else {
            return Ok(None);
        };
        let (settings, list) = (&self.settings, &crawl.list);
        let time = settings.max_time;
        let end = time.map(|span| started + span.0.saturating_sub(list.took));
        let caught_up = widened.catch_up(settings, &crawl.context, &crawl.store, &self.stop, end);
        let caught_up = caught_up.await?;
        if !self.is_quiet() {
            progress::say_above(&self.bar, &caught_up.in_words());
        }
        Ok(caught_up.cut_by())
    }

    /// Runs the crawl's loop, and the tasks that accompany it.
    async fn run(&self, crawl: AssembledCrawl, watchers: Watchers, started: Instant) -> EndedCrawl {
        let context = Arc::clone(&crawl.context);
        let took = crawl.list.took;
        let limits = limits(&self.settings, took + started.elapsed());
        let before = context.frontier.stats();
        let tasks = self.begin_tasks(crawl, watchers);
        let mut result = run_on_a_worker(&context, limits, self.stop.clone()).await;
        let mut links = Ok(());
        if self.settings.check_links && matches!(result, Ok(Finish::Exhausted)) {
            let limits = self::limits(&self.settings, took + started.elapsed());
            let checking = link_check::run(&context, &self.settings.out, limits, self.stop.clone());
            links = checking.await.map(|finish| result = Ok(finish));
        }
        // Wait for these tasks: some keep the store open.
        for task in tasks {
            task.abort();
            drop(task.await);
        }
        EndedCrawl {
            context,
            before,
            started,
            result,
            links,
        }
    }

    /// Begins the tasks that run until the loop ends. Only tasks keep the store of `crawl`.
    fn begin_tasks(&self, crawl: AssembledCrawl, watchers: Watchers) -> Vec<JoinHandle<()>> {
        let AssembledCrawl {
            context,
            store,
            action_store,
            ..
        } = crawl;
        let (bar, quiet) = (&self.bar, self.is_quiet());
        let max_pages = self.settings.max_pages;
        let progress = progress::show(Arc::clone(&context), bar.clone(), max_pages, quiet);
        // The end of the crawl must not wait for a task that keeps the store.
        let watching = tokio::spawn(watchers.clock.watch(Arc::downgrade(&store)));
        let controlling = tokio::spawn(watchers.control.go_on(Arc::clone(&context), action_store));
        drop(store);
        let news = (!quiet).then(|| seed_news::show(&context, bar.clone(), &self.settings.out));
        let tasks = [controlling, watching, progress].into_iter();
        tasks.chain(watchers.listening.task).chain(news).collect()
    }

    fn is_quiet(&self) -> bool {
        self.args.verbosity().is_quiet()
    }
}

/// Opens the dashboard, if the user wants one.
async fn open_dashboard(
    args: &RunArgs,
    settings: &Settings,
    seeds: &Seeds,
) -> Result<Option<DashboardServer>, CommandError> {
    let Some(listen) = &args.serve else {
        return Ok(None);
    };
    let token_file = args.token_file.as_deref();
    let title = report::title_of(&seeds.urls);
    let opened = serve::open(settings, title, listen.0, token_file, machine::clock());
    opened.await.map(Some)
}

/// Runs the crawl's loop on a worker thread, where pages run too. On the main thread, each page
/// would cost two wake-ups through the kernel.
async fn run_on_a_worker(
    context: &Arc<CrawlContext>,
    limits: Limits,
    stop: Stop,
) -> Result<Finish, Fault> {
    let context = Arc::clone(context);
    let running = tokio::spawn(async move { crawl::run(&context, limits, stop).await });
    match running.await.map_err(JoinError::try_into_panic) {
        Ok(ended) => ended,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(cancelled)) => Err(Fault::Panicked(cancelled)),
    }
}

/// Returns the limits of a session that has used this much of its time.
fn limits(settings: &Settings, used: Duration) -> Limits {
    Limits {
        concurrency: settings.concurrency,
        pages: settings.max_pages,
        bytes: settings.max_size.map(|size| size.0),
        harvest: settings.min_harvest.map(Share::share),
        time: settings.max_time.map(|span| span.0.saturating_sub(used)),
        drain: settings.timeout.0.min(DRAIN),
    }
}
