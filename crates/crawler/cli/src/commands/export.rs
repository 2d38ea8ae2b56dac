//! `crawler export`: writes a row per visited URL, in the order of the ends of the visits. With
//! `--links`, it writes a row per link of each archived page; with `--broken`, only for links to
//! URLs that could not be fetched. With `--text`, it writes a row with the text of each kept page;
//! with `--signatures`, a row with its signature; with `--audit`, several tables. The crate
//! `export` defines and writes the rows; this module chooses the target.

mod audit;
mod target;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, DraftPath, SystemDisk, draft_of};
use export::{
    BROKEN_LINKS, Beginning, CHUNKS, Compression, ExportFault, ExportInfo, Form, LINKS, Linked,
    Packed, PageSignatureRecord, Parts, SIGNATURES, SKETCHES, TEXTS, Table, TableWriter,
    TextOptions, VISITS, Visits, WholeFile, linked_so_far,
};
use inspect::export::{Destination, FailedUrls, MarkdownFiles, PageBatch, PageRecords, Target};
use journal::History;
use messages::{CommandError, SlowProgress, counted, fault, usage};
use neardup::HashKey;
use settings::input::unwritable;
use settings::{crawl_directory, machine};
use setup::shared::{OpenCrawl, Refused};
use sinks::warc::{self, ConversionInfo, ConversionWriter};

use self::target::{ExportTarget, markdown_directory};
use crate::args::{ExportArgs, OutputForm};
use crate::output;

/// An export: its table, its form and its source.
struct Export<'a> {
    args: &'a ExportArgs,
    form: OutputForm,
    table: Table,
    about: ExportInfo,
    state: PathBuf,
    /// The visits whose pages are read together, if the records are made of pages.
    pages: Option<PageBatch>,
}

/// Gzip level of WET files, as in Common Crawl's tools.
const WET_LEVEL: i32 = 6;

pub(crate) fn run(args: &ExportArgs) -> Result<(), CommandError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), args.store.store.as_ref())?;
    let of_archive = [
        (args.links, "--links"),
        (args.text, "--text"),
        (args.audit, "--audit"),
    ];
    for (_, option) in of_archive.iter().filter(|(is_given, _)| *is_given) {
        crawl.refuse_for_replica(option, Refused::ReadsArchive)?;
    }
    let state = crawl_directory::state_of(crawl.directory())?;
    let about = ExportInfo {
        version: env!("CARGO_PKG_VERSION"),
        algorithm: neardup::ALGORITHM,
        zero_key: History::open(&state)?.key() == Some(HashKey::ZERO),
        options: text_options(args),
    };
    if args.audit {
        return audit::run(args, crawl.directory(), &state, &about);
    }
    let form = args.form();
    let files = markdown_directory(args)?;
    let target = match &files {
        Some(path) => ExportTarget::Device(path.clone()),
        None => ExportTarget::of(args)?,
    };
    let batch = |records| PageBatch::of_crawl(crawl.directory(), records);
    let mut export = Export {
        args,
        form,
        table: table_of(args),
        about,
        pages: page_records(args, crawl.directory())?
            .map(batch)
            .transpose()?,
        state,
    };
    let written = match &files {
        Some(path) => {
            let files = MarkdownFiles::begin(path, &export.state, &text_rules(args).into())?;
            export.directory(Target::Files(Box::new(files)))
        }
        None => export.write(&target),
    };
    let records = written.map_err(|fault| described(fault, &target, form))?;
    if let Some(path) = &files {
        let opened_with = "Markdown with front matter, for note programs and loaders of corpora";
        output::say_written(path, &counted(records, "text"), opened_with);
    }
    if let ExportTarget::File(path) | ExportTarget::Parts(path) = &target {
        // A file that is compared from its beginning counts all its records.
        let is_appended = args.links || matches!(target, ExportTarget::Parts(_));
        let is_new = args.resume && is_appended;
        let noun = if is_new { "new record" } else { "record" };
        output::say_written(path, &counted(records, noun), form.opened_with());
    }
    export.pages.map_or(Ok(()), |pages| pages.check_unread())
}

fn table_of(args: &ExportArgs) -> Table {
    match args {
        args if args.broken => BROKEN_LINKS,
        args if args.links => LINKS,
        args if args.chunks => CHUNKS,
        args if args.text => TEXTS,
        args if args.signatures => SIGNATURES,
        args if args.sketches || args.form() == OutputForm::Table(Form::Parquet) => SKETCHES,
        _ => VISITS,
    }
}

/// Returns the kind of records made from pages, if requested.
fn page_records(args: &ExportArgs, crawl: &Path) -> Result<Option<PageRecords>, CommandError> {
    Ok(if args.broken {
        Some(PageRecords::BrokenLinks(FailedUrls::of_crawl(crawl)?))
    } else if args.links {
        Some(PageRecords::Links)
    } else if args.text {
        Some(PageRecords::Texts(text_rules(args).into()))
    } else {
        None
    })
}

/// Returns the options of texts.
fn text_rules(args: &ExportArgs) -> TextOptions {
    TextOptions {
        markdown: args.markdown || args.chunks,
        duplicates: args.duplicates,
        boilerplate: args.keep_boilerplate,
        chunks: args.chunks,
        respected: args.respect_preferences.unwrap_or_default(),
    }
}

/// Returns the options that change the records of texts.
fn text_options(args: &ExportArgs) -> Vec<(&'static str, String)> {
    if !args.text {
        return Vec::new();
    }
    let either = |is_given: bool, yes, no| if is_given { yes } else { no };
    let text = either(text_rules(args).markdown, "markdown", "plain");
    let pages = either(args.duplicates, "kept", "originals");
    let lines = either(args.keep_boilerplate, "kept", "left out");
    let respected = args.respect_preferences.unwrap_or_default();
    vec![
        ("crawler.text", text.to_owned()),
        ("crawler.pages", pages.to_owned()),
        ("crawler.boilerplate", lines.to_owned()),
        ("crawler.respected_preferences", respected.to_string()),
    ]
}

impl Export<'_> {
    /// Writes the records. Returns their number.
    fn write(&mut self, target: &ExportTarget) -> Result<u64, ExportFault> {
        match target {
            ExportTarget::Stdout => match self.stream(BufWriter::new(io::stdout())) {
                // A reader that went away (`| head`) is not an error.
                Err(ExportFault::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    Ok(0)
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
                self.directory(Target::Parts(Box::new(parts)))
            }
        }
    }

    /// Writes a directory of files.
    fn directory(&mut self, target: Target<io::Empty>) -> Result<u64, ExportFault> {
        let mut destination = Destination::from(target);
        self.fill(&mut destination, 0)?;
        destination.finish()
    }

    /// Writes to an output that cannot be truncated.
    fn stream(&mut self, out: impl Write + Send) -> Result<u64, ExportFault> {
        let mut destination = self.begin(out, Path::new(""), 0)?;
        self.fill(&mut destination, 0)?;
        destination.finish()
    }

    fn file(&mut self, path: &Path) -> Result<u64, ExportFault> {
        let linked = match self.form {
            OutputForm::Table(form) if self.args.resume && self.args.links => {
                linked_so_far(path, form, Visits::open(&self.state, false)?)?
            }
            _ => Linked::default(),
        };
        let beginning = match (self.args.resume, self.args.links) {
            (false, _) => Beginning::Anew,
            (true, false) => Beginning::Compared,
            (true, true) => Beginning::Behind(linked.bytes),
        };
        let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
        // A draft that can be continued is kept after an interrupt.
        let (mut file, draft) = match self.form.can_continue(path) {
            true => (WholeFile::begin(disk, path, beginning)?, None),
            false => {
                let begin = |_: &Path| WholeFile::begin(disk, path, beginning);
                let (file, draft) = DraftPath::begin(&draft_of(path), begin)?;
                (file, Some(draft))
            }
        };
        let compression = match self.form {
            // Its records are compressed one by one.
            OutputForm::Wet => None,
            OutputForm::Table(_) => Compression::by_name(path),
        };
        let mut packed = Packed::begin(compression, &mut file)?;
        let mut destination = self.begin(&mut packed, path, linked.bytes)?;
        self.fill(&mut destination, linked.visits)?;
        let records = destination.finish()?;
        packed.finish()?;
        match draft {
            Some(draft) => draft.complete_with(|_| file.complete())?,
            None => file.complete()?,
        }
        Ok(records)
    }

    /// Begins the output, or continues it after its first `bytes` bytes.
    fn begin<'w>(
        &self,
        out: impl Write + Send + 'w,
        path: &Path,
        bytes: u64,
    ) -> Result<Destination<Box<dyn Write + Send + 'w>>, ExportFault> {
        let OutputForm::Table(form) = self.form else {
            let out: Box<dyn Write + Send> = Box::new(out);
            return Ok(Target::Wet(Box::new(self.wet(out, path)?)).into());
        };
        let out = export::begin_output(form, self.args.bom && bytes == 0, out)?;
        let writer = match bytes {
            0 => TableWriter::begin(form, self.table, &self.about, out)?,
            _ => TableWriter::go_on(form, self.table, &self.about, out)?,
        };
        Ok(Target::Table(writer).into())
    }

    /// Begins a file of texts as WARC records, each compressed according to the file name.
    fn wet<W: Write>(&self, out: W, path: &Path) -> io::Result<ConversionWriter<W>> {
        let compression = match Compression::by_name(path) {
            None => warc::Compression::None,
            Some(Compression::Gzip) => warc::Compression::Gzip { level: WET_LEVEL },
            Some(Compression::Zstd) => warc::Compression::Zstd {
                level: 3,
                dictionary: None,
            },
        };
        let description = match self.args.markdown {
            true => "main content of archived pages, as Markdown",
            false => "main content of archived pages",
        };
        let date = machine::clock().now();
        let info = ConversionInfo {
            software: concat!("crawler/", env!("CARGO_PKG_VERSION")),
            file: &path.file_name().unwrap_or_default().to_string_lossy(),
            description,
            date,
            seed: u128::from(date.as_millis()) << 64 | u128::from(std::process::id()),
        };
        ConversionWriter::begin(out, &info, &compression)
    }

    /// Writes the records of all visits except the first `but_for`.
    fn fill<W: Write + Send>(
        &mut self,
        destination: &mut Destination<W>,
        but_for: u64,
    ) -> Result<(), ExportFault> {
        let mut visits = Visits::open(&self.state, self.table == SKETCHES)?;
        if self.table == SIGNATURES {
            visits = visits.with_signatures();
        }
        let mut progress = SlowProgress::new("visits");
        for (number, visit) in (0..).zip(visits) {
            let visit = visit?;
            progress.step();
            let Some(mark) = destination.advance(&visit)?.filter(|_| number >= but_for) else {
                continue;
            };
            match &mut self.pages {
                None if self.table == SIGNATURES => {
                    if let Some(signature) = &visit.signature {
                        let url = visit.record.url.as_str();
                        let record = PageSignatureRecord::of(url, signature);
                        destination.write(&record.fields())?;
                    }
                    destination.wrote(mark)?;
                }
                None => {
                    destination.write(&visit.fields())?;
                    destination.wrote(mark)?;
                }
                Some(pages) => pages.add(visit, mark, destination)?,
            }
        }
        self.pages
            .as_mut()
            .map_or(Ok(()), |pages| pages.write(destination))
    }
}

fn described(error: ExportFault, target: &ExportTarget, form: OutputForm) -> CommandError {
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
                ExportTarget::File(path) if form.can_continue(path) && draft.exists() => unwritten
                    .with_remedy(format!(
                        "the rows so far are in {}: free some space, and continue with --resume",
                        draft.display()
                    )),
                ExportTarget::File(_) => {
                    drop_draft(&draft);
                    unwritten
                }
                ExportTarget::Parts(_) => unwritten.with_remedy(
                    "the existing parts are complete: continue after them with \
                        --resume",
                ),
                ExportTarget::Stdout | ExportTarget::Device(_) => unwritten,
            }
        }
        ExportFault::Differs(differs) => {
            let path = path.display();
            usage(format!("cannot append to {path}: {differs}")).with_remedy(
                "it comes from another crawl, format or table, or the crawl has changed; omit \
                 --resume to overwrite it. As a crawl grows, it learns more lines that pages \
                 share: --text --keep-boilerplate does not depend on them",
            )
        }
        ExportFault::Occupied(_) => usage(format!("{error}"))
            .with_remedy("continue with --resume, or choose another directory"),
        ExportFault::ForeignPart { .. } => usage(format!("{error}"))
            .with_remedy("choose another directory, or remove this part and all later parts"),
        ExportFault::Encode(_) => fault(&error),
    }
}

/// Removes the draft of a file that cannot be continued.
fn drop_draft(draft: &Path) {
    match SystemDisk.remove(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(draft = %draft.display(), %error, "stays");
        }
        _removed_or_not_there => {}
    }
}
