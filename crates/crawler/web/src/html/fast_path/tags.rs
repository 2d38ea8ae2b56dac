//! The effect of tags on the open elements (HTML standard, sections 13.2.6.4.7 to 13.2.6.4.15).

use html5ever::{LocalName, QualName, local_name, ns};
use scraper::Node;
use scraper::node::Element;

use super::role::Role;
use super::{Open, Reader, name_of};
use crate::html::names::names;
use crate::html::scanner::Tag;

/// Attributes of SVG elements that are used or may become useful; attributes of shapes are not.
pub(super) const SVG_ATTRIBUTES: [&str; 8] = [
    "class",
    "href",
    "id",
    "rel",
    "role",
    "src",
    "style",
    "xlink:href",
];

impl<'t> Reader<'t> {
    pub(super) fn start(&mut self, tag: &Tag<'t>) -> Option<()> {
        let name = name_of(tag);
        match self.current().role {
            Role::Drawing => return self.drawing(name, tag),
            Role::Words => return None,
            _ => {}
        }
        let role = Role::of(&name);
        if self.selects > 0 && role != Role::Choice {
            return None;
        }
        if self.current().role.is_part_of_table() {
            return self.part_of_table(name, role, tag);
        }
        match role {
            Role::Void => return self.void(&name, tag),
            Role::Drawing => return self.drawing(name, tag),
            Role::Raw | Role::Text => return self.raw(&name, tag),
            Role::Rule => {
                self.end_paragraph()?;
                return self.void(&name, tag);
            }
            Role::Formatting => {
                // A link inside a link ends the outer link.
                let is_link = |open: &Open| open.name == local_name!("a");
                if name == local_name!("a") && self.formatting > 0 && self.open.iter().any(is_link)
                {
                    return None;
                }
            }
            Role::Ordinary => {}
            Role::Block | Role::Preformatted | Role::Paragraph | Role::Table => {
                self.end_paragraph()?;
            }
            Role::Heading => {
                self.end_paragraph()?;
                if self.current().role == Role::Heading {
                    return None;
                }
            }
            Role::Item => {
                self.end_item(&name)?;
                self.end_paragraph()?;
            }
            Role::Form => {
                if self.form.is_some() {
                    return None;
                }
                self.end_paragraph()?;
            }
            Role::Button => {
                if self.open.iter().any(|open| open.role == Role::Button) {
                    return None;
                }
            }
            Role::Select => {}
            Role::Choice => {
                if self.current().name == local_name!("option") {
                    self.pop();
                }
                let is_group = name == local_name!("optgroup");
                if is_group && self.current().name == local_name!("optgroup") {
                    self.pop();
                }
                let around = &self.current().name;
                let is_in_place = *around == local_name!("select")
                    || !is_group && *around == local_name!("optgroup");
                if !is_in_place {
                    return None;
                }
            }
            Role::Row | Role::Cell | Role::Rows => {
                self.end_implied(None);
                if self.current().role != Role::Cell {
                    return None;
                }
                self.pop();
                return self.part_of_table(name, role, tag);
            }
            Role::Caption | Role::Columns | Role::Column | Role::Words | Role::Unsupported => {
                return None;
            }
        }
        let id = self.element(self.current().id, &name, tag)?;
        self.at_start = role == Role::Preformatted;
        if role == Role::Form {
            self.form = Some(id);
        }
        self.push(id, name, role)
    }

    /// Adds a drawing or a part of one.
    fn drawing(&mut self, name: LocalName, tag: &Tag<'t>) -> Option<()> {
        let role = Role::in_drawing(&name);
        if role == Role::Unsupported {
            return None;
        }
        let mut attributes = Vec::new();
        for (name, value) in tag.attributes() {
            let Some(asked) = SVG_ATTRIBUTES
                .iter()
                .find(|asked| asked.eq_ignore_ascii_case(name))
            else {
                continue;
            };
            let name = match *asked {
                "xlink:href" => {
                    QualName::new(Some("xlink".into()), ns!(xlink), local_name!("href"))
                }
                asked => QualName::new(None, ns!(), asked.into()),
            };
            self.attribute(&mut attributes, name, value);
        }
        let element = Element::new(QualName::new(None, ns!(svg), name.clone()), attributes);
        let id = self.append(self.current().id, Node::Element(element))?;
        if tag.closes_itself {
            return Some(());
        }
        self.push(id, name, role)
    }

    /// Adds a part of a table: an element directly in a table, its row groups or a row.
    fn part_of_table(&mut self, name: LocalName, role: Role, tag: &Tag<'t>) -> Option<()> {
        if matches!(name, names!["script" "style"]) {
            return self.raw(&name, tag);
        }
        let around = match role {
            Role::Caption | Role::Columns | Role::Rows => Role::Table,
            Role::Column => Role::Columns,
            Role::Row => Role::Rows,
            Role::Cell => Role::Row,
            _ => return None,
        };
        // Elements with implied ends end here.
        if role == Role::Row && self.current().role == Role::Row {
            self.pop();
        }
        if role == Role::Rows {
            if self.current().role == Role::Row {
                self.pop();
            }
            if self.current().role == Role::Rows {
                self.pop();
            }
        }
        // Elements with implied starts begin here.
        if matches!(role, Role::Row | Role::Cell) && self.current().role == Role::Table {
            self.imply(local_name!("tbody"), Role::Rows)?;
        }
        if role == Role::Cell && self.current().role == Role::Rows {
            self.imply(local_name!("tr"), Role::Row)?;
        }
        if self.current().role != around {
            return None;
        }
        if role == Role::Column {
            return self.void(&name, tag);
        }
        let id = self.element(self.current().id, &name, tag)?;
        self.push(id, name, role)
    }

    fn imply(&mut self, name: LocalName, role: Role) -> Option<()> {
        let element = Element::new(QualName::new(None, ns!(html), name.clone()), Vec::new());
        let id = self.append(self.current().id, Node::Element(element))?;
        self.push(id, name, role)
    }

    pub(super) fn end(&mut self, name: &LocalName) -> Option<()> {
        let role = match self.current().role {
            of_drawing @ (Role::Drawing | Role::Words) => of_drawing,
            _ => Role::of(name),
        };
        match role {
            Role::Drawing | Role::Words => {}
            Role::Formatting | Role::Ordinary | Role::Columns | Role::Choice => {}
            Role::Paragraph | Role::Item => self.end_implied(Some(name)),
            Role::Block
            | Role::Preformatted
            | Role::Heading
            | Role::Button
            | Role::Select
            | Role::Caption
            | Role::Cell => self.end_implied(None),
            Role::Form => {
                self.end_implied(None);
                if self.form.take() != Some(self.current().id) {
                    return None;
                }
            }
            Role::Row | Role::Rows | Role::Table => self.end_inside_table(role),
            Role::Void | Role::Rule | Role::Raw | Role::Text | Role::Column | Role::Unsupported => {
                return None;
            }
        }
        if self.current().name != *name {
            return None;
        }
        self.pop();
        Some(())
    }

    /// Ends the elements with implied ends inside a row, a row group or a table that is ending.
    fn end_inside_table(&mut self, ends: Role) {
        if !self.current().role.is_part_of_table() {
            self.end_implied(None);
            if self.current().role != Role::Cell {
                return;
            }
            self.pop();
        }
        if matches!(ends, Role::Rows | Role::Table) && self.current().role == Role::Row {
            self.pop();
        }
        if ends == Role::Table && self.current().role == Role::Rows {
            self.pop();
        }
    }

    /// Ends the innermost elements with implied ends, but stops at an element named `except`.
    fn end_implied(&mut self, except: Option<&LocalName>) {
        while self.current().role.has_implied_end() && Some(&self.current().name) != except {
            self.pop();
        }
    }

    /// Ends an open paragraph, as a block does.
    fn end_paragraph(&mut self) -> Option<()> {
        if self.paragraphs == 0 {
            return Some(());
        }
        if self.current().role == Role::Paragraph {
            self.pop();
            return Some(());
        }
        for open in self.open.iter().rev() {
            match open.role {
                Role::Paragraph => return None,
                role if role.bounds_paragraphs() => break,
                _ => {}
            }
        }
        Some(())
    }

    /// Ends the previous item.
    fn end_item(&mut self, name: &LocalName) -> Option<()> {
        let is_list = *name == local_name!("li");
        for at in (0..self.open.len()).rev() {
            let open = &self.open[at];
            if open.role == Role::Item && is_list == (open.name == local_name!("li")) {
                let name = open.name.clone();
                self.end_implied(Some(&name));
                if self.open.len() != at + 1 {
                    return None;
                }
                self.pop();
                return Some(());
            }
            if open.role.bounds_items(&open.name) {
                break;
            }
        }
        Some(())
    }
}
