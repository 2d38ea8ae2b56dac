//! Warnings about a response that was still read, as words for the archive.
//!
//! A bad header does not lose a site. Bad heads are read like browsers, curl and wget read them,
//! and the visit's `metadata` record names them (`warnings`, docs/formats/archive.md). ADR 25
//! contains the table.

use std::fmt;

/// A warning about a response, of its connection or of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Warning {
    /// The status line is malformed: its version, its code or the space between them.
    StatusLine,
    /// A line of the head is not a field and was skipped, or a space before its colon was removed.
    HeaderLine,
    /// A control character in a field or in the reason phrase was replaced by a space.
    ControlCharacter,
    /// `Content-Length` is not a number, or its values differ.
    ContentLength,
    /// `Transfer-Encoding` names anything but `chunked`, or comes with HTTP/1.0, or the first lines
    /// of the chunks end in LF alone.
    TransferEncoding,
    /// The body is shorter than `Content-Length`.
    ShortBody,
    /// The chunks of the body are malformed, or the last one is missing.
    BrokenChunks,
    /// The connection broke before the end of the body.
    BrokenConnection,
    /// The body stopped, or came more slowly than the minimum rate.
    StalledBody,
    /// The body is not in a content coding that `Content-Encoding` names, the name is unknown, or
    /// the coding is broken.
    ContentCoding,
    /// `Content-Type` is not a media type, or names several.
    ContentType,
}

impl Warning {
    /// Returns the word for the archive.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StatusLine => "status-line",
            Self::HeaderLine => "header-line",
            Self::ControlCharacter => "control-character",
            Self::ContentLength => "content-length",
            Self::TransferEncoding => "transfer-encoding",
            Self::ShortBody => "short-body",
            Self::BrokenChunks => "broken-chunks",
            Self::BrokenConnection => "broken-connection",
            Self::StalledBody => "stalled-body",
            Self::ContentCoding => "content-coding",
            Self::ContentType => "content-type",
        }
    }

    /// Returns true if a part of the body is missing, which another request may deliver.
    #[must_use]
    pub const fn is_incomplete_body(self) -> bool {
        matches!(
            self,
            Self::ShortBody | Self::BrokenChunks | Self::BrokenConnection | Self::StalledBody
        )
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
