//! `crawler --seeds FILE`: crawls.

mod greeting;
mod listening;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use crawl::{CrawlContext, Fault, Finish, Limits, Stop};
use journal::StoreFault;
use messages::{CommandError, counted, fault, pasted, remedy_of, say, warn};
use setup::assembly::{self, AssembledCrawl, Components};
use setup::membership::Node;
use setup::secrets::{self, GivenSecrets};
use setup::seeds::{Seeds, read_ahead};
use setup::session_clock::SessionClock;
use setup::settings::Settings;
use setup::values::Share;
use setup::{control, crawl_directory, earlier, features, machine};
use shared_store::NodeFailure;
use tokio::task::JoinError;
use tokio::time::Instant;
use web::CanonicalForm;

use self::greeting::{cut_list, greet};
use self::listening::Listening;
use super::serve;
use crate::args::{Arguments, CrawlArgs, SummaryForm};
use crate::log::{self, Verbosity};
use crate::summary::{CrawlPlace, Summary};
use crate::{on_finish, output, progress, seed_news};

/// Maximum wait for running visits after an interrupt or at the end of `--max-time`. Without it,
/// slow servers would decide when the crawl ends.
const DRAIN: Duration = Duration::from_secs(30);

/// The exit code that shells report for an interrupted process.
const INTERRUPTED: u8 = 130;

/// The exit code of a crawl none of whose seeds could be fetched.
const NO_SEED: u8 = 3;

pub(crate) fn run(args: &CrawlArgs) -> Result<ExitCode, CommandError> {
    let ended = run_as(args, None)?;
    Ok(ended.code())
}

/// The end of a session.
pub(super) enum SessionEnd {
    /// The crawl, or this session of it, has ended.
    Finished(ExitCode),
    /// The node's term expired first. Unsettled visits will be repeated.
    TermEnded(StoreFault),
}

impl SessionEnd {
    fn code(self) -> ExitCode {
        match self {
            Self::Finished(code) => code,
            Self::TermEnded(_) => ExitCode::FAILURE,
        }
    }
}

/// Runs a session of a crawl; with `node`, of a shared crawl.
pub(super) fn run_as(args: &CrawlArgs, mut node: Option<Node>) -> Result<SessionEnd, CommandError> {
    // First, so that no message quotes a secret given in the wrong place.
    let mut given = GivenSecrets::gather(&args.run.secrets)?;
    let mut settings = match &node {
        Some(node) => node.settings.clone(),
        None => args.settings()?,
    };
    given.add_hosts(&settings)?;
    if node.is_none() {
        earlier::resolve(&mut settings)?;
    }
    let form = settings.canonical_form();
    let mut seeds = match &mut node {
        Some(node) => node.take_seeds(),
        None => Seeds::gather(
            &settings,
            &form,
            read_ahead(&settings, given.has_any()),
            Arguments::suggest_command,
        )?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(machine::cores())
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| fault(&error))?;
    let (out, mut finished, mut failure) = (settings.out.clone(), None, None);
    let code = runtime.block_on(async {
        let session = (&mut finished, &mut failure);
        let ended = crawl(settings, &mut seeds, form, given, args, node, session).await;
        if let (Err(_), Some(failure)) = (&ended, failure) {
            NodeFailure::end(failure).await;
        }
        ended
    });
    // Visits that a second interrupt abandoned are not waited for.
    runtime.shutdown_background();
    if let (Some(command), Some(summary)) = (&args.run.on_finish, finished) {
        run_on_finish(command, &out, &summary, args.run.verbosity().is_quiet());
    }
    code
}

/// Runs the command of `--on-finish` and reports its exit code.
fn run_on_finish(command: &str, out: &Path, summary: &[u8], quiet: bool) {
    match on_finish::run(command, out, summary) {
        Ok(status) if status.success() && quiet => {}
        Ok(status) if status.success() => say("--on-finish ended with code 0"),
        Ok(status) => warn(&match status.code() {
            Some(code) => format!("--on-finish failed with code {code}"),
            None => format!("--on-finish was ended by a signal ({status})"),
        }),
        Err(error) => warn(&format!("--on-finish could not be run: {error}")),
    }
}

async fn crawl(
    mut settings: Settings,
    seeds: &mut Seeds,
    form: CanonicalForm,
    given: GivenSecrets,
    args: &CrawlArgs,
    node: Option<Node>,
    (finished_summary, failure): (&mut Option<Vec<u8>>, &mut Option<NodeFailure>),
) -> Result<SessionEnd, CommandError> {
    let args = &args.run;
    let missing = secrets::missing(&settings.secrets, &given.options);
    settings.remember_secrets(&given.options);
    let mut clock_warning = None;
    let name = node.as_ref().map(|node| node.name().to_owned());
    let (machine, joined) = match node {
        Some(node) => {
            let joined = node.join().await?;
            clock_warning = joined.warning;
            settings.against = joined.against;
            *failure = Some(joined.session.failure());
            (joined.clock, Some(joined.session))
        }
        None => {
            crawl_directory::refuse_node(&settings.out)?;
            (machine::clock(), None)
        }
    };
    let settings = &settings;
    let session = SessionClock::start(machine);
    let clock = session.clock();
    let (secrets, mut warnings) = given.bind(&seeds.urls, &clock);
    warnings.extend(missing);
    warnings.extend(clock_warning);
    let term = joined.as_ref().map(|session| Arc::clone(session.term()));
    let components = Components::new(settings, seeds, secrets, &clock, joined.as_ref())?;
    let mut control = control::ControlWatch::open(&settings.out, assembly::pacing(settings))?;
    let dashboard = match &args.serve {
        Some(listen) => {
            let token_file = args.token_file.as_deref();
            Some(serve::open(settings, listen.0, token_file, machine::clock()).await?)
        }
        None => None,
    };
    let file = assembly::prepare_directory(settings)?;
    let verbosity = args.verbosity();
    let quiet = verbosity.is_quiet();
    let bar = progress::line(quiet);
    let log = log::begin(file, &bar, clock.clone(), verbosity);
    let (handle, stop) = crawl::stop();
    let mut listening = Listening::new(handle, &bar, quiet);
    let AssembledCrawl {
        context,
        resumed,
        store,
        ordered,
        widened,
        list,
    } = match assembly::assemble(settings, seeds, form, clock, components, joined, || {
        // Reading a long list takes time, and an interrupt must work meanwhile.
        listening.begin();
        stop.clone()
    })
    .await
    {
        Ok(assembled) => assembled,
        Err(error) => match term.and_then(|term| term.end_of()) {
            Some(ended) => return Ok(SessionEnd::TermEnded(ended)),
            None => return Err(error),
        },
    };
    control.begin(&context, &ordered).await?;
    // Before the greeting, which tells the user how to interrupt.
    listening.begin();
    let list = list.unwrap_or_default();
    if !quiet {
        warnings.extend(list.warnings.lines());
        let count = seeds.urls.len() + list.seeds;
        greet(
            settings,
            (&*seeds, count),
            &warnings,
            resumed,
            name.as_deref(),
        );
        if list.is_cut {
            say(&cut_list(settings));
        }
    }

    if let Some(dashboard) = &dashboard {
        serve::announce(dashboard);
    }
    let serving = dashboard.map(|dashboard| tokio::spawn(dashboard.run()));

    let (started, mut cut_by) = (Instant::now(), None);
    if let Some(widened) = widened {
        let time = settings.max_time;
        let end = time.map(|span| started + span.0.saturating_sub(list.took));
        let caught_up = widened.catch_up(settings, &context, &store, &stop, end);
        let caught_up = caught_up.await?;
        if !quiet {
            progress::say_above(&bar, &caught_up.in_words());
        }
        cut_by = caught_up.cut_by();
    }
    let used = list.took + started.elapsed();
    let before = context.frontier.stats();
    let progress = progress::show(
        context.frontier.clone(),
        bar.clone(),
        settings.max_pages,
        quiet,
    );
    // The end of the crawl must not wait for a task that keeps the store.
    let watching = tokio::spawn(session.watch(Arc::downgrade(&store)));
    let controlling = tokio::spawn(control.go_on(Arc::clone(&context), ordered));
    drop(store);
    let news = (!quiet).then(|| seed_news::show(&context, bar.clone(), &settings.out));
    let place = match name {
        None => CrawlPlace::Directory(settings.out.clone()),
        Some(_) => CrawlPlace::Store(settings.out.clone()),
    };
    let ended = run_on_a_worker(&context, limits(settings, used), stop.clone()).await;
    // Wait for these tasks: some keep the store open.
    let tasks = [controlling, watching, progress];
    for task in tasks
        .into_iter()
        .chain(listening.task)
        .chain(news)
        .chain(serving)
    {
        task.abort();
        drop(task.await);
    }
    let kept = features::keep(
        &context.adaptive_signatures,
        &crawl_directory::state(&settings.out),
    );
    bar.finish_and_clear();
    if !quiet {
        seed_news::say_new(&context, &bar, &settings.out);
    }
    let ended = match ended {
        Err(Fault::Store(StoreFault::TermEnded { .. })) if stop.is_requested() => {
            warn("the node's term expired: unsettled visits will be repeated");
            Ok(Finish::Interrupted)
        }
        Err(Fault::Store(ended @ StoreFault::TermEnded { .. })) => {
            return Ok(SessionEnd::TermEnded(ended));
        }
        // The queue lacks URLs that the settings admit but that were not found yet.
        Ok(Finish::Exhausted) => Ok(cut_by.unwrap_or(Finish::Exhausted)),
        ended => ended,
    };

    let finished = ended.as_ref().map_or("fault", |finish| finish.as_str());
    let mut summary = Summary::new(finished, &before, &context, started.elapsed());
    let state = crawl_directory::state(&settings.out);
    let state = matches!(place, CrawlPlace::Directory(_)).then_some(&*state);
    seed_news::complete(&mut summary, &context, state).map_err(|error| fault(&error))?;
    *finished_summary = Some(serde_json::to_vec(&summary).map_err(|error| fault(&error))?);
    output::to_stdout(|out| match args.summary {
        Some(SummaryForm::Json) => output::json_line(out, &summary),
        None if verbosity == Verbosity::Silent => Ok(()),
        Some(SummaryForm::Text) | None => summary.write(out, &place, settings, &context.policy),
    })?;
    if ended.is_ok() && log.count() > 0 && !quiet {
        let lost = counted(log.count(), "line");
        warn(&format!("{lost} of crawl.log could not be written"));
    }
    match ended {
        Ok(Finish::Interrupted) => kept.map(|()| SessionEnd::Finished(ExitCode::from(INTERRUPTED))),
        Ok(_) if summary.no_seed_fetched => {
            kept.map(|()| SessionEnd::Finished(ExitCode::from(NO_SEED)))
        }
        Ok(_) => kept.map(|()| SessionEnd::Finished(ExitCode::SUCCESS)),
        Err(error) => {
            // If the directory is gone, that is the cause of the first failure.
            let gone = context.disk_space.gone().map(|path| Fault::Gone { path });
            // Dropping the tables would flush them, and sled may wait forever on a full disk. The
            // journal contains everything.
            std::mem::forget(context);
            Err(explain(&gone.unwrap_or(error), settings))
        }
    }
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

/// Adds the remedy to a fault. Unless files were deleted, nothing is lost, and the same command
/// continues the crawl.
fn explain(error: &Fault, settings: &Settings) -> CommandError {
    let directory = pasted(&settings.out);
    let remedy = match error {
        Fault::Store(StoreFault::Damaged { .. }) => {
            format!("`crawler verify {directory}` lists what is left")
        }
        Fault::Panicked(_) => "please report this with the end of crawl.log".to_owned(),
        Fault::NoSpace { .. } => format!(
            "nothing is lost: free some space (or lower --min-free), then continue with `crawler \
             --out {directory}`"
        ),
        Fault::Gone { path } => of_gone(path, settings),
        Fault::Store(_)
        | Fault::Sink(_)
        | Fault::Reserve(_)
        | Fault::Spool(_)
        | Fault::Topic(_) => remedy_of(error, &settings.out),
    };
    fault(error).with_remedy(remedy)
}

/// Returns the remedy for a deleted directory.
fn of_gone(path: &Path, settings: &Settings) -> String {
    let (out, gone) = (pasted(&settings.out), path.display());
    if settings.out.exists() && crawl_directory::archive(&settings.out).exists() {
        return format!(
            "if {gone} was moved, put it back; otherwise rebuild it from the archive with `crawler \
             rebuild {out}`. The archive is complete up to the last save, and its links restore \
             the queue"
        );
    }
    format!(
        "if it was moved, put it back and continue with `crawler --out {out}`; if it was deleted, \
         its pages are lost and must be crawled again"
    )
}
