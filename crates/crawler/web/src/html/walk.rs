//! The walk over a page's tree, which collects title, language, links, directives and text in one
//! pass.

mod for_scripts;
mod unparsed;

use std::borrow::Cow;
use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef};
use html5ever::{LocalName, local_name, ns};
use scraper::Node;
use scraper::node::Element;

use crate::html::css::{self, CssContext};
use crate::html::directives::{Directives, is_for};
use crate::html::elements::{self, Flow, attribute, flow};
use crate::html::limits::ReadLimits;
use crate::html::lines::{Lines, joined};
use crate::html::link::LinkKind;
use crate::html::link_attributes::{self, AttributeSource, Namespace};
use crate::html::link_contexts::LinkContexts;
use crate::html::links::References;
use crate::html::markdown::Structure;
use crate::html::names::names;
use crate::html::rest_contexts::RestContexts;
use crate::html::work_budget::WorkBudget;
use crate::html::{anchor_text, language, refresh, region_flags};
use for_scripts::{is_linked_data, is_run};
use unparsed::Nested;

/// The results of walking a page.
pub(crate) struct Walk<'p> {
    agent: &'p str,
    limits: &'p ReadLimits,
    pub title: Option<String>,
    pub language: Option<String>,
    pub directives: Directives,
    pub references: References<'p>,
    pub lines: Lines,
    /// Structure of the text, if Markdown is requested.
    pub structure: Option<Structure<'p>>,
    /// Remaining steps for reading without a tree.
    pub budget: WorkBudget,
    /// Markup for readers without scripts.
    pub unscripted: String,
    /// Markup outside the tree that may contain links: for readers without scripts or frames, and
    /// of inner pages.
    nested: Vec<Nested<'p>>,
    /// Open links: the index of each reference, and the start of its anchor text.
    anchors: Vec<(usize, usize)>,
    /// Alternative texts of pictures in the innermost open link: the anchor text of a link without
    /// other words (HTML Standard, section 4.8.4.4.2).
    alternatives: String,
    /// Elements that the user's selector matches.
    pub selected: HashSet<NodeId>,
    /// True if the page has a script that a browser runs.
    pub has_script: bool,
    /// Places of the links, if their contexts are requested.
    pub contexts: Option<LinkContexts>,
    /// The same for links in the rest of the page.
    pub rest_contexts: Option<RestContexts>,
}

/// State of the walk; each open element adds to its parent's state.
#[derive(Clone, Copy, Default)]
struct Around {
    flags: u32,
    /// Flags of the innermost element itself.
    own_flags: u32,
    in_link: bool,
    in_head: bool,
    /// True if only links are read here.
    hidden: bool,
    /// True in a template, where only links for scripts are read.
    in_template: bool,
}

impl<'p> Walk<'p> {
    pub(crate) fn new(agent: &'p str, limits: &'p ReadLimits, capacity: usize) -> Self {
        Self {
            agent,
            limits,
            title: None,
            language: None,
            directives: Directives::default(),
            references: References::new(limits),
            lines: Lines::new(capacity, limits),
            structure: limits.markdown.then(|| Structure::new(limits.text)),
            budget: WorkBudget::new(limits.stream_effort),
            unscripted: String::new(),
            nested: Vec::new(),
            anchors: Vec::new(),
            alternatives: String::new(),
            selected: HashSet::new(),
            has_script: false,
            contexts: limits.link_context.then(|| LinkContexts::new(limits)),
            rest_contexts: None,
        }
    }

    /// Walks a tree without recursion, because pages may be nested deeply.
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
            // The node has no children: leave the ended nodes and continue with the next one.
            loop {
                self.leave(node, around.last().copied().unwrap_or_default());
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

    /// Reads a node. Returns the state for its children, if they should be read.
    fn enter(&mut self, node: NodeRef<'p, Node>, around: Around) -> Option<Around> {
        let element = match node.value() {
            Node::Text(text) => {
                if !around.in_head && !around.hidden {
                    self.lines.push(text, around.flags, around.in_link);
                    if let Some(structure) = &mut self.structure {
                        structure.add_text(text);
                    }
                }
                return None;
            }
            Node::Element(element) => element,
            Node::Document | Node::Fragment => return Some(around),
            Node::Doctype(_) | Node::Comment(_) | Node::ProcessingInstruction(_) => return None,
        };
        if around.in_template {
            if element.name.ns == ns!(html) {
                self.link_for_scripts(&element.name.local, &element);
            }
            return Some(around);
        }
        let mut inside = self.element(node, element, around);
        if element.name.local == local_name!("template")
            && flow(element) == Flow::Hidden
            && self.references.kinds.has(LinkKind::Script)
        {
            return Some(Around {
                hidden: true,
                in_template: true,
                ..inside
            });
        }
        if around.hidden {
            return Some(inside)
                .filter(|_| flow(element) != Flow::Hidden || has_links_inside(element));
        }
        match flow(element) {
            Flow::Hidden if has_links_inside(element) => inside.hidden = true,
            Flow::Hidden => return None,
            Flow::Block => {
                self.lines.end_line();
                if node.has_children() {
                    self.lines
                        .open(inside.flags, inside.own_flags, elements::kind(element));
                }
            }
            Flow::Cell => {
                self.lines.space();
                if let Some(contexts) = &mut self.contexts {
                    contexts.open_cell(&self.lines);
                }
            }
            Flow::Inline => {}
        }
        if let Some(structure) = self.structure.as_mut().filter(|_| !inside.hidden) {
            structure.begin(element, self.lines.len());
        }
        Some(inside)
    }

    fn leave(&mut self, node: NodeRef<'p, Node>, around: Around) {
        let Node::Element(element) = node.value() else {
            return;
        };
        if around.hidden {
            return;
        }
        if element.name.local == local_name!("a")
            && let Some(&(reference, start)) = self.anchors.last()
            && let Some(href) = attribute(element, "href")
        {
            self.anchors.pop();
            if let Some(reference) = self.references.found.get_mut(reference) {
                let words = self.lines.since(start);
                reference.anchor =
                    anchor_text::of(words, &self.alternatives, self.limits.anchor_chars);
            }
            if let Some(contexts) = &mut self.contexts
                && let Some(page) = self.references.page(href)
            {
                contexts.add(page, start, &self.lines);
            }
        }
        match flow(element) {
            Flow::Block => {
                self.lines.end_line();
                if node.has_children() {
                    self.lines.close();
                }
            }
            Flow::Cell => {
                self.lines.space();
                if let Some(contexts) = &mut self.contexts {
                    contexts.close_cell(&self.lines);
                }
            }
            Flow::Inline | Flow::Hidden => {}
        }
        if let Some(structure) = &mut self.structure {
            structure.end(element, self.lines.len());
        }
    }

    /// Reads the name and the attributes of an element.
    fn element(&mut self, node: NodeRef<'p, Node>, element: &'p Element, around: Around) -> Around {
        let mut inside = around;
        if self.references.kinds.has(LinkKind::Requisite)
            && let Some(style) = attribute(element, "style")
        {
            self.style(style, CssContext::Attribute);
        }
        if element.name.ns == ns!(html) && !element.attrs.is_empty() {
            self.kept_for_scripts(&element.name.local, &element);
        }
        match element.name.local {
            local_name!("html") => {
                self.language = attribute(element, "lang").and_then(language::of_tag);
            }
            local_name!("head") => inside.in_head = true,
            local_name!("title") if self.title.is_none() && element.name.ns == ns!(html) => {
                self.title = title_of(node, self.limits);
            }
            local_name!("a") if element.name.ns != ns!(svg) => {
                inside.in_link |= self.link_with_words(element, around);
            }
            local_name!("noscript") => self.keep_unparsed(node, !around.in_head),
            names!["noframes" "noembed"] => self.keep_unparsed(node, false),
            local_name!("script") => self.scripts(node, element),
            local_name!("style") => {
                for text in node.children().filter_map(|child| child.value().as_text()) {
                    self.style(text, CssContext::Sheet);
                }
            }
            ref name
                if !element.attrs.is_empty()
                    && (element.name.ns != ns!(html) || may_hold_links(name)) =>
            {
                if *name == local_name!("img") && !self.anchors.is_empty() && !around.hidden {
                    self.alternative(element);
                }
                let known = self.references.found.len();
                self.read_element(name, Namespace::of(element), &element, 0);
                if let Some(contexts) = &mut self.contexts {
                    for page in self.references.shown_since(known, name) {
                        contexts.add(page, self.lines.len(), &self.lines);
                    }
                }
            }
            _ => {}
        }
        inside.own_flags = elements::flags(element, around.flags);
        if !self.selected.is_empty() && self.selected.contains(&node.id()) {
            inside.own_flags |= region_flags::SELECTED;
        }
        inside.flags |= inside.own_flags;
        inside
    }

    /// Records a link and the start of its anchor text. Returns true if the element is a link.
    fn link_with_words(&mut self, element: &'p Element, around: Around) -> bool {
        let Some(href) = attribute(element, "href") else {
            return false;
        };
        let rel = attribute(element, "rel").unwrap_or_default();
        let reference = self
            .references
            .add(Cow::Borrowed(href), LinkKind::Page, rel);
        if !around.hidden {
            self.alternatives.clear();
            // A repeated link keeps its earlier anchor text.
            self.anchors
                .push((reference.unwrap_or(usize::MAX), self.lines.len()));
        } else if let Some(contexts) = &mut self.contexts
            && let Some(page) = self.references.page(href)
        {
            contexts.add(page, self.lines.len(), &self.lines);
        }
        true
    }

    /// Records the alternative text of a picture in a link.
    fn alternative(&mut self, picture: &Element) {
        let has_room = self.alternatives.len() < self.limits.anchor_chars;
        if let Some(text) = attribute(picture, "alt").filter(|_| has_room) {
            self.alternatives.push(' ');
            self.alternatives.push_str(text);
        }
    }

    /// Keeps markup that the parser treated as text. With `is_text`, it is also the page's text if
    /// the page has no other text.
    fn keep_unparsed(&mut self, node: NodeRef<'p, Node>, is_text: bool) {
        for text in node.children().filter_map(|child| child.value().as_text()) {
            if is_text {
                self.unscripted.push_str(text);
            }
            self.nest(Cow::Borrowed(text), 0);
        }
    }

    fn scripts(&mut self, node: NodeRef<'p, Node>, element: &'p Element) {
        link_attributes::gather(
            "script",
            Namespace::of(element),
            &element,
            &mut self.references,
        );
        let is_data = is_linked_data(element.value("type").as_deref());
        self.has_script |= is_run(&element, "");
        for text in node.children().filter_map(|child| child.value().as_text()) {
            self.has_script |= is_run(&element, text);
            self.script(text, is_data);
        }
    }

    /// Reads the URLs of a style.
    fn style(&mut self, style: &str, context: CssContext) {
        // Every URL needs one of these characters, and most styles contain neither.
        let may_refer =
            style.contains('(') || (context == CssContext::Sheet && style.contains('@'));
        if may_refer && self.references.kinds.has(LinkKind::Requisite) && self.budget.take(1) {
            let references = &mut self.references;
            css::each_url(style, context, &mut self.budget, |url| {
                references.add(Cow::Owned(url.to_owned()), LinkKind::Requisite, "");
            });
        }
    }

    /// Reads the links and directives of an element, for both readers. Returns the reference that
    /// takes its anchor text from inside the element.
    fn read_element(
        &mut self,
        name: &str,
        space: Namespace,
        element: &impl AttributeSource<'p>,
        level: u8,
    ) -> Option<usize> {
        match (name, space) {
            ("base", Namespace::Html) if level == 0 => {
                if self.references.base.is_none() {
                    self.references.base = element.value("href");
                }
            }
            ("meta", Namespace::Html) => self.meta(element, level),
            ("a", Namespace::MathMl | Namespace::Html) => {
                return self.link(element, element.value("href"), None);
            }
            ("a", Namespace::Svg) => {
                self.link(element, link_attributes::foreign_href(element), None);
            }
            // The `alt` of an area is its only anchor text.
            ("area", Namespace::Html) => {
                self.link(element, element.value("href"), element.value("alt"));
            }
            _ => {
                link_attributes::gather(name, space, element, &mut self.references);
                if name == "iframe"
                    && let Some(page) = element.value("srcdoc")
                    && !has_base(&page)
                {
                    self.nest(page, level);
                }
            }
        }
        None
    }

    fn link(
        &mut self,
        element: &impl AttributeSource<'p>,
        href: Option<Cow<'p, str>>,
        words: Option<Cow<'p, str>>,
    ) -> Option<usize> {
        let href = href?;
        let rel = link_attributes::rel(element);
        let reference = self.references.add(href, LinkKind::Page, &rel);
        if let (Some(reference), Some(words)) = (reference, words) {
            let words = anchor_text::folded(&words, self.limits.anchor_chars);
            self.references.found[reference].anchor = words;
        }
        reference
    }

    fn meta(&mut self, element: &impl AttributeSource<'p>, level: u8) {
        let Some(content) = element.value("content") else {
            return;
        };
        self.preview(element, &content);
        if let Some(name) = element.value("name") {
            if level == 0 && is_for(&name, self.agent) {
                self.directives.add(&content);
            } else if level == 0 && name.eq_ignore_ascii_case("tdm-reservation") {
                self.directives.reserve(&content);
            }
        } else if element
            .value("http-equiv")
            .is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
        {
            let url = match content {
                Cow::Borrowed(content) => refresh::target(content).map(Cow::Borrowed),
                Cow::Owned(content) => {
                    refresh::target(&content).map(|url| Cow::Owned(url.to_owned()))
                }
            };
            if let Some(url) = url {
                self.references.add(url, LinkKind::Refresh, "");
            }
        }
    }
}

/// Returns true if an HTML element may contain links or directives.
fn may_hold_links(name: &LocalName) -> bool {
    matches!(*name, names!["base" "meta" "area"]) || link_attributes::may_refer(name)
}

/// Returns true for elements whose links are the page's but whose text is not: drawings, and
/// fallback content of media.
fn has_links_inside(element: &Element) -> bool {
    matches!(
        element.name.local,
        names!["svg" "object" "audio" "video" "canvas"]
    )
}

/// Returns true if an inner page has its own base. Such pages are rare and not read, because every
/// link would need the base.
fn has_base(page: &str) -> bool {
    page.as_bytes()
        .windows(5)
        .any(|window| window.eq_ignore_ascii_case(b"<base"))
}

fn title_of(title: NodeRef<'_, Node>, limits: &ReadLimits) -> Option<String> {
    let texts = title.children().filter_map(|child| child.value().as_text());
    let words = texts.flat_map(|text| text.split_whitespace());
    Some(joined(words, limits.title_chars)).filter(|title| !title.is_empty())
}
