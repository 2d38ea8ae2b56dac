//! `crawl.log`: the events of a crawl, one JSON object a line. A part of them is shown to the user,
//! too: how much, [`Verbosity`] decides. The file always has the same.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Mutex;

use indicatif::ProgressBar;
use tracing::Level;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use web::Clock;

use crate::log_file::{LogFile, LostLines};
use crate::terminal::{printable, say};

/// The crates of this project; of others only warnings are logged.
const OURS: [&str; 7] = [
    "crawler",
    "crawl",
    "fetch",
    "shared_store",
    "sinks",
    "store",
    "web",
];

/// The part of the events that a terminal shows (`-v`, `-q`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors alone, and no summary unless one is asked for.
    Silent,
    /// Errors, and the summary.
    Quiet,
    /// Progress and warnings, too.
    Normal,
    /// Each visit, too.
    Visits,
    /// Details, too.
    Details,
}

impl Verbosity {
    /// Returns the verbosity of `-v` and `-q`, each given this number of times.
    pub(crate) const fn of_flags(verbose: u8, quiet: u8) -> Self {
        match (verbose, quiet) {
            (_, 2..) => Self::Silent,
            (_, 1) => Self::Quiet,
            (0, 0) => Self::Normal,
            (1, 0) => Self::Visits,
            (2.., 0) => Self::Details,
        }
    }

    /// Returns true if neither progress nor warnings are shown.
    pub(crate) fn is_quiet(self) -> bool {
        self <= Self::Quiet
    }

    /// Returns the least level of the events that are shown.
    const fn level(self) -> Level {
        match self {
            Self::Silent | Self::Quiet => Level::ERROR,
            Self::Normal => Level::WARN,
            Self::Visits => Level::INFO,
            Self::Details => Level::DEBUG,
        }
    }
}

/// Sends log records to `file`, and those that the user wants past `bar` to standard error. Returns
/// the count of lost lines.
pub(crate) fn begin(
    file: File,
    bar: &ProgressBar,
    clock: Clock,
    verbosity: Verbosity,
) -> LostLines {
    let detailed = Targets::new()
        .with_default(Level::WARN)
        .with_targets(OURS.map(|name| (name, Level::INFO)));
    let file = LogFile::new(file, clock.clone());
    let losses = file.losses();
    let json = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_timer(LogTimer(clock))
        .with_writer(Mutex::new(file))
        .with_filter(detailed);
    // Warnings of libraries are for the log only.
    let seen = Targets::new().with_targets(OURS.map(|name| (name, verbosity.level())));
    let bar = bar.clone();
    let shown = tracing_subscriber::fmt::layer()
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(move || StderrLine(bar.clone()))
        .with_filter(seen);
    tracing_subscriber::registry().with(json).with(shown).init();
    losses
}

struct LogTimer(Clock);

impl FormatTime for LogTimer {
    fn format_time(
        &self,
        writer: &mut tracing_subscriber::fmt::format::Writer<'_>,
    ) -> std::fmt::Result {
        write!(writer, "{}", self.0.date())
    }
}

/// Standard error, with the progress bar out of the way while a line is written.
struct StderrLine(ProgressBar);

impl Write for StderrLine {
    /// Prints one line, which may have any text in a field.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let line = printable(text.strip_suffix('\n').unwrap_or(&text));
        self.0.suspend(|| say(&line));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
