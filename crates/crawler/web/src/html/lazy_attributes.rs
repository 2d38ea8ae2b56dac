//! URLs that a page keeps for others: for its scripts, in the attributes of lazy loaders, and for
//! previews of the page.
//!
//! They are not standardised. A browser requests the pictures once a script has moved the URLs, so
//! an archive without them shows no pictures; Heritrix, wget2, HTTrack, Zeno and wpull read such
//! attributes. The values may be anything, so only values that look like a URL are used.

use std::borrow::Cow;

use crate::html::link::LinkKind;
use crate::html::link_attributes::AttributeSource;
use crate::html::links::References;
use crate::html::srcset;
use crate::letter_case::is_one_of;

/// Collects the URLs in the attributes of lazy loaders.
pub(crate) fn gather<'p>(
    element: &str,
    source: &impl AttributeSource<'p>,
    references: &mut References<'p>,
) {
    let kind = match element {
        "iframe" | "frame" => LinkKind::Frame,
        _ => LinkKind::Requisite,
    };
    if !references.kinds.has(kind) {
        return;
    }
    for name in source.lazy_names() {
        let Some(value) = source.value(name) else {
            continue;
        };
        let is_list = name.ends_with("set") || value.contains(", ");
        let urls: Vec<&str> = match is_list {
            true => srcset::candidates(&value).collect(),
            false => vec![without_css(value.trim())],
        };
        for url in urls.into_iter().filter(|url| looks_like_a_url(url)) {
            references.add(Cow::Owned(url.to_owned()), kind, "");
        }
    }
}

/// Returns the URL in `url("…")`.
fn without_css(value: &str) -> &str {
    let url = value
        .strip_prefix("url(")
        .and_then(|url| url.strip_suffix(')'));
    url.map_or(value, |url| url.trim_matches(['"', '\'', ' ']))
}

/// Returns true for a word with a slash or a dot, unless it is a placeholder or data of another
/// kind.
pub(crate) fn looks_like_a_url(value: &str) -> bool {
    value.contains(['/', '.'])
        && !value.starts_with(['{', '[', '#', '$'])
        && (!value.starts_with('.') || value.starts_with("./") || value.starts_with("../"))
        && !value.contains(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '<' | '>'))
        && value.parse::<f64>().is_err()
}

/// Returns true if `<meta>` with this `property`, `name` or `itemprop` names a picture or a film
/// for previews of the page: the Open Graph protocol, cards of X, schema.org, tiles of Windows.
pub(crate) fn is_preview(name: &str) -> bool {
    let (group, rest) = name.split_once(':').unwrap_or((name, ""));
    if is_one_of(group, &["og", "twitter"]) {
        let previews = [
            "image",
            "image:url",
            "image:secure_url",
            "image:src",
            "video",
            "video:url",
            "video:secure_url",
            "audio",
            "audio:url",
            "audio:secure_url",
            "player",
            "player:stream",
        ];
        return is_one_of(rest, &previews);
    }
    is_one_of(
        name,
        &["thumbnail", "thumbnailUrl", "msapplication-TileImage"],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_like_a_url_is_taken() {
        for url in [
            "/a",
            "a.jpg",
            "./a.jpg",
            "../a.jpg",
            "http://b.test/c",
            "//b.test",
            "a/b,c.jpg",
        ] {
            assert!(looks_like_a_url(url), "{url}");
        }
        for other in [
            "",
            "a",
            "1.5",
            "a b.jpg",
            "{{a.jpg}}",
            "[\"a.jpg\"]",
            "#a.b",
            ".class",
            "<a/>",
        ] {
            assert!(!looks_like_a_url(other), "{other}");
        }
    }
}
