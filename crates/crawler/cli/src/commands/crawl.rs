//! `crawler --seeds FILE`: crawls.

mod greeting;
mod listening;
mod outcome;
mod remedies;
mod served_dashboard;
mod session;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use messages::{CommandError, fault, say, usage, warn};
use settings::machine;
use settings::seeds::{Seeds, read_ahead};
use setup::membership::Node;
use setup::secrets::GivenSecrets;
use setup::{assembly, earlier};
use tokio::runtime::Runtime;

pub(super) use self::outcome::SessionEnd;
use self::session::SessionStart;
use crate::args::{Arguments, CrawlArgs};
use crate::on_finish;

pub(crate) fn run(args: &CrawlArgs) -> Result<ExitCode, CommandError> {
    let ended = run_as(args, None)?;
    Ok(ended.code())
}

/// Runs a session of a crawl; with `node`, of a shared crawl.
pub(super) fn run_as(args: &CrawlArgs, node: Option<Node>) -> Result<SessionEnd, CommandError> {
    let session = gather(args, node)?;
    let out = session.settings.out.clone();
    let runtime = runtime()?;
    let outcome = runtime.block_on(session.run());
    let staying = match outcome.dashboard {
        Some(dashboard) => Some((dashboard, runtime)),
        None => {
            // Visits that a second interrupt abandoned are not waited for.
            runtime.shutdown_background();
            None
        }
    };
    if let (Some(command), Some(summary)) = (&args.run.on_finish, outcome.summary) {
        run_on_finish(command, &out, &summary, args.run.verbosity().is_quiet());
    }
    if let Some((dashboard, runtime)) = staying {
        runtime.block_on(dashboard.stay());
        runtime.shutdown_background();
    }
    outcome.end
}

/// Gathers secrets, settings and seeds. A node has the settings of its crawl.
fn gather(args: &CrawlArgs, mut node: Option<Node>) -> Result<SessionStart<'_>, CommandError> {
    // First, so that no message quotes a secret given in the wrong place.
    let mut secrets = GivenSecrets::gather(&args.run.secrets)?;
    let (mut settings, advice) = match &node {
        Some(node) => (node.settings.clone(), None),
        None => {
            let (settings, origins) = args.settings()?;
            let advice = assembly::browser_advice(&settings, &origins);
            (settings, advice)
        }
    };
    if settings.out.is_file() {
        let error = usage(format!("{} is a file", settings.out.display()));
        return Err(error.with_remedy("--out names a directory: crawl/ by default"));
    }
    secrets.add_hosts(&settings)?;
    if node.is_none() {
        earlier::resolve(&mut settings)?;
    }
    let form = settings.canonical_form();
    let seeds = match &mut node {
        Some(node) => node.take_seeds(),
        None => Seeds::gather(
            &settings,
            &form,
            read_ahead(&settings, secrets.has_any()),
            Arguments::suggest_command,
        )?,
    };
    Ok(SessionStart {
        args: &args.run,
        settings,
        seeds,
        secrets,
        node,
        advice,
    })
}

/// Builds the runtime. Its workers start with it, before any thread for work that blocks, so the
/// order tells them apart; `top -H` and `bench-cores` show the names.
fn runtime() -> Result<Runtime, CommandError> {
    let (workers, begun) = (machine::cores(), AtomicUsize::new(0));
    let name = move || match begun.fetch_add(1, Ordering::Relaxed) {
        thread if thread < workers => "crawl-worker".to_owned(),
        _ => "crawl-blocking".to_owned(),
    };
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_name_fn(name)
        .enable_all()
        .build()
        .map_err(|error| fault(&error))
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
