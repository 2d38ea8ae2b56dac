//! A document in a file, before its text is extracted.

use neardup::HashKey;

/// Bytes that are read of an uncompressed file.
pub(crate) const MAX_DOCUMENT: u64 = 1 << 30;

/// Bytes that are read of a compressed file, which can unpack to a thousand times its length.
pub(super) const MAX_UNPACKED: u64 = 64 << 20;

/// A document, before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// The path, the target URI, or the document's own id.
    pub(crate) id: String,
    /// The date of the capture, if it is archived.
    pub(crate) date: Option<String>,
    pub(crate) content: Content,
}

/// The content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Bytes of some kind.
    Body {
        bytes: Vec<u8>,
        content_type: String,
    },
    /// Text as such, with its title and first heading.
    Text {
        text: String,
        title: Option<String>,
        heading: Option<String>,
    },
}

impl Content {
    /// Returns its bytes; those of a text are UTF-8.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Body { bytes, .. } => bytes,
            Self::Text { text, .. } => text.as_bytes(),
        }
    }

    /// Returns a digest of the whole content: the same text under two titles is two documents.
    pub(crate) fn digest(&self) -> u128 {
        let digest = |text: &String| HashKey::ZERO.digest(text.as_bytes());
        let of = |text: &Option<String>| text.as_ref().map_or(0, digest);
        let of_titles = match self {
            Self::Body { .. } => 0,
            Self::Text { title, heading, .. } => of(title) ^ of(heading).rotate_left(1),
        };
        HashKey::ZERO.digest(self.bytes()) ^ of_titles
    }

    /// Returns a rough measure of its memory, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes().len()
    }
}
