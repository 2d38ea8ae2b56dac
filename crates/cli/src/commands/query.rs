//! `crawler query`: the fingerprints of a repository within a few bits of one of many queries.
//!
//! (Manku, Jain and Das Sarma, WWW 2007, section 4.) All cores search; with `--shard i/n` a machine
//! searches the i-th part of the repository, and the outputs of all parts, concatenated in the
//! order of the parts, are the output of one run, byte for byte.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

use batch::{
    BatchError, Chunk, Control, Progress, QueryMatch, QueryOptions, QuerySummary, Step,
    ordered_query,
};
use corpus::is_standard_input;
use indicatif::{HumanCount, ProgressBar};
use serde::Serialize;

use super::unwritable;
use crate::args::QueryArgs;
use crate::args::input::usual_temp_dir;
use crate::cli_error::{CliError, fault};
use crate::draft_file::DraftFile;
use crate::named_fingerprints::{Name, NamedFingerprints, of_batch};
use crate::output::{self, Format};
use crate::progress;
use crate::terminal::{Escaping, printable, say};

/// Bytes of matches that are sorted in memory, if `--memory` does not say otherwise.
const MEMORY: usize = 256 << 20;

/// A match as it is printed.
#[derive(Serialize)]
struct MatchLine {
    query: Name,
    document: Name,
    distance: u32,
}

pub(crate) fn run(args: &QueryArgs) -> Result<(), CliError> {
    let queries = NamedFingerprints::open(&args.queries)?;
    let repository = NamedFingerprints::open(&args.repository)?;
    queries.check_recipe(&repository)?;
    let memory = args.memory.map_or(MEMORY, |memory| {
        usize::try_from(memory.0).unwrap_or(usize::MAX)
    });
    let options = QueryOptions {
        distance: args.distance,
        chunk: args.shard.unwrap_or(Chunk::WHOLE),
        memory,
        workers: available_parallelism().unwrap_or(NonZeroUsize::MIN),
        scratch: args.temp_dir.clone().unwrap_or_else(usual_temp_dir),
    };
    let format = Format::or_fitting(args.format);
    let search = |out: &mut dyn Write| {
        let bar = SearchProgress(progress::counting_bar(args.quiet));
        let found = search(&queries, &repository, &options, format, &bar, out);
        bar.0.finish_and_clear();
        found
    };
    let to_file = args
        .output
        .as_deref()
        .filter(|path| !is_standard_input(path));
    let summary = match to_file {
        Some(path) => {
            let mut draft = DraftFile::begin(path).map_err(unwritable(path))?;
            let mut out = BufWriter::new(&mut draft);
            let summary = search(&mut out).and_then(|found| Ok(out.flush().map(|()| found)?));
            drop(out);
            let summary = summary.map_err(|error| error.into_cli_error(unwritable(path)))?;
            draft.complete().map_err(unwritable(path))?;
            summary
        }
        None => {
            let mut out = BufWriter::new(Escaping::new(io::stdout().lock()));
            let summary = search(&mut out).and_then(|found| Ok(out.flush().map(|()| found)?));
            match summary {
                Ok(summary) => summary,
                // The reader of the matches went away.
                Err(QueryError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(());
                }
                Err(error) => return Err(error.into_cli_error(|error| fault(&error))),
            }
        }
    };
    if !args.quiet {
        say(&closing(&summary, options.chunk));
    }
    Ok(())
}

/// Writes a line for each match.
fn search(
    queries: &NamedFingerprints,
    repository: &NamedFingerprints,
    options: &QueryOptions,
    format: Format,
    progress: &dyn Progress,
    out: &mut dyn Write,
) -> Result<QuerySummary, QueryError> {
    let never = AtomicBool::new(false);
    let control = Control::new(progress, &never);
    let (mut query_ids, mut ids) = (queries.ids()?, repository.ids()?);
    let (asked, held) = (&queries.fingerprints, &repository.fingerprints);
    let mut latest: Option<(u64, Name)> = None;
    ordered_query(asked, held, options, control, |found: QueryMatch| {
        // Matches of one document follow each other.
        let document = match latest.take() {
            Some((position, name)) if position == found.position => name,
            _ => repository.name(&mut ids, found.position)?,
        };
        let line = MatchLine {
            query: queries.name(&mut query_ids, u64::from(found.query))?,
            document: document.clone(),
            distance: found.distance,
        };
        latest = Some((found.position, document));
        line.write(out, format)?;
        Ok(())
    })
}

impl MatchLine {
    fn write(&self, out: &mut dyn Write, format: Format) -> io::Result<()> {
        if format == Format::Json {
            return output::json_line(out, self);
        }
        let written = |name: &Name| match name {
            Name::Text(name) => printable(name),
            Name::Number(number) => number.to_string(),
        };
        let (query, document) = (written(&self.query), written(&self.document));
        writeln!(
            out,
            "{:>2} bits  {document}  matches  {query}",
            self.distance
        )
    }
}

fn closing(summary: &QuerySummary, chunk: Chunk) -> String {
    let part = match chunk {
        Chunk::WHOLE => String::new(),
        chunk => format!(" of part {chunk}"),
    };
    format!(
        "{} matches of {} queries among {} fingerprints{part}",
        HumanCount(summary.matches),
        HumanCount(summary.queries),
        HumanCount(summary.searched)
    )
}

/// An error that ends a query.
enum QueryError {
    Cli(CliError),
    /// The matches cannot be written.
    Output(io::Error),
}

impl QueryError {
    fn into_cli_error(self, unwritable: impl FnOnce(io::Error) -> CliError) -> CliError {
        match self {
            Self::Cli(error) => error,
            Self::Output(error) => unwritable(error),
        }
    }
}

impl From<CliError> for QueryError {
    fn from(error: CliError) -> Self {
        Self::Cli(error)
    }
}

impl From<BatchError> for QueryError {
    fn from(error: BatchError) -> Self {
        Self::Cli(of_batch(&error))
    }
}

impl From<io::Error> for QueryError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// A bar on a terminal.
struct SearchProgress(ProgressBar);

impl Progress for SearchProgress {
    fn advanced(&self, step: Step, done: u64, _: Option<u64>) {
        self.0.set_position(done);
        self.0.set_message(match step {
            Step::Reading => "queries read",
            Step::Joining => "fingerprints searched",
            _ => "matches written",
        });
    }
}
