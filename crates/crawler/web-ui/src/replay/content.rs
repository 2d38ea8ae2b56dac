//! The content of a capture, and the form in which a browser gets it.
//!
//! A type that is not in the table of [`Presentation::of`] is a download: no page of the archive is
//! shown as anything that runs.

use axum::body::Bytes;
use axum::http::StatusCode;
use sinks::warc::{Record, Response};
use unpack::{Fallback, UnreadableHtml, inert_html, rewrite_css, rewrite_html};
use web::{Media, essence, tld};

use super::captures::FoundCapture;
use crate::format;

/// Bytes of a page, style sheet or text, which are converted in memory.
const MAX_TEXT: usize = 16 << 20;

/// The form in which a browser gets a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presentation {
    /// A page: rewritten, without scripts.
    Page,
    /// A page in XML, where removing elements could change others: rewritten only.
    Xhtml,
    /// A style sheet: rewritten.
    Sheet,
    /// Plain text, also for data and scripts.
    Text,
    /// A picture, font, sound or film of this type.
    Media(String),
    /// Anything else.
    Download,
}

impl Presentation {
    /// Returns the form of the content of a capture, of whose record the head suffices.
    pub(crate) fn of_capture(capture: &FoundCapture) -> Self {
        let record = &capture.record;
        let body = match response_of(record) {
            Some(response) => response.body().into_owned(),
            None => record.block.to_vec(),
        };
        Self::of(content_type(record).as_deref(), &body)
    }

    /// Returns the form of a content with this header field.
    fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        let essence = content_type.map(essence).unwrap_or_default();
        let (kind, subtype) = essence.split_once('/').unwrap_or_default();
        match Media::of(content_type, body) {
            Media::Html if subtype.ends_with("xml") => return Self::Xhtml,
            Media::Html => return Self::Page,
            Media::Text => return Self::Text,
            // A frame without scripts does not show it.
            Media::Pdf => return Self::Download,
            Media::Other => {}
        }
        match (kind, subtype) {
            ("text", "css") => Self::Sheet,
            ("image" | "audio" | "video" | "font", _) | ("text", "vtt") => Self::Media(essence),
            ("application", "ogg" | "mp4" | "vnd.ms-fontobject" | "font-sfnt") => {
                Self::Media(essence)
            }
            ("application", font) if font.starts_with("font-") || font.starts_with("x-font-") => {
                Self::Media(essence)
            }
            ("text", _) | ("application", "json" | "xml" | "javascript" | "x-javascript") => {
                Self::Text
            }
            (_, data) if data.ends_with("+xml") || data.ends_with("+json") => Self::Text,
            _ => Self::Download,
        }
    }

    /// Returns true for a page.
    pub(crate) const fn is_page(&self) -> bool {
        matches!(self, Self::Page | Self::Xhtml)
    }

    /// Returns the `Content-Type`.
    pub(super) fn media_type(&self) -> &str {
        match self {
            Self::Page => "text/html; charset=utf-8",
            Self::Xhtml => "application/xhtml+xml; charset=utf-8",
            Self::Sheet => "text/css; charset=utf-8",
            Self::Text => "text/plain; charset=utf-8",
            Self::Media(essence) => essence,
            Self::Download => "application/octet-stream",
        }
    }
}

/// A content without its codings.
pub(super) struct Content {
    pub(super) status: StatusCode,
    pub(super) presentation: Presentation,
    content_type: Option<String>,
    bytes: Bytes,
    fallback: Fallback,
}

impl Content {
    /// Returns the content of a capture; the reason for people if it cannot be shown. `most` bounds
    /// its bytes.
    pub(super) fn of(capture: &FoundCapture, most: usize) -> Result<Self, String> {
        let record = &capture.record;
        if !record.is_kept_whole() {
            return Err(too_long(record.block_length));
        }
        let (status, bytes) = match response_of(record) {
            Some(response) => {
                let body = response.payload().map_err(|error| error.to_string())?;
                let decoded = web::decode(&response.headers, &body, most as u64);
                if decoded.truncated {
                    return Err(too_long(most as u64));
                }
                (response.status, decoded.bytes)
            }
            None => (200, Bytes::copy_from_slice(&record.block)),
        };
        let content_type = content_type(record);
        let status = StatusCode::from_u16(status).ok();
        let status = status.filter(|status| status.is_client_error() || status.is_server_error());
        Ok(Self {
            status: status.unwrap_or(StatusCode::OK),
            presentation: Presentation::of(content_type.as_deref(), &bytes),
            content_type,
            bytes,
            fallback: match record.is_dom() {
                true => Fallback::Removed,
                false => Fallback::Shown,
            },
        })
    }

    /// Returns the bytes that a browser gets: of a page or style sheet at `url`, with its links
    /// converted by `link`; the reason for people if they cannot be converted.
    pub(super) fn rewritten(
        self,
        url: &str,
        link: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Bytes, String> {
        if matches!(
            self.presentation,
            Presentation::Media(_) | Presentation::Download
        ) {
            return Ok(self.bytes);
        }
        if self.bytes.len() > MAX_TEXT {
            return Err(too_long(self.bytes.len() as u64));
        }
        let content_type = self.content_type.as_deref();
        let text = || web::page_text(&self.bytes, content_type, tld(url));
        let unreadable = |_: UnreadableHtml| "Its markup cannot be rewritten.".to_owned();
        let rewritten = match self.presentation {
            Presentation::Sheet => {
                rewrite_css(&web::sheet_text(&self.bytes, content_type), url, link)
            }
            Presentation::Page => {
                let inert = inert_html(&text(), self.fallback).map_err(unreadable)?;
                rewrite_html(&inert, url, link).map_err(unreadable)?
            }
            Presentation::Xhtml => rewrite_html(&text(), url, link).map_err(unreadable)?,
            _ => return Ok(text().into_owned().into()),
        };
        Ok(rewritten.into_bytes().into())
    }
}

/// Returns the response in a record; `None` for a record that is the content itself: a `resource`,
/// or the DOM of a rendered page.
fn response_of(record: &Record) -> Option<Response<'_>> {
    (record.kind() == "response").then(|| record.http())?
}

fn content_type(record: &Record) -> Option<String> {
    match response_of(record) {
        Some(response) => web::content_type(&response.headers),
        None => record.field("Content-Type").map(str::to_owned),
    }
}

fn too_long(length: u64) -> String {
    let length = format::bytes(length);
    format!("It has {length} or more, too much to be shown here; `crawler unpack` writes it.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_run_is_plain_text_or_a_download() {
        for (content_type, expected) in [
            ("text/html; charset=x", "text/html; charset=utf-8"),
            (
                "Application/XHTML+XML",
                "application/xhtml+xml; charset=utf-8",
            ),
            ("text/css", "text/css; charset=utf-8"),
            ("image/svg+xml", "image/svg+xml"),
            ("video/mp4; codecs=a", "video/mp4"),
            ("application/font-woff2", "application/font-woff2"),
            ("text/javascript", "text/plain; charset=utf-8"),
            ("application/ld+json", "text/plain; charset=utf-8"),
            ("application/pdf", "application/octet-stream"),
            ("application/x-shockwave-flash", "application/octet-stream"),
            ("multipart/x-mixed-replace", "application/octet-stream"),
        ] {
            let shown = Presentation::of(Some(content_type), b"<p>");
            assert_eq!(shown.media_type(), expected, "{content_type}");
        }
        assert_eq!(Presentation::of(None, b"<html>"), Presentation::Page);
        let xml = b"<html xmlns='http://www.w3.org/1999/xhtml'/>";
        assert_eq!(Presentation::of(Some("text/xml"), xml), Presentation::Xhtml);
        assert_eq!(
            Presentation::of(Some("text/xml"), b"<a/>"),
            Presentation::Text
        );
    }
}
