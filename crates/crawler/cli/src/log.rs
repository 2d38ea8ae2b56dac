//! `crawl.log`: the events of a crawl, one JSON object per line. [`Verbosity`] decides which events
//! the user also sees. It does not affect the file.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Mutex;

use indicatif::ProgressBar;
use messages::{printable, say};
use tracing::Level;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use web::Clock;

use crate::log_file::{LogFile, LostLines};

/// The crates of this project. For other crates, only warnings are logged.
const OURS: [&str; 8] = [
    "crawler",
    "crawl",
    "fetch",
    "journal",
    "shared_store",
    "sinks",
    "store",
    "web",
];

/// Selection of events that are shown on a terminal (`-v`, `-q`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only; no summary unless requested.
    Silent,
    /// Errors and the summary.
    Quiet,
    /// Also progress and warnings.
    Normal,
    /// Also each visit.
    Visits,
    /// Also details.
    Details,
}

impl Verbosity {
    /// Returns the verbosity for these numbers of `-v` and `-q` flags.
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

    /// Returns the minimum level of events that are shown.
    const fn level(self) -> Level {
        match self {
            Self::Silent | Self::Quiet => Level::ERROR,
            Self::Normal => Level::WARN,
            Self::Visits => Level::INFO,
            Self::Details => Level::DEBUG,
        }
    }
}

/// Sends log records to `file`, and the records that the user wants to see to standard error,
/// without disturbing `bar`. Returns the count of lost lines.
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
    // Warnings of libraries only go to the log.
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
    /// Prints one line, whose fields may contain any text.
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
