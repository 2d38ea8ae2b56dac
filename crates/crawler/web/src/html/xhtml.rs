//! XHTML as HTML: rewrites an XML page so that an HTML parser understands it in the same way.
//!
//! In XML any element may close itself, and an HTML parser ignores that: `<script/>` and `<title/>`
//! would swallow the rest of the page. So such a tag gets an end tag. A CDATA section, which is a
//! comment in HTML, becomes text, and the declarations of a document type are skipped. Malformed
//! pages, which browsers reject, are read like HTML.
//!
//! Not rewritten: prefixes of names, and markup inside `script` and `style`, which is text in HTML.
//! Source: XML 1.0 (sections 2.7 and 3.1), HTML standard (section 14.2).

use std::borrow::Cow;

use crate::html::scanner::{Scanner, Tag, Token};
use crate::html::work_budget::{self, WorkBudget};

/// Returns a page as HTML, within the budget; the rest remains unchanged.
pub(crate) fn as_html<'t>(text: &'t str, budget: &mut WorkBudget) -> Cow<'t, str> {
    let mut rewriting = Rewriting {
        text,
        html: String::new(),
        copied: 0,
    };
    let mut scanner = Scanner::new(text, 0);
    // A CDATA section is a token at any place.
    scanner.foreign = true;
    while !budget.is_spent() {
        let before = scanner.at();
        let Some(token) = scanner.next() else { break };
        let at = scanner.at();
        budget.take(match token {
            Token::Text(text) => 1 + work_budget::of_text(text),
            _ => work_budget::of_markup(scanner.since(before)),
        });
        match token {
            Token::Start(tag) if !tag.is_whole => break,
            Token::Start(tag) if tag.closes_itself && !is_void(&tag) => {
                rewriting.replace(at - "/>".len(), at, &["></", tag.name, ">"]);
            }
            Token::Start(tag) if tag.closes_itself => {}
            Token::Start(tag) if tag.is(&["script"]) => _ = scanner.script(),
            Token::Start(tag) if tag.is(&["style"]) => _ = scanner.raw(tag.name),
            Token::Markup(markup) => {
                if let Some(section) = markup.strip_prefix("<![CDATA[") {
                    let text = section.strip_suffix("]]>").unwrap_or(section);
                    if !budget.take(text.len()) {
                        break;
                    }
                    let text = text.replace('&', "&amp;").replace('<', "&lt;");
                    rewriting.replace(before, at, &[&text]);
                } else if let Some(end) = end_of_declarations(markup, &text[at..]) {
                    rewriting.replace(before, at + end, &[]);
                    scanner = Scanner::new(text, at + end);
                    scanner.foreign = true;
                }
            }
            Token::Start(_) | Token::End(_) | Token::Text(_) => {}
        }
    }
    rewriting.end()
}

/// A text with replaced parts.
struct Rewriting<'t> {
    text: &'t str,
    html: String,
    /// End of the text that is copied or replaced so far.
    copied: usize,
}

impl<'t> Rewriting<'t> {
    fn replace(&mut self, start: usize, end: usize, by: &[&str]) {
        self.html.push_str(&self.text[self.copied..start]);
        self.html.extend(by.iter().copied());
        self.copied = end;
    }

    fn end(mut self) -> Cow<'t, str> {
        if self.copied == 0 {
            return Cow::Borrowed(self.text);
        }
        self.html.push_str(&self.text[self.copied..]);
        Cow::Owned(self.html)
    }
}

/// Returns true for elements without an end tag in HTML, which would treat an end tag as a second
/// element or ignore it.
fn is_void(tag: &Tag<'_>) -> bool {
    tag.is(&[
        "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img",
        "input", "keygen", "link", "meta", "param", "source", "track", "wbr",
    ])
}

/// Returns the length of the rest of a document type with declarations (`[…]>`), after the part up
/// to the first `>`, which the scanner has read.
fn end_of_declarations(markup: &str, rest: &str) -> Option<usize> {
    let is_type = markup.get(..9)?.eq_ignore_ascii_case("<!doctype");
    if !is_type || !markup.contains('[') || markup.contains(']') {
        return None;
    }
    let closed = rest.find(']')? + 1;
    Some(closed + rest[closed..].find('>')? + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_close_themselves_are_empty_and_the_page_follows() {
        for (xhtml, html) in [
            ("<p>a</p>", "<p>a</p>"),
            ("<br/><img src='a'/>", "<br/><img src='a'/>"),
            ("<script src='/a'/>b", "<script src='/a'></script>b"),
            (
                "<title/><a name=\"b\" />c",
                "<title></title><a name=\"b\" ></a>c",
            ),
            (
                "<script>'<i/>'</script><i/>",
                "<script>'<i/>'</script><i></i>",
            ),
            (
                "<style><![CDATA[a>b]]></style>",
                "<style><![CDATA[a>b]]></style>",
            ),
            ("<p><![CDATA[a<b&c>]]></p>", "<p>a&lt;b&amp;c></p>"),
            ("<svg><path/></svg>", "<svg><path></path></svg>"),
            ("<!-- <a/> --><a/>", "<!-- <a/> --><a></a>"),
            (
                "<!DOCTYPE html [<!ENTITY a '<b/>'>\n<!ENTITY c 'd'>]><p/>",
                "<p></p>",
            ),
            ("<!DOCTYPE html><p/>", "<!DOCTYPE html><p></p>"),
            ("<p/><a/", "<p></p><a/"),
            ("<![CDATA[a", "a"),
        ] {
            let mut budget = WorkBudget::new(1_000);
            assert_eq!(as_html(xhtml, &mut budget), html, "{xhtml}");
        }
    }

    #[test]
    fn a_page_beyond_the_budget_keeps_its_rest() {
        let page = "<i/>".repeat(100);
        let mut budget = WorkBudget::new(50);
        let html = as_html(&page, &mut budget);
        assert!(
            html.starts_with("<i></i>") && html.ends_with("<i/>"),
            "{html}"
        );
    }
}
