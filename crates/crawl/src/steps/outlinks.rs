//! The outlinks of a page in its `metadata` record.
//!
//! One field per link, as Heritrix writes them and others read them: the URL, a letter for the kind
//! of hop, and the context. The letters are those of Heritrix's crawl logs. The context is known
//! here by its kind only, so it has Heritrix's word for that.

use sinks::MetadataField;
use web::{Document, LinkKind};

/// The most links of a page that are recorded; Heritrix keeps 6,000.
const MAX_LINKS: usize = 6_000;

/// Returns the outlink fields of a document; none unless they are wanted.
pub(crate) fn notes(is_wanted: bool, document: Option<&Document>) -> Vec<MetadataField> {
    let Some(document) = document.filter(|_| is_wanted) else {
        return Vec::new();
    };
    let links = document.links.iter().take(MAX_LINKS);
    let mut notes: Vec<MetadataField> = links
        .map(|link| {
            (
                "outlink",
                format!("{} {}", link.url, hop_and_context(link.kind)),
            )
        })
        .collect();
    if document.links.len() > MAX_LINKS {
        notes.push((
            "outlinks-not-told",
            (document.links.len() - MAX_LINKS).to_string(),
        ));
    }
    notes
}

/// Returns the hop and context of a link.
const fn hop_and_context(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Page => "L =NAVLINK_MISC",
        LinkKind::Frame | LinkKind::Requisite => "E =EMBED_MISC",
        LinkKind::Refresh => "R meta",
        LinkKind::Form => "L form/@action",
        LinkKind::Script => "X =JS_MISC",
    }
}
