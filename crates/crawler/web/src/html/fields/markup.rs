//! Values of fields in the markup: `<meta>`, microdata, links, `<time>`, and elements that their
//! class calls the author or the date.
//!
//! Comments, related pages, menus and sidebars have authors and dates of their own, which are not
//! the page's; only `<meta>`, linked data and the licence are read there.

use std::collections::HashSet;

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use html5ever::{LocalName, local_name, ns};
use scraper::node::Element;
use scraper::{Html, Node};

use super::linked_items::{LinkedItems, class_of_type};
use super::sources::{Event, Item, Source};
use super::{Found, MAX_NAME_CHARS};
use crate::html::elements::attribute;
use crate::html::lines::joined;
use crate::html::names::names;
use crate::html::{class_names, region_flags};
use crate::http::media_type::essence;
use crate::letter_case::starts_with_ignore_case;

/// Maximum number of `<meta>` elements that are read.
const MAX_METAS: usize = 1_000;

/// Maximum number of elements whose text is searched for a date.
const MAX_DATE_LINES: usize = 500;

/// Maximum number of nodes whose text is one value, and of bytes of each.
const MAX_NODES: usize = 100;
const MAX_NODE_BYTES: usize = 1_024;

/// Maximum number of words of `rel` and `itemprop`.
const MAX_WORDS: usize = 8;

/// Regions of an article whose authors and dates are not the page's.
const OTHERS_IN_ARTICLES: u32 = region_flags::COMMENTS | region_flags::RELATED;

/// The same, outside of articles.
const OTHERS: u32 = OTHERS_IN_ARTICLES | region_flags::HINT;

/// Collects the values in a page, and its linked data.
pub(super) fn read(html: &Html, found: &mut Found, items: &mut LinkedItems) {
    let mut reader = Reader {
        found,
        items,
        around_title: around_title(html),
        is_titled: false,
        metas: 0,
        names_author: false,
        date_lines: 0,
        articles: 0,
        others: 0,
    };
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Element(element) => reader.open(node, element),
                Node::Text(text) => reader.written_by(node, text),
                _ => {}
            },
            Edge::Close(node) => {
                if let Node::Element(element) = node.value() {
                    reader.close(node, element);
                }
            }
        }
    }
}

struct Reader<'f> {
    found: &'f mut Found,
    items: &'f mut LinkedItems,
    /// The page's title and everything around it, which is about the page whatever it is called.
    around_title: HashSet<NodeId>,
    /// True after the page's title.
    is_titled: bool,
    metas: usize,
    /// True if the last label for a preview says that the author follows.
    names_author: bool,
    date_lines: usize,
    /// Number of open articles.
    articles: usize,
    /// Number of open elements that are not about the page.
    others: usize,
}

impl Reader<'_> {
    fn open(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        if element.name.ns != ns!(html) {
            return;
        }
        self.others += usize::from(self.is_other(node, element));
        self.is_titled |= element.name.local == local_name!("h1");
        self.articles += usize::from(is_article(element));
        match element.name.local {
            local_name!("meta") => self.meta(element),
            local_name!("script") if is_linked_data(element) => {
                for text in node.children().filter_map(|child| child.value().as_text()) {
                    self.items.add(text);
                }
            }
            names!["a" "link"] => self.relation(node, element),
            _ => {}
        }
        if self.others > 0 || element.attrs.is_empty() {
            return;
        }
        self.microdata(node, element);
        if element.name.local == local_name!("time") {
            self.time(node, element);
        }
        for key in ["class", "id"] {
            if let Some(names) = attribute(element, key) {
                self.named(node, &names.to_ascii_lowercase());
            }
        }
    }

    fn close(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        if element.name.ns == ns!(html) {
            self.articles -= usize::from(is_article(element));
            self.others -= usize::from(self.is_other(node, element));
        }
    }

    /// Returns true if an element begins a region that is not about the page.
    fn is_other(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        if self.around_title.contains(&node.id()) {
            return false;
        }
        if attribute(element, "itemtype").is_some_and(is_reply) {
            return true;
        }
        match element.name.local {
            names!["html" "body" "main"] => false,
            local_name!("nav") => true,
            names!["aside" "footer"] if self.articles == 0 => true,
            _ if element.attrs.is_empty() => false,
            _ if self.articles > 0 => class_names::of_block(element) & OTHERS_IN_ARTICLES != 0,
            _ => class_names::of_block(element) & OTHERS != 0,
        }
    }

    fn meta(&mut self, element: &Element) {
        self.metas += 1;
        if self.metas > MAX_METAS {
            return;
        }
        let Some(content) = attribute(element, "content").filter(|text| !text.trim().is_empty())
        else {
            return;
        };
        for key in ["property", "name"] {
            if let Some(name) = attribute(element, key) {
                let name = name.trim().to_ascii_lowercase();
                match &*name {
                    "twitter:label1" => self.names_author = content.trim() == "Written by",
                    "twitter:data1" if !self.names_author => {}
                    _ => self.found.add(Source::Meta(&name), content),
                }
            }
        }
    }

    fn relation(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let Some(rel) = attribute(element, "rel") else {
            return;
        };
        for word in rel.split_ascii_whitespace().take(MAX_WORDS) {
            let word = word.to_ascii_lowercase();
            let source = Source::Relation(&word);
            match &*word {
                "license" | "image_src" => {
                    let url = attribute(element, "href").unwrap_or_default();
                    self.found.add(source, url);
                }
                "author" | "tag" if self.others == 0 => self.text(source, node),
                _ => {}
            }
        }
    }

    fn microdata(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        if let Some(item) = attribute(element, "itemtype")
            && class_of_type(item.trim()).is_some()
        {
            self.found.add(Source::ItemType, item);
        }
        let Some(properties) = attribute(element, "itemprop") else {
            return;
        };
        for name in properties.split_ascii_whitespace().take(MAX_WORDS) {
            let source = Source::Microdata(name);
            if self.found.wanted(source).is_none() {
                continue;
            }
            let inner = name_in(node).unwrap_or(node);
            let element = inner.value().as_element().unwrap_or(element);
            let value = ["content", "datetime", "src"];
            let value = value.iter().find_map(|key| attribute(element, key));
            let link = || attribute(element, "href").filter(|_| name == "license");
            match value.or_else(link) {
                Some(value) => self.found.add(source, value),
                None => self.text(source, inner),
            }
        }
    }

    fn time(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let class = attribute(element, "class").unwrap_or_default();
        let event = match attribute(element, "pubdate") {
            Some(_) => Event::Published,
            None => event_of(&class.to_ascii_lowercase()),
        };
        match attribute(element, "datetime") {
            Some(date) => self.found.add(Source::Time(event), date),
            None => self.text(Source::Time(event), node),
        }
    }

    /// Reads an element by its class.
    fn named(&mut self, node: NodeRef<'_, Node>, class: &str) {
        let has = |words: &[&str]| words.iter().any(|word| class.contains(word));
        let is_author = has(&[
            "author",
            "byline",
            "autor",
            "writer",
            "submitted",
            "posted-by",
        ]);
        if is_author {
            let is_name = has(&["name", "link"]) || class.split(' ').any(|name| name == "author");
            self.text(
                [Source::Byline, Source::AuthorName][usize::from(is_name)],
                node,
            );
        } else if has(&["username"]) {
            self.text(Source::UserName, node);
        }
        let is_dated = has(&["date", "publish", "posted", "time", "modified", "meta"]);
        if (is_dated || is_author) && self.date_lines < MAX_DATE_LINES {
            self.date_lines += 1;
            let text = text_in(node);
            let event = match event_of(&text.to_lowercase()) {
                Event::Modified => Event::Modified,
                _ => event_of(class),
            };
            self.found.add(Source::DateLine(event), &text);
        }
    }

    /// Reads a line that begins with "by", with the words next to it.
    fn written_by(&mut self, node: NodeRef<'_, Node>, text: &str) {
        let text = text.trim();
        let is_byline = ["by ", "written by", "von ", "autor:"]
            .iter()
            .any(|by| starts_with_ignore_case(text, by));
        if self.others == 0 && self.is_titled && (is_byline || text.eq_ignore_ascii_case("by")) {
            self.text(Source::WrittenBy, node.parent().unwrap_or(node));
        }
    }

    /// Adds the text in a node, if the source may have another value.
    fn text(&mut self, source: Source<'_>, node: NodeRef<'_, Node>) {
        if self.found.wanted(source).is_some() {
            self.found.add(source, &text_in(node));
        }
    }
}

/// Returns the text in a node, or more than a name may have of a longer one.
fn text_in(node: NodeRef<'_, Node>) -> String {
    let texts = node.descendants().take(MAX_NODES);
    let texts = texts.filter_map(|node| node.value().as_text());
    let starts = texts.map(|text| &text[..text.floor_char_boundary(MAX_NODE_BYTES)]);
    let words = starts.flat_map(|text| text.split_whitespace());
    joined(words, MAX_NAME_CHARS + 1)
}

/// Returns the first heading, or without one the first article, and the elements around it.
fn around_title(html: &Html) -> HashSet<NodeId> {
    let find = |wanted: LocalName| {
        let is_wanted = |node: &NodeRef<'_, Node>| {
            let element = node.value().as_element();
            element.is_some_and(|element| element.name.local == wanted)
        };
        html.tree.root().descendants().find(is_wanted)
    };
    let title = find(local_name!("h1")).or_else(|| find(local_name!("article")));
    let around = title.iter().flat_map(NodeRef::ancestors);
    around.chain(title).map(|node| node.id()).collect()
}

/// Returns true for an article, also without the element: in the classes of microformats
/// (`hentry`) and of blogs, and in microdata.
fn is_article(element: &Element) -> bool {
    let class = attribute(element, "class").unwrap_or_default();
    let mut names = class.split_ascii_whitespace();
    element.name.local == local_name!("article")
        || names.any(|name| matches!(name, "hentry" | "h-entry" | "post"))
        || attribute(element, "itemtype")
            .is_some_and(|item| class_of_type(item.trim()) == Some(Item::Content))
}

/// Returns true for the type of an item by a reader.
fn is_reply(item_type: &str) -> bool {
    let ends = ["Comment", "Answer", "Review"];
    ends.iter().any(|end| item_type.trim().ends_with(end))
}

fn is_linked_data(script: &Element) -> bool {
    attribute(script, "type").is_some_and(|media| essence(media) == "application/ld+json")
}

/// Returns the name of an item in microdata.
fn name_in(item: NodeRef<'_, Node>) -> Option<NodeRef<'_, Node>> {
    let mut inside = item.descendants().skip(1).take(MAX_NODES);
    inside.find(|node| {
        let element = node.value().as_element();
        element.is_some_and(|element| attribute(element, "itemprop") == Some("name"))
    })
}

/// Returns the event that a class in lower case names.
fn event_of(class: &str) -> Event {
    let has = |word: &str| class.contains(word);
    if has("updated") || has("modified") {
        return Event::Modified;
    }
    match has("publish") || has("posted") || has("entry-date") || has("pubdate") {
        true => Event::Published,
        false => Event::Unknown,
    }
}
