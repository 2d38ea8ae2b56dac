//! URLs that a page keeps for others: for its scripts, in the attributes of lazy loaders, and for
//! previews of the page.
//!
//! They are not standardised. A browser requests the pictures once a script has moved the URLs, so
//! an archive without them shows no pictures; Heritrix, wget2, HTTrack, Zeno and wpull read such
//! attributes. The values may be anything, so only values that look like a URL are used.

use std::borrow::Cow;
use std::ops::Range;

use crate::html::script_links::extension;
use crate::html::url_places::{place_in, srcset_urls};
use crate::letter_case::is_one_of;

/// The URLs in the value of a lazy loader's attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LazyValue {
    /// The URLs of the value as CSS, as in a `style` attribute.
    Css,
    /// The URLs in these places, in document order.
    Places(Vec<Range<usize>>),
}

/// Finds the URLs in the value of a lazy loader's attribute with this name: one URL, a list of
/// image candidates, or CSS. Templates and data of other kinds have no URLs.
#[must_use]
pub fn lazy_value(name: &str, value: &str) -> LazyValue {
    if is_css(value) {
        return match value.contains(['{', '<']) {
            true => LazyValue::Places(Vec::new()),
            false => LazyValue::Css,
        };
    }
    let is_list = name.ends_with("set") || value.contains(", ") || value.contains(",\n");
    let places: Vec<Range<usize>> = match is_list {
        true => srcset_urls(value).collect(),
        false => vec![place_in(value, value.trim())],
    };
    let mut urls = places;
    urls.retain(|place| looks_like_a_url(&value[place.clone()]));
    LazyValue::Places(urls)
}

/// Returns true if a value calls a function of CSS that backgrounds use. A URL may contain
/// parentheses, too: `/a?b=url(c)`, `photo(1).jpg`.
fn is_css(value: &str) -> bool {
    const FUNCTIONS: &[&str] = &[
        "url",
        "gradient",
        "image-set",
        "rgb",
        "rgba",
        "hsl",
        "hsla",
        "var",
    ];
    value.match_indices('(').any(|(end, _)| {
        let separator = |c: char| c.is_whitespace() || matches!(c, ',' | '(');
        let name = value[..end].rsplit(separator).next().unwrap_or_default();
        let name = name.strip_prefix("-webkit-").unwrap_or(name);
        is_one_of(name, FUNCTIONS) || name.ends_with("-gradient")
    })
}

/// Returns true for a word with a slash or a dot, unless it is a placeholder or data of another
/// kind.
pub(crate) fn looks_like_a_url(value: &str) -> bool {
    const NO_STARTS: &[char] = &['{', '[', '(', '#', '$', '@', '\''];
    value.contains(['/', '.'])
        && !value.starts_with(NO_STARTS)
        && (!value.starts_with('.') || value.starts_with("./") || value.starts_with("../"))
        && !value.contains(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '<' | '>' | '"'))
        && value.parse::<f64>().is_err()
}

/// Returns true if `<meta>` with these attributes and this `content` names a picture or a film for
/// previews of the page: the Open Graph protocol, cards of X, schema.org, tiles of Windows.
pub fn is_preview<'v>(
    attribute: impl Fn(&'static str) -> Option<Cow<'v, str>>,
    content: &str,
) -> bool {
    let content = content.trim();
    let mut names = ["property", "name", "itemprop"].into_iter();
    looks_like_a_url(content)
        && names.any(|key| {
            let name = attribute(key);
            name.is_some_and(|name| match preview(key, name.trim()) {
                Some(Preview::Media) => true,
                Some(Preview::MediaOrPlayer) => is_file(content),
                None => false,
            })
        })
}

/// Names of `<meta>` for the media of previews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preview {
    Media,
    /// A film or a recording, or more often a page that plays it.
    MediaOrPlayer,
}

fn preview(key: &str, name: &str) -> Option<Preview> {
    const MEDIA: &[&str] = &[
        "og:image",
        "og:image:url",
        "og:image:secure_url",
        "twitter:image",
        "twitter:image:src",
        "twitter:player:stream",
        "thumbnail",
        "thumbnailUrl",
        "msapplication-TileImage",
    ];
    const OR_PLAYERS: &[&str] = &[
        "og:video",
        "og:video:url",
        "og:video:secure_url",
        "og:audio",
        "og:audio:url",
        "og:audio:secure_url",
        "twitter:player",
    ];
    if is_one_of(name, MEDIA) || key == "itemprop" && name == "image" {
        return Some(Preview::Media);
    }
    is_one_of(name, OR_PLAYERS).then_some(Preview::MediaOrPlayer)
}

/// Returns true for a URL with a file extension that is not a page's.
fn is_file(url: &str) -> bool {
    const PAGES: &[&str] = &[
        "html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi", "do",
    ];
    extension(url).is_some_and(|extension| !is_one_of(extension, PAGES))
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
            "photo(1).jpg",
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
            "\"a.jpg\"]",
            "'a.jpg']",
            "@Model.Image",
            "(item.image)",
            "#a.b",
            ".class",
            "<a/>",
        ] {
            assert!(!looks_like_a_url(other), "{other}");
        }
    }

    #[test]
    fn a_value_of_a_lazy_loader_is_a_url_a_list_or_css() {
        let css = None;
        for (name, value, expected) in [
            ("data-src", " /a.jpg ", Some(&["/a.jpg"][..])),
            ("data-src", "/a.jpg, /b.jpg", Some(&["/a.jpg", "/b.jpg"])),
            (
                "data-src",
                "/a.jpg 1x,\n/b.jpg 2x",
                Some(&["/a.jpg", "/b.jpg"]),
            ),
            ("data-srcset", "/a.jpg 2x", Some(&["/a.jpg"])),
            ("data-srcset", "{{a.jpg}} 1x, /b.jpg 2x", Some(&["/b.jpg"])),
            ("data-src", "/a?b=url(c)", Some(&["/a?b=url(c)"])),
            ("data-src", "photo(1).jpg", Some(&["photo(1).jpg"])),
            ("data-src", "", Some(&[])),
            ("data-src", "#a.b", Some(&[])),
            (
                "data-src",
                "{\"a\": \"/b.jpg\", \"c\": \"/d.jpg\"}",
                Some(&[]),
            ),
            ("data-src", "[\"/a.jpg\", \"/b.jpg\"]", Some(&[])),
            ("data-bg", "url({{a.jpg}}), url(/b.jpg)", Some(&[])),
            ("data-bg", "url(/a.jpg)", css),
            ("data-bg", "URL( '/a.jpg' )", css),
            (
                "data-bg",
                "linear-gradient(red, rgba(0,0,0,.5)), url(/a.jpg)",
                css,
            ),
            ("data-bg", "rgba(0,0,0,.5)", css),
            (
                "data-background-image-set",
                "-webkit-image-set('a.jpg' 1x)",
                css,
            ),
        ] {
            let found = match lazy_value(name, value) {
                LazyValue::Css => None,
                LazyValue::Places(places) => {
                    let urls = places.into_iter().map(|place| &value[place]);
                    Some(urls.collect::<Vec<_>>())
                }
            };
            assert_eq!(found.as_deref(), expected, "{value}");
        }
    }

    /// A player is a page: an archive of each page with a film had a copy of its host's player.
    #[test]
    fn previews_are_media_and_players_are_not() {
        for (key, name, content, expected) in [
            ("property", "og:image", "/picture", true),
            (
                "name",
                "OG:Image:Secure_URL",
                " https://a.test/picture ",
                true,
            ),
            ("name", "twitter:image:src", "/a.jpg", true),
            ("name", "twitter:player:stream", "/stream", true),
            ("property", "og:video", "/film.mp4?a=b", true),
            ("property", "og:audio:url", "/sound.mp3", true),
            ("itemprop", "image", "/a.jpg", true),
            ("itemprop", "thumbnailUrl", "/a.jpg", true),
            (
                "property",
                "og:video:url",
                "https://films.test/embed/1",
                false,
            ),
            ("property", "og:video", "https://films.test", false),
            (
                "name",
                "twitter:player",
                "https://films.test/player.html?a=b.mp4",
                false,
            ),
            ("name", "twitter:player", "/embed/1", false),
            ("property", "og:url", "/a.jpg", false),
            ("property", "og:image:alt", "/a.jpg", false),
            ("property", "og:image", "{{image.url}}", false),
            ("property", "og:image", "", false),
            ("name", "image", "/a.jpg", false),
        ] {
            let attribute = |asked| (asked == key).then_some(Cow::Borrowed(name));
            assert_eq!(is_preview(attribute, content), expected, "{name} {content}");
        }
    }
}
