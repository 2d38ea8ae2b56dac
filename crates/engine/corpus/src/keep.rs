//! Chosen documents of files, in the format and the order of the files.
//!
//! The files are read a second time, and the chosen documents are copied: lines of JSON byte by
//! byte, rows of tables with all columns, records of archives as they are packed, files as files.
//!
//! Invariant: the output is written only if both readings found the same documents
//! ([`InputDigest`]). Otherwise, or if the disk is full, no partial output remains.

mod error;
mod files;
mod lines;
mod records;
mod repeated_parts;
mod rows;

use std::io;
use std::path::{Path, PathBuf};

pub use error::KeepError;
pub use repeated_parts::{RepeatedPartReader, RepeatedParts};

use crate::document::Document;
use crate::documents::InputDigest;
use crate::draft;
use crate::fields::FieldNames;
use crate::input_options::InputOptions;
use crate::media::Format;
use crate::names::{is_named, is_standard_input};
use crate::open_file;
use crate::paths::Files;

/// The names of formats by the extensions of files.
const EXTENSIONS: [(&[&str], &str); 7] = [
    (&["csv", "tsv"], "CSV"),
    (
        &["jsonl", "ndjson", "jsonlines", "ldjson", "jl"],
        "JSON lines",
    ),
    (&["parquet"], "Parquet"),
    (&["arrow", "feather"], "an Arrow file"),
    (&["arrows"], "an Arrow stream"),
    (&["warc"], "WARC"),
    (&["arc"], "ARC"),
];

/// The output of chosen documents: inputs of one format, and the file or directory to write.
///
/// ```
/// use corpus::{Documents, InputOptions, KeptDocuments};
///
/// let directory = tempfile::tempdir()?;
/// let (input, output) = (directory.path().join("all.jsonl"), directory.path().join("kept.jsonl"));
/// std::fs::write(&input, "{\"text\": \"one\"}\n{\"text\": \"two\"}\n")?;
/// let mut options = InputOptions::new(directory.path());
/// let kept = KeptDocuments::prepare(&[input.clone()], &mut options, &output)?;
/// let mut documents = Documents::below(&[input], &options)?;
/// let seen = documents.input_digest();
/// assert_eq!(documents.by_ref().count(), 2);
/// let summary = kept.write(&seen, |number| number == 1)?;
/// assert_eq!((summary.documents, summary.kept), (2, 1));
/// assert_eq!(std::fs::read_to_string(&output)?, "{\"text\": \"two\"}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KeptDocuments {
    paths: Vec<PathBuf>,
    options: InputOptions,
    output: PathBuf,
    /// The format of the inputs; `None` if no input file can be read.
    format: Option<Format>,
    tables: rows::Tables,
}

/// The part of a document that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing.
    Dropped,
    /// The document as it is.
    Whole,
    /// The document with this text instead of its own.
    WithText(String),
}

impl Kept {
    /// Returns the text that replaces the document's own.
    fn text(&self) -> Option<&str> {
        match self {
            Self::WithText(text) => Some(text),
            Self::Dropped | Self::Whole => None,
        }
    }
}

/// The summary of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptSummary {
    /// The number of documents in the inputs.
    pub documents: u64,
    /// The number of documents written.
    pub kept: u64,
    /// The number of other records of archives that were written: redirects, failures, revisits,
    /// requests, notes.
    pub others: u64,
    /// The number of requests and notes that were dropped with their documents.
    pub others_dropped: u64,
    /// The number of bytes written.
    pub bytes: u64,
}

impl KeptDocuments {
    /// Checks, before the work begins, that the inputs have one format, and that `output` can be
    /// written in it. Standard input is spooled.
    ///
    /// Lines, tables and archives go into one file. `output` is compressed if its name ends with
    /// `.gz` or `.zst`. Files of text are copied if `output` is a directory or ends with a slash;
    /// otherwise their paths are listed, one per line.
    ///
    /// # Errors
    /// [`KeepError`], with the files that do not fit.
    pub fn prepare(
        paths: &[PathBuf],
        options: &mut InputOptions,
        output: &Path,
    ) -> Result<Self, KeepError> {
        options.spool(&Files::below(paths)?.roots())?;
        for path in paths.iter().filter(|path| path.is_dir()) {
            if !is_standard_input(output) && is_within(output, path) {
                return Err(KeepError::WithinInput {
                    output: output.to_owned(),
                    directory: path.clone(),
                });
            }
        }
        let mut first: Option<(PathBuf, Format)> = None;
        let mut tables = rows::Tables::default();
        for path in Files::below(paths)?.flatten() {
            // Both readings skip an unreadable file.
            let Ok(open) = open_file::open(&path, options) else {
                continue;
            };
            let format = open.format();
            match &first {
                None => first = Some((path.clone(), format)),
                Some((first, known)) if known.name() != format.name() => {
                    return Err(KeepError::Mixed {
                        first: first.clone(),
                        format: known.name(),
                        other: path,
                        other_format: format.name(),
                    });
                }
                Some(_) => {}
            }
            match format {
                Format::Wacz => {
                    let reason = "a WACZ: unzip it, and give the WARC files in its archive/";
                    return Err(KeepError::unsupported(&path, reason));
                }
                Format::Arc => {
                    let reason = "an ARC file: convert it with `warcio recompress`, whose records \
                                  can be copied";
                    return Err(KeepError::unsupported(&path, reason));
                }
                Format::Warc => records::check(open, &path)?,
                Format::Parquet | Format::ArrowFile | Format::ArrowStream => {
                    tables.add(open, &path)?;
                }
                Format::JsonLines | Format::Document(_) => {}
            }
        }
        let format = first.map(|(_, format)| format);
        if let Some(format) = format {
            check_name(output, format)?;
        }
        Ok(Self {
            paths: paths.to_owned(),
            options: options.clone(),
            output: output.to_owned(),
            format,
            tables,
        })
    }

    /// Reads the inputs again and writes the documents that `survives` returns true for. It is
    /// called with the number of each document, ascending from 0.
    ///
    /// `seen` is the input digest of the [`Documents`](crate::Documents) with the same paths and
    /// options, read to their end.
    ///
    /// # Errors
    /// [`KeepError::Changed`] if the inputs have changed since the first reading, and the errors of
    /// reading and writing. No partial output remains then.
    pub fn write(
        &self,
        seen: &InputDigest,
        mut survives: impl FnMut(u64) -> bool,
    ) -> Result<KeptSummary, KeepError> {
        self.write_by(seen, |number, _document| match survives(number) {
            true => Ok(Kept::Whole),
            false => Ok(Kept::Dropped),
        })
    }

    /// Reads the inputs again and writes the part of each document that `choose` returns; otherwise
    /// like [`write`](Self::write). Only lines and rows can get another text.
    ///
    /// # Errors
    /// As [`write`](Self::write), [`KeepError::Unsupported`] for an archive or for files, and
    /// [`KeepError::Choice`] with an error of `choose`.
    pub fn write_texts(
        &self,
        seen: &InputDigest,
        choose: impl FnMut(u64, &Document) -> io::Result<Kept>,
    ) -> Result<KeptSummary, KeepError> {
        self.check_rewritable()?;
        self.write_by(seen, choose)
    }

    /// Checks that the documents can have another text.
    ///
    /// # Errors
    /// [`KeepError::Unsupported`] for archives and for files.
    pub fn check_rewritable(&self) -> Result<(), KeepError> {
        match self.format {
            Some(Format::Warc | Format::Arc | Format::Wacz | Format::Document(_)) => {
                let reason = "to have parts of its documents removed, which is possible only for \
                    JSON lines, Parquet and Arrow: convert it with `crawler extract`";
                Err(KeepError::unsupported(&self.output, reason))
            }
            _ => Ok(()),
        }
    }

    fn write_by(
        &self,
        seen: &InputDigest,
        choose: impl FnMut(u64, &Document) -> io::Result<Kept>,
    ) -> Result<KeptSummary, KeepError> {
        let mut pass = Pass {
            choose: Box::new(choose),
            input_digest: InputDigest::default(),
            seen,
            kept: 0,
            others_kept: 0,
            others_dropped: 0,
            failure: None,
        };
        let bytes = match self.format {
            Some(Format::JsonLines) => lines::write(self, &mut pass)?,
            Some(Format::Warc | Format::Arc | Format::Wacz) => records::write(self, &mut pass)?,
            Some(Format::Parquet | Format::ArrowFile | Format::ArrowStream) => {
                rows::write(self, &mut pass)?
            }
            Some(Format::Document(_)) => files::write(self, &mut pass)?,
            None => draft::complete(&mut draft::begin(&self.output)?)?,
        };
        Ok(KeptSummary {
            documents: pass.input_digest.total().0,
            kept: pass.kept,
            others: pass.others_kept,
            others_dropped: pass.others_dropped,
            bytes,
        })
    }

    /// Returns the files of the inputs that can be listed.
    fn files(&self) -> Result<impl Iterator<Item = PathBuf>, KeepError> {
        Ok(Files::below(&self.paths)?.flatten())
    }

    fn fields(&self) -> FieldNames {
        FieldNames::of(&self.options)
    }
}

/// A function that decides what is written of the document with this number.
type Choice<'a> = Box<dyn FnMut(u64, &Document) -> io::Result<Kept> + 'a>;

/// The second reading of the documents.
struct Pass<'a> {
    choose: Choice<'a>,
    input_digest: InputDigest,
    /// The input digest of the first reading.
    seen: &'a InputDigest,
    kept: u64,
    others_kept: u64,
    others_dropped: u64,
    /// The first error of `choose`.
    failure: Option<io::Error>,
}

impl Pass<'_> {
    /// Adds the next document; returns true if it should be written as it is.
    fn survives(&mut self, document: &Document) -> bool {
        self.choose(document) == Kept::Whole
    }

    /// Adds the next document; returns the part to write.
    fn choose(&mut self, document: &Document) -> Kept {
        let (number, _) = self.input_digest.total();
        self.input_digest.add(document);
        // More documents than before are an error at the end.
        let kept = match number < self.seen.total().0 {
            true => (self.choose)(number, document),
            false => Ok(Kept::Dropped),
        };
        let kept = kept.unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            Kept::Dropped
        });
        self.kept += u64::from(kept != Kept::Dropped);
        kept
    }

    /// Checks that both readings found the same documents, and that `choose` did not fail.
    fn check(&mut self) -> Result<(), KeepError> {
        if let Some(source) = self.failure.take() {
            return Err(KeepError::Choice { source });
        }
        let (seen, again) = (self.seen.total(), self.input_digest.total());
        match seen == again {
            true => Ok(()),
            false => Err(KeepError::Changed {
                first: seen.0,
                second: again.0,
            }),
        }
    }
}

fn check_name(output: &Path, format: Format) -> Result<(), KeepError> {
    let by_name = EXTENSIONS
        .iter()
        .find(|(extensions, _)| is_named(output, extensions));
    let is_table = matches!(format, Format::Parquet | Format::ArrowFile);
    // Data sets of Hugging Face are streams that are named like files.
    let is_data_set = format == Format::ArrowStream && is_named(output, &["arrow"]);
    match by_name {
        Some((_, name)) if *name != format.name() && !is_data_set => Err(KeepError::OtherName {
            output: output.to_owned(),
            name,
            format: format.name(),
        }),
        _ if is_table && is_named(output, &["gz", "zst"]) => {
            let reason = "a table that is already compressed: omit .gz or .zst";
            Err(KeepError::unsupported(output, reason))
        }
        _ => Ok(()),
    }
}

/// Returns true if `output` would be below `directory`.
fn is_within(output: &Path, directory: &Path) -> bool {
    let parent = output.parent().filter(|path| !path.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    match (parent, directory.canonicalize()) {
        (Ok(parent), Ok(directory)) => parent.starts_with(directory),
        _ => false,
    }
}
