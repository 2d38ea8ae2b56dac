//! Where a page leads, as its `metadata` record tells it.
//!
//! One field a link, as Heritrix writes them and others read them: the URL, a letter for what the
//! link is to the page, and where it stood. Heritrix's letters are those of its crawl logs; where
//! it stood is known here by its kind only, so the words are Heritrix's for that.

use sinks::MetadataField;
use web::{Document, LinkKind};

/// Links that are told of a page; Heritrix keeps 6,000.
const MOST: usize = 6_000;

/// The fields that tell where a page leads: none where that is not asked for, or nothing was read.
pub(crate) fn outlinks(are_told: bool, document: Option<&Document>) -> Vec<MetadataField> {
    let Some(document) = document.filter(|_| are_told) else {
        return Vec::new();
    };
    let told = document.links.iter().take(MOST);
    let mut notes: Vec<MetadataField> = told
        .map(|link| ("outlink", format!("{} {}", link.url, stood_as(link.kind))))
        .collect();
    if document.links.len() > MOST {
        notes.push((
            "outlinks-not-told",
            (document.links.len() - MOST).to_string(),
        ));
    }
    notes
}

/// Hop and context.
const fn stood_as(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Page => "L =NAVLINK_MISC",
        LinkKind::Frame | LinkKind::Requisite => "E =EMBED_MISC",
        LinkKind::Refresh => "R meta",
        LinkKind::Form => "L form/@action",
        LinkKind::Script => "X =JS_MISC",
    }
}
