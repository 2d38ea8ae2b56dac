//! One walk over the tree, and nothing is looked for twice: title, language, links, directives, text.

use std::borrow::Cow;

use ego_tree::NodeRef;
use html5ever::{local_name, ns};
use scraper::Node;
use scraper::node::Element;

use super::directives::{Directives, is_for};
use super::elements::{self, Flow, UNREAD, ends_line, flow};
use super::links::{self, References};
use super::scan::{Scanner, Tag, Token, resolve_references};
use super::text::Lines;
use super::tree::Rest;
use super::{ReadLimits, language};

/// What is gathered of a page.
pub(crate) struct Walk<'p> {
    agent: &'p str,
    limits: &'p ReadLimits,
    pub title: Option<String>,
    pub language: Option<String>,
    pub directives: Directives,
    pub references: References<'p>,
    pub lines: Lines,
    /// What is meant for readers without scripts, as markup.
    pub unscripted: String,
    /// The open links whose words are being gathered: which reference, and where its words begin.
    anchors: Vec<(usize, usize)>,
}

/// Where in the page the walk is; each open element adds to its parent's.
#[derive(Clone, Copy, Default)]
struct Around {
    place: u32,
    /// What the innermost element says itself.
    signs: u32,
    in_link: bool,
    in_head: bool,
}

impl<'p> Walk<'p> {
    pub(crate) fn new(agent: &'p str, limits: &'p ReadLimits, capacity: usize) -> Self {
        Self {
            agent,
            limits,
            title: None,
            language: None,
            directives: Directives::default(),
            references: References::default(),
            lines: Lines::with_capacity(capacity),
            unscripted: String::new(),
            anchors: Vec::new(),
        }
    }

    /// Walks a tree, without recursion: pages may be nested deeply.
    pub(crate) fn tree(&mut self, root: NodeRef<'p, Node>) {
        let mut around = vec![Around::default()];
        let mut node = root;
        loop {
            let here = around.last().copied().unwrap_or_default();
            if let Some(inside) = self.enter(node, here)
                && let Some(child) = node.first_child()
            {
                around.push(inside);
                node = child;
                continue;
            }
            // Nothing below: on to the next one, leaving what ends here.
            loop {
                self.leave(node);
                if node == root {
                    return;
                }
                if let Some(next) = node.next_sibling() {
                    node = next;
                    break;
                }
                let Some(parent) = node.parent() else { return };
                around.pop();
                node = parent;
            }
        }
    }

    /// Reads a node; what is around its children, if they are to be read.
    fn enter(&mut self, node: NodeRef<'p, Node>, around: Around) -> Option<Around> {
        let element = match node.value() {
            Node::Text(text) => {
                if !around.in_head {
                    self.lines.push(text, around.place, around.in_link);
                }
                return None;
            }
            Node::Element(element) => element,
            Node::Document | Node::Fragment => return Some(around),
            Node::Doctype(_) | Node::Comment(_) | Node::ProcessingInstruction(_) => return None,
        };
        let inside = self.element(node, element, around);
        match flow(element) {
            Flow::Hidden => return None,
            Flow::Block => {
                self.lines.end_line();
                if node.has_children() {
                    self.lines.open(inside.place, inside.signs);
                }
            }
            Flow::Cell => self.lines.space(),
            Flow::Inline => {}
        }
        Some(inside)
    }

    fn leave(&mut self, node: NodeRef<'p, Node>) {
        let Node::Element(element) = node.value() else {
            return;
        };
        if element.name.local == local_name!("a")
            && let Some(&(reference, start)) = self.anchors.last()
            && attribute(element, "href").is_some()
        {
            self.anchors.pop();
            if let Some(reference) = self.references.found.get_mut(reference) {
                let words = self.lines.since(start).chars().take(self.limits.anchor_chars);
                reference.anchor = words.map(|c| if c == '\n' { ' ' } else { c }).collect();
            }
        }
        match flow(element) {
            Flow::Block => {
                self.lines.end_line();
                if node.has_children() {
                    self.lines.close();
                }
            }
            Flow::Cell => self.lines.space(),
            Flow::Inline | Flow::Hidden => {}
        }
    }

    /// Reads what an element says by its name and attributes.
    fn element(&mut self, node: NodeRef<'p, Node>, element: &'p Element, around: Around) -> Around {
        let mut inside = around;
        match element.name.local {
            local_name!("html") => self.language = attribute(element, "lang").and_then(language::of_tag),
            local_name!("head") => inside.in_head = true,
            local_name!("title") if self.title.is_none() && element.name.ns == ns!(html) => {
                self.title = title_of(node, self.limits);
            }
            local_name!("base") => set_once(&mut self.references.base, attribute(element, "href")),
            local_name!("meta") => self.meta(element),
            local_name!("link") => {
                if attribute(element, "rel").is_some_and(|rel| links::has_relation(rel, "canonical")) {
                    set_once(&mut self.references.canonical, attribute(element, "href"));
                }
            }
            local_name!("a") | local_name!("area") => inside.in_link |= self.link(element, "href"),
            local_name!("noscript") if !around.in_head => {
                let markup = node.children().filter_map(|child| child.value().as_text());
                markup.for_each(|text| self.unscripted.push_str(text));
            }
            local_name!("iframe") | local_name!("frame") => {
                self.link(element, "src");
            }
            _ => {}
        }
        inside.signs = elements::signs(element, around.place);
        inside.place |= inside.signs;
        inside
    }

    /// Notes a link; whether it is one.
    fn link(&mut self, element: &'p Element, attribute_name: &str) -> bool {
        let Some(href) = attribute(element, attribute_name) else {
            return false;
        };
        let nofollow = attribute(element, "rel").is_some_and(|rel| links::has_relation(rel, "nofollow"));
        let reference = self.references.add(Cow::Borrowed(href), nofollow);
        if element.name.local == local_name!("a") {
            // A link found before keeps the words that it had there.
            self.anchors
                .push((reference.unwrap_or(usize::MAX), self.lines.len()));
        }
        true
    }

    fn meta(&mut self, element: &'p Element) {
        let Some(content) = attribute(element, "content") else {
            return;
        };
        if let Some(name) = attribute(element, "name") {
            if is_for(name, self.agent) {
                self.directives.add(content);
            }
        } else if attribute(element, "http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
            && let Some(url) = links::of_refresh(content)
        {
            self.references.add(Cow::Borrowed(url), false);
        }
    }

    /// Reads the rest of a page whose tree could not be built: text and links, wherever they stand.
    pub(crate) fn rest(&mut self, text: &'p str, rest: &Rest) {
        self.lines.end_line();
        let mut scanner = Scanner::new(text, rest.at);
        if let Some(name) = &rest.inside {
            scanner.raw(name);
        }
        while let Some(token) = scanner.next() {
            match token {
                Token::Text(text) => self.lines.push(&resolve_references(text), 0, false),
                Token::Start(tag) if tag.is(UNREAD) => {
                    scanner.raw(tag.name);
                }
                Token::Start(tag) => self.tag(&tag),
                Token::End(tag) if ends_line(&tag) => self.lines.end_line(),
                Token::End(_) | Token::Markup(_) => {}
            }
        }
    }

    fn tag(&mut self, tag: &Tag<'p>) {
        if ends_line(tag) {
            self.lines.end_line();
        }
        let href = if tag.is(&["a", "area"]) {
            tag.value("href")
        } else if tag.is(&["frame"]) {
            tag.value("src")
        } else {
            return;
        };
        if let Some(href) = href {
            let nofollow = tag
                .value("rel")
                .is_some_and(|rel| links::has_relation(&rel, "nofollow"));
            self.references.add(href, nofollow);
        }
    }
}

fn set_once<'p>(place: &mut Option<Cow<'p, str>>, value: Option<&'p str>) {
    if place.is_none() {
        *place = value.map(Cow::Borrowed);
    }
}

/// The value of an attribute. Elements have few: looking through them is faster than making a name to look
/// up.
fn attribute<'p>(element: &'p Element, name: &str) -> Option<&'p str> {
    let found = element
        .attrs
        .iter()
        .find(|(found, _)| &*found.local == name && found.ns == ns!());
    found.map(|(_, value)| &**value)
}

fn title_of(title: NodeRef<'_, Node>, limits: &ReadLimits) -> Option<String> {
    let mut words = String::new();
    for text in title.children().filter_map(|child| child.value().as_text()) {
        for word in text.split_whitespace() {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
            if words.len() > limits.title_chars * 4 {
                break;
            }
        }
    }
    if let Some((end, _)) = words.char_indices().nth(limits.title_chars) {
        words.truncate(end);
    }
    (!words.is_empty()).then_some(words)
}
