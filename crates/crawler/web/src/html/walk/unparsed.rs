//! The part of a walk without a tree: the rest of a page whose tree is incomplete, and markup that
//! is text in the page.
//!
//! Tags come from a stream, and the same code reads their elements as for the tree.

use std::borrow::Cow;

use super::Walk;
use super::for_scripts::{is_linked_data, is_run};
use crate::html::character_references::{self, TextContext};
use crate::html::css::CssContext;
use crate::html::elements::ends_line;
use crate::html::link::LinkKind;
use crate::html::link_attributes::{Namespace, TransientTag};
use crate::html::rest_contexts::{NewReferences, RestContexts};
use crate::html::scanner::Tag;
use crate::html::tag_stream::{StreamPiece, TagName, TagStream};
use crate::html::tree::UnparsedRest;
use crate::html::work_budget;

/// Markup that is text in the page.
pub(super) struct Nested<'p> {
    markup: Cow<'p, str>,
    /// Its nesting level.
    level: u8,
}

/// Maximum nesting of pages in pages.
const DEEPEST: u8 = 3;

impl<'p> Walk<'p> {
    /// Adds markup whose links [`Walk::read_nested`] reads.
    pub(crate) fn inner(&mut self, markup: String) {
        self.nest(Cow::Owned(markup), 0);
    }

    /// Reads text and links of the rest of a page whose tree is incomplete.
    pub(crate) fn rest(&mut self, text: &'p str, rest: &UnparsedRest) {
        self.lines.end_line();
        if self.limits.link_context && self.rest_contexts.is_none() {
            self.rest_contexts = Some(RestContexts::new(&self.lines, self.limits));
        }
        let mut stream = TagStream::new(text, rest.at, rest.inside.as_deref(), self.budget);
        let mut in_style = false;
        while let Some(piece) = stream.next_within(&mut self.budget) {
            let was_in_style = std::mem::take(&mut in_style);
            match piece {
                StreamPiece::Text(text, _) if was_in_style => self.style(text, CssContext::Sheet),
                StreamPiece::Text(text, true) if !self.lines.is_full() => {
                    let text = self.lines.wanted(text);
                    let text = character_references::resolve(text, TextContext::Content);
                    self.lines.push(&text, 0, false);
                    if let Some(contexts) = &mut self.rest_contexts {
                        contexts.text(&text);
                    }
                }
                StreamPiece::Start(tag, name, space, is_visible) => {
                    in_style = is_style_of_drawing(name, space);
                    self.style_of(&tag);
                    if space == Namespace::Html {
                        self.kept_for_scripts(name.as_str(), &tag);
                    }
                    if is_visible && ends_line(name.as_str()) {
                        self.lines.end_line();
                    }
                    let first = self.references.found.len();
                    let anchored = self.read_element(name.as_str(), space, &tag, 0);
                    if let Some(contexts) = &mut self.rest_contexts {
                        let new = NewReferences { first, anchored };
                        contexts.start((&tag, name, space), new, is_visible, &mut self.references);
                    }
                }
                StreamPiece::Inert(tag, name) => self.link_for_scripts(name.as_str(), &tag),
                StreamPiece::Raw(tag, name, content) => {
                    self.kept_for_scripts(name.as_str(), &tag);
                    self.raw(&tag, name, content, 0, Cow::Borrowed);
                    let first = self.references.found.len();
                    self.read_element(name.as_str(), Namespace::Html, &tag, 0);
                    if let Some(contexts) = &mut self.rest_contexts {
                        contexts.place(name, first, &self.references);
                    }
                }
                StreamPiece::End(name, true) => {
                    if ends_line(name.as_str()) {
                        self.lines.end_line();
                    }
                    if let Some(contexts) = &mut self.rest_contexts {
                        contexts.end(name, &mut self.references);
                    }
                }
                StreamPiece::Text(..) | StreamPiece::End(..) => {}
            }
        }
        if let Some(contexts) = &mut self.rest_contexts {
            contexts.close(&mut self.references);
        }
    }

    /// Reads the links of nested markup.
    pub(crate) fn read_nested(&mut self) {
        let mut next = 0;
        while let Some(nested) = self.nested.get_mut(next) {
            let (markup, level) = (std::mem::take(&mut nested.markup), nested.level + 1);
            let mut stream = TagStream::new(&markup, 0, None, self.budget);
            let mut in_style = false;
            while let Some(piece) = stream.next_within(&mut self.budget) {
                let was_in_style = std::mem::take(&mut in_style);
                match piece {
                    StreamPiece::Start(tag, name, space, _) => {
                        in_style = is_style_of_drawing(name, space);
                        self.style_of(&tag);
                        if space == Namespace::Html {
                            self.kept_for_scripts(name.as_str(), &TransientTag(&tag));
                        }
                        self.read_element(name.as_str(), space, &TransientTag(&tag), level);
                    }
                    StreamPiece::Inert(tag, name) => {
                        self.link_for_scripts(name.as_str(), &TransientTag(&tag));
                    }
                    StreamPiece::Raw(tag, name, content) => {
                        self.kept_for_scripts(name.as_str(), &TransientTag(&tag));
                        self.raw(&tag, name, content, level, |content| {
                            Cow::Owned(content.to_owned())
                        });
                        self.read_element(
                            name.as_str(),
                            Namespace::Html,
                            &TransientTag(&tag),
                            level,
                        );
                    }
                    StreamPiece::Text(text, _) if was_in_style => {
                        self.style(text, CssContext::Sheet);
                    }
                    StreamPiece::Text(..) | StreamPiece::End(..) => {}
                }
            }
            next += 1;
        }
    }

    fn raw<'t>(
        &mut self,
        tag: &Tag<'_>,
        name: TagName,
        content: &'t str,
        level: u8,
        keep: impl Fn(&'t str) -> Cow<'p, str>,
    ) {
        match name.as_str() {
            "script" => {
                self.has_script |= level == 0 && is_run(tag, content);
                self.script(content, is_linked_data(tag.value("type").as_deref()));
            }
            "style" => self.style(content, CssContext::Sheet),
            "noscript" | "noframes" | "noembed" => self.nest(keep(content), level),
            _ => {}
        }
    }

    pub(super) fn nest(&mut self, markup: Cow<'p, str>, level: u8) {
        if level < DEEPEST
            && markup.contains('<')
            && self.budget.take(work_budget::of_page(&markup))
        {
            self.nested.push(Nested { markup, level });
        }
    }

    fn style_of(&mut self, tag: &Tag<'_>) {
        if self.references.kinds.has(LinkKind::Requisite)
            && let Some(style) = tag.value("style")
        {
            self.style(&style, CssContext::Attribute);
        }
    }
}

/// Recognises `<style>` in SVG. Without a tree, this is an ordinary element, followed by its text.
fn is_style_of_drawing(name: TagName, space: Namespace) -> bool {
    space == Namespace::Svg && name.as_str() == "style"
}
