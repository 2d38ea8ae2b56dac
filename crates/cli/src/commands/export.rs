//! `crawler export`: a row for each visited URL, in the order in which the visits ended; or, with
//! `--links`, one for each link of each archived page. The crate `export` defines and writes the
//! rows; this module chooses the target.

mod links;
mod target;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, SystemDisk};
use export::{
    Beginning, ExportFault, ExportInfo, Form, LINKS, Linked, Parts, SKETCHES, Table, TableWriter,
    VISITS, Value, Visit, VisitPosition, Visits, WholeFile, draft_of, linked_so_far,
};
use neardup::HashKey;
use store::embedded::History;

use self::links::LinkBatch;
use self::target::ExportTarget;
use super::unwritable;
use crate::args::ExportArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::crawl_directory;
use crate::progress::SlowProgress;
use crate::terminal::Escaping;

/// An export: its table, its form and its source.
struct Export<'a> {
    args: &'a ExportArgs,
    form: Form,
    table: Table,
    about: ExportInfo,
    state: PathBuf,
    /// The visits whose links are written together.
    links: Option<LinkBatch>,
}

pub(crate) fn run(args: &ExportArgs) -> Result<(), CliError> {
    let state = crawl_directory::state_of(&args.directory)?;
    let target = ExportTarget::of(args)?;
    let form = args.form();
    let mut export = Export {
        args,
        form,
        table: match (args.links, args.sketches || form == Form::Parquet) {
            (true, _) => LINKS,
            (false, true) => SKETCHES,
            (false, false) => VISITS,
        },
        about: ExportInfo {
            version: env!("CARGO_PKG_VERSION"),
            algorithm: neardup::ALGORITHM,
            zero_key: History::open(&state)?.key() == Some(HashKey::ZERO),
        },
        links: match args.links {
            true => Some(LinkBatch::of_crawl(&args.directory)?),
            false => None,
        },
        state,
    };
    export
        .write(&target)
        .map_err(|fault| complain(fault, &target, form))?;
    export.links.map_or(Ok(()), |links| links.check_unread())
}

impl Export<'_> {
    fn write(&mut self, target: &ExportTarget) -> Result<(), ExportFault> {
        match target {
            ExportTarget::Stdout => match self.stream(BufWriter::new(io::stdout())) {
                // A reader that went away (`| head`) is no error.
                Err(ExportFault::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    Ok(())
                }
                other => other,
            },
            ExportTarget::Device(path) => self.stream(BufWriter::new(
                std::fs::OpenOptions::new().write(true).open(path)?,
            )),
            ExportTarget::File(path) => self.file(path),
            ExportTarget::Parts(directory) => {
                let parts = Parts::begin(
                    Arc::new(SystemDisk),
                    directory,
                    self.table,
                    self.about.clone(),
                    self.args
                        .rows_per_file
                        .unwrap_or(export::DEFAULT_ROWS_PER_FILE),
                    self.args.resume,
                )?;
                let mut destination = Destination::Parts::<io::Empty>(Box::new(parts));
                self.fill(&mut destination, 0)?;
                destination.finish()
            }
        }
    }

    /// Writes to an output that cannot be truncated.
    fn stream(&mut self, out: impl Write + Send) -> Result<(), ExportFault> {
        let mut destination = Destination::Table(TableWriter::begin(
            self.form,
            self.table,
            &self.about,
            self.harmless(out),
        )?);
        self.fill(&mut destination, 0)?;
        destination.finish()
    }

    fn file(&mut self, path: &Path) -> Result<(), ExportFault> {
        let linked = match &self.links {
            Some(_) if self.args.resume => {
                linked_so_far(path, self.form, Visits::open(&self.state, false)?)?
            }
            _ => Linked::default(),
        };
        let beginning = match (self.args.resume, &self.links) {
            (false, _) => Beginning::Anew,
            (true, None) => Beginning::Compared,
            (true, Some(_)) => Beginning::Behind(linked.bytes),
        };
        let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
        let mut file = WholeFile::begin(disk, path, beginning)?;
        let out = self.harmless(&mut file);
        let writer = if linked.bytes > 0 {
            TableWriter::go_on(self.form, self.table, &self.about, out)?
        } else {
            TableWriter::begin(self.form, self.table, &self.about, out)?
        };
        let mut destination = Destination::Table(writer);
        self.fill(&mut destination, linked.visits)?;
        destination.finish()?;
        file.complete()?;
        Ok(())
    }

    /// Escapes text formats, so that they can be shown on a terminal.
    fn harmless<'w>(&self, out: impl Write + Send + 'w) -> Box<dyn Write + Send + 'w> {
        match self.form {
            Form::Jsonl | Form::Csv | Form::RawCsv => Box::new(Escaping::new(out)),
            Form::Parquet => Box::new(out),
        }
    }

    /// Writes the records of all visits except the first `but_for`.
    fn fill<W: Write + Send>(
        &mut self,
        destination: &mut Destination<W>,
        but_for: u64,
    ) -> Result<(), ExportFault> {
        let visits = Visits::open(&self.state, self.table == SKETCHES)?;
        let mut progress = SlowProgress::new("visits");
        for (number, visit) in (0..).zip(visits) {
            let visit = visit?;
            progress.step();
            let Some(mark) = destination.advance(&visit)?.filter(|_| number >= but_for) else {
                continue;
            };
            match &mut self.links {
                None => {
                    destination.write(&visit.fields())?;
                    destination.wrote(mark)?;
                }
                Some(links) => links.add(visit, mark, destination)?,
            }
        }
        self.links
            .as_mut()
            .map_or(Ok(()), |links| links.write(destination))
    }
}

/// The destination of records.
enum Destination<W: Write + Send> {
    Table(TableWriter<W>),
    Parts(Box<Parts>),
}

impl<W: Write + Send> Destination<W> {
    /// Passes the next visit on; returns none if its records are already written.
    fn advance(&mut self, visit: &Visit) -> Result<Option<VisitPosition>, ExportFault> {
        match self {
            Self::Table(_) => Ok(Some(VisitPosition::default())),
            Self::Parts(parts) => parts.advance(visit),
        }
    }

    fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        match self {
            Self::Table(writer) => writer.write(fields),
            Self::Parts(parts) => parts.write(fields),
        }
    }

    fn wrote(&mut self, mark: VisitPosition) -> Result<(), ExportFault> {
        match self {
            Self::Table(_) => Ok(()),
            Self::Parts(parts) => parts.wrote(mark),
        }
    }

    fn finish(self) -> Result<(), ExportFault> {
        match self {
            Self::Table(writer) => writer.finish().map(drop),
            Self::Parts(parts) => parts.finish(),
        }
    }
}

fn complain(error: ExportFault, target: &ExportTarget, form: Form) -> CliError {
    let path = match target {
        ExportTarget::Stdout => Path::new("-"),
        ExportTarget::Device(path) | ExportTarget::File(path) | ExportTarget::Parts(path) => path,
    };
    match error {
        ExportFault::Store(error) => error.into(),
        ExportFault::Write(error) if matches!(target, ExportTarget::Stdout) => fault(&error),
        ExportFault::Write(error) => {
            let unwritten = unwritable(path)(error);
            let draft = draft_of(path);
            match target {
                ExportTarget::File(_) if form != Form::Parquet && draft.exists() => unwritten
                    .with_remedy(format!(
                        "what could be written is in {}: make room, and --resume goes on with it",
                        draft.display()
                    )),
                ExportTarget::File(_) => {
                    drop_draft(&draft);
                    unwritten
                }
                ExportTarget::Parts(_) => unwritten
                    .with_remedy("the existing parts are complete: --resume continues after them"),
                ExportTarget::Stdout | ExportTarget::Device(_) => unwritten,
            }
        }
        ExportFault::Differs(differs) => {
            let path = path.display();
            usage(format!("{path} cannot be continued: {differs}")).with_remedy(
                "it was made from another crawl, format or table, or the crawl has changed; \
                 without --resume it is overwritten",
            )
        }
        ExportFault::Occupied(_) => usage(format!("{error}"))
            .with_remedy("--resume goes on with them; or name another directory"),
        ExportFault::ForeignPart { .. } => usage(format!("{error}"))
            .with_remedy("name another directory, or remove this part and those after it"),
        ExportFault::Encode(_) => fault(&error),
    }
}

/// Removes the draft of a Parquet file, which nobody can continue.
fn drop_draft(draft: &Path) {
    match SystemDisk.remove(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(draft = %draft.display(), %error, "stays");
        }
        _removed_or_not_there => {}
    }
}
