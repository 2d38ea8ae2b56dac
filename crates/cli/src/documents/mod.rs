//! Documents as they lie in files: what `dedup` compares, and `fingerprint` and `compare` read.
//!
//! Text, HTML and other files are a document each; JSON lines and WARC files hold many; directories
//! hold files. They are read one after the other, in an order that does not change, and never more
//! than one batch of them is in memory.

mod archive;
mod read;
mod signatures;
mod sources;
mod told;

pub(crate) use archive::{ArchiveDocuments, SeenDeviations, WaczStreams, exchange, is_visited};
pub(crate) use read::Reader;
pub(crate) use signatures::Signatures;
pub(crate) use sources::{Documents, Skipped, is_archive, is_standard_input, is_wacz, media_type};
pub(crate) use told::Told;

use std::path::Path;

use neardup::HashKey;

use crate::cli_error::{CliError, usage};

/// The longest document that is read from a file as it lies there, in bytes; what follows is not
/// looked at.
pub(crate) const MAX_DOCUMENT: u64 = 1 << 30;

/// The same of a packed file, which can stand for a thousand times its length.
const MAX_UNPACKED: u64 = 64 << 20;

/// A document that was not read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its path, its target URI, or the id that it comes with.
    pub(crate) id: String,
    /// When it was archived, where it was.
    pub(crate) date: Option<String>,
    pub(crate) content: Content,
}

/// What a document has to be read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Bytes of some kind.
    Body {
        bytes: Vec<u8>,
        content_type: String,
    },
    /// Text as such, and what it is called.
    Text {
        text: String,
        title: Option<String>,
        heading: Option<String>,
    },
}

impl Content {
    /// Its bytes; those of a text are UTF-8.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Body { bytes, .. } => bytes,
            Self::Text { text, .. } => text.as_bytes(),
        }
    }

    /// Stands for all that it is given by: the same text under two titles is two documents.
    pub(crate) fn digest(&self) -> u128 {
        let of = |text: &Option<String>| {
            text.as_ref()
                .map_or(0, |text| HashKey::ZERO.digest(text.as_bytes()))
        };
        let of_titles = match self {
            Self::Body { .. } => 0,
            Self::Text { title, heading, .. } => of(title) ^ of(heading).rotate_left(1),
        };
        HashKey::ZERO.digest(self.bytes()) ^ of_titles
    }

    /// A rough measure of the memory that it takes, in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Body { bytes, .. } => bytes.len(),
            Self::Text { text, .. } => text.len(),
        }
    }
}

/// The document of a path that is to have one and no more.
///
/// # Errors
/// What cannot be read, or holds none or several.
pub(crate) fn only(path: &Path) -> Result<Document, CliError> {
    let mut documents = Documents::below(&[path.to_owned()])?;
    let first = documents.next();
    let count = match (first, documents.next()) {
        (Some(document), None) => return document.map_err(usage),
        (None, _) => "no document",
        (Some(_), Some(_)) => "more than one document",
    };
    Err(usage(format!(
        "{} holds {count}: one is wanted here",
        path.display()
    )))
}
