//! The end of a session: its result, its summary and its exit code.

use std::process::ExitCode;

use crawl::{Fault, Finish};
use journal::{LinkChecks, StoreFault};
use messages::{CommandError, counted, fault, warn};
use settings::crawl_directory;
use setup::features;

use super::{EndedCrawl, Session};
use crate::args::SummaryForm;
use crate::commands::crawl::outcome::{EarlyEnd, INTERRUPTED, Outcome, SessionEnd};
use crate::commands::crawl::remedies::explain;
use crate::log::Verbosity;
use crate::summary::{CrawlPlace, Summary};
use crate::{output, seed_news};

/// The exit code of a crawl none of whose seeds could be fetched.
const NO_SEED: u8 = 3;

impl Session<'_> {
    /// Ends the session: keeps what the crawl has learned, and summarizes it.
    pub(super) fn end(
        &self,
        crawl: EndedCrawl,
        cut_by: Option<Finish>,
    ) -> Result<Outcome, EarlyEnd> {
        let out = &self.settings.out;
        let learned = &crawl.context.adaptive_signatures;
        let kept = features::keep(learned, &crawl_directory::state(out));
        self.bar.finish_and_clear();
        if !self.is_quiet() {
            seed_news::say_new(&crawl.context, &self.bar, out);
        }
        let crawl = EndedCrawl {
            result: self.finish(crawl.result, cut_by)?,
            ..crawl
        };
        let summary = self.summarize(&crawl)?;
        let json = serde_json::to_vec(&summary).map_err(|error| fault(&error))?;
        let printed = self.print(&summary, &crawl);
        let end = printed.and_then(|()| self.conclude(crawl, &summary, kept));
        Ok(Outcome {
            end,
            summary: Some(json),
            dashboard: None,
        })
    }

    /// Returns the result that the user sees, unless the node begins a new term.
    fn finish(
        &self,
        result: Result<Finish, Fault>,
        cut_by: Option<Finish>,
    ) -> Result<Result<Finish, Fault>, EarlyEnd> {
        match result {
            Err(Fault::Store(StoreFault::TermEnded { .. })) if self.stop.is_requested() => {
                warn("the node's term expired: unsettled visits will be repeated");
                Ok(Ok(Finish::Interrupted))
            }
            Err(Fault::Store(ended @ StoreFault::TermEnded { .. })) => {
                Err(EarlyEnd::TermEnded(ended))
            }
            // The queue lacks URLs that the settings admit but that were not found yet.
            Ok(Finish::Exhausted) => Ok(Ok(cut_by.unwrap_or(Finish::Exhausted))),
            result => Ok(result),
        }
    }

    fn summarize(&self, crawl: &EndedCrawl) -> Result<Summary, CommandError> {
        let context = &crawl.context;
        let finished = crawl.result.as_ref();
        let finished = finished.map_or("fault", |finish| finish.as_str());
        let took = crawl.started.elapsed();
        let mut summary = Summary::new(finished, &crawl.before, context, took);
        summary.links = LinkChecks::counts(&self.settings.out)?;
        let state = crawl_directory::state(&self.settings.out);
        // The state of a shared crawl is in its store.
        let state = self.name.is_none().then_some(&*state);
        seed_news::complete(&mut summary, context, state).map_err(|error| fault(&error))?;
        Ok(summary)
    }

    /// Prints the summary.
    fn print(&self, summary: &Summary, crawl: &EndedCrawl) -> Result<(), CommandError> {
        let (settings, verbosity) = (&self.settings, self.args.verbosity());
        let place = match self.name {
            None => CrawlPlace::Directory(settings.out.clone()),
            Some(_) => CrawlPlace::Store(settings.out.clone()),
        };
        let policy = &crawl.context.policy;
        output::coloured_to_stdout(|out, has_colours| match self.args.summary {
            Some(SummaryForm::Json) => output::json_line(out, summary),
            None if verbosity == Verbosity::Silent => Ok(()),
            Some(SummaryForm::Text) | None => {
                summary.write(out, &place, (settings, policy), has_colours)
            }
        })?;
        let lost = self.log.count();
        if crawl.result.is_ok() && lost > 0 && !self.is_quiet() {
            let lines = counted(lost, "line");
            warn(&format!("{lines} of crawl.log could not be written"));
        }
        Ok(())
    }

    /// Returns the exit code or the fault. `kept` is the result of keeping what was learned.
    fn conclude(
        &self,
        crawl: EndedCrawl,
        summary: &Summary,
        kept: Result<(), CommandError>,
    ) -> Result<SessionEnd, CommandError> {
        let code = match crawl.result {
            Ok(Finish::Interrupted) => ExitCode::from(INTERRUPTED),
            Ok(_) if summary.no_seed_fetched => ExitCode::from(NO_SEED),
            Ok(_) => ExitCode::SUCCESS,
            Err(error) => {
                let context = crawl.context;
                // If the directory is gone, that is the cause of the first failure.
                let gone = context.disk_space.gone().map(|path| Fault::Gone { path });
                // Dropping the tables would flush them, and sled may wait forever on a full disk.
                // The journal contains everything.
                std::mem::forget(context);
                return Err(explain(&gone.unwrap_or(error), &self.settings));
            }
        };
        kept.and(crawl.links).map(|()| SessionEnd::Finished(code))
    }
}
