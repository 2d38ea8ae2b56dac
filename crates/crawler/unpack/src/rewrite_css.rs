//! The URLs of style sheets.

use url::Url;
use web::css_urls;

use crate::conversion::{Conversion, Rewritten};

/// Converts the URLs of a style sheet at `url`. `file_of` returns the link to the file of a URL,
/// and receives URLs without a fragment.
#[must_use]
pub fn rewrite_css(css: &str, url: &str, file_of: &dyn Fn(&str) -> Option<String>) -> Rewritten {
    let Ok(url) = Url::parse(url) else {
        return Rewritten {
            text: css.to_owned(),
            links: Default::default(),
        };
    };
    let mut conversion = Conversion::new(&url, file_of);
    let text = convert(css, false, &mut conversion);
    Rewritten {
        text: without_charset(&text).to_owned(),
        links: conversion.links,
    }
}

/// Converts the URLs of a style sheet, or of a `style` attribute.
pub(crate) fn convert(css: &str, is_attribute: bool, conversion: &mut Conversion<'_>) -> String {
    let mut text = String::with_capacity(css.len());
    let mut copied = 0;
    for found in css_urls(css, is_attribute) {
        let Some(converted) = conversion.convert(&found.url) else {
            continue;
        };
        text.push_str(&css[copied..found.place.start]);
        let is_string = css[found.place.clone()].starts_with(['"', '\'']);
        let quoted = quoted(&converted.link);
        match is_string {
            true => text.push_str(&quoted),
            false => text.push_str(&format!("url({quoted})")),
        }
        copied = found.place.end;
    }
    text.push_str(&css[copied..]);
    text
}

/// Quotes a URL as a CSS string. URLs contain no control characters.
fn quoted(url: &str) -> String {
    format!("\"{}\"", url.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Removes a `@charset`, which may declare an encoding other than UTF-8.
fn without_charset(css: &str) -> &str {
    let rest = css.strip_prefix("@charset \"");
    let rest = rest.and_then(|rest| rest.split_once("\";"));
    rest.map_or(css, |(_, sheet)| sheet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_replaced_in_their_places() {
        let file_of = |url: &str| url.ends_with("/in.png").then(|| "../in.png".to_owned());
        for (css, expected) in [
            ("a{b:url(in.png)}", "a{b:url(\"../in.png\")}"),
            ("a{b:url( 'in.png' )}", "a{b:url( \"../in.png\" )}"),
            (
                "@import 'out.css';",
                "@import \"http://s.test/css/out.css\";",
            ),
            (
                "@charset \"x\";a{b:url(in.png#i),url(data:,x),url(#f)}",
                "a{b:url(\"../in.png#i\"),url(data:,x),url(#f)}",
            ),
            ("a{b:url(x\\\"y)}", "a{b:url(\"http://s.test/css/x%22y\")}"),
            ("/* url(in.png) */", "/* url(in.png) */"),
        ] {
            let rewritten = rewrite_css(css, "http://s.test/css/a.css", &file_of);
            assert_eq!(rewritten.text, expected, "{css}");
        }
    }
}
