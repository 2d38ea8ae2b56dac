//! The texts of documents, which decide about candidates if they are available.

use std::fmt::Debug;

/// A document whose text is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedDocument<'a> {
    /// Its id.
    pub id: &'a str,
    /// The payload of its signature.
    pub payload: u128,
}

/// A verdict by the texts of two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextVerdict {
    /// The document adds nothing to the earlier one.
    Repeats,
    /// The document says all that the earlier one says, and more.
    Contains,
    /// A reader needs both.
    Distinct,
}

/// A source of texts.
pub trait DocumentTexts: Debug + Send + Sync {
    /// Compares a document with an earlier one; returns `None` if one of their texts is not
    /// available, or if the texts leave the verdict to the signatures.
    fn compare(
        &self,
        document: NamedDocument<'_>,
        earlier: NamedDocument<'_>,
    ) -> Option<TextVerdict>;
}
