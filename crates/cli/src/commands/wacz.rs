//! `crawler wacz`: packs crawls and WARC files into one file that replay tools open as it is.
//!
//! An archive is packed up to the end of the last settled visit. If the crawl was killed, its open
//! file is packed under its final name. Nobody may write to the crawl meanwhile. The index is that
//! of the crawl; it is made first if it is missing or does not cover the settled visits. Indexes of
//! several inputs are merged, and files of other crawlers are indexed by reading them.

mod file_pages;
mod inputs;
mod pages;

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use corpus::CorpusError;
use disk::SystemDisk;
use sinks::cdxj::{self, IndexingReport, SortedLines};
use sinks::wacz::{
    MergedIndex, MissingOriginals, PackageInfo, PackedFile, Packer, Page, WaczFault,
};
use sinks::warc::ReadFault;
use store::StoreFault;
use web::Timestamp;

use self::inputs::Input;
use super::journal::damaged;
use super::{exit_code, unwritable, warn};
use crate::args::WaczArgs;
use crate::args::input::usual_temp_dir;
use crate::cli_error::{CliError, fault, usage};
use crate::draft_file::DraftFile;
use crate::progress::SlowProgress;
use crate::terminal::{printable, say};

/// Bytes that are read and written at a time.
const BUFFER: usize = 256 << 10;

/// The inputs of a package, and their common index.
struct Packing<'a> {
    args: &'a WaczArgs,
    inputs: Vec<Input>,
    /// The merged index; none if there is one crawl, whose index is packed as it is.
    lines: Option<SortedLines>,
    /// The time of the last capture.
    latest: Timestamp,
}

pub(crate) fn run(args: &WaczArgs) -> Result<ExitCode, CliError> {
    let inputs = inputs::open(&args.inputs, args.text)?;
    let to_stdout = args.output == Path::new("-");
    if to_stdout && io::stdout().is_terminal() {
        return Err(
            usage("a WACZ is nothing for a terminal").with_remedy("--output FILE, or a pipe")
        );
    }
    if args.output.is_dir() {
        return Err(usage(format!("{} is a directory", args.output.display()))
            .with_remedy("--output names a file"));
    }
    let scratch = scratch(&args.output, to_stdout);
    let indexed = index(&inputs, &scratch);
    if scratch.is_dir() {
        // It is empty unless something failed, and that is reported.
        fs::remove_dir_all(&scratch).ok();
    }
    let (lines, missing, report, latest) = indexed.map_err(|error| error.into_cli_error())?;
    let mut packing = Packing {
        args,
        inputs,
        lines,
        latest,
    };
    packing.warn(&missing, &report);
    if to_stdout {
        packing.to_stdout()?;
    } else {
        packing.to_file(&args.output)?;
    }
    for crawl in packing.inputs.iter().filter_map(Input::crawl) {
        if let Some(pages) = &crawl.pages {
            pages.check_unread("they are packed without their text, everything else is there")?;
        }
    }
    Ok(exit_code(report.broken == 0 && report.sharing == 0))
}

/// Returns the directory for temporary files: beside the output, where there must be room anyway.
fn scratch(output: &Path, to_stdout: bool) -> PathBuf {
    if to_stdout {
        return usual_temp_dir().join(format!("crawler-wacz-{}", std::process::id()));
    }
    let mut scratch = output.as_os_str().to_owned();
    scratch.push(".runs");
    PathBuf::from(scratch)
}

/// The index of all inputs, what it lacks, and the time of the last capture.
type Indexed = (
    Option<SortedLines>,
    MissingOriginals,
    IndexingReport,
    Timestamp,
);

/// Indexes all inputs.
fn index(inputs: &[Input], scratch: &Path) -> Result<Indexed, PackError> {
    let is_merged = !matches!(inputs, [Input::Crawl(_)]);
    let mut merged = MergedIndex::new(&SystemDisk, scratch, is_merged);
    let mut progress = SlowProgress::new("captures indexed");
    let mut whole = IndexingReport::default();
    let mut latest = Timestamp::from_millis(0);
    for input in inputs {
        match input {
            Input::Crawl(crawl) => {
                latest = latest.max(crawl.extent.latest);
                let path = crawl.archive.join(cdxj::INDEX);
                let lines = open(&path)?;
                let by_name = crawl.by_name();
                let added = merged.add_index(&path, lines, &by_name, &mut || progress.step());
                added.map_err(|error| PackError::Index(crawl.directory.clone(), error))?;
            }
            Input::File(file) => {
                let report = merged.add_file(file, &mut || progress.step())?;
                if report.records == 0 {
                    let reason = report.faults.into_iter().next();
                    return Err(PackError::NoWarc(file.path.clone(), reason));
                }
                whole.broken += report.broken;
                whole.sharing += report.sharing;
                whole.faults.extend(report.faults);
            }
        }
    }
    latest = latest.max(merged.latest().unwrap_or_default());
    let (lines, missing) = merged.finish()?;
    Ok((lines, missing, whole, latest))
}

fn open(path: &Path) -> Result<BufReader<File>, WaczFault> {
    let file = File::open(path).map_err(|source| reading(path, source))?;
    Ok(BufReader::with_capacity(BUFFER, file))
}

impl Packing<'_> {
    /// Warns about contents that not all readers support, and about what is missing.
    fn warn(&self, missing: &MissingOriginals, report: &IndexingReport) {
        for broken in &report.faults {
            warn(&broken.to_string());
        }
        if report.broken > 0 {
            say(&format!(
                "{} places could not be read: all else is in the package",
                report.broken
            ));
        }
        if report.sharing > 0 {
            say(&format!(
                "{} records are not packed one by one: they are in the package, and no replay \
                 finds them",
                report.sharing
            ));
        }
        let is_zstd = |file: &&PackedFile| file.name.ends_with(".zst");
        if self.files().any(|file| is_zstd(&file)) {
            say(
                "warning: the archive is packed with Zstandard, which the WACZ format does not \
                 have: pywb and others cannot replay it; a crawl with --compression gzip can be \
                 replayed by all",
            );
        }
        if let Some(example) = &missing.example {
            say(&format!(
                "warning: {} revisits have their content in none of the inputs, such as {}: name \
                 the earlier crawl (--since), too",
                missing.count,
                printable(example)
            ));
        }
    }

    fn files(&self) -> impl Iterator<Item = &PackedFile> {
        self.inputs.iter().flat_map(Input::files)
    }

    fn to_stdout(&mut self) -> Result<(), CliError> {
        let out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        match self.pack(Packer::stream(out, self.latest)) {
            // A reader that went away (`| head`) is no error.
            Err(PackError::Wacz(WaczFault::Write(error)))
                if error.kind() == io::ErrorKind::BrokenPipe =>
            {
                Ok(())
            }
            Err(error) => Err(error.into_cli_error()),
            Ok(stream) => stream
                .into_inner()
                .into_inner()
                .flush()
                .map_err(|error| fault(&error)),
        }
    }

    fn to_file(&mut self, path: &Path) -> Result<(), CliError> {
        let unwritable = unwritable(path);
        let draft = DraftFile::begin(path).map_err(unwritable)?;
        let out = BufWriter::with_capacity(BUFFER, draft);
        match self.pack(Packer::new(out, self.latest)) {
            Err(PackError::Wacz(WaczFault::Write(error))) => Err(unwritable(error)),
            Err(error) => Err(error.into_cli_error()),
            Ok(out) => {
                let draft = out
                    .into_inner()
                    .into_inner()
                    .map_err(|error| unwritable(error.into_error()))?;
                draft.complete().map_err(unwritable)
            }
        }
    }

    fn pack<W: Write + Seek>(&mut self, mut packer: Packer<W>) -> Result<W, PackError> {
        let mut progress = SlowProgress::new("blocks packed");
        for PackedFile { path, name, length } in self.files() {
            let file = File::open(path).map_err(|source| reading(path, source))?;
            packer.archive(name, path, file.take(*length), &mut || progress.step())?;
        }
        match (self.lines.take(), self.inputs.as_slice()) {
            (Some(lines), _) => _ = packer.index(Path::new("the merged index"), lines)?,
            (None, inputs) => {
                for crawl in inputs.iter().filter_map(Input::crawl) {
                    let path = crawl.archive.join(cdxj::INDEX);
                    packer.index(&path, open(&path)?)?;
                }
            }
        }
        let crawls = self.inputs.iter().filter_map(Input::crawl);
        let mut seeds = crawls.map(|crawl| crawl.extent.main_page.clone());
        let mut main_page = seeds.find_map(|seed| seed);
        packer.pages(|add| {
            let mut add = |page: &Page<'_>| {
                main_page.get_or_insert_with(|| (page.url.to_owned(), page.at));
                add(page)
            };
            for input in &self.inputs {
                match input {
                    Input::Crawl(crawl) => pages::list(crawl, &mut progress, &mut add)?,
                    Input::File(file) => {
                        file_pages::list(&file.path, self.args.text, &mut progress, &mut add)?;
                    }
                }
            }
            Ok::<(), PackError>(())
        })?;
        let about = PackageInfo {
            software: concat!("crawler ", env!("CARGO_PKG_VERSION")).to_owned(),
            title: self.args.title.clone(),
            description: self.args.description.clone(),
            main_page,
        };
        Ok(packer.finish(&about)?)
    }
}

/// An error that ends packing early.
enum PackError {
    Wacz(WaczFault),
    /// The index of the crawl in this directory cannot be used.
    Index(PathBuf, WaczFault),
    /// The journal of the crawl in this directory cannot be read.
    Store(PathBuf, StoreFault),
    /// The file has no record that can be read, possibly for this reason.
    NoWarc(PathBuf, Option<ReadFault>),
    Corpus(CorpusError),
}

impl From<WaczFault> for PackError {
    fn from(fault: WaczFault) -> Self {
        Self::Wacz(fault)
    }
}

impl PackError {
    fn into_cli_error(self) -> CliError {
        match self {
            Self::Store(directory, error) => damaged(&directory)(error),
            Self::Index(directory, error @ WaczFault::Index { .. }) => {
                let index = crate::crawl_directory::archive(&directory).join(cdxj::INDEX);
                fault(&error).with_remedy(format!(
                    "remove {}: it is made again from the archive; `crawler verify {}` says \
                     whether that is whole",
                    index.display(),
                    directory.display()
                ))
            }
            Self::NoWarc(path, reason) => {
                let reason = reason.map(|reason| format!(" ({reason})"));
                let (path, reason) = (path.display(), reason.unwrap_or_default());
                usage(format!("{path} holds no WARC record{reason}"))
                    .with_remedy("name WARC files and directories of crawls")
            }
            Self::Corpus(error) => CliError::of_usage(&error),
            Self::Index(_, error) | Self::Wacz(error) => fault(&error),
        }
    }
}

fn reading(path: &Path, source: io::Error) -> WaczFault {
    WaczFault::Read {
        path: path.to_owned(),
        source,
    }
}
