//! The documents below given paths, one after the other.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use sinks::warc::WarcStream;

use crate::archive::{ArchiveDocuments, SeenDeviations, WaczStreams};
use crate::document::{Content, Document, MAX_DOCUMENT, MAX_UNPACKED};
use crate::error::CorpusError;
use crate::json_lines::{BadLine, JsonDocument, JsonLines};

/// Bytes that are read from a file at a time.
const CHUNK: usize = 64 << 10;

/// The first bytes of a gzip member (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Bytes of a file that decide on its type (MIME Sniffing standard, section 5.2).
const SNIFFED_BYTES: usize = 1445;

/// Something that is not a document, with the reason. The next one follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file, and the place in it.
    pub culprit: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.culprit, self.reason)
    }
}

/// The documents of some paths, in the order of the paths; in a directory, in the order of the
/// names.
pub struct Documents {
    paths: VecDeque<PathBuf>,
    open: Option<Open>,
    oddities: SeenDeviations,
}

/// A file that holds many documents.
struct Open {
    path: PathBuf,
    documents: Box<dyn Iterator<Item = Result<Document, String>> + Send>,
}

impl Documents {
    /// Returns the documents below these paths; `-` is standard input.
    ///
    /// # Errors
    /// A path does not exist or cannot be read. An unreadable file in a directory is skipped later.
    pub fn below(paths: &[PathBuf]) -> Result<Self, CorpusError> {
        for path in paths.iter().filter(|path| !is_standard_input(path)) {
            let readable = match path.is_dir() {
                true => std::fs::read_dir(path).map(drop),
                false => File::open(path).map(drop),
            };
            readable.map_err(|source| CorpusError::Unreadable {
                path: path.clone(),
                source,
            })?;
        }
        Ok(Self {
            paths: paths.iter().cloned().collect(),
            open: None,
            oddities: SeenDeviations::default(),
        })
    }

    /// Returns the oddities of the archives, complete once they are read.
    pub fn oddities(&self) -> SeenDeviations {
        self.oddities.clone()
    }

    /// Returns the document of a path, or the first one if it has many; none for an empty
    /// directory.
    fn enter(&mut self, path: &Path) -> Result<Option<Document>, Skipped> {
        let skipped = |error: io::Error| Skipped {
            culprit: path.display().to_string(),
            reason: error.to_string(),
        };
        if is_standard_input(path) {
            let input = BufReader::with_capacity(CHUNK, io::stdin());
            return self.enter_file(path, input).map_err(skipped);
        }
        if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(skipped)?;
            let paths = entries.map(|entry| Ok(entry?.path()));
            let mut below = paths.collect::<io::Result<Vec<_>>>().map_err(skipped)?;
            // A link may lead out of the directory or back into it, and an index of an archive has
            // no documents.
            let is_index =
                |entry: &Path| named(entry, &["cdxj", "cdx"]) || sinks::cdxj::is_manifest(entry);
            below.retain(|entry| {
                !entry.is_symlink() && !is_index(entry) && !sinks::warc::is_beside(entry)
            });
            below.sort_unstable();
            for entry in below.into_iter().rev() {
                self.paths.push_front(entry);
            }
            return Ok(None);
        }
        let file = File::open(path).map_err(skipped)?;
        self.enter_file(path, BufReader::with_capacity(CHUNK, file))
            .map_err(skipped)
    }

    /// Continues with the documents in a file.
    fn open(
        &mut self,
        path: &Path,
        documents: impl Iterator<Item = Result<Document, String>> + Send + 'static,
    ) -> Option<Document> {
        self.open = Some(Open {
            path: path.to_owned(),
            documents: Box::new(documents),
        });
        None
    }

    fn enter_file(
        &mut self,
        path: &Path,
        mut input: impl BufRead + Send + 'static,
    ) -> io::Result<Option<Document>> {
        if is_wacz(path) {
            let documents = WaczStreams::open(path)?.documents(self.oddities.clone());
            return Ok(self.open(path, documents));
        }
        if is_archive(path, &mut input)? {
            // A file is opened once more: unlike a stream, it can be read again from behind a
            // broken record.
            let stream = match is_standard_input(path) {
                true => WarcStream::new(path, input),
                false => WarcStream::open(path).map_err(io::Error::other)?,
            };
            let documents = ArchiveDocuments::of(stream, self.oddities.clone());
            return Ok(self.open(path, documents));
        }
        let packed = input.fill_buf()?.starts_with(GZIP);
        let (mut input, most): (Box<dyn BufRead + Send>, u64) = if packed && named(path, &["gz"]) {
            let unpacked = BufReader::with_capacity(CHUNK, MultiGzDecoder::new(input));
            (Box::new(unpacked), MAX_UNPACKED)
        } else {
            (Box::new(input), MAX_DOCUMENT)
        };
        // Standard input has no name: text that begins like a JSON object is taken for JSON lines.
        let begins_like_json =
            is_standard_input(path) && input.fill_buf()?.trim_ascii_start().starts_with(b"{");
        if named(path, &["jsonl", "ndjson"]) || begins_like_json {
            return Ok(self.open(path, JsonLines::new(input).map(of_a_line)));
        }
        let mut bytes = Vec::new();
        input.take(most).read_to_end(&mut bytes)?;
        Ok(Some(Document {
            id: path.display().to_string(),
            date: None,
            content: Content::Body {
                content_type: media_type(path, &bytes).to_owned(),
                bytes,
            },
        }))
    }
}

impl Iterator for Documents {
    type Item = Result<Document, Skipped>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(open) = &mut self.open {
                match open.documents.next() {
                    Some(Ok(document)) => return Some(Ok(document)),
                    Some(Err(reason)) => {
                        let culprit = open.path.display().to_string();
                        return Some(Err(Skipped { culprit, reason }));
                    }
                    None => self.open = None,
                }
            }
            let path = self.paths.pop_front()?;
            match self.enter(&path) {
                Ok(Some(document)) => return Some(Ok(document)),
                Ok(None) => {}
                Err(skipped) => return Some(Err(skipped)),
            }
        }
    }
}

/// Returns the single document of a path.
///
/// # Errors
/// The path cannot be read, or has no document or several.
pub fn only_document(path: &Path) -> Result<Document, CorpusError> {
    let mut documents = Documents::below(&[path.to_owned()])?;
    let first = documents.next();
    let path = path.to_owned();
    match (first, documents.next()) {
        (Some(document), None) => document.map_err(CorpusError::Skipped),
        (None, _) => Err(CorpusError::NoDocument { path }),
        (Some(_), Some(_)) => Err(CorpusError::SeveralDocuments { path }),
    }
}

/// Returns true for `-`, which stands for standard input.
#[must_use]
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns true if a file has the extension of a WACZ, which is read from its end: standard input
/// cannot be one.
pub fn is_wacz(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("wacz")
}

/// Returns true if `input`, which is at its beginning, is an archive that we read; [`is_wacz`] is
/// apart.
///
/// # Errors
/// The file cannot be read, or is an archive of an unsupported kind.
pub fn is_archive(path: &Path, input: &mut impl BufRead) -> io::Result<bool> {
    let beginning = input.fill_buf()?;
    if named(path, &["arc"]) || beginning.starts_with(b"filedesc://") {
        return Err(io::Error::other(
            "ARC files are not supported: convert it to WARC (`warcio recompress` does)",
        ));
    }
    Ok(named(path, &["warc", "wet", "wat"]) || sinks::warc::begins_archive(beginning))
}

fn of_a_line(line: Result<JsonDocument, BadLine>) -> Result<Document, String> {
    match line {
        Ok(document) => Ok(Document {
            id: document.id,
            date: None,
            content: Content::Text {
                text: document.text,
                title: document.title,
                heading: document.heading,
            },
        }),
        Err(BadLine::Io { line, source }) => Err(format!("cannot read line {line}: {source}")),
        Err(bad) => Err(bad.to_string()),
    }
}

/// Returns true if a file has one of these extensions, with or without `.gz` or `.zst` behind it.
fn named(path: &Path, extensions: &[&str]) -> bool {
    let ends_with = |path: &Path, extensions: &[&str]| {
        let extension = path.extension().unwrap_or_default();
        let mut extensions = extensions.iter();
        extensions.any(|one| extension.eq_ignore_ascii_case(one))
    };
    let is_packed = ends_with(path, &["gz", "zst"]);
    ends_with(path, extensions) || is_packed && ends_with(&path.with_extension(""), extensions)
}

/// Returns the media type: HTML by the name or the first bytes; binary if there is a zero byte
/// early on and no byte order mark of UTF-16; text otherwise.
pub fn media_type(path: &Path, body: &[u8]) -> &'static str {
    let start = &body[..body.len().min(SNIFFED_BYTES)];
    let in_utf16 = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    if named(path, &["html", "htm", "xhtml"]) {
        "text/html"
    } else if start.contains(&0) && !in_utf16 {
        "application/octet-stream"
    } else if !named(path, &["txt", "text", "md"]) && body.trim_ascii_start().starts_with(b"<") {
        "text/html"
    } else {
        "text/plain"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_or_the_first_bytes_decide_on_the_type_of_a_file() {
        for (path, body, expected) in [
            ("a.html", &b"no tag"[..], "text/html"),
            ("a.HTM.gz", b"", "text/html"),
            ("a.txt", b"<p>", "text/plain"),
            ("page", b" <p>", "text/html"),
            ("letter", b"Dear", "text/plain"),
            ("letter", b"\xff\xfeD\0e\0", "text/plain"),
            (
                "picture.png",
                b"\x89PNG\r\n\x1a\n\0\0",
                "application/octet-stream",
            ),
        ] {
            assert_eq!(media_type(Path::new(path), body), expected, "{path}");
        }
    }
}
