//! `crawler query`: finds fingerprints in a repository that are within a few bits of any of many
//! queries.
//!
//! (Manku, Jain and Das Sarma, WWW 2007, section 4.) All cores search; with `--shard i/n` a machine
//! searches the i-th part of the repository, and the concatenated outputs of all parts, in part
//! order, equal the output of one run, byte for byte. With one file, all pairs within it are
//! listed, or an index of it is written. A later query probes the index instead of reading the
//! whole file.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

use batch::{
    BatchError, Control, DocumentId, GroupedMatch, IndexOptions, JoinOptions, Pair, Progress,
    QueryMatch, QueryOptions, Repository, Shard, Step, grouped_query, ordered_pairs, ordered_query,
};
use corpus::json_id::JsonId;
use corpus::named_fingerprints::{NamedFingerprints, NamedIndexWriter, of_batch};
use disk::OutputFile;
use indicatif::{HumanBytes, ProgressBar};
use messages::{CommandError, SlowProgress, counted, counted_as, fault, printable, say};
use serde::Serialize;
use settings::input::unwritable;
use web::Escaping;

use crate::args::QueryArgs;
use crate::output::{self, Format};
use crate::progress::{self};

/// Default of `--memory`: bytes of matches, pairs or an index that are held in memory.
const MEMORY: usize = 256 << 20;

/// A match in the output.
#[derive(Serialize)]
struct MatchLine {
    query: JsonId<DocumentId>,
    document: JsonId<DocumentId>,
    distance: u32,
}

/// A pair of documents in the output.
#[derive(Serialize)]
struct PairLine {
    a: JsonId<DocumentId>,
    b: JsonId<DocumentId>,
    distance: u32,
}

pub(crate) fn run(args: &QueryArgs) -> Result<(), CommandError> {
    let queries = NamedFingerprints::open(&args.queries)?;
    queries.file()?;
    if let Some(path) = &args.save_index {
        return save_index(args, &queries, path);
    }
    let repository = args.repository.as_deref().map(NamedFingerprints::open);
    let repository = repository.transpose()?;
    if let Some(repository) = &repository {
        queries.check_parameters(repository)?;
    }
    let search = |out: &mut dyn Write| {
        let bar = SearchProgress {
            bar: progress::counting_bar(args.work.quiet),
            searched: match repository.as_ref().map(|held| &held.fingerprints) {
                Some(Repository::Index(_)) => "probes, four per query",
                _ => "fingerprints searched",
            },
        };
        let found = match &repository {
            Some(repository) => matches(args, &queries, repository, &bar, out),
            None => pairs(args, &queries, &bar, out),
        };
        bar.bar.finish_and_clear();
        found
    };
    let closing = match args.work.output() {
        Some(path) => {
            let mut draft = OutputFile::replacing(path).map_err(unwritable(path))?;
            let mut out = BufWriter::new(&mut draft);
            let closing = search(&mut out).and_then(|found| Ok(out.flush().map(|()| found)?));
            drop(out);
            let closing = closing.map_err(|error| error.into_cli_error(unwritable(path)))?;
            draft.complete().map_err(unwritable(path))?;
            closing
        }
        None => {
            let mut out = BufWriter::new(Escaping::new(io::stdout().lock()));
            let closing = search(&mut out).and_then(|found| Ok(out.flush().map(|()| found)?));
            match closing {
                Ok(closing) => closing,
                // The reader of the matches went away.
                Err(QueryError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(());
                }
                Err(error) => return Err(error.into_cli_error(|error| fault(&error))),
            }
        }
    };
    if !args.work.quiet {
        say(&closing);
    }
    Ok(())
}

/// Writes a line for each match. Returns the closing line.
fn matches(
    args: &QueryArgs,
    queries: &NamedFingerprints,
    repository: &NamedFingerprints,
    progress: &dyn Progress,
    out: &mut dyn Write,
) -> Result<String, QueryError> {
    let options = QueryOptions {
        distance: args.distance,
        shard: args.shard.unwrap_or(Shard::WHOLE),
        memory: args.work.memory().unwrap_or(MEMORY),
        workers: workers(),
        scratch: args.work.temp_dir(),
    };
    let never = AtomicBool::new(false);
    let control = Control::new(progress, &never);
    let (query_ids, mut ids) = (queries.all_ids()?, repository.ids()?);
    let (asked, held) = (queries.file()?, &repository.fingerprints);
    let format = args.format;
    let mut write = |found: QueryMatch, document: &DocumentId| {
        let query = queries.name_among(&query_ids, found.query)?;
        write_match(out, format, query, document.clone(), found.distance)?;
        Ok::<(), QueryError>(())
    };
    let summary = if args.by_query {
        grouped_query(
            asked,
            held,
            &options,
            control,
            |GroupedMatch { found, id }| write(found, &repository.name_of(id, found.position)?),
        )?
    } else {
        let mut latest: Option<(u64, DocumentId)> = None;
        ordered_query(asked, held, &options, control, |found: QueryMatch| {
            // Matches of one document are consecutive.
            let document = match latest.take() {
                Some((position, name)) if position == found.position => name,
                _ => repository.name(&mut ids, found.position)?,
            };
            write(found, &document)?;
            latest = Some((found.position, document));
            Ok::<(), QueryError>(())
        })?
    };
    let part = match options.shard {
        Shard::WHOLE => String::new(),
        shard => format!(" of part {shard}"),
    };
    Ok(format!(
        "{} of {} among {}{part}",
        counted_as(summary.matches, "match", "matches"),
        counted_as(summary.queries, "query", "queries"),
        counted(summary.searched, "fingerprint")
    ))
}

fn write_match(
    out: &mut dyn Write,
    format: Format,
    query: DocumentId,
    document: DocumentId,
    distance: u32,
) -> io::Result<()> {
    match format {
        Format::Json => {
            let line = MatchLine {
                query: JsonId(query),
                document: JsonId(document),
                distance,
            };
            output::json_line(out, &line)
        }
        Format::Table => {
            let (document, query) = (printable(&document), printable(&query));
            writeln!(out, "{distance:>2} bits  {document}  matches  {query}")
        }
    }
}

/// Writes a line for each pair within one file. Returns the closing line.
fn pairs(
    args: &QueryArgs,
    file: &NamedFingerprints,
    progress: &dyn Progress,
    out: &mut dyn Write,
) -> Result<String, QueryError> {
    let options = JoinOptions {
        distance: args.distance,
        memory: args.work.memory().unwrap_or(MEMORY),
        workers: workers(),
        scratch: args.work.temp_dir(),
    };
    let never = AtomicBool::new(false);
    let control = Control::new(progress, &never);
    let ids = file.all_ids()?;
    let format = args.format;
    let summary = ordered_pairs(file.file()?, &options, control, |pair: Pair| {
        let line = PairLine {
            a: JsonId(file.name_among(&ids, pair.first)?),
            b: JsonId(file.name_among(&ids, pair.second)?),
            distance: pair.distance,
        };
        match format {
            Format::Json => output::json_line(out, &line)?,
            Format::Table => {
                let (a, b) = (printable(&line.a.0), printable(&line.b.0));
                writeln!(out, "{:>2} bits  {a}  and  {b}", line.distance)?;
            }
        }
        Ok::<(), QueryError>(())
    })?;
    Ok(format!(
        "{} among {}",
        counted(summary.pairs, "pair"),
        counted(summary.fingerprints, "fingerprint")
    ))
}

fn workers() -> NonZeroUsize {
    available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// An error that ends a query.
enum QueryError {
    Cli(CommandError),
    /// The matches cannot be written.
    Output(io::Error),
}

impl QueryError {
    fn into_cli_error(self, unwritable: impl FnOnce(io::Error) -> CommandError) -> CommandError {
        match self {
            Self::Cli(error) => error,
            Self::Output(error) => unwritable(error),
        }
    }
}

impl From<CommandError> for QueryError {
    fn from(error: CommandError) -> Self {
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

/// Writes an index of a file of fingerprints.
fn save_index(args: &QueryArgs, file: &NamedFingerprints, path: &Path) -> Result<(), CommandError> {
    let writer = NamedIndexWriter::create(file, path)?;
    let options = IndexOptions {
        memory: args.work.memory().unwrap_or(MEMORY),
        scratch: args.work.temp_dir(),
    };
    let progress = IndexProgress {
        shown: (!args.work.quiet)
            .then(|| SlowProgress::new(""))
            .map(Mutex::new),
    };
    let never = AtomicBool::new(false);
    let index = writer.write(&options, Control::new(&progress, &never))?;
    drop(progress);
    if !args.work.quiet {
        say(&format!(
            "{} indexed in {} ({})",
            counted(index.len(), "fingerprint"),
            printable(&path.display().to_string()),
            HumanBytes(index.bytes())
        ));
    }
    Ok(())
}

/// A bar on a terminal.
struct SearchProgress {
    bar: ProgressBar,
    /// Name of the items that are counted during the search.
    searched: &'static str,
}

impl Progress for SearchProgress {
    fn advanced(&self, step: Step, done: u64, _: Option<u64>) {
        self.bar.set_position(done);
        self.bar.set_message(match step {
            Step::Reading => "queries read",
            Step::Joining => self.searched,
            _ => "matches written",
        });
    }
}

/// A bar on a terminal while an index is written.
struct IndexProgress {
    shown: Option<Mutex<SlowProgress>>,
}

impl Progress for IndexProgress {
    fn advanced(&self, step: Step, done: u64, _: Option<u64>) {
        let Some(Ok(shown)) = self.shown.as_ref().map(Mutex::lock) else {
            return;
        };
        shown.name(match step {
            Step::Reading => "fingerprints read",
            Step::Sorting => "entries sorted, four per fingerprint",
            _ => "entries written, four per fingerprint",
        });
        shown.show(done);
    }
}
