//! Input named by the user: files, standard input, and URLs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use corpus::{Content, MAX_DOCUMENT, Reader, is_standard_input};
use messages::{CommandError, usage};
use reading::ReceivedBody;
use web::{CanonicalForm, Document, PageUrl, ReadLimits, ResponseMetadata, SeedLine};

/// Reads at most `most` bytes of a file, or of standard input.
///
/// # Errors
/// The file cannot be opened or read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match is_standard_input(path) {
        true => io::stdin().lock().take(most).read_to_end(&mut bytes)?,
        false => File::open(path)?.take(most).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

/// Reads a file, or standard input for `-`.
pub fn read_input(path: &Path) -> Result<Vec<u8>, CommandError> {
    read(path, MAX_DOCUMENT).map_err(unreadable(path))
}

/// Returns a reader of documents, PDFs included: of their main content, or of their full text.
pub fn document_reader(main_content: bool) -> Reader {
    Reader::new(main_content).with_pdf(pdf::reader())
}

/// Reads a document, also a PDF, by these settings.
pub fn read_document(
    content: &Content,
    metadata: &ResponseMetadata<'_>,
    form: &CanonicalForm,
    limits: &ReadLimits,
) -> Document {
    let body = ReceivedBody {
        bytes: content.bytes(),
        is_whole: !content.is_partial(),
    };
    reading::read_body(body, pdf::reader(), metadata, form, limits)
}

/// Returns the error for a named file or directory that cannot be read.
pub fn unreadable(path: &Path) -> impl Fn(io::Error) -> CommandError + Copy {
    move |error| usage(format!("cannot read {}: {error}", path.display()))
}

/// Returns the error for a named file that cannot be written.
pub fn unwritable(path: &Path) -> impl Fn(io::Error) -> CommandError + Copy {
    move |error| usage(format!("cannot write {}: {error}", path.display()))
}

/// Parses a URL argument, as leniently as a seed: `example.org/about` has no scheme.
pub fn parse_url(text: &str, form: &CanonicalForm) -> Result<PageUrl, CommandError> {
    PageUrl::parse(text, form).or_else(|error| {
        let seed = SeedLine::of_url(text, form).seeds.into_iter().next();
        seed.ok_or_else(|| usage(format!("{text:?}: {error}")))
    })
}
