//! A document in a file, before its text is extracted.

use std::fmt;
use std::path::Path;

use batch::DocumentId;
use neardup::HashKey;

/// Maximum bytes of an uncompressed file that are read.
pub const MAX_DOCUMENT: u64 = 1 << 30;

/// Maximum unpacked bytes of a compressed file that are read: it can unpack to a thousand times its
/// length.
pub(crate) const MAX_UNPACKED: u64 = 64 << 20;

/// A part of an input that is not a document, with the reason. The next document follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file, and the place in it.
    pub culprit: String,
    /// The reason.
    pub reason: String,
    /// True if a document may be lost; false for a file that is not a document, such as a picture.
    pub is_loss: bool,
}

impl Skipped {
    /// Returns a part of an input that may be a document and cannot be read.
    pub fn loss(culprit: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self {
            culprit: culprit.to_string(),
            reason: reason.to_string(),
            is_loss: true,
        }
    }

    pub(crate) fn at(path: &Path, reason: impl fmt::Display) -> Self {
        Self::loss(path.display(), reason)
    }
}

/// The reason why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
    /// True for a format without text.
    pub(crate) is_foreign: bool,
}

impl Refusal {
    /// Returns the refusal of a format without text.
    pub(crate) fn foreign(reason: String) -> Self {
        Self {
            reason,
            is_foreign: true,
        }
    }

    /// Returns the file with this path as skipped.
    pub(crate) fn of(self, path: &Path) -> Skipped {
        Skipped {
            is_loss: !self.is_foreign,
            ..Skipped::at(path, self.reason)
        }
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self {
            reason,
            is_foreign: false,
        }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.culprit, self.reason)
    }
}

/// A document, before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The path, the target URI, or the document's own id.
    pub id: DocumentId,
    /// The date of the capture, if it is archived.
    pub date: Option<String>,
    /// The content.
    pub content: Content,
}

/// The content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes of some kind.
    Body {
        /// The bytes.
        bytes: Vec<u8>,
        /// The media type, with a charset if one is known.
        content_type: String,
        /// A digest of the whole, if these bytes are only its beginning. Such a document is
        /// compared by this digest alone.
        part_of: Option<u128>,
    },
    /// Text as such, with its title and first heading.
    Text {
        /// The text.
        text: String,
        /// The title, if any.
        title: Option<String>,
        /// The first heading, if any.
        heading: Option<String>,
    },
}

impl Content {
    /// Returns its bytes; a text is in UTF-8.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Body { bytes, .. } => bytes,
            Self::Text { text, .. } => text.as_bytes(),
        }
    }

    /// Returns a digest of the whole content: the same text under two titles is two documents.
    #[must_use]
    pub fn digest(&self) -> u128 {
        let digest = |text: &String| HashKey::ZERO.digest(text.as_bytes());
        let of = |text: &Option<String>| text.as_ref().map_or(0, digest);
        let of_rest = match self {
            Self::Body { part_of, .. } => part_of.unwrap_or_default(),
            Self::Text { title, heading, .. } => of(title) ^ of(heading).rotate_left(1),
        };
        HashKey::ZERO.digest(self.bytes()) ^ of_rest
    }

    /// Returns true if only the beginning of the document was read.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        matches!(
            self,
            Self::Body {
                part_of: Some(_),
                ..
            }
        )
    }

    /// Returns a rough measure of its memory, in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a measure of memory")]
    pub fn len(&self) -> usize {
        self.bytes().len()
    }
}
