//! Writes archives as files that a browser opens without a server, for `crawler unpack`.
//!
//! Pages are written as UTF-8: their links are rewritten as text, and a charset that is only in the
//! response header would be lost. A rendered page of a crawl is written as its DOM. All other files
//! are the exact bytes that a browser sees, without content codings.

mod captures;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::HeaderMap;
use messages::{CommandError, SlowProgress, usage, warn};
use rayon::prelude::*;
use serde::Serialize;
use settings::machine;
use sinks::warc::{ReadFault, Record, WarcStream};
use unpack::{FileKind, LinkCounts, rewrite_css, rewrite_html};
use web::{Body, Decoding, page_text, sheet_text, tld};

use self::captures::{Targets, UnpackedFile};
use super::archives::inputs::{self, Input, Purpose};
use super::archives::merged::{InputIndex, scratch};
use super::tree::{Existing, Tree};

/// Maximum size of a record and of its content, in bytes.
const MAX_FILE: u64 = 1 << 30;

/// Bytes of a record that are held in memory; the rest is spooled.
const HELD: usize = 256 << 10;

/// Maximum size of content that all cores may hold in memory at the same time, in bytes per core.
const SMALL: u64 = 1 << 20;

/// Maximum size of a page or style sheet whose links are converted, in bytes. Larger files are
/// written unchanged.
const PAGE: u64 = 16 << 20;

/// Maximum number of unreadable records that are named; the rest are counted.
const NAMED: u64 = 10;

/// The summary.
#[derive(Default, Serialize)]
pub struct Summary {
    /// Number of files.
    pub files: u64,
    /// Their length.
    pub bytes: u64,
    /// Links to files.
    pub links_to_files: u64,
    /// Links to the web.
    pub links_to_web: u64,
    /// URLs without their own file whose links point to another URL's file: redirects, and pages
    /// left out as duplicates.
    pub redirected: u64,
    /// Pages whose content is in none of the inputs.
    pub without_content: u64,
    /// Records that cannot be read.
    pub unreadable: u64,
    /// The file of the first page.
    pub start: Option<String>,
}

/// Unpacks archives into the directory `output`, which `force` replaces. Returns the summary, and
/// true if all of the archives was read.
pub fn unpack(
    inputs: &[PathBuf],
    output: &Path,
    force: bool,
) -> Result<(Summary, bool), CommandError> {
    let inputs = inputs::open(inputs, Purpose::Unpack)?;
    inputs::keep_apart(&inputs, output)?;
    let existing = match force {
        true => Existing::Renamed,
        false => Existing::Refused(
            "choose another directory, or use --force, which renames the existing one",
        ),
    };
    let tree = Tree::begin(output, existing)?;
    let mut index = InputIndex::of(&inputs, &scratch(output), true)?;
    index.warn();
    let targets = Targets::of(&inputs, &mut index)?;
    if targets.files.is_empty() {
        return Err(usage("the archives contain no page").with_remedy(
            "pages are responses with status 2xx, and resources; `crawler index` lists all \
             captures",
        ));
    }
    let unpacking = Unpacking {
        targets: &targets,
        tree: &tree,
        done: Mutex::new((Summary::default(), SlowProgress::new("files written"))),
        turn: Mutex::new(()),
    };
    let written = targets.files.par_iter();
    written.try_for_each(|file| unpacking.file(file))?;
    let done = unpacking.done.into_inner();
    let (mut summary, progress) = done.unwrap_or_else(PoisonError::into_inner);
    drop(progress);
    let (files, bytes) = tree.complete(machine::clock().now())?;
    summary.files = files;
    summary.bytes = bytes;
    summary.redirected = targets.redirected;
    summary.without_content = targets.without_content;
    let start = start(&inputs, &targets).map(|file| output.join(file));
    summary.start = start.map(|file| file.display().to_string());
    let is_whole = index.is_whole() && summary.unreadable == 0;
    Ok((summary, is_whole))
}

/// Returns the file of the first seed of a crawl that has one, or of the first page.
fn start<'t>(inputs: &[Input], targets: &'t Targets) -> Option<&'t str> {
    let crawls = inputs.iter().filter_map(Input::crawl);
    let mut seeds = crawls.filter_map(|crawl| crawl.extent.main_page.as_ref());
    let of_seed = seeds.find_map(|(url, _)| targets.file_of(url));
    let is_page = |file: &&UnpackedFile| file.kind == FileKind::Html;
    of_seed.or_else(|| {
        let page = targets.files.iter().find(is_page)?;
        targets.names.get(&page.url)
    })
}

/// The work on all files.
struct Unpacking<'a> {
    targets: &'a Targets,
    tree: &'a Tree,
    done: Mutex<(Summary, SlowProgress)>,
    /// Lock for large contents: only one is in memory at a time.
    turn: Mutex<()>,
}

/// The content of a record, including its content codings.
struct Content {
    content_type: Option<String>,
    headers: HeaderMap,
    body: Body,
}

impl Unpacking<'_> {
    /// Writes a file with its links converted. A record that cannot be read is counted.
    fn file(&self, file: &UnpackedFile) -> Result<(), CommandError> {
        let Some(path) = self.targets.names.get(&file.url) else {
            return Ok(());
        };
        let links = match self.content(file) {
            Ok(content) => self.write(file, path, &content)?,
            Err(NoContent::Unreadable(trouble)) => Err(trouble),
            Err(NoContent::NoSpace(source)) => return Err(self.tree.without_space(path, source)),
        };
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let (summary, progress) = &mut *done;
        progress.step();
        match links {
            Ok(links) => {
                summary.links_to_files += links.inward;
                summary.links_to_web += links.outward;
            }
            Err(trouble) => {
                summary.unreadable += 1;
                if summary.unreadable <= NAMED {
                    warn(&format!("{}: {trouble}", file.url));
                }
            }
        }
        Ok(())
    }

    /// Writes the content of a file without its content codings, and returns the counts of its
    /// links. Contents of more than [`SMALL`] bytes are processed one at a time. Contents of more
    /// than [`PAGE`] bytes are written unchanged.
    fn write(
        &self,
        file: &UnpackedFile,
        path: &str,
        content: &Content,
    ) -> Result<Result<LinkCounts, String>, CommandError> {
        if let Some(decoded) = content.decoded(SMALL) {
            return self.write_converted(file, path, content, &decoded).map(Ok);
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(decoded) = content.decoded(PAGE) {
            return self.write_converted(file, path, content, &decoded).map(Ok);
        }
        let mut decoding = Decoding::of(&content.headers, &content.body, MAX_FILE);
        self.tree.write_from(path, &mut decoding)?;
        Ok(match decoding.is_truncated() {
            true => Err(format!(
                "its content exceeds {MAX_FILE} bytes, and is truncated"
            )),
            false => Ok(LinkCounts::default()),
        })
    }

    fn write_converted(
        &self,
        file: &UnpackedFile,
        path: &str,
        content: &Content,
        decoded: &Bytes,
    ) -> Result<LinkCounts, CommandError> {
        let (bytes, links) = self.converted(file, path, content, decoded);
        self.tree.write_from(path, &mut &*bytes)?;
        Ok(links)
    }

    /// Returns the bytes of a file, and the counts of its links.
    fn converted(
        &self,
        file: &UnpackedFile,
        path: &str,
        content: &Content,
        decoded: &Bytes,
    ) -> (Bytes, LinkCounts) {
        let link = |url: &str| self.targets.link(path, url);
        let content_type = content.content_type.as_deref();
        let rewritten = match file.kind {
            FileKind::Html => {
                let text = page_text(decoded, content_type, tld(&file.url));
                rewrite_html(&text, &file.url, &link).ok()
            }
            FileKind::Css => {
                let text = sheet_text(decoded, content_type);
                Some(rewrite_css(&text, &file.url, &link))
            }
            FileKind::Svg | FileKind::Markdown | FileKind::Other => None,
        };
        match rewritten {
            Some(rewritten) => {
                let links = rewritten.links;
                (rewritten.into_bytes().into(), links)
            }
            None => (decoded.clone(), LinkCounts::default()),
        }
    }

    /// Reads the content of a record.
    fn content(&self, file: &UnpackedFile) -> Result<Content, NoContent> {
        let path = &self.targets.paths[file.place.file];
        let stream = WarcStream::open_at(path, file.place.offset)?;
        let mut stream = stream.spooling_in(self.tree.draft(), MAX_FILE);
        let record = stream.next_record(HELD)?;
        let record = record.ok_or_else(|| "its record is missing".to_owned())?;
        let block = record.whole_block().ok_or_else(|| {
            format!(
                "its record has {} bytes; at most {MAX_FILE} are unpacked",
                record.block_length
            )
        })?;
        Content::of(&record, block)
    }
}

/// The reason why a record's content cannot be written.
enum NoContent {
    /// The record cannot be read.
    Unreadable(String),
    /// There is not enough disk space for a large record.
    NoSpace(io::Error),
}

impl From<String> for NoContent {
    fn from(trouble: String) -> Self {
        Self::Unreadable(trouble)
    }
}

impl From<ReadFault> for NoContent {
    fn from(fault: ReadFault) -> Self {
        match fault {
            ReadFault::Spool { source, .. } => Self::NoSpace(source),
            other => Self::Unreadable(other.to_string()),
        }
    }
}

impl Content {
    fn of(record: &Record, block: Body) -> Result<Self, NoContent> {
        if record.kind() == "resource" || record.is_dom() {
            return Ok(Self {
                content_type: record.field("Content-Type").map(str::to_owned),
                headers: HeaderMap::new(),
                body: block,
            });
        }
        let response = record.http();
        let response =
            response.ok_or_else(|| "its record does not contain an HTTP response".to_owned())?;
        let body = response.payload().map_err(NoContent::NoSpace)?;
        Ok(Self {
            content_type: web::content_type(&response.headers),
            headers: response.headers,
            body,
        })
    }

    /// Returns the content without its codings if it has at most `most` bytes.
    fn decoded(&self, most: u64) -> Option<Bytes> {
        if self.body.len() > most {
            return None;
        }
        let decoded = web::decode(&self.headers, &self.body, most);
        (!decoded.truncated).then_some(decoded.bytes)
    }
}
