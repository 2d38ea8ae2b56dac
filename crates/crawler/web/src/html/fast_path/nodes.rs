//! The tree and the stack of open elements.

use std::borrow::Cow;

use ego_tree::NodeId;
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name, ns};
use scraper::Node;
use scraper::node::{Comment, Element, Text};

use super::role::Role;
use super::{Open, Reader, STRIDE, lower};
use crate::html::character_references::{self, TextContext};
use crate::html::lazy_names::lazy_name;
use crate::html::scanner::{Tag, Token};
use crate::html::work_budget;

impl<'t> Reader<'t> {
    pub(super) fn void(&mut self, name: &LocalName, tag: &Tag<'t>) -> Option<()> {
        self.element(self.current().id, name, tag)?;
        Some(())
    }

    /// Adds an element with raw text, the text and its end tag.
    pub(super) fn raw(&mut self, name: &LocalName, tag: &Tag<'t>) -> Option<()> {
        let id = self.element(self.current().id, name, tag)?;
        let role = Role::of(name);
        let mut content = self.scanner.raw(tag.name);
        // Inside a comment, an end tag may not end the script.
        if *name == local_name!("script") && content.contains("<!--") {
            return None;
        }
        let steps = 1 + content.len() / STRIDE + work_budget::of_references(content);
        self.pay(steps)?;
        if *name == local_name!("textarea") {
            if content.starts_with('&') {
                return None;
            }
            content = content.strip_prefix('\n').unwrap_or(content);
        }
        if !content.is_empty() {
            let text = if role == Role::Text {
                self.resolved(content)
            } else {
                self.share(content)
            };
            self.append(id, Node::Text(Text { text }))?;
        }
        let Token::End(_) = self.next()?? else {
            return None;
        };
        Some(())
    }

    pub(super) fn comment(&mut self, parent: NodeId, markup: &'t str) -> Option<()> {
        let comment = markup
            .strip_prefix("<!--")
            .and_then(|comment| comment.strip_suffix("-->"))?;
        let comment = self.share(comment);
        self.append(parent, Node::Comment(Comment { comment }))?;
        Some(())
    }

    /// Adds an element without opening it.
    pub(super) fn element(
        &mut self,
        parent: NodeId,
        name: &LocalName,
        tag: &Tag<'t>,
    ) -> Option<NodeId> {
        let mut attributes: Vec<Attribute> = Vec::with_capacity(tag.attributes);
        for (name, value) in tag.attributes() {
            if name
                .bytes()
                .any(|byte| matches!(byte, b'"' | b'\'' | b'<' | b'='))
            {
                return None;
            }
            let name = lower(name);
            if name.starts_with("data-") && lazy_name(&name).is_none() {
                continue;
            }
            let name = QualName::new(None, ns!(), LocalName::from(name));
            self.attribute(&mut attributes, name, value);
        }
        let name = QualName::new(None, ns!(html), name.clone());
        self.append(parent, Node::Element(Element::new(name, attributes)))
    }

    /// Adds an attribute, unless the element already has one of this name.
    pub(super) fn attribute(
        &self,
        attributes: &mut Vec<Attribute>,
        name: QualName,
        value: &'t str,
    ) {
        if attributes.iter().any(|attribute| attribute.name == name) {
            return;
        }
        let value = match character_references::resolve(value, TextContext::Attribute) {
            Cow::Borrowed(value) => self.share(value),
            Cow::Owned(value) => StrTendril::from(value),
        };
        attributes.push(Attribute { name, value });
    }

    /// Appends text to the innermost open element.
    pub(super) fn append_text(&mut self, text: &'t str) -> Option<()> {
        if text.is_empty() {
            return Some(());
        }
        let text = self.resolved(text);
        let parent = self.current().id;
        let mut parent = self.html.tree.get_mut(parent)?;
        if let Some(mut last) = parent.last_child()
            && let Node::Text(before) = last.value()
        {
            before.text.push_tendril(&text);
            return Some(());
        }
        parent.append(Node::Text(Text { text }));
        self.count()
    }

    pub(super) fn append(&mut self, parent: NodeId, node: Node) -> Option<NodeId> {
        let id = self.html.tree.get_mut(parent)?.append(node).id();
        self.count()?;
        Some(id)
    }

    fn count(&mut self) -> Option<()> {
        self.nodes += 1;
        (self.nodes <= self.limits.nodes).then_some(())
    }

    /// Returns a part of the page's text with character references resolved.
    fn resolved(&self, part: &'t str) -> StrTendril {
        match character_references::resolve(part, TextContext::Content) {
            Cow::Borrowed(part) => self.share(part),
            Cow::Owned(text) => StrTendril::from(text),
        }
    }

    /// Returns a part of the page's text without copying it.
    fn share(&self, part: &'t str) -> StrTendril {
        // The pointer of an empty part may be outside of the text.
        let offset = part.as_ptr().addr().checked_sub(self.text.as_ptr().addr());
        let Some(offset) = offset.filter(|offset| offset + part.len() <= self.text.len()) else {
            return StrTendril::from_slice(part);
        };
        let within_u32 = |count| u32::try_from(count).expect("a page is at most MAX_BYTES long");
        self.page
            .subtendril(within_u32(offset), within_u32(part.len()))
    }

    pub(super) fn push(&mut self, id: NodeId, name: LocalName, role: Role) -> Option<()> {
        self.formatting += usize::from(role == Role::Formatting);
        self.paragraphs += usize::from(role == Role::Paragraph);
        self.selects += usize::from(role == Role::Select);
        self.open.push(Open { id, name, role });
        (self.open.len() + self.formatting <= self.limits.depth).then_some(())
    }

    pub(super) fn pop(&mut self) {
        if let Some(open) = self.open.pop() {
            self.formatting -= usize::from(open.role == Role::Formatting);
            self.paragraphs -= usize::from(open.role == Role::Paragraph);
            self.selects -= usize::from(open.role == Role::Select);
        }
    }

    pub(super) fn current(&self) -> &Open {
        self.open
            .last()
            .expect("`html` and `body` are never popped")
    }
}
