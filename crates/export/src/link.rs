//! A record for each link: the graph of the pages that were kept.

use crate::table::{Column, Kind, Table, Value};

/// A record for each link of each page that the archive has, in the order of the visits, and in the
/// order of the page.
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

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// The page that it stands on: the `final_url` of a visit.
    pub source: &'a str,
    /// Where it leads: the `url` of a visit, if it was visited.
    pub target: &'a str,
    /// The words that it is attached to; empty for none.
    pub anchor: &'a str,
    /// What the page says of it, with blanks between: `nofollow ugc`; empty for nothing.
    pub rel: &'a str,
    /// What it is to the page.
    pub kind: &'a str,
}

impl<'a> Link<'a> {
    /// Its fields, for [`LINKS`].
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
