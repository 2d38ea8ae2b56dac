//! Reads the parts of a page that an audit of its site checks: description, main headings and
//! translations.
//!
//! Unlike [`PageFields`](crate::PageFields), these are the exact places that search engines read:
//! `<meta name=description>`, `<h1>` and `<link rel=alternate hreflang>`.
//!
//! Invariant: a page cannot make this expensive. The tree is walked once, and the number of
//! translations and the length of each text have limits.

use html5ever::{local_name, ns};
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use crate::html::audit_fields::AuditFields;
use crate::html::elements::attribute;
use crate::html::lines::joined;
use crate::url::page_url::PageUrl;

/// Maximum number of pieces of text in a heading.
const MAX_PIECES: usize = 1_000;

/// Reads the fields in the markup of a page into `fields`. Texts have at most `chars` characters;
/// `resolve` returns the URL of a reference in the page.
pub(crate) fn read(
    fields: &mut AuditFields,
    html: &Html,
    chars: usize,
    resolve: impl Fn(&str) -> Option<PageUrl>,
) {
    for node in html.tree.root().descendants() {
        let Node::Element(element) = node.value() else {
            continue;
        };
        if element.name.ns != ns!(html) {
            continue;
        }
        match element.name.local {
            local_name!("meta") if fields.description.is_none() && is_description(element) => {
                fields.description = attribute(element, "content")
                    .and_then(|text| folded(text.split_whitespace(), chars));
            }
            local_name!("h1") => {
                fields.h1_count += 1;
                if let Some(heading) = ElementRef::wrap(node).filter(|_| fields.h1_count == 1) {
                    let text: String = heading.text().take(MAX_PIECES).collect();
                    fields.h1 = folded(text.split_whitespace(), chars);
                }
            }
            local_name!("link") => {
                let value = |name| attribute(element, name).unwrap_or_default();
                fields.translate(value("rel"), value("hreflang"), || resolve(value("href")));
            }
            _ => {}
        }
    }
}

fn is_description(element: &Element) -> bool {
    attribute(element, "name").is_some_and(|name| name.trim().eq_ignore_ascii_case("description"))
}

/// Returns words as one text; `None` if there are none.
fn folded<'t>(words: impl Iterator<Item = &'t str>, chars: usize) -> Option<String> {
    Some(joined(words, chars)).filter(|text| !text.is_empty())
}
