//! `crawler wacz`: a crawl packed into one file that replay tools open as it is.
//!
//! What is settled is packed, no byte of the archive behind it: of a crawl that was killed, the
//! file that it left open under the name that it would have had. Nobody may write to the crawl
//! meanwhile. The index is that of the crawl, made first where it is not there or does not tell of
//! all that.

mod pages;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use disk::SystemDisk;
use sinks::cdxj;
use sinks::wacz::{PackageInfo, Packer, WaczFault};
use sinks::warc::name_of;
use store::StoreFault;
use store::embedded::DirectoryLock;

use self::pages::{CrawlExtent, PageTexts};
use crate::args::WaczArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::draft_file::DraftFile;
use crate::progress::SlowProgress;
use crate::terminal::say;
use crate::{crawl_directory, disk_error, machine};

/// Bytes that are read and written at a time.
const BUFFER: usize = 256 << 10;

/// A crawl that is to be packed.
struct Packing<'a> {
    args: &'a WaczArgs,
    state: PathBuf,
    archive: PathBuf,
    extent: CrawlExtent,
    /// The files of the archive, with as many bytes of each as are settled.
    files: Vec<(String, PathBuf, u64)>,
    texts: Option<PageTexts>,
}

pub(crate) fn run(args: &WaczArgs) -> Result<ExitCode, CliError> {
    let state = crawl_directory::state_of(&args.directory)?;
    let to_stdout = args.output == Path::new("-");
    if to_stdout && io::stdout().is_terminal() {
        return Err(
            usage("a WACZ is nothing for a terminal").with_remedy("--output FILE, or a pipe")
        );
    }
    if args.output.is_dir() {
        let told = usage(format!("{} is a directory", args.output.display()));
        return Err(told.with_remedy("--output names a file"));
    }
    let mut lock = DirectoryLock::share(&state).map_err(|error| running(&error))?;
    let archive = crawl_directory::archive(&args.directory);
    let extent = CrawlExtent::of(&state).map_err(|error| unreadable(&error, &args.directory))?;
    let files = files(&archive, &extent)?;
    if !is_indexed(&archive, &extent) {
        drop(lock);
        let taken =
            DirectoryLock::take(&state, machine::clock().now()).map_err(|error| running(&error))?;
        let made = cdxj::make_again(Arc::new(SystemDisk), &archive, cdxj::MEMORY);
        made.map_err(|error| {
            fault(&error).with_remedy(disk_error::remedy_of(&error, &args.directory))
        })?;
        drop(taken);
        lock = DirectoryLock::share(&state).map_err(|error| running(&error))?;
    }
    let texts = args
        .text
        .then(|| PageTexts::of_crawl(&args.directory))
        .transpose()?;
    let packing = Packing {
        args,
        state,
        archive,
        extent,
        files,
        texts,
    };
    packing.warn();
    if to_stdout {
        packing.to_stdout()?;
    } else {
        packing.to_file(&args.output)?;
    }
    drop(lock);
    packing.texts.as_ref().map_or(Ok(()), PageTexts::complain)?;
    Ok(ExitCode::SUCCESS)
}

impl Packing<'_> {
    /// Warns about contents that not all readers support.
    fn warn(&self) {
        if self.files.iter().any(|(name, ..)| name.ends_with(".zst")) {
            say(
                "warning: the archive is packed with Zstandard, which the WACZ format does not \
                 have: pywb and others cannot replay it; a \
                 crawl with --compression gzip can be replayed by all",
            );
        }
    }

    fn to_stdout(&self) -> Result<(), CliError> {
        let out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        match self.pack(Packer::stream(out, self.extent.latest)) {
            // A reader that went away (`| head`) is no error.
            Err(PackError::Wacz(WaczFault::Write(error)))
                if error.kind() == io::ErrorKind::BrokenPipe =>
            {
                Ok(())
            }
            Err(trouble) => Err(trouble.complaint(self)),
            Ok(stream) => stream
                .into_inner()
                .into_inner()
                .flush()
                .map_err(|error| fault(&error)),
        }
    }

    fn to_file(&self, path: &Path) -> Result<(), CliError> {
        let unwritable =
            |error: io::Error| usage(format!("cannot write {}: {error}", path.display()));
        let draft = DraftFile::begin(path).map_err(unwritable)?;
        let out = BufWriter::with_capacity(BUFFER, draft);
        match self.pack(Packer::new(out, self.extent.latest)) {
            Err(PackError::Wacz(WaczFault::Write(error))) => Err(unwritable(error)),
            Err(trouble) => Err(trouble.complaint(self)),
            Ok(out) => {
                let draft = out
                    .into_inner()
                    .into_inner()
                    .map_err(|error| unwritable(error.into_error()))?;
                draft.complete().map_err(unwritable)
            }
        }
    }

    fn pack<W: Write + Seek>(&self, mut packer: Packer<W>) -> Result<W, PackError> {
        let mut progress = SlowProgress::new("blocks packed");
        for (name, path, length) in &self.files {
            let file = File::open(path).map_err(|source| reading(path, source))?;
            packer.archive(name, path, file.take(*length), &mut || progress.step())?;
        }
        let index = self.archive.join(cdxj::INDEX);
        let lines = File::open(&index).map_err(|source| reading(&index, source))?;
        packer.index(&index, BufReader::with_capacity(BUFFER, lines))?;
        packer.pages(|add| pages::list(self, &mut progress, add))?;
        let about = PackageInfo {
            software: concat!("crawler ", env!("CARGO_PKG_VERSION")).to_owned(),
            title: self.args.title.clone(),
            description: self.args.description.clone(),
            main_page: self.extent.main_page.clone(),
        };
        Ok(packer.finish(&about)?)
    }

    /// Returns true if the record at this place is packed.
    fn has(&self, file: &str, offset: u64) -> bool {
        self.files
            .iter()
            .any(|(name, _, length)| name == file && offset < *length)
    }
}

/// An error that ends packing early.
enum PackError {
    Wacz(WaczFault),
    Store(StoreFault),
}

impl From<WaczFault> for PackError {
    fn from(fault: WaczFault) -> Self {
        Self::Wacz(fault)
    }
}

impl From<StoreFault> for PackError {
    fn from(fault: StoreFault) -> Self {
        Self::Store(fault)
    }
}

impl PackError {
    fn complaint(&self, packing: &Packing<'_>) -> CliError {
        let directory = packing.args.directory.display();
        match self {
            Self::Store(error) => unreadable(error, &packing.args.directory),
            Self::Wacz(error @ WaczFault::Index { .. }) => fault(error).with_remedy(format!(
                "remove {}: it is made again from the archive; `crawler verify {directory}` says \
                 whether that is whole",
                packing.archive.join(cdxj::INDEX).display()
            )),
            Self::Wacz(error) => fault(error),
        }
    }
}

fn reading(path: &Path, source: io::Error) -> WaczFault {
    WaczFault::Read {
        path: path.to_owned(),
        source,
    }
}

fn unreadable(error: &StoreFault, directory: &Path) -> CliError {
    match error {
        StoreFault::Damaged { .. } => fault(error).with_remedy(crawl_directory::rebuild(directory)),
        other => crawl_directory::cli_error(other),
    }
}

/// Returns the error for a crawl that runs: what is packed must not change meanwhile.
fn running(error: &StoreFault) -> CliError {
    crawl_directory::cli_error(error)
}

/// Returns the files of the archive with settled bytes.
fn files(archive: &Path, extent: &CrawlExtent) -> Result<Vec<(String, PathBuf, u64)>, CliError> {
    let Some(end) = &extent.end else {
        return Err(usage("nothing was archived yet: there is nothing to pack"));
    };
    let found = crawl_directory::archive_files(archive)
        .map_err(|error| usage(format!("cannot read {}: {error}", archive.display())))?;
    let mut files = Vec::new();
    for path in found {
        let Some(name) = name_of(&path).map(str::to_owned) else {
            continue;
        };
        let length = std::fs::metadata(&path)
            .map_err(|error| fault(&error))?
            .len();
        let is_last = name == end.file;
        if is_last || crawl_directory::file_number(&name) < crawl_directory::file_number(&end.file)
        {
            let settled = if is_last { length.min(end.end) } else { length };
            files.push((name, path, settled));
        }
    }
    if files.is_empty() {
        return Err(usage(format!("{} holds no archive", archive.display())));
    }
    Ok(files)
}

/// Returns true if the index is one file and covers everything that is settled.
fn is_indexed(archive: &Path, extent: &CrawlExtent) -> bool {
    let number = |file: &str| crawl_directory::file_number(file);
    match (cdxj::whole(archive), &extent.end) {
        (Some(covered), Some(end)) => {
            (number(&end.file), end.end) <= (number(&covered.file), covered.end)
        }
        _ => false,
    }
}
