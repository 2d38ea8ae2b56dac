//! The table of links: the graph of the pages that were kept.

use journal::VisitRecord;
use web::ReadLimits;

use crate::table::{Column, Kind, Table, Value};

/// Characters of the words of a link.
const ANCHOR_CHARS: usize = 500;
/// Bytes of the relations of a link.
const REL_BYTES: usize = 200;

/// Sets the limits for reading pages for [`LINKS`]: anchor texts are longer than during a crawl,
/// and every relation is kept.
pub fn widen(limits: &mut ReadLimits) {
    limits.anchor_chars = ANCHOR_CHARS;
    limits.rel_bytes = REL_BYTES;
}

/// The links of each page in the archive, in the order of the visits and, within a page, of the
/// document.
pub const LINKS: Table = Table {
    schema: "links/2",
    columns: &[
        Column::always("source", Kind::Text),
        Column::always("target", Kind::Text),
        Column::maybe("anchor", Kind::Text),
        Column::maybe("rel", Kind::Text),
        Column::always("kind", Kind::Text),
    ],
};

/// The links of [`LINKS`] whose target could not be fetched, with the reason.
pub const BROKEN_LINKS: Table = Table {
    schema: "broken-links/1",
    columns: &[
        Column::always("source", Kind::Text),
        Column::always("target", Kind::Text),
        Column::maybe("anchor", Kind::Text),
        Column::maybe("rel", Kind::Text),
        Column::always("kind", Kind::Text),
        Column::maybe("status", Kind::U16),
        Column::maybe("reason", Kind::Text),
    ],
};

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// The page that has the link: the `final_url` of a visit.
    pub source: &'a str,
    /// The link's target: the `url` of a visit, if it was visited.
    pub target: &'a str,
    /// The anchor text; may be empty.
    pub anchor: &'a str,
    /// The `rel` values, separated by spaces: `nofollow ugc`; may be empty.
    pub rel: &'a str,
    /// The kind of the link.
    pub kind: &'a str,
}

impl<'a> Link<'a> {
    /// Returns a link of the page of a visit.
    #[must_use]
    pub fn of_page(visit: &'a VisitRecord, link: &'a web::Link) -> Self {
        Self {
            source: visit.final_url.as_ref().unwrap_or(&visit.url).as_str(),
            target: link.url.as_str(),
            anchor: &link.anchor,
            rel: &link.rel,
            kind: link.kind.as_str(),
        }
    }

    /// Returns its fields, for [`LINKS`].
    #[must_use]
    pub fn fields(&self) -> [Option<Value<'a>>; 5] {
        let some = |text: &'a str| (!text.is_empty()).then_some(Value::Text(text));
        [
            Some(Value::Text(self.source)),
            Some(Value::Text(self.target)),
            some(self.anchor),
            some(self.rel),
            Some(Value::Text(self.kind)),
        ]
    }
}

/// A link to a URL that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLink<'a> {
    /// The link.
    pub link: Link<'a>,
    /// The status code of the last response; `None` if there was none.
    pub status: Option<u16>,
    /// The failure.
    pub reason: Option<&'a str>,
}

impl<'a> BrokenLink<'a> {
    /// Returns its fields, for [`BROKEN_LINKS`].
    #[must_use]
    pub fn fields(&self) -> [Option<Value<'a>>; 7] {
        let [source, target, anchor, rel, kind] = self.link.fields();
        let status = self.status.map(|status| Value::Number(status.into()));
        let reason = self.reason.map(Value::Text);
        [source, target, anchor, rel, kind, status, reason]
    }
}
