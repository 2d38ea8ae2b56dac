//! An input file, opened: its format and its bytes without compression.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use neardup::HashKey;
use sinks::warc::{ArchiveFormat, WarcStream};

use crate::archive::{ArchiveDocuments, WaczStreams};
use crate::compression::Compression;
use crate::document::{Content, Document, MAX_DOCUMENT, MAX_UNPACKED, Refusal};
use crate::fields::FieldNames;
use crate::input_options::InputOptions;
use crate::json_lines::{BadLine, JsonDocument, JsonLines};
use crate::media::{Format, PEEKED_BYTES};
use crate::names::{is_read_once, is_standard_input, is_wacz};
use crate::positioned_file::PositionedFile;
use crate::projection::Projection;
use crate::table_rows::TableDocuments;
use crate::tables::Table;
use crate::warnings::{Warning, Warnings};

/// Bytes that are read from a file at a time.
const CHUNK: usize = 64 << 10;

/// Unpacked bytes.
pub(crate) type Input = Box<dyn BufRead + Send>;

/// The documents of a file, or the reasons why parts of it are not documents.
pub(crate) type FileDocuments = Box<dyn Iterator<Item = Result<Document, String>> + Send>;

/// A file by its format.
pub(crate) enum OpenFile {
    /// JSON lines.
    JsonLines(Input),
    /// The records of an archive, WARC or ARC.
    Archive(ArchiveFormat, Box<WarcStream>),
    /// The archives in a package.
    Wacz(WaczStreams),
    /// A Parquet file.
    Parquet(PositionedFile),
    /// A file in the file format of Arrow IPC.
    ArrowFile(PositionedFile),
    /// A file in the streaming format of Arrow IPC.
    ArrowStream(Input),
    /// A single document, not yet read.
    Document {
        /// Its bytes.
        input: Input,
        /// Its media type.
        media_type: &'static str,
        /// Maximum number of its bytes that are read.
        most: u64,
    },
}

/// The bytes of a file, from its beginning.
struct Source {
    /// The first bytes, unpacked.
    beginning: Vec<u8>,
    /// All bytes, unpacked.
    input: Input,
    compression: Option<Compression>,
}

/// Opens the file at `path`.
///
/// # Errors
/// The reason why it cannot be read.
pub(crate) fn open(path: &Path, options: &InputOptions) -> Result<OpenFile, Refusal> {
    // A package is read from its end.
    if is_wacz(path) {
        let streams = WaczStreams::open(path).map_err(|error| error.to_string())?;
        return Ok(OpenFile::Wacz(streams));
    }
    let source = source(path, options).map_err(|error| error.to_string())?;
    let is_pdf = options.pdfs && web::is_pdf(None, &source.beginning);
    let format = match is_pdf {
        true => Format::Document("application/pdf"),
        false => Format::of(path, &source.beginning)?,
    };
    let Source {
        input, compression, ..
    } = source;
    let unpacked = |opened: OpenFile| match compression {
        Some(packing) => Err(format!(
            "{} within {}: unpack it first (its columns are already compressed)",
            format.name(),
            packing.name()
        )),
        None => Ok(opened),
    };
    Ok(match format {
        Format::JsonLines => OpenFile::JsonLines(input),
        Format::Warc | Format::Arc => {
            let known = match format {
                Format::Arc => ArchiveFormat::Arc,
                _ => ArchiveFormat::Warc,
            };
            OpenFile::Archive(
                known,
                Box::new(match options.file(path) {
                    // A file is opened once more: unlike a stream, it can be read again after a
                    // broken record.
                    None if compression.is_none_or(is_of_archives) && !is_read_once(path) => {
                        WarcStream::open(path).map_err(|fault| fault.to_string())?
                    }
                    _ => WarcStream::new(path, input),
                }),
            )
        }
        Format::Wacz => {
            let reason = "WACZ input must be a file named *.wacz";
            return Err(reason.to_owned().into());
        }
        Format::Parquet => unpacked(OpenFile::Parquet(positioned(path, input, options)?))?,
        Format::ArrowFile => unpacked(OpenFile::ArrowFile(positioned(path, input, options)?))?,
        Format::ArrowStream => OpenFile::ArrowStream(input),
        Format::Document(media_type) => OpenFile::Document {
            input,
            media_type,
            most: match compression {
                Some(_) => MAX_UNPACKED,
                None => MAX_DOCUMENT,
            },
        },
    })
}

/// Returns true for the compressions that `WarcStream` unpacks itself.
fn is_of_archives(compression: Compression) -> bool {
    matches!(compression, Compression::Gzip | Compression::Zstandard)
}

fn source(path: &Path, options: &InputOptions) -> io::Result<Source> {
    let packed: Input = match options.file(path) {
        Some(spooled) => buffered(spooled),
        None if is_standard_input(path) => buffered(io::stdin()),
        None => buffered(File::open(path)?),
    };
    let (beginning, input) = peek(packed)?;
    let Some(compression) = Compression::of(&beginning) else {
        return Ok(Source {
            beginning,
            input,
            compression: None,
        });
    };
    if sinks::warc::archive_format(&beginning).is_some() && is_of_archives(compression) {
        return Ok(Source {
            beginning,
            input,
            compression: Some(compression),
        });
    }
    let (beginning, input) = peek(compression.unpack(input)?)?;
    if let Some(again) = Compression::of(&beginning) {
        let (inner, outer) = (again.name(), compression.name());
        let reason = format!("{inner} within {outer}: unpack it once");
        return Err(io::Error::other(reason));
    }
    Ok(Source {
        beginning,
        input,
        compression: Some(compression),
    })
}

fn buffered(input: impl Read + Send + 'static) -> Input {
    Box::new(BufReader::with_capacity(CHUNK, input))
}

/// Returns the first [`PEEKED_BYTES`], and all bytes. The bytes before an error can be read, and
/// the error follows them.
fn peek(mut input: Input) -> io::Result<(Vec<u8>, Input)> {
    let mut beginning = Vec::new();
    let read = (&mut input).take(PEEKED_BYTES).read_to_end(&mut beginning);
    let failure = match read {
        Err(error) if beginning.is_empty() => return Err(error),
        read => Failing(read.err()),
    };
    let all = Cursor::new(beginning.clone()).chain(failure).chain(input);
    Ok((beginning, Box::new(all)))
}

/// A reader of an error, if there is one.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl BufRead for Failing {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.take().map_or(Ok(&[]), Err)
    }

    fn consume(&mut self, _bytes: usize) {}
}

/// Returns a file that can be read at any position; standard input is spooled.
fn positioned(
    path: &Path,
    mut input: Input,
    options: &InputOptions,
) -> Result<PositionedFile, String> {
    let file = match options.file(path) {
        Some(spooled) => Ok(spooled),
        None if is_read_once(path) => PositionedFile::spool(&mut input, &options.temp_dir),
        None => File::open(path).map(PositionedFile::from),
    };
    file.map_err(|error| error.to_string())
}

impl OpenFile {
    /// Returns the format of the file.
    pub(crate) fn format(&self) -> Format {
        match self {
            Self::JsonLines(_) => Format::JsonLines,
            Self::Archive(ArchiveFormat::Warc, _) => Format::Warc,
            Self::Archive(ArchiveFormat::Arc, _) => Format::Arc,
            Self::Wacz(_) => Format::Wacz,
            Self::Parquet(_) => Format::Parquet,
            Self::ArrowFile(_) => Format::ArrowFile,
            Self::ArrowStream(_) => Format::ArrowStream,
            Self::Document { media_type, .. } => Format::Document(media_type),
        }
    }

    /// Returns the documents in the file, which is called `name`.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub(crate) fn documents(
        self,
        name: &str,
        fields: &FieldNames,
        warnings: &Warnings,
    ) -> Result<FileDocuments, String> {
        let table = |table: Result<Table, arrow_schema::ArrowError>| -> Result<FileDocuments, _> {
            let table = table.map_err(|error| error.to_string())?;
            let documents = TableDocuments::of(table, name, fields)?;
            Ok(Box::new(documents))
        };
        let wanted = Projection::Documents(fields);
        match self {
            Self::JsonLines(input) => {
                let lines = JsonLines::with_fields(input, fields.clone());
                let name = name.to_owned();
                Ok(Box::new(lines.map(move |line| of_a_line(line, &name))))
            }
            Self::Archive(_, stream) => {
                Ok(Box::new(ArchiveDocuments::of(*stream, warnings.clone())))
            }
            Self::Wacz(streams) => Ok(Box::new(streams.documents(warnings.clone()))),
            Self::Parquet(file) => table(Table::parquet(file, wanted, false)),
            Self::ArrowFile(file) => table(Table::arrow_file(file, wanted)),
            Self::ArrowStream(input) => table(Table::arrow_stream(input, wanted)),
            Self::Document {
                input,
                media_type,
                most,
            } => {
                let mut bytes = Vec::new();
                let read = input.take(most + 1).read_to_end(&mut bytes);
                read.map_err(|error| error.to_string())?;
                let mut part_of = None;
                if bytes.len() as u64 > most {
                    // The rest is unknown.
                    part_of = Some(HashKey::ZERO.digest(name.as_bytes()));
                    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
                    warnings.add(Warning::Cut, name.to_owned());
                }
                Ok(Box::new(std::iter::once(Ok(Document {
                    id: name.into(),
                    date: None,
                    content: Content::Body {
                        content_type: media_type.to_owned(),
                        bytes,
                        part_of,
                    },
                }))))
            }
        }
    }
}

/// Returns the document of a line. Without an id of its own, it is named by file and line.
pub(crate) fn of_a_line(
    line: Result<JsonDocument, BadLine>,
    file: &str,
) -> Result<Document, String> {
    match line {
        Ok(document) => Ok(Document {
            id: document
                .id
                .unwrap_or_else(|| format!("{file}:{}", document.line).into()),
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
