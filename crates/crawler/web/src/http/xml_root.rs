//! The root element of an XML document, which distinguishes pages, drawings and feeds from data.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::sitemap::utf_16;

/// Maximum bytes of a document to search for the root.
const HEAD: usize = 16 << 10;

/// Maximum number of attributes examined in a root; more are an attack.
const ATTRIBUTES: usize = 64;

/// A root element with a meaning for readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum XmlRoot {
    /// `html` in the namespace of XHTML.
    Page,
    /// `svg` in the namespace of SVG.
    Drawing,
    /// `rss`, which has no namespace.
    Rss,
    /// `feed` in the namespace of Atom (RFC 4287).
    Atom,
}

impl XmlRoot {
    /// Returns the root of a document; `None` for any other root, and if the body is not XML.
    pub(crate) fn of(body: &[u8]) -> Option<Self> {
        let head = &body[..body.len().min(HEAD)];
        let text = match utf_16(head) {
            Some(encoding) => encoding.decode_with_bom_removal(head).0,
            None => String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head)),
        };
        let mut reader = Reader::from_str(text.trim_start());
        loop {
            match reader.read_event().ok()? {
                Event::Start(tag) | Event::Empty(tag) => return Self::of_tag(&tag),
                Event::Text(text) if !text.trim().is_empty() => return None,
                Event::Eof | Event::End(_) | Event::CData(_) | Event::GeneralRef(_) => return None,
                _prolog => {}
            }
        }
    }

    fn of_tag(tag: &BytesStart<'_>) -> Option<Self> {
        if tag.name().0 == "rss" {
            return Some(Self::Rss);
        }
        match (tag.name().0, &*namespace(tag)?) {
            ("feed", "http://www.w3.org/2005/Atom") => Some(Self::Atom),
            ("html", "http://www.w3.org/1999/xhtml") => Some(Self::Page),
            ("svg", "http://www.w3.org/2000/svg") => Some(Self::Drawing),
            _ => None,
        }
    }
}

/// Returns the default namespace that a tag declares.
fn namespace<'t>(tag: &'t BytesStart<'_>) -> Option<Cow<'t, str>> {
    let mut attributes = tag.attributes();
    // The check for repeated names takes quadratic time.
    attributes.with_checks(false);
    let mut attributes = attributes.take(ATTRIBUTES).filter_map(Result::ok);
    attributes
        .find(|attribute| attribute.key.0 == "xmlns")
        .map(|attribute| attribute.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_known_by_its_name_and_namespace() {
        let page = "<html xmlns='http://www.w3.org/1999/xhtml'>";
        let prolog =
            "\n<?xml version='1.0'?><!-- <x> --><!DOCTYPE html PUBLIC '-' '' [<!ENTITY a 'b'>]>";
        let utf_16: Vec<u8> = "\u{feff}"
            .encode_utf16()
            .chain(page.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        for (body, root) in [
            (page.as_bytes(), Some(XmlRoot::Page)),
            (
                format!("\u{feff}{prolog}\n{page}").as_bytes(),
                Some(XmlRoot::Page),
            ),
            (&utf_16, Some(XmlRoot::Page)),
            (
                b"<svg xmlns='http://www.w3.org/2000/svg'/>",
                Some(XmlRoot::Drawing),
            ),
            (b"<html>", None),
            (b"<HTML xmlns='http://www.w3.org/1999/xhtml'>", None),
            (b"<html xmlns='http://www.w3.org/2000/svg'>", None),
            (
                b"<rss><html xmlns='http://www.w3.org/1999/xhtml'/></rss>",
                Some(XmlRoot::Rss),
            ),
            (
                b"<feed xmlns='http://www.w3.org/2005/Atom'/>",
                Some(XmlRoot::Atom),
            ),
            (b"<feed/>", None),
            (b"words <html xmlns='http://www.w3.org/1999/xhtml'>", None),
            (b"", None),
        ] {
            assert_eq!(XmlRoot::of(body), root, "{}", String::from_utf8_lossy(body));
        }
    }
}
