//! The contexts of links in the rest of a page, which is read without a tree.
//!
//! [`LinkContexts`] needs lines with their blocks, and the rest has only tags. So a stack of open
//! elements gathers lines as the walk over the tree would, separate from the lines of the page's
//! text, whose gathering remains unchanged. It implements the implied ends of the tree builder
//! (HTML standard, section 13.2.6.4) and leaves crossed tags unrepaired.
//!
//! Invariant: a tag costs a bounded number of steps; no search goes deeper than [`SEARCHED`].

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name, ns};
use scraper::node::Element;

use crate::html::elements::{self, Flow};
use crate::html::fast_path::role::Role;
use crate::html::limits::ReadLimits;
use crate::html::lines::Lines;
use crate::html::link_attributes::Namespace;
use crate::html::link_contexts::LinkContexts;
use crate::html::links::References;
use crate::html::names::names;
use crate::html::scanner::Tag;
use crate::html::tag_stream::TagName;
use crate::html::work_budget::{self, WorkBudget};
use crate::html::{anchor_text, compared_text};

/// Maximum number of open elements to search for the element that a tag ends.
const SEARCHED: usize = 64;

/// The attributes that [`elements::flags`] reads.
const READ: [&str; 6] = ["class", "hidden", "id", "itemprop", "role", "style"];

/// A reader of link contexts from tags.
pub(crate) struct RestContexts {
    lines: Lines,
    contexts: LinkContexts,
    /// Remaining steps for tags and text.
    budget: WorkBudget,
    open: Vec<OpenElement>,
    /// Maximum number of open elements.
    depth: usize,
    anchor_chars: usize,
    /// The alternative texts of pictures in the innermost open link.
    alternatives: String,
}

struct OpenElement {
    name: LocalName,
    role: Role,
    flow: Flow,
    flags: u32,
    /// True if it is a link or inside a link.
    in_link: bool,
    is_hidden: bool,
    link: Option<OpenLink>,
}

/// A link whose anchor text is being read.
#[derive(Clone, Copy)]
struct OpenLink {
    /// Index of its reference, if it points to a page.
    page: Option<usize>,
    /// True if the reference takes its anchor text from this link.
    takes_anchor: bool,
    /// Start of its anchor text.
    start: usize,
}

/// The references that a tag has added.
#[derive(Clone, Copy)]
pub(crate) struct NewReferences {
    /// Index of the first reference.
    pub first: usize,
    /// Index of the reference with anchor text inside the tag.
    pub anchored: Option<usize>,
}

impl RestContexts {
    /// Creates a reader of the tags after these lines.
    pub(crate) fn new(lines: &Lines, limits: &ReadLimits) -> Self {
        Self {
            lines: lines.clone(),
            contexts: LinkContexts::new(limits),
            budget: WorkBudget::new(limits.stream_effort / 4),
            open: Vec::new(),
            depth: limits.depth,
            anchor_chars: limits.anchor_chars,
            alternatives: String::new(),
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        let (flags, in_link, is_hidden) = self.around();
        if !is_hidden && self.budget.take(work_budget::of_text(text)) {
            self.lines.push(text, flags, in_link);
        }
    }

    /// Records the places of the references from `first` on, which an element with this name has
    /// added.
    pub(crate) fn place(&mut self, name: TagName, first: usize, references: &References<'_>) {
        for page in references.shown_since(first, name.as_str()) {
            self.place_one(page);
        }
    }

    /// Reads a start tag and the references that it has added.
    pub(crate) fn start(
        &mut self,
        (tag, name, space): (&Tag<'_>, TagName, Namespace),
        new: NewReferences,
        is_visible: bool,
        references: &mut References<'_>,
    ) {
        let steps = work_budget::of_markup(tag.inside) + tag.attributes;
        if !self.budget.take(steps) {
            return;
        }
        let has_words = name.as_str() == "a" && space != Namespace::Svg;
        let href = tag.value("href").filter(|_| has_words);
        let page = href.as_ref().and_then(|href| references.page(href));
        if !is_visible || space == Namespace::Svg {
            match page {
                Some(page) => self.place_one(page),
                None => self.place(name, new.first, references),
            }
            return;
        }
        let local = LocalName::from(name.as_str());
        let role = Role::of(&local);
        let is_open = self.make_room(&local, role, references);
        if !has_words {
            self.place(name, new.first, references);
        }
        if !is_open || matches!(local, names!["svg" "math" "html" "head"]) {
            return;
        }
        if local == local_name!("img") {
            self.alternative(tag);
        }
        let element = element(&local, tag);
        if matches!(role, Role::Void | Role::Rule) {
            let (.., is_hidden) = self.around();
            if elements::flow(&element) == Flow::Block && !is_hidden {
                self.lines.end_line();
            }
            return;
        }
        let link = href.map(|_| OpenLink {
            page,
            takes_anchor: new.anchored.is_some(),
            start: self.lines.len(),
        });
        self.open(local, role, &element, link);
    }

    /// Reads an end tag.
    pub(crate) fn end(&mut self, name: TagName, references: &mut References<'_>) {
        if !self.budget.take(1) {
            return;
        }
        let name = LocalName::from(name.as_str());
        let role = Role::of(&name);
        let is_bound = |open: &OpenElement| match role {
            Role::Table => false,
            Role::Rows | Role::Row | Role::Cell | Role::Caption => open.role == Role::Table,
            Role::Formatting | Role::Ordinary => open.flow != Flow::Inline,
            _ => matches!(open.role, Role::Table | Role::Caption | Role::Cell),
        };
        if let Some(at) = self.find(|open| open.name == name, is_bound) {
            self.close_to(at, references);
        }
    }

    /// Closes all elements.
    pub(crate) fn close(&mut self, references: &mut References<'_>) {
        self.close_to(0, references);
        self.lines.end_line();
    }

    /// Writes the contexts of the links into their references.
    pub(crate) fn write(self, references: &mut References<'_>) {
        let mut lines = self.lines;
        let mut regions = std::mem::take(&mut lines.regions);
        let regions = regions.finish(lines.lines.len());
        let compared = compared_text::find(&lines.lines, regions);
        self.contexts
            .write(&lines, regions, &compared.lines, &mut references.found);
    }

    fn around(&self) -> (u32, bool, bool) {
        let around = self.open.last();
        around.map_or((0, false, false), |open| {
            (open.flags, open.in_link, open.is_hidden)
        })
    }

    /// Records the alternative text of a picture in a link.
    fn alternative(&mut self, tag: &Tag<'_>) {
        let (_, in_link, is_hidden) = self.around();
        if in_link
            && !is_hidden
            && self.alternatives.len() < self.anchor_chars
            && let Some(text) = tag.value("alt")
        {
            self.alternatives.push(' ');
            self.alternatives.push_str(&text);
        }
    }

    fn open(&mut self, name: LocalName, role: Role, element: &Element, link: Option<OpenLink>) {
        if self.open.len() >= self.depth {
            return;
        }
        let (outside, in_link, is_hidden) = self.around();
        let own_flags = elements::flags(element, outside);
        let flags = outside | own_flags;
        let flow = elements::flow(element);
        let is_hidden = is_hidden || flow == Flow::Hidden;
        if link.is_some() && !is_hidden {
            self.alternatives.clear();
        }
        match flow {
            _ if is_hidden => {}
            Flow::Block => {
                self.lines.end_line();
                self.lines.open(flags, own_flags, elements::kind(element));
            }
            Flow::Cell => {
                self.lines.space();
                self.contexts.open_cell(&self.lines);
            }
            Flow::Inline | Flow::Hidden => {}
        }
        self.open.push(OpenElement {
            name,
            role,
            flow,
            flags,
            in_link: in_link || link.is_some(),
            is_hidden,
            link,
        });
    }

    /// Closes the open elements, starting with this one.
    fn close_to(&mut self, at: usize, references: &mut References<'_>) {
        while self.open.len() > at
            && let Some(open) = self.open.pop()
        {
            if let Some(link) = open.link {
                self.leave_link(link, open.is_hidden, references);
            }
            match open.flow {
                _ if open.is_hidden => {}
                Flow::Block => {
                    self.lines.end_line();
                    self.lines.close();
                }
                Flow::Cell => {
                    self.lines.space();
                    self.contexts.close_cell(&self.lines);
                }
                Flow::Inline | Flow::Hidden => {}
            }
        }
    }

    fn leave_link(&mut self, link: OpenLink, is_hidden: bool, references: &mut References<'_>) {
        let Some(page) = link.page else { return };
        self.contexts.add(page, link.start, &self.lines);
        if link.takes_anchor && !is_hidden {
            let words = self.lines.since(link.start);
            references.found[page].anchor =
                anchor_text::of(words, &self.alternatives, self.anchor_chars);
        }
    }

    fn place_one(&mut self, page: usize) {
        if !self.budget.is_spent() {
            self.contexts.add(page, self.lines.len(), &self.lines);
        }
    }

    /// Returns the innermost wanted open element, unless an element inside it bounds the search.
    fn find(
        &self,
        is_wanted: impl Fn(&OpenElement) -> bool,
        is_bound: impl Fn(&OpenElement) -> bool,
    ) -> Option<usize> {
        for (at, open) in self.open.iter().enumerate().rev().take(SEARCHED) {
            if is_wanted(open) {
                return Some(at);
            }
            if is_bound(open) {
                return None;
            }
        }
        None
    }

    /// Closes the elements that a start tag ends, and opens the elements that it implies. Returns
    /// false if the tag is ignored.
    fn make_room(&mut self, name: &LocalName, role: Role, references: &mut References<'_>) -> bool {
        match role {
            Role::Formatting if *name == local_name!("a") => {
                if let Some(at) = self.find(|open| open.name == *name, |open| open.is_scope()) {
                    self.close_to(at, references);
                }
            }
            Role::Block
            | Role::Preformatted
            | Role::Paragraph
            | Role::Table
            | Role::Rule
            | Role::Form => self.end_paragraph(references),
            Role::Heading => {
                self.end_paragraph(references);
                if self.open.last().is_some_and(|open| open.role == role) {
                    self.close_to(self.open.len() - 1, references);
                }
            }
            Role::Item => {
                let is_list = *name == local_name!("li");
                let is_same = |open: &OpenElement| {
                    open.role == Role::Item && is_list == (open.name == local_name!("li"))
                };
                if let Some(at) = self.find(is_same, |open| open.role.bounds_items(&open.name)) {
                    self.close_to(at, references);
                }
                self.end_paragraph(references);
            }
            Role::Caption | Role::Columns | Role::Rows | Role::Row | Role::Cell => {
                return self.make_room_in_table(role, references);
            }
            _ => {}
        }
        true
    }

    fn end_paragraph(&mut self, references: &mut References<'_>) {
        let is_paragraph = |open: &OpenElement| open.role == Role::Paragraph;
        if let Some(at) = self.find(is_paragraph, |open| open.role.bounds_paragraphs()) {
            self.close_to(at, references);
        }
    }

    fn make_room_in_table(&mut self, role: Role, references: &mut References<'_>) -> bool {
        let is_around = |open: &OpenElement| match role {
            Role::Cell => matches!(open.role, Role::Row | Role::Rows | Role::Table),
            Role::Row => matches!(open.role, Role::Rows | Role::Table),
            _ => open.role == Role::Table,
        };
        let Some(at) = self.find(is_around, |_| false) else {
            return false;
        };
        self.close_to(at + 1, references);
        if matches!(role, Role::Row | Role::Cell) && self.is_in(Role::Table) {
            self.imply(local_name!("tbody"), Role::Rows);
        }
        if role == Role::Cell && self.is_in(Role::Rows) {
            self.imply(local_name!("tr"), Role::Row);
        }
        true
    }

    fn is_in(&self, role: Role) -> bool {
        self.open.last().is_some_and(|open| open.role == role)
    }

    fn imply(&mut self, name: LocalName, role: Role) {
        let element = Element::new(QualName::new(None, ns!(html), name.clone()), Vec::new());
        self.open(name, role, &element, None);
    }
}

impl OpenElement {
    /// Returns true if tags inside the element cannot end an element outside it.
    const fn is_scope(&self) -> bool {
        matches!(self.role, Role::Table | Role::Caption | Role::Cell)
    }
}

/// Returns an element with the attributes that affect its flags.
fn element(name: &LocalName, tag: &Tag<'_>) -> Element {
    let mut attributes: Vec<Attribute> = Vec::new();
    for wanted in READ.iter().filter(|_| tag.attributes > 0) {
        if let Some(value) = tag.value(wanted) {
            attributes.push(Attribute {
                name: QualName::new(None, ns!(), LocalName::from(*wanted)),
                value: StrTendril::from_slice(&value),
            });
        }
    }
    Element::new(QualName::new(None, ns!(html), name.clone()), attributes)
}
