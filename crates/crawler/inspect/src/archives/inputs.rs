//! Crawls and WARC files that are packed or unpacked together.
//!
//! Invariant: no file is packed twice, and names in the package differ even if case is ignored.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::SystemDisk;
use facts::journal::damaged;
use messages::{CommandError, fault, remedy_of, usage};
use settings::input::unreadable;
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory, machine};
use sinks::wacz::PackedFile;
use sinks::warc::{ArchiveFormat, archive_format, is_foreign, name_of};
use sinks::{ArchiveEnd, cdxj};
use store::DirectoryLock;

use super::extent::CrawlExtent;

/// Number of bytes read from the start of a file to detect its format.
const PEEKED_BYTES: u64 = 64 << 10;

/// A crawl, or a file of any crawler.
pub(crate) enum Input {
    Crawl(Box<InputCrawl>),
    File(PackedFile),
}

/// A crawl whose archive is read.
pub(crate) struct InputCrawl {
    pub(crate) directory: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) archive: PathBuf,
    pub(crate) extent: CrawlExtent,
    /// Files of its archive with their settled lengths, in archive order.
    files: Vec<CrawlFile>,
    /// The pages, if their texts are read.
    pub(crate) pages: Option<ArchivedPages>,
    /// Held until the end, so that the files do not change while they are read.
    _lock: Option<DirectoryLock>,
}

/// A file of a crawl's archive.
struct CrawlFile {
    /// Its name in the index of the crawl.
    name: String,
    /// Its number. `None` for another crawler's file; these files come before ours.
    number: Option<u64>,
    packed: PackedFile,
}

/// Names and paths of the files in a package.
#[derive(Default)]
struct Taken {
    names: HashSet<String>,
    paths: HashSet<PathBuf>,
}

/// The purpose of opening inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Files are packed unchanged. A WACZ can only contain WARC files. With `text`, the texts of
    /// pages are read, too.
    Pack { text: bool },
    /// The contents are written as files.
    Unpack,
}

/// Opens all inputs.
pub(crate) fn open(paths: &[PathBuf], purpose: Purpose) -> Result<Vec<Input>, CommandError> {
    let text = purpose == Purpose::Pack { text: true };
    let mut taken = Taken::default();
    let mut inputs = Vec::new();
    for path in paths {
        inputs.push(match path.is_file() {
            true => Input::File(taken.file(path, purpose)?),
            false => Input::Crawl(Box::new(InputCrawl::open(path, text, &mut taken)?)),
        });
    }
    Ok(inputs)
}

/// Refuses an output that is, or holds, a file of the inputs.
pub(crate) fn keep_apart(inputs: &[Input], output: &Path) -> Result<(), CommandError> {
    let Ok(output) = output.canonicalize() else {
        return Ok(());
    };
    for file in inputs.iter().flat_map(Input::files) {
        let real = file.path.canonicalize().map_err(unreadable(&file.path))?;
        if real.starts_with(&output) {
            let (output, file) = (output.display(), file.path.display());
            return Err(usage(format!("{output} would overwrite the input {file}"))
                .with_remedy("choose another --output"));
        }
    }
    Ok(())
}

impl Input {
    /// Returns its WARC files.
    pub(crate) fn files(&self) -> Vec<&PackedFile> {
        match self {
            Self::Crawl(crawl) => crawl.files.iter().map(|file| &file.packed).collect(),
            Self::File(file) => vec![file],
        }
    }

    /// Returns the crawl, or `None` for a file.
    pub(crate) fn crawl(&self) -> Option<&InputCrawl> {
        match self {
            Self::Crawl(crawl) => Some(crawl),
            Self::File(_) => None,
        }
    }
}

impl InputCrawl {
    fn open(directory: &Path, text: bool, taken: &mut Taken) -> Result<Self, CommandError> {
        let state = crawl_directory::state_of(directory)?;
        let mut lock = DirectoryLock::share(&state)?;
        let archive = crawl_directory::archive(directory);
        let extent = CrawlExtent::of(&state).map_err(damaged(directory))?;
        let files = files(&archive, &extent, taken)?;
        if !is_indexed(&archive, &files) {
            drop(lock);
            let exclusive = DirectoryLock::take(&state, machine::clock().now())?;
            let made = cdxj::make_again(Arc::new(SystemDisk), &archive, cdxj::MEMORY);
            made.map_err(|error| fault(&error).with_remedy(remedy_of(&error, directory)))?;
            drop(exclusive);
            lock = DirectoryLock::share(&state)?;
        }
        let settings = text.then(|| Settings::of_crawl(directory)).transpose()?;
        Ok(Self {
            directory: directory.to_owned(),
            state,
            archive,
            extent,
            files,
            pages: settings.as_ref().map(ArchivedPages::of),
            _lock: lock,
        })
    }

    /// Returns the files by their names in the crawl's index.
    pub(crate) fn by_name(&self) -> HashMap<String, PackedFile> {
        let files = self.files.iter();
        files
            .map(|file| (file.name.clone(), file.packed.clone()))
            .collect()
    }

    /// Returns true if the record at this offset is packed.
    pub(crate) fn has(&self, name: &str, offset: u64) -> bool {
        self.files
            .iter()
            .any(|file| file.name == name && offset < file.packed.length)
    }
}

impl Taken {
    fn file(&mut self, path: &Path, purpose: Purpose) -> Result<PackedFile, CommandError> {
        let mut beginning = Vec::new();
        let file = File::open(path).map_err(unreadable(path))?;
        let read = file.take(PEEKED_BYTES).read_to_end(&mut beginning);
        read.map_err(unreadable(path))?;
        let format = archive_format(&beginning);
        let shown = path.display();
        let any_name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = match (name_of(path), format, purpose) {
            (_, Some(ArchiveFormat::Arc), Purpose::Pack { .. }) => {
                return Err(usage(format!(
                    "{shown} is an ARC file, and a WACZ contains only WARC files"
                ))
                .with_remedy("convert it with `warcio recompress`"));
            }
            (Some(name), ..) => name,
            (None, Some(_), Purpose::Unpack) => &any_name,
            (None, Some(ArchiveFormat::Warc), Purpose::Pack { .. }) => {
                return Err(usage(format!(
                    "{shown} does not have the name of a WARC file, by which replay tools \
                     recognise it"
                ))
                .with_remedy("rename it to end in .warc.gz, .warc.zst or .warc"));
            }
            (None, None, _) if any_name.to_ascii_lowercase().ends_with(".wacz") => {
                return Err(usage(format!("{shown} is already a WACZ package"))
                    .with_remedy("unzip it, and give the WARC files in its archive/"));
            }
            (None, None, _) => {
                return Err(usage(format!("{shown} is neither a crawl nor a WARC file"))
                    .with_remedy(
                        "give directories of crawls, and files that end in .warc.gz, .warc.zst or \
                         .warc",
                    ));
            }
        };
        let about = std::fs::metadata(path).map_err(unreadable(path))?;
        self.packed(path, name, about.len())
    }

    /// Returns a file with a name that the package does not have yet.
    fn packed(&mut self, path: &Path, name: &str, length: u64) -> Result<PackedFile, CommandError> {
        let real = path.canonicalize().map_err(unreadable(path))?;
        if !self.paths.insert(real) {
            return Err(usage(format!("{} is given twice", path.display()))
                .with_remedy("give each crawl and each file once"));
        }
        let mut free = name.to_owned();
        let mut number = 1;
        while !self.names.insert(free.to_lowercase()) {
            number += 1;
            free = format!("{number}-{name}");
        }
        Ok(PackedFile {
            path: path.to_owned(),
            name: free,
            length,
        })
    }
}

/// Returns the files of an archive with their settled bytes. Files of other crawlers are whole.
fn files(
    archive: &Path,
    extent: &CrawlExtent,
    taken: &mut Taken,
) -> Result<Vec<CrawlFile>, CommandError> {
    let end = extent.end.as_ref();
    let last = end.map(|end| (end.file.as_str(), end.end));
    let mut files = Vec::new();
    for path in crawl_directory::archive_files(archive).map_err(unreadable(archive))? {
        let Some(name) = name_of(&path) else {
            continue;
        };
        let length = std::fs::metadata(&path).map_err(|error| fault(&error))?;
        let length = length.len();
        let (number, settled) = match is_foreign(&path) {
            true => (None, length),
            false => {
                let number = crawl_directory::file_number(name);
                match last {
                    Some((file, end)) if file == name => (number, length.min(end)),
                    Some((file, _)) if number < crawl_directory::file_number(file) => {
                        (number, length)
                    }
                    // Nothing in it is settled.
                    _ => continue,
                }
            }
        };
        files.push(CrawlFile {
            name: name.to_owned(),
            number,
            packed: taken.packed(&path, name, settled)?,
        });
    }
    if files.is_empty() {
        return Err(match last {
            None => usage("nothing has been archived yet"),
            Some(_) => usage(format!("{} does not contain an archive", archive.display())),
        });
    }
    Ok(files)
}

/// Returns true if the index is one file and covers all settled records.
fn is_indexed(archive: &Path, files: &[CrawlFile]) -> bool {
    let Some(ArchiveEnd { file, end }) = cdxj::whole(archive) else {
        return false;
    };
    let position = |file: &CrawlFile| (file.number, file.name.clone());
    let last = files.iter().max_by_key(|file| position(file));
    let covered = files.iter().find(|found| found.name == file);
    match (last, covered) {
        (Some(last), Some(covered)) => {
            let is_last = covered.name == last.name;
            position(covered) >= position(last) && (!is_last || end >= last.packed.length)
        }
        // The index covers a file after the last settled record.
        (_, None) => !is_foreign(&sinks::warc::locate(archive, &file)),
        (None, _) => false,
    }
}
