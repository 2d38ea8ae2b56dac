//! Messages about seeds that fail, with the remedy, and about seeds that have moved.

use std::path::Path;
use std::sync::Arc;

use crawl::{CrawlContext, FailedSeed, MAX_SEED_REPORTS, MovedScope, SeedFailure, SeedReport};
use indicatif::ProgressBar;
use journal::{ReasonKind, StoreFault, VisitRecord};
use messages::{pasted, printable, word_of_shell};
use requests::FailureKind;
use tokio::task::JoinHandle;

use crate::progress::say_above;
use crate::summary::Summary;

/// Prints the reports about seeds until the task is aborted. [`say_new`] prints the remaining
/// reports.
pub(crate) fn show(context: &Arc<CrawlContext>, bar: ProgressBar, out: &Path) -> JoinHandle<()> {
    let (context, out) = (Arc::clone(context), out.to_owned());
    tokio::spawn(async move {
        loop {
            context.telemetry.seeds().changed().await;
            say_new(&context, &bar, &out);
        }
    })
}

/// Prints the reports that arrived since.
pub(crate) fn say_new(context: &CrawlContext, bar: &ProgressBar, out: &Path) {
    for report in context.telemetry.seeds().take() {
        say_above(bar, &printable(&in_words(context, &report, out)));
    }
}

fn in_words(context: &CrawlContext, report: &SeedReport, out: &Path) -> String {
    match report {
        SeedReport::Failed(seed) => {
            // Some causes already name the option.
            let is_named = seed.cause.contains("--ca-certificate");
            let remedy = seed.failure.filter(|_| !is_named).and_then(remedy);
            let remedy = remedy.map_or_else(String::new, |remedy| format!(" ({remedy})"));
            format!("seed failed: {}: {}{remedy}", seed.url, seed.cause)
        }
        SeedReport::Moved { seed, to, scope } => match scope {
            MovedScope::Within => format!("seed {seed} redirects to {to}, which is in scope"),
            MovedScope::Along => {
                let scope = context.scope.read();
                let scope = scope.map(|scope| scope.territory(to)).unwrap_or_default();
                format!("seed {seed} redirects to {to}; in scope from now on: {scope}")
            }
            MovedScope::PageOnly => format!(
                "seed {seed} redirects to {to}, another site: only this page is visited; to crawl \
                 {}, make it a seed: crawler --out {} {}",
                to.authority(),
                pasted(out),
                word_of_shell(to.as_str())
            ),
        },
    }
}

/// Returns the remedy for a failure, if there is one for the user.
const fn remedy(failure: SeedFailure) -> Option<&'static str> {
    match failure {
        SeedFailure::Fetch(FailureKind::Dns) => Some("check the spelling of the host"),
        SeedFailure::Fetch(FailureKind::Connect) => Some("check host and port"),
        SeedFailure::Fetch(FailureKind::Tls) => Some(
            "trust a certificate with --ca-certificate FILE, or skip the check for a host with \
             --insecure-host HOST",
        ),
        SeedFailure::Fetch(FailureKind::PrivateAddress) => Some("allow it with --allow-private"),
        SeedFailure::Fetch(FailureKind::Proxy) => Some("check --proxy"),
        SeedFailure::Status(401 | 407) => Some("log in with --http-user or --header"),
        SeedFailure::Status(403 | 429) => Some(
            "some sites refuse unknown crawlers: identify yourself with --contact, or change the \
             name with --user-agent",
        ),
        SeedFailure::Status(404 | 410) => Some("check the URL"),
        SeedFailure::Excluded(ReasonKind::Robots) => Some(
            "the site does not want to be crawled; use --ignore-robots only if its owner \
                agreed",
        ),
        SeedFailure::Excluded(ReasonKind::Scope) => Some("see --exclude"),
        SeedFailure::Fetch(_)
        | SeedFailure::Status(_)
        | SeedFailure::Robots
        | SeedFailure::Excluded(_) => None,
    }
}

/// Completes the summary of an exhausted crawl if none of its seeds could be fetched. `state` is
/// the state of a crawl on one machine: its journal contains the failures of earlier sessions.
pub(crate) fn complete(
    summary: &mut Summary,
    context: &CrawlContext,
    state: Option<&Path>,
) -> Result<(), StoreFault> {
    let seeds = context.telemetry.seeds();
    let is_empty = summary.finished == "exhausted" && summary.all.pages == 0;
    if !is_empty || seeds.counts().fetched > 0 {
        return Ok(());
    }
    let (mut failed, mut all) = (seeds.failed(), seeds.counts().failed);
    if let Some(state) = state {
        let known = FailedInJournal::read(state)?;
        if known.fetched > 0 {
            return Ok(());
        }
        all = known.failed.max(all);
        let is_new = |seed: &FailedSeed| failed.iter().all(|known| known.url != seed.url);
        let more: Vec<FailedSeed> = known.first.into_iter().filter(is_new).collect();
        failed.extend(more);
    }
    if failed.is_empty() {
        return Ok(());
    }
    let all = all.max(failed.len() as u64);
    let first = failed.into_iter().take(LISTED);
    let first = first.map(|seed| (seed.url.to_string(), seed.cause));
    summary.set_failed_seeds(first.collect(), all);
    Ok(())
}

/// Maximum number of seeds that the summary lists; the rest are counted.
const LISTED: usize = 10;

/// The seeds in a journal.
#[derive(Default)]
struct FailedInJournal {
    fetched: u64,
    failed: u64,
    first: Vec<FailedSeed>,
}

impl FailedInJournal {
    fn read(state: &Path) -> Result<Self, StoreFault> {
        let mut known = Self::default();
        for visit in journal::visits(state)? {
            known.add(&visit?);
        }
        Ok(known)
    }

    fn add(&mut self, visit: &VisitRecord) {
        if visit.depth > 0 || visit.via.is_some() || visit.requisite > 0 {
            return;
        }
        match visit.has_brought_page() {
            Some(false) => self.failed += 1,
            Some(true) => {
                self.fetched += 1;
                return;
            }
            None => return,
        }
        if self.first.len() < MAX_SEED_REPORTS {
            self.first.push(FailedSeed {
                url: visit.url.clone(),
                failure: None,
                cause: visit.reason_text().unwrap_or_default(),
            });
        }
    }
}
