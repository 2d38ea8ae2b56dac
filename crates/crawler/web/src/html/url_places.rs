//! The places of URLs in attribute values and style sheets, for programs that replace them, and the
//! text of a page or a style sheet without the caps of reading.
//!
//! The crawl finds links with the same syntax, so exactly the found links are replaced.

use std::borrow::Cow;
use std::ops::Range;

use crate::html::character_references::{TextContext, resolve};
use crate::html::css::{self, CssContext};
use crate::html::work_budget::WorkBudget;
use crate::html::{charset, refresh, srcset};

/// A URL in CSS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CssUrl {
    /// Token of the URL: a string with its quotation marks, or all of `url(…)` without quotation
    /// marks.
    pub place: Range<usize>,
    /// The URL, unescaped.
    pub url: String,
}

/// Returns the value of an attribute with its character references resolved (HTML standard, section
/// 13.2.5.72).
#[must_use]
pub fn attribute_value(raw: &str) -> Cow<'_, str> {
    resolve(raw, TextContext::Attribute)
}

/// Returns the places of the URLs in a `srcset` attribute, in document order.
pub fn srcset_urls(srcset: &str) -> impl Iterator<Item = Range<usize>> {
    srcset::candidates(srcset).map(|url| place_in(srcset, url))
}

/// Returns the place of the URL in the `content` of `<meta http-equiv=refresh>`.
#[must_use]
pub fn refresh_url(content: &str) -> Option<Range<usize>> {
    refresh::target(content).map(|url| place_in(content, url))
}

/// Returns the URLs that a browser requests for a style sheet, in document order. With
/// `is_attribute`, reads a `style` attribute, which imports nothing. Very deeply nested blocks are
/// not read.
#[must_use]
pub fn css_urls(css: &str, is_attribute: bool) -> Vec<CssUrl> {
    let context = match is_attribute {
        true => CssContext::Attribute,
        false => CssContext::Sheet,
    };
    let mut urls = Vec::new();
    // Each token takes at most as many steps as it has bytes.
    let mut budget = WorkBudget::new(css.len().saturating_add(1));
    css::each_place(css, context, &mut budget, |url, place| {
        let url = url.to_owned();
        urls.push(CssUrl { place, url });
    });
    urls
}

/// Returns the text of a page, decoded like in a crawl. `tld` is the last label of its host, which
/// improves a guess.
#[must_use]
pub fn page_text<'b>(
    body: &'b [u8],
    content_type: Option<&str>,
    tld: Option<&str>,
) -> Cow<'b, str> {
    let (encoding, mark) = charset::encoding_of(body, content_type, tld);
    encoding.decode_without_bom_handling(&body[mark..]).0
}

/// Returns the last label of the host of a URL, for [`page_text`].
#[must_use]
pub fn tld(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("//")?;
    let host = rest.split(['/', ':', '?']).next()?;
    host.rsplit('.').next()
}

/// Returns the text of a style sheet (CSS Syntax Module Level 3, section 3.2).
#[must_use]
pub fn sheet_text<'b>(body: &'b [u8], content_type: Option<&str>) -> Cow<'b, str> {
    let (encoding, mark) = charset::sheet_encoding(body, content_type);
    encoding.decode_without_bom_handling(&body[mark..]).0
}

/// Returns the place of `part`, a slice of `whole`.
pub(crate) fn place_in(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_urls() {
        let srcset = " a.png 1x, b.png?c,d 2x ";
        let urls: Vec<&str> = srcset_urls(srcset).map(|place| &srcset[place]).collect();
        assert_eq!(urls, ["a.png", "b.png?c,d"]);
        let content = "5; URL='/next'";
        assert_eq!(&content[refresh_url(content).unwrap()], "/next");
        assert_eq!(refresh_url("5"), None);
        let css = "@import 'a';b{c:url( d.png );e:url(\"f\") , image-set('g' 1x)}";
        let found: Vec<(&str, String)> = css_urls(css, false)
            .into_iter()
            .map(|found| (&css[found.place], found.url))
            .collect();
        let expected = [
            ("'a'", "a"),
            ("url( d.png )", "d.png"),
            ("\"f\"", "f"),
            ("'g'", "g"),
        ];
        assert_eq!(found, expected.map(|(place, url)| (place, url.to_owned())));
        assert!(css_urls("@import 'a'", true).is_empty());
        assert_eq!(attribute_value("?a&amp;b&copy=1"), "?a&b&copy=1");
    }

    #[test]
    fn the_text_of_a_long_page_is_not_cut() {
        let body = [&b"\xe9"[..], &b"a".repeat(9 << 20)].concat();
        let text = page_text(&body, Some("text/html; charset=iso-8859-1"), None);
        assert_eq!(text.len(), 2 + (9 << 20));
        assert_eq!(
            sheet_text(b"@charset \"iso-8859-1\";\xe9", None),
            "@charset \"iso-8859-1\";é"
        );
    }
}
