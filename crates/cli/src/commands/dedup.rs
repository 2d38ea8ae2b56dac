//! `crawler dedup`: finds near-duplicates among many documents.
//!
//! Documents are read and get their signatures on all cores, and are compared in their order.
//! Findings are written as they are found.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;

use batch::dedup::{self, Cluster, Document, Finding, FindingKind, Options, Summary};
use batch::{BatchError, Control, Progress, Step};
use corpus::{Documents, Reader, Signatures};
use indicatif::{HumanCount, ProgressBar};
use neardup::{BandDesign, Likeness};
use serde::Serialize;
use tokio::time::Instant;

use super::unwritable;
use crate::args::DedupArgs;
use crate::args::input::usual_temp_dir;
use crate::cli_error::{CliError, fault};
use crate::output::{self, Format};
use crate::progress::{self, PLAIN_LINE_EVERY};
use crate::skip_report::SkipReport;
use crate::terminal::{Escaping, is_seen, printable, say};

pub(crate) fn run(args: &DedupArgs) -> Result<(), CliError> {
    let reader = Reader::new(args.main_content.is_none_or(|switch| switch.is_on()));
    let mut input = args.input.options(args.temp_dir.as_deref());
    let signature_builder = args
        .features
        .signature_builder(&args.paths, &mut input, &reader)?
        .least_words(args.verdict.least_words);
    let (options, resemblance) = options(args)?;
    let documents =
        Documents::below(&args.paths, &input).map_err(|error| CliError::of_usage(&error))?;
    let oddities = documents.oddities();
    let skipped = RefCell::new(SkipReport::default());
    let signatures = Signatures::of(documents, &reader, &signature_builder, options.bands)
        .filter_map(|drawn| match drawn {
            Ok((id, signature)) => Some(Ok(Document { id, signature })),
            Err(trouble) => {
                skipped.borrow_mut().add(&trouble);
                None
            }
        });
    let progress_bar = DedupProgress::new(args.quiet);
    let never = AtomicBool::new(false);
    let format = Format::or_fitting(args.format);
    let compare = |out: &mut dyn Write| {
        dedup::run::<DedupError>(
            signatures,
            &options,
            Control::new(&progress_bar, &never),
            |finding| write(out, format, &finding),
        )
    };
    let compared = match &args.output {
        Some(path) => {
            let file = File::create(path).map_err(unwritable(path))?;
            compare_into(file, compare, unwritable(path))
        }
        None => compare_into(io::stdout().lock(), compare, |error| fault(&error)),
    };
    progress_bar.end();
    let Some(summary) = compared? else {
        return Ok(()); // The reader of the findings went away.
    };
    if summary.documents == 0 {
        return Err(skipped.borrow().no_document("to compare"));
    }
    if !args.quiet {
        say(&closing(&summary, options.kind, skipped.borrow().count()));
        let is_promised = options.kind == FindingKind::Pairs || options.bands != BandDesign::SKETCH;
        if is_promised && options.criterion.needs_bands() {
            say(&expected_recall(options.bands, resemblance));
        }
        if let Some(odd) = oddities.describe() {
            say(&odd);
        }
    }
    Ok(())
}

/// Returns the options of the run, and the resemblance for which its bands are chosen.
fn options(args: &DedupArgs) -> Result<(Options, f64), CliError> {
    let kind = match (args.pairs, args.clusters) {
        (true, _) => FindingKind::Pairs,
        (_, true) => FindingKind::Clusters {
            chained: args.chained,
        },
        _ => FindingKind::Duplicates,
    };
    let mut options = Options::new(kind, args.temp_dir.clone().unwrap_or_else(usual_temp_dir));
    options.criterion = args.verdict.criterion(&args.features)?;
    let (bands, resemblance) = args.verdict.bands(&args.features, args.recall)?;
    options.bands = bands;
    options.workers = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    if let Some(memory) = args.memory {
        options.memory = usize::try_from(memory.0).unwrap_or(usize::MAX);
    }
    Ok((options, resemblance))
}

/// Describes what the bands of a run find.
fn expected_recall(bands: BandDesign, resemblance: f64) -> String {
    format!(
        "expected recall {:.3} at a resemblance of {resemblance:.2} ({} bands of {} rows)",
        bands.recall(resemblance),
        bands.bands(),
        bands.rows()
    )
}

fn closing(summary: &Summary, kind: FindingKind, skipped: u64) -> String {
    let found = HumanCount(summary.findings);
    let found = match kind {
        FindingKind::Duplicates => format!("{found} repeat an earlier one"),
        FindingKind::Pairs => format!("{found} similar pairs"),
        FindingKind::Clusters { .. } => format!("{found} clusters"),
    };
    let skipped = match skipped {
        0 => String::new(),
        some => format!(", {} skipped", HumanCount(some)),
    };
    format!(
        "{} documents: {found}{skipped}",
        HumanCount(summary.documents)
    )
}

/// An error that ends a comparison early.
enum DedupError {
    Cli(CliError),
    /// The findings cannot be written.
    Output(io::Error),
}

impl From<BatchError> for DedupError {
    fn from(error: BatchError) -> Self {
        Self::Cli(match &error {
            BatchError::Scratch { .. } => fault(&error)
                .with_remedy("--temp-dir names another directory, --memory a larger budget"),
            _ => fault(&error),
        })
    }
}

impl From<io::Error> for DedupError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Compares with all findings going to `out`; returns none if its reader went away.
fn compare_into(
    out: impl Write,
    compare: impl FnOnce(&mut dyn Write) -> Result<Summary, DedupError>,
    unwritable: impl FnOnce(io::Error) -> CliError,
) -> Result<Option<Summary>, CliError> {
    let mut out = BufWriter::new(Escaping::new(out));
    match compare(&mut out).and_then(|summary| Ok(out.flush().map(|()| summary)?)) {
        Ok(summary) => Ok(Some(summary)),
        Err(DedupError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
        Err(DedupError::Output(error)) => Err(unwritable(error)),
        Err(DedupError::Cli(complaint)) => Err(complaint),
    }
}

#[derive(Serialize)]
struct DuplicateLine<'a> {
    document: &'a str,
    duplicate_of: &'a str,
    #[serde(flatten)]
    degree: Degree,
}

#[derive(Serialize)]
struct PairLine<'a> {
    a: &'a str,
    b: &'a str,
    #[serde(flatten)]
    degree: Degree,
}

/// The degree of the likeness of two documents.
#[derive(Clone, Copy, Serialize)]
struct Degree {
    distance: u32,
    resemblance: f64,
}

fn write(out: &mut dyn Write, format: Format, finding: &Finding<'_>) -> Result<(), DedupError> {
    match finding {
        Finding::Duplicate(found) => {
            let (document, duplicate_of) = (found.document, found.duplicate_of);
            let degree = Degree::of(found.likeness);
            let line = DuplicateLine {
                document,
                duplicate_of,
                degree,
            };
            match format {
                Format::Json => output::json_line(out, &line)?,
                Format::Table => degree.write(out, document, "repeats", duplicate_of)?,
            }
        }
        Finding::Pair(found) => {
            let (a, b, degree) = (found.a, found.b, Degree::of(found.likeness));
            match format {
                Format::Json => output::json_line(out, &PairLine { a, b, degree })?,
                Format::Table => degree.write(out, a, "and", b)?,
            }
        }
        Finding::Cluster(cluster) => write_cluster(out, format, cluster)?,
    }
    Ok(())
}

impl Degree {
    fn of(likeness: Likeness) -> Self {
        Self {
            distance: likeness.distance(),
            resemblance: likeness.resemblance(),
        }
    }

    /// Writes a line for people.
    fn write(&self, out: &mut dyn Write, one: &str, relation: &str, two: &str) -> io::Result<()> {
        let (distance, resemblance) = (self.distance, self.resemblance);
        let (one, two) = (printable(one), printable(two));
        writeln!(
            out,
            "{resemblance:.3}  {distance:>2} bits  {one}  {relation}  {two}"
        )
    }
}

/// Writes one member at a time: a cluster may be larger than memory.
fn write_cluster(
    out: &mut dyn Write,
    format: Format,
    cluster: &Cluster<'_>,
) -> Result<(), DedupError> {
    let table = format == Format::Table;
    if table {
        writeln!(out, "{} documents", HumanCount(cluster.len() as u64))?;
    } else {
        out.write_all(b"{\"members\":[")?;
    }
    for (number, member) in cluster.members().enumerate() {
        let member = member?;
        if table {
            writeln!(out, "  {}", printable(&member))?;
            continue;
        }
        if number > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, &member).map_err(io::Error::from)?;
    }
    if !table {
        out.write_all(b"]}\n")?;
    }
    Ok(())
}

/// A progress display: a bar on a terminal, otherwise a line now and then.
struct DedupProgress {
    bar: ProgressBar,
    plain: bool,
    /// The time of the last plain line.
    said: Mutex<Instant>,
    begun: Instant,
}

impl DedupProgress {
    fn new(quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            bar: progress::counting_bar(quiet),
            plain: !quiet && !is_seen(),
            said: Mutex::new(now),
            begun: now,
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for DedupProgress {
    fn advanced(&self, step: Step, done: u64, of: Option<u64>) {
        let doing = match step {
            Step::Reading => "documents read",
            Step::Sorting => "candidate keys sorted",
            Step::Joining => "candidates looked for",
            Step::Verifying => "candidates compared",
            _ => "results written",
        };
        if !self.plain {
            self.bar.set_position(done);
            self.bar.set_message(doing);
            return;
        }
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.elapsed() < PLAIN_LINE_EVERY {
            return;
        }
        *said = Instant::now();
        let of = of.map_or(String::new(), |all| format!(" of {}", HumanCount(all)));
        let (done, seconds) = (HumanCount(done), self.begun.elapsed().as_secs());
        say(&format!("{done}{of} {doing} after {seconds} s"));
    }
}
