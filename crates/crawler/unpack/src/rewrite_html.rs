//! The links of pages.
//!
//! lol_html copies everything but the changed attributes verbatim. Its text is UTF-8 here: many
//! pages declare their charset only in the response header, which a file does not have.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use lol_html::errors::RewritingError;
use lol_html::html_content::{ContentType, Element};
use lol_html::{RewriteStrSettings, element, rewrite_str, text};
use url::Url;
use web::{
    LazyValue, UrlForm, attribute_value, is_preview, lazy_value, refresh_url, srcset_urls,
    url_attributes,
};

use crate::conversion::{Conversion, Rewritten};
use crate::rewrite_css;

/// Attributes that can keep a browser from loading a local file.
const GUARDS: [&str; 2] = ["crossorigin", "integrity"];

/// A page that cannot be rewritten, because its markup exceeds the limits of the rewriter.
#[derive(Debug, thiserror::Error)]
#[error("the page cannot be rewritten")]
pub struct UnreadableHtml(#[source] pub(crate) RewritingError);

/// Converts the links of a page at `url`. `file_of` returns the link to the file of a URL, and
/// receives URLs without a fragment. `<base>` is removed, as relative links no longer depend on it;
/// so are guards (`integrity`, `crossorigin`, Content-Security-Policy) that no local file
/// satisfies.
///
/// # Errors
/// [`UnreadableHtml`] if the markup cannot be rewritten.
pub fn rewrite_html(
    html: &str,
    url: &str,
    file_of: &dyn Fn(&str) -> Option<String>,
) -> Result<Rewritten, UnreadableHtml> {
    let Ok(url) = Url::parse(url) else {
        return Ok(Rewritten {
            text: html.to_owned(),
            links: Default::default(),
        });
    };
    let mut conversion = Conversion::new(&url, file_of);
    if let Some(base) = base_of(html)? {
        conversion.set_base(&base);
    }
    let conversion = RefCell::new(conversion);
    let sheet = RefCell::new(String::new());
    let settings = RewriteStrSettings::new()
        .with_strict(false)
        .append_element_content_handler(element!("*", |element| {
            rewrite(element, &mut conversion.borrow_mut());
            Ok(())
        }))
        .append_element_content_handler(text!("style", |chunk| {
            let mut sheet = sheet.borrow_mut();
            sheet.push_str(chunk.as_str());
            if chunk.last_in_text_node() {
                let text = rewrite_css::convert(&sheet, false, &mut conversion.borrow_mut());
                chunk.replace(&text, ContentType::Html);
                sheet.clear();
            } else {
                chunk.remove();
            }
            Ok(())
        }));
    let text = rewrite_str(html, settings).map_err(UnreadableHtml)?;
    Ok(Rewritten {
        text,
        links: conversion.into_inner().links,
    })
}

/// Returns the `href` of the first `<base>` that has an `href`; it applies to the whole page.
fn base_of(html: &str) -> Result<Option<String>, UnreadableHtml> {
    let has_base = html
        .as_bytes()
        .windows(5)
        .any(|window| window.eq_ignore_ascii_case(b"<base"));
    if !has_base {
        return Ok(None);
    }
    let mut base = None;
    let settings = RewriteStrSettings::new()
        .with_strict(false)
        .append_element_content_handler(element!("base[href]", |element| {
            if base.is_none() {
                base = value(element, "href");
            }
            Ok(())
        }));
    rewrite_str(html, settings).map_err(UnreadableHtml)?;
    Ok(base)
}

pub(crate) fn value(element: &Element<'_, '_>, name: &str) -> Option<String> {
    let raw = element.get_attribute(name)?;
    Some(attribute_value(&raw).into_owned())
}

fn set(element: &mut Element<'_, '_>, name: &str, value: &str) {
    // The rewriter escapes quotation marks; we must escape the ampersand.
    let escaped = value.replace('&', "&amp;");
    let set = element.set_attribute(name, &escaped);
    debug_assert!(set.is_ok(), "the element had this attribute");
}

fn rewrite(element: &mut Element<'_, '_>, conversion: &mut Conversion<'_>) {
    match element.tag_name().as_str() {
        "base" if element.has_attribute("href") => {
            // Its `target` stays.
            element.remove_attribute("href");
            return;
        }
        "meta" => meta(element, conversion),
        _ => {}
    }
    let names: Vec<String> = element
        .attributes()
        .iter()
        .map(|found| found.name())
        .collect();
    let is_here = |name: &str| names.iter().any(|here| here == name);
    for (name, form) in url_attributes().iter().filter(|(name, _)| is_here(name)) {
        let Some(found) = value(element, name) else {
            continue;
        };
        match form {
            UrlForm::Url => link(element, name, &found, conversion),
            UrlForm::Candidates => {
                let converted = converted_in(&found, srcset_urls(&found), conversion);
                set(element, name, &converted.text);
            }
            UrlForm::Lazy => lazy(element, name, &found, conversion),
        }
    }
    if let Some(style) = value(element, "style") {
        let converted = rewrite_css::convert(&style, true, conversion);
        if converted != style {
            set(element, "style", &converted);
        }
    }
}

/// Converts the links in an attribute of a lazy loader.
fn lazy(element: &mut Element<'_, '_>, name: &str, value: &str, conversion: &mut Conversion<'_>) {
    let text = match lazy_value(name, value) {
        LazyValue::Css => rewrite_css::convert(value, true, conversion),
        LazyValue::Places(places) => {
            let converted = converted_in(value, places.into_iter(), conversion);
            if converted.has_inward {
                remove_guards(element);
            }
            converted.text
        }
    };
    if text != value {
        set(element, name, &text);
    }
}

/// Converts the link in an attribute.
fn link(element: &mut Element<'_, '_>, name: &str, link: &str, conversion: &mut Conversion<'_>) {
    let Some(converted) = conversion.convert(link) else {
        return;
    };
    set(element, name, &converted.link);
    if converted.is_inward {
        remove_guards(element);
    }
}

fn remove_guards(element: &mut Element<'_, '_>) {
    for guard in GUARDS {
        element.remove_attribute(guard);
    }
}

/// Rewrites a `<meta>`: the charset, a picture for previews, a redirect, a policy.
fn meta(element: &mut Element<'_, '_>, conversion: &mut Conversion<'_>) {
    if element.has_attribute("charset") {
        set(element, "charset", "utf-8");
    }
    let content = value(element, "content").unwrap_or_default();
    if is_preview(|name| value(element, name).map(Cow::Owned), &content) {
        link(element, "content", &content, conversion);
    }
    match value(element, "http-equiv").map(|name| name.trim().to_ascii_lowercase()) {
        Some(name) if name == "content-type" => {
            set(element, "content", "text/html; charset=utf-8");
        }
        Some(name) if name == "content-security-policy" => element.remove(),
        Some(name) if name == "refresh" => {
            let Some(place) = refresh_url(&content) else {
                return;
            };
            if let Some(converted) = conversion.convert(&content[place]) {
                let seconds = content.trim_start().split([';', ',', ' ']).next();
                let link = converted.link.replace('\'', "%27");
                let content = format!("{}; url='{link}'", seconds.unwrap_or("0"));
                set(element, "content", &content);
            }
        }
        _ => {}
    }
}

/// A value with converted links.
struct ConvertedValue {
    text: String,
    /// True if a link points to a file.
    has_inward: bool,
}

/// Converts the links in these places of a value, for example of a `srcset`.
fn converted_in(
    value: &str,
    places: impl Iterator<Item = Range<usize>>,
    conversion: &mut Conversion<'_>,
) -> ConvertedValue {
    let mut text = String::with_capacity(value.len());
    let (mut copied, mut has_inward) = (0, false);
    for place in places {
        if let Some(converted) = conversion.convert(&value[place.clone()]) {
            text.push_str(&value[copied..place.start]);
            // A comma at the end of a URL would end the candidate.
            let link = converted.link;
            let bare = link.trim_end_matches(',');
            text.push_str(bare);
            text.push_str(&"%2C".repeat(link.len() - bare.len()));
            copied = place.end;
            has_inward |= converted.is_inward;
        }
    }
    text.push_str(&value[copied..]);
    ConvertedValue { text, has_inward }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::LinkCounts;
    use crate::crawl_links::links_of_the_crawl;

    fn file_of(url: &str) -> Option<String> {
        let path = url.strip_prefix("http://s.test/")?;
        path.starts_with("in").then(|| format!("../{path}"))
    }

    fn rewritten(html: &str) -> Rewritten {
        rewrite_html(html, "http://s.test/dir/page", &file_of).unwrap()
    }

    #[test]
    fn links_lead_to_files_or_to_the_web() {
        for (html, expected) in [
            ("<a href='/in'>x</a>", "<a href=\"../in\">x</a>"),
            ("<A HREF=/in#top>x</A>", "<A HREF=\"../in#top\">x</A>"),
            (
                "<a href=out?a&amp;b>",
                "<a href=\"http://s.test/dir/out?a&amp;b\">",
            ),
            ("<a href=\"#top\">", "<a href=\"#top\">"),
            ("<a href=mailto:a@b.test>", "<a href=mailto:a@b.test>"),
            (
                "<a href='javascript:a(\"/in\")'>",
                "<a href='javascript:a(\"/in\")'>",
            ),
            (
                "<img src=/in.png srcset='/in2.png 2x, out,,.png 3x'>",
                "<img src=\"../in.png\" srcset=\"../in2.png 2x, http://s.test/dir/out,,.png 3x\">",
            ),
            ("<video poster=/in.png>", "<video poster=\"../in.png\">"),
            (
                "<p style='background:url(/in.png)'>",
                "<p style=\"background:url(&quot;../in.png&quot;)\">",
            ),
            (
                "<style>@import '/in.css';a{b:url(out.png)}</style>",
                "<style>@import \"../in.css\";a{b:url(\"http://s.test/dir/out.png\")}</style>",
            ),
            (
                "<meta http-equiv=Refresh content='5;URL=/in'>",
                "<meta http-equiv=Refresh content=\"5; url='../in'\">",
            ),
            (
                "<svg><use xlink:href='/in.svg#i'/></svg>",
                "<svg><use xlink:href=\"../in.svg#i\" /></svg>",
            ),
            (
                "<script>if(a<b)'/in'</script>",
                "<script>if(a<b)'/in'</script>",
            ),
            ("<!-- <a href=/in> -->", "<!-- <a href=/in> -->"),
        ] {
            assert_eq!(rewritten(html).text, expected, "{html}");
        }
    }

    #[test]
    fn what_a_lazy_loader_reads_leads_to_files() {
        for (html, expected) in [
            ("<img data-src=/in.png>", "<img data-src=\"../in.png\">"),
            (
                "<img DATA-SRC=/in.png data-src=/in2.png crossorigin>",
                "<img DATA-SRC=\"../in.png\" data-src=/in2.png>",
            ),
            (
                "<p data-lazy-srcset='/in.png 1x, out.png 2x, {{a}} 3x'>",
                "<p data-lazy-srcset=\"../in.png 1x, http://s.test/dir/out.png 2x, {{a}} 3x\">",
            ),
            (
                "<p data-src='/in.png, /in2.png'>",
                "<p data-src=\"../in.png, ../in2.png\">",
            ),
            (
                "<p data-bg=\"url('/in.png')\">",
                "<p data-bg=\"url(&quot;../in.png&quot;)\">",
            ),
            (
                "<p data-bg='linear-gradient(red, rgba(0,0,0,.5)), url(/in.png)'>",
                "<p data-bg=\"linear-gradient(red, rgba(0,0,0,.5)), url(&quot;../in.png&quot;)\">",
            ),
            (
                "<p data-src='{{a.png}}' data-bg='true'>",
                "<p data-src='{{a.png}}' data-bg='true'>",
            ),
            (
                "<p data-lazy=1.5 data-other=/in.png>",
                "<p data-lazy=1.5 data-other=/in.png>",
            ),
            (
                "<meta property=og:image content=/in.png><meta name=twitter:player content=/in>",
                "<meta property=og:image content=\"../in.png\">\
                 <meta name=twitter:player content=/in>",
            ),
        ] {
            assert_eq!(rewritten(html).text, expected, "{html}");
        }
    }

    /// The crawl fetched what lazy loaders read, and the files pointed to the web.
    #[test]
    fn every_attribute_of_the_table_of_links_is_rewritten() {
        for (name, form) in url_attributes() {
            let descriptor = match form {
                UrlForm::Url | UrlForm::Lazy => "",
                UrlForm::Candidates => " 2x",
            };
            let html = format!("<p title=x {name}='/in.png{descriptor}'>");
            let expected = format!("<p title=x {name}=\"../in.png{descriptor}\">");
            let found = rewritten(&html);
            assert_eq!(found.text, expected, "{html}");
            assert_eq!(found.links.inward, 1, "{html}");
        }
    }

    /// Returns the URLs that a crawl with page requisites finds in a page.
    fn urls_of_the_crawl(html: &str) -> BTreeSet<String> {
        let links = links_of_the_crawl(html, "http://s.test/dir/page");
        let written = links.iter().filter(|link| !link.is_implied);
        written.map(|link| link.url.as_str().to_owned()).collect()
    }

    fn lazy_attributes() -> Vec<&'static str> {
        let all = url_attributes().iter();
        let lazy = all.filter(|(_, form)| *form == UrlForm::Lazy);
        lazy.map(|(name, _)| *name).collect()
    }

    /// Generates values of attributes: URLs, lists of them, CSS, templates, and data.
    fn value_of_attribute() -> impl Strategy<Value = String> {
        let url = "(/|\\./|http://o\\.test/)?[a-z]{1,3}(\\([a-z]\\)|,)?\\.jpg";
        let word = prop_oneof![
            8 => url.prop_map(|url: String| url),
            1 => prop::sample::select(vec![
                "", "true", "1.5", "#a.b", "{{a.b}}", "[[a.b]]", "red", "data:a/b,c", "2x", "/",
                "\"a.b\"", "javascript:a.b", "rgba(0,0,0,.5)", ".a", "mailto:a@b.c", "//o.test/a",
            ]).prop_map(str::to_owned),
        ];
        let around = prop::sample::select(vec![
            ("", ""),
            ("", ""),
            ("url(", ")"),
            ("url(\"", "\")"),
            ("", " 2x"),
            (" ", " "),
            ("linear-gradient(red, ", ")"),
            ("[\"", "\"]"),
            ("{\"a\": \"", "\"}"),
        ]);
        let part = (word, around).prop_map(|(word, (start, end))| format!("{start}{word}{end}"));
        let separator = prop::sample::select(vec![", ", ",", " ", ",\n"]);
        (prop::collection::vec(part, 1..4), separator).prop_map(|(parts, by)| parts.join(by))
    }

    #[test]
    fn a_base_holds_for_all_links_and_is_removed() {
        let html = "<a href=x></a><base href=/in/ target=_top><base href=/no/><a href='#f'></a>";
        let found = rewritten(html);
        assert_eq!(
            found.text,
            "<a href=\"../in/x\"></a><base target=_top><base><a href=\"../in/#f\"></a>"
        );
        assert_eq!(
            found.links,
            LinkCounts {
                inward: 2,
                outward: 0
            }
        );
    }

    #[test]
    fn what_no_local_file_satisfies_is_removed() {
        let html = "<meta http-equiv=Content-Security-Policy content=\"default-src 'self'\">\
                    <link rel=stylesheet href=/in.css integrity=sha256-x crossorigin>\
                    <link rel=stylesheet href=/out.css integrity=sha256-x>";
        assert_eq!(
            rewritten(html).text,
            "<link rel=stylesheet href=\"../in.css\">\
             <link rel=stylesheet href=\"http://s.test/out.css\" integrity=sha256-x>"
        );
    }

    #[test]
    fn a_page_declares_the_charset_in_which_it_is_written() {
        let html = "<meta charset=latin1><meta http-equiv=content-type content='text/html; \
                    charset=koi8-r'>é";
        let found = rewritten(html);
        assert_eq!(
            found.text,
            "<meta charset=\"utf-8\"><meta http-equiv=content-type content=\"text/html; \
             charset=utf-8\">é"
        );
        assert!(found.into_bytes().starts_with(b"\xef\xbb\xbf<meta"));
        assert_eq!(rewritten("<p>e").into_bytes(), b"<p>e");
    }

    proptest! {
        #[test]
        fn any_page_without_links_stays_as_it_is(
            html in "(<p>|</p>|<b title=x>|<!--|-->|<style>|</style>|&amp;|[a-z<>\"'é ]){0,30}",
        ) {
            prop_assert_eq!(rewritten(&html).text, html);
        }

        /// The crawl's reader of links is the oracle.
        #[test]
        fn a_page_is_rewritten_where_the_crawl_finds_urls_and_nowhere_else(
            element in prop::sample::select(vec!["img", "p", "iframe", "a", "amp-img", "meta"]),
            name in prop::sample::select(lazy_attributes()),
            value in value_of_attribute(),
        ) {
            let html = format!("<{element} {name}='{value}'>");
            let asked = RefCell::new(BTreeSet::new());
            let file_of = |url: &str| {
                asked.borrow_mut().insert(url.to_owned());
                None
            };
            rewrite_html(&html, "http://s.test/dir/page", &file_of).unwrap();
            prop_assert_eq!(asked.into_inner(), urls_of_the_crawl(&html), "{}", html);
        }

        #[test]
        fn any_markup_is_rewritten(
            html in "(<[a-z]{1,8}( [a-z]{3,6}=['\"]?[^>]{0,9}['\"]?)*>|\\PC){0,20}",
        ) {
            let _any = rewrite_html(&html, "http://s.test/", &file_of);
        }
    }
}
