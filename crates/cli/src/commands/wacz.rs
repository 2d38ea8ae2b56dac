//! `crawler wacz`: packs a crawl into one file that replay tools open as it is.
//!
//! The archive is packed up to the end of the last settled visit. If the crawl was killed, its open
//! file is packed under its final name. Nobody may write to the crawl meanwhile. The index is that
//! of the crawl; it is made first if it is missing or does not cover the settled visits.

mod pages;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use disk::SystemDisk;
use sinks::wacz::{PackageInfo, Packer, WaczFault};
use sinks::warc::name_of;
use sinks::{ArchiveEnd, cdxj};
use store::StoreFault;
use store::embedded::DirectoryLock;

use self::pages::CrawlExtent;
use super::journal::damaged;
use super::read_again::ArchivedPages;
use super::{unreadable, unwritable};
use crate::args::WaczArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::draft_file::DraftFile;
use crate::progress::SlowProgress;
use crate::settings::Settings;
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
    /// The files of the archive, with the number of settled bytes of each.
    files: Vec<(String, PathBuf, u64)>,
    /// The pages whose texts are packed.
    pages: Option<ArchivedPages>,
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
        return Err(usage(format!("{} is a directory", args.output.display()))
            .with_remedy("--output names a file"));
    }
    // Held until the end: what is packed must not change meanwhile.
    let mut lock = DirectoryLock::share(&state)?;
    let archive = crawl_directory::archive(&args.directory);
    let extent = CrawlExtent::of(&state).map_err(damaged(&args.directory))?;
    let files = files(&archive, &extent)?;
    if !is_indexed(&archive, &extent) {
        drop(lock);
        let taken = DirectoryLock::take(&state, machine::clock().now())?;
        let made = cdxj::make_again(Arc::new(SystemDisk), &archive, cdxj::MEMORY);
        made.map_err(|error| {
            fault(&error).with_remedy(disk_error::remedy_of(&error, &args.directory))
        })?;
        drop(taken);
        lock = DirectoryLock::share(&state)?;
    }
    let settings = args.text.then(|| Settings::of_crawl(&args.directory));
    let packing = Packing {
        args,
        state,
        archive,
        extent,
        files,
        pages: settings.transpose()?.as_ref().map(ArchivedPages::of),
    };
    packing.warn();
    if to_stdout {
        packing.to_stdout()?;
    } else {
        packing.to_file(&args.output)?;
    }
    drop(lock);
    if let Some(pages) = &packing.pages {
        pages.check_unread("they are packed without their text, everything else is there")?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Packing<'_> {
    /// Warns about contents that not all readers support.
    fn warn(&self) {
        if self.files.iter().any(|(name, ..)| name.ends_with(".zst")) {
            say(
                "warning: the archive is packed with Zstandard, which the WACZ format does not \
                 have: pywb and others cannot replay it; a crawl with --compression gzip can be \
                 replayed by all",
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
            Err(error) => Err(error.into_cli_error(self)),
            Ok(stream) => stream
                .into_inner()
                .into_inner()
                .flush()
                .map_err(|error| fault(&error)),
        }
    }

    fn to_file(&self, path: &Path) -> Result<(), CliError> {
        let unwritable = unwritable(path);
        let draft = DraftFile::begin(path).map_err(unwritable)?;
        let out = BufWriter::with_capacity(BUFFER, draft);
        match self.pack(Packer::new(out, self.extent.latest)) {
            Err(PackError::Wacz(WaczFault::Write(error))) => Err(unwritable(error)),
            Err(error) => Err(error.into_cli_error(self)),
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
    fn into_cli_error(self, packing: &Packing<'_>) -> CliError {
        let directory = &packing.args.directory;
        match self {
            Self::Store(error) => damaged(directory)(error),
            Self::Wacz(error @ WaczFault::Index { .. }) => fault(&error).with_remedy(format!(
                "remove {}: it is made again from the archive; `crawler verify {}` says whether \
                 that is whole",
                packing.archive.join(cdxj::INDEX).display(),
                directory.display()
            )),
            Self::Wacz(error) => fault(&error),
        }
    }
}

fn reading(path: &Path, source: io::Error) -> WaczFault {
    WaczFault::Read {
        path: path.to_owned(),
        source,
    }
}

/// Returns the files of the archive with settled bytes.
fn files(archive: &Path, extent: &CrawlExtent) -> Result<Vec<(String, PathBuf, u64)>, CliError> {
    let Some(end) = &extent.end else {
        return Err(usage("nothing was archived yet: there is nothing to pack"));
    };
    let number = crawl_directory::file_number;
    let mut files = Vec::new();
    for path in crawl_directory::archive_files(archive).map_err(unreadable(archive))? {
        let Some(name) = name_of(&path).map(str::to_owned) else {
            continue;
        };
        let metadata = std::fs::metadata(&path).map_err(|error| fault(&error))?;
        let length = metadata.len();
        let is_last = name == end.file;
        if is_last || number(&name) < number(&end.file) {
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
    let position = |end: &ArchiveEnd| (crawl_directory::file_number(&end.file), end.end);
    match (cdxj::whole(archive), &extent.end) {
        (Some(covered), Some(end)) => position(end) <= position(&covered),
        _ => false,
    }
}
