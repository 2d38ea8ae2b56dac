//! A document in a file, before its text is extracted.

use neardup::HashKey;

/// The longest document that is read from a file as it lies there, in bytes; what follows is not
/// looked at.
pub(crate) const MAX_DOCUMENT: u64 = 1 << 30;

/// The same of a packed file, which can stand for a thousand times its length.
pub(super) const MAX_UNPACKED: u64 = 64 << 20;

/// A document that was not read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its path, its target URI, or the id that it comes with.
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
    /// Text as such, and what it is called.
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

    /// Returns a rough measure of its memory, in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Body { bytes, .. } => bytes.len(),
            Self::Text { text, .. } => text.len(),
        }
    }
}
