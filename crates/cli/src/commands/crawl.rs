//! `crawler --seeds FILE`: the main job.

use std::process::ExitCode;

use crawl::{Fault, Finish, Limits, StopHandle};
use store::StoreFault;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;
use web::CanonicalForm;

use crate::args::{CrawlArgs, SummaryForm};
use crate::complaint::{Complaint, fault};
use crate::crew::{self, Ready, Tools};
use crate::fingerprints;
use crate::history;
use crate::progress;
use crate::seeds::Seeds;
use crate::settings::Settings;
use crate::summary::Summary;
use crate::terminal::{printable, say};
use crate::{earlier, log, output};

/// What a shell reports of a process that was interrupted.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(args: &CrawlArgs) -> Result<ExitCode, Complaint> {
    let mut settings = Settings::gather(args)?;
    settings.against = earlier::directories(&settings)?;
    let form = CanonicalForm::new(&settings.drop_parameters);
    let seeds = Seeds::gather(&settings, &form)?;
    let threads = crew::cores();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| fault(&error))?;
    let code = runtime.block_on(crawl(&settings, &seeds, form, args));
    // What an impatient user left under way is not waited for.
    runtime.shutdown_background();
    code
}

async fn crawl(
    settings: &Settings,
    seeds: &Seeds,
    form: CanonicalForm,
    args: &CrawlArgs,
) -> Result<ExitCode, Complaint> {
    let clock = crew::clock();
    let tools = Tools::new(settings, &clock)?;
    let file = crew::prepare_directory(settings)?;
    let bar = progress::bar(args.quiet, settings.max_pages);
    log::begin(file, &bar, clock.clone(), args.quiet);
    let Ready { crew, resumed } = crew::assemble(settings, seeds, form, clock, tools).await?;
    if !args.quiet {
        greet(settings, seeds, resumed);
    }

    let before = crew.frontier.standing();
    let started = Instant::now();
    let progress = progress::show(crew.frontier.clone(), bar.clone(), args.quiet);
    let (handle, stop) = crawl::stop();
    let listening = tokio::spawn(listen(handle, args.quiet));
    let ended = crawl::run(&crew, limits(settings), stop).await;
    listening.abort();
    progress.abort();
    let kept = fingerprints::keep(&crew.studio, &history::state(&settings.out));
    bar.finish_and_clear();

    let finished = ended.as_ref().map_or("fault", |finish| finish.as_str());
    let summary = Summary::new(finished, &before, &crew, started.elapsed());
    output::to_stdout(|out| match args.summary {
        Some(SummaryForm::Json) => output::json_line(out, &summary),
        Some(SummaryForm::Text) | None => summary.write(out, &settings.out),
    })?;
    kept?;
    match ended {
        Ok(Finish::Interrupted) => Ok(ExitCode::from(INTERRUPTED)),
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            // Dropping the tables would flush them, and on a full disk sled may wait for that for ever. The journal has it all.
            std::mem::forget(crew);
            Err(explain(&error, settings))
        }
    }
}

fn limits(settings: &Settings) -> Limits {
    Limits {
        concurrency: settings.concurrency,
        pages: settings.max_pages,
        bytes: settings.max_size.map(|size| size.0),
        time: settings.max_time.map(|span| span.0),
    }
}

fn greet(settings: &Settings, seeds: &Seeds, resumed: bool) {
    for complaint in &seeds.complaints {
        say(&format!("warning: {}", printable(complaint)));
    }
    if settings.ignore_robots {
        say("warning: robots.txt is IGNORED, and so are nofollow and noarchive; the archive says so");
    }
    if settings.contact.is_none() && settings.user_agent.is_none() {
        say("warning: no --contact: sites that this crawl troubles cannot write to you");
    }
    let verb = if resumed { "going on with" } else { "crawling into" };
    let count = seeds.urls.len();
    let noun = if count == 1 { "seed" } else { "seeds" };
    say(&format!(
        "{verb} {} from {count} {noun}; interrupt when you like, the same command goes on",
        settings.out.display()
    ));
}

/// Hears interrupts (and termination, which is as good) for as long as the crawl runs.
async fn listen(handle: StopHandle, quiet: bool) {
    let tell = |line: &str| {
        if !quiet {
            say(line);
        }
    };
    // Listening from the start: an interrupt between the two calls below is not missed.
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::warn!("interrupts are not heard: an interrupt stops at once");
        return std::future::pending().await;
    };
    let lines = [
        "finishing what is under way; interrupt once more to stop at once (both can be continued)",
        "stopping at once",
    ];
    for line in lines {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        // First the act, then the word: whoever hears the word may count on it.
        handle.ask();
        tell(line);
    }
}

/// A fault with what to do about it: nothing is lost, and the same command goes on.
fn explain(error: &Fault, settings: &Settings) -> Complaint {
    let directory = settings.out.display();
    let remedy = match error {
        Fault::Store(StoreFault::Damaged { .. }) => format!("`crawler verify {directory}` says what is left"),
        Fault::Panicked(_) => "please report this with the end of crawl.log".to_owned(),
        Fault::Store(_) | Fault::Sink(_) => {
            format!("nothing is lost: make room or mend the disk, then `crawler --out {directory}` goes on")
        }
    };
    fault(error).with_remedy(remedy)
}
