//! `crawler export`: a row for each visited URL, in the order in which the visits ended; or, with
//! `--links`, one for each link of each page that the archive has. What a row is, and how it is
//! written, is the crate `export`'s; where it is written to is decided here.

mod links;
mod place;

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

use self::links::Pages;
pub(super) use self::links::{has_page, read as read_again, read_at};
use self::place::Place;
use crate::args::ExportArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::history;
use crate::progress::Patience;
use crate::terminal::Escaping;

/// What is exported, and how.
struct Export<'a> {
    args: &'a ExportArgs,
    form: Form,
    table: Table,
    about: ExportInfo,
    state: PathBuf,
    /// Where links are read from.
    pages: Option<Pages>,
}

pub(crate) fn run(args: &ExportArgs) -> Result<(), CliError> {
    let state = history::state_of(&args.directory)?;
    let place = Place::of(args)?;
    let form = args.form();
    let export = Export {
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
            zero_key: History::open(&state).map_err(|error| fault(&error))?.key()
                == Some(HashKey::ZERO),
        },
        pages: args
            .links
            .then(|| Pages::of_crawl(&args.directory))
            .transpose()?,
        state,
    };
    export
        .write(&place)
        .map_err(|fault| complain(fault, &place, form))?;
    export.pages.as_ref().map_or(Ok(()), Pages::complain)
}

impl Export<'_> {
    fn write(&self, place: &Place) -> Result<(), ExportFault> {
        match place {
            Place::Stdout => match self.stream(BufWriter::new(io::stdout())) {
                // A reader that went away (`| head`) is no error.
                Err(ExportFault::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    Ok(())
                }
                other => other,
            },
            Place::Device(path) => self.stream(BufWriter::new(
                std::fs::OpenOptions::new().write(true).open(path)?,
            )),
            Place::File(path) => self.file(path),
            Place::Parts(directory) => {
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

    /// What cannot be taken back.
    fn stream(&self, out: impl Write + Send) -> Result<(), ExportFault> {
        let mut destination = Destination::Table(TableWriter::begin(
            self.form,
            self.table,
            &self.about,
            self.harmless(out),
        )?);
        self.fill(&mut destination, 0)?;
        destination.finish()
    }

    fn file(&self, path: &Path) -> Result<(), ExportFault> {
        let linked = match &self.pages {
            Some(_) if self.args.resume => {
                linked_so_far(path, self.form, Visits::open(&self.state, false)?)?
            }
            _ => Linked::default(),
        };
        let beginning = match (self.args.resume, &self.pages) {
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

    /// Text is written so that it may be shown on a terminal.
    fn harmless<'w>(&self, out: impl Write + Send + 'w) -> Box<dyn Write + Send + 'w> {
        match self.form {
            Form::Jsonl | Form::Csv | Form::RawCsv => Box::new(Escaping::new(out)),
            Form::Parquet => Box::new(out),
        }
    }

    /// Writes what there is of all visits but the first.
    fn fill<W: Write + Send>(
        &self,
        destination: &mut Destination<W>,
        but_for: u64,
    ) -> Result<(), ExportFault> {
        let visits = Visits::open(&self.state, self.table == SKETCHES)?;
        let mut patience = Patience::new("visits");
        for (number, visit) in (0..).zip(visits) {
            let visit = visit?;
            patience.step();
            let Some(mark) = destination.hear(&visit)?.filter(|_| number >= but_for) else {
                continue;
            };
            match &self.pages {
                None => {
                    destination.write(&visit.fields())?;
                    destination.wrote(mark)?;
                }
                Some(pages) => pages.add(visit, mark, destination)?,
            }
        }
        self.pages
            .as_ref()
            .map_or(Ok(()), |pages| pages.write(destination))
    }
}

/// Where records go.
enum Destination<W: Write + Send> {
    Table(TableWriter<W>),
    Parts(Box<Parts>),
}

impl<W: Write + Send> Destination<W> {
    /// Hears of the next visit; none where it has its records.
    fn hear(&mut self, visit: &Visit) -> Result<Option<VisitPosition>, ExportFault> {
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

fn complain(error: ExportFault, place: &Place, form: Form) -> CliError {
    let path = match place {
        Place::Stdout => Path::new("-"),
        Place::Device(path) | Place::File(path) | Place::Parts(path) => path,
    };
    let name = path.display();
    match error {
        ExportFault::Store(error) => fault(&error),
        ExportFault::Write(error) if matches!(place, Place::Stdout) => fault(&error),
        ExportFault::Write(error) => {
            let told = usage(format!("cannot write {name}: {error}"));
            let draft = draft_of(path);
            match place {
                Place::File(_) if form != Form::Parquet && draft.exists() => told.with_remedy(format!(
                    "what could be written is in {}: make room, and --resume goes on with it",
                    draft.display()
                )),
                Place::File(_) => {
                    drop_draft(&draft);
                    told
                }
                Place::Parts(_) => told.with_remedy("the parts that are there are whole: --resume goes on behind them"),
                Place::Stdout | Place::Device(_) => told,
            }
        }
        ExportFault::Differs(differs) => usage(format!("{name} cannot be continued: {differs}")).with_remedy(
            "it is of another crawl, form or table, or the crawl tells otherwise now; without --resume it is written anew",
        ),
        ExportFault::Occupied(_) => usage(format!("{error}"))
            .with_remedy("--resume goes on with them; or name another directory"),
        ExportFault::ForeignPart { .. } => usage(format!("{error}"))
            .with_remedy("name another directory, or remove this part and those after it"),
        ExportFault::Encode(_) => fault(&error),
    }
}

/// A Parquet file that was cut short is of no use to anybody.
fn drop_draft(draft: &Path) {
    match SystemDisk.remove(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(draft = %draft.display(), %error, "stays");
        }
        _removed_or_not_there => {}
    }
}
