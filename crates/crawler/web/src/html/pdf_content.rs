//! The content of a PDF, as a PDF reader finds it in the bytes.
//!
//! Both results cross a pipe between processes, so they are serialized.

use serde::{Deserialize, Serialize};

/// A reader of PDFs.
pub type ReadPdf = fn(&[u8]) -> Result<PdfContent, PdfFailure>;

/// The content of a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdfContent {
    /// Its title, from the document information.
    pub title: Option<String>,
    /// The language that it declares.
    pub language: Option<String>,
    /// Its text, one block per line; empty if its pages are pictures.
    pub text: String,
    /// The targets of its links, as written.
    pub links: Vec<String>,
}

/// Reason why the text of a PDF is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PdfFailure {
    /// The body is not whole, or too large for the reader.
    Partial,
    /// It is encrypted with a password.
    Encrypted,
    /// It is not a PDF, or too damaged to be read.
    Damaged,
    /// Reading it took too much time or memory.
    TooCostly,
    /// The process that reads it could not be started.
    Unstarted,
    /// Its pages are pictures, without text or with next to none.
    Pictures,
}
