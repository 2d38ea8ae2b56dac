//! Pages without scripts, event handlers and automatic requests.
//!
//! The `sandbox` policy is what keeps a browser from running scripts. This step makes the page look
//! right under that policy: it shows the content of `<noscript>` and the pictures of lazy loaders,
//! and removes targets in other windows, which the sandbox blocks.

use lol_html::html_content::Element;
use lol_html::{RewriteStrSettings, element, rewrite_str};

use crate::rewrite_html::{UnreadableHtml, value};

/// Attributes that make a browser report clicks and views to a server.
const REPORTING: [&str; 2] = ["ping", "attributionsrc"];

/// `http-equiv` values that only describe the page or are rewritten with its links.
const KEPT_DIRECTIVES: [&str; 3] = ["content-type", "content-language", "refresh"];

/// Attributes of lazy loaders that hold a picture's URL, each with the attribute that loads it.
const LAZY_PICTURES: [(&str, &str); 5] = [
    ("data-src", "src"),
    ("data-lazy-src", "src"),
    ("data-original", "src"),
    ("data-srcset", "srcset"),
    ("data-lazy-srcset", "srcset"),
];

/// Markup for browsers without scripts (`<noscript>`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// It is shown, as no script runs.
    Shown,
    /// It is removed: the page is the result of its scripts.
    Removed,
}

/// Removes the scripts of a page, its event handlers, `javascript:` links, directives to the
/// browser, and targets in other windows. Shows the pictures that a script would load.
///
/// # Errors
/// [`UnreadableHtml`] if the markup cannot be rewritten.
pub fn inert_html(html: &str, fallback: Fallback) -> Result<String, UnreadableHtml> {
    // The parser takes the content of a `<noscript>` for text, so it is unwrapped first.
    let html = without_noscript(html, fallback)?;
    let settings = RewriteStrSettings::new()
        .with_strict(false)
        .append_element_content_handler(element!("*", |element| {
            make_inert(element);
            Ok(())
        }));
    rewrite_str(&html, settings).map_err(UnreadableHtml)
}

fn without_noscript(html: &str, fallback: Fallback) -> Result<String, UnreadableHtml> {
    let settings = RewriteStrSettings::new()
        .with_strict(false)
        .append_element_content_handler(element!("noscript", |element| {
            match fallback {
                Fallback::Shown => element.remove_and_keep_content(),
                Fallback::Removed => element.remove(),
            }
            Ok(())
        }));
    rewrite_str(html, settings).map_err(UnreadableHtml)
}

fn make_inert(element: &mut Element<'_, '_>) {
    match element.tag_name().as_str() {
        "script" => return element.remove(),
        "meta" if is_directive(element) => return element.remove(),
        "img" | "source" => load_picture(element),
        _ => {}
    }
    let names: Vec<String> = element
        .attributes()
        .iter()
        .map(|found| found.name())
        .collect();
    for name in names {
        if acts(element, &name) {
            element.remove_attribute(&name);
        }
    }
}

/// Loads the picture of a lazy loader, unless the element has one other than a placeholder.
fn load_picture(element: &mut Element<'_, '_>) {
    for (lazy, place) in LAZY_PICTURES {
        let shown = element.get_attribute(place).unwrap_or_default();
        if (shown.is_empty() || shown.starts_with("data:"))
            && let Some(picture) = element.get_attribute(lazy)
        {
            let set = element.set_attribute(place, &picture);
            debug_assert!(
                set.is_ok(),
                "the names of the table are names of attributes"
            );
        }
    }
}

/// Returns true for a `<meta>` with a directive other than [`KEPT_DIRECTIVES`].
fn is_directive(meta: &Element<'_, '_>) -> bool {
    let directive = value(meta, "http-equiv").map(|name| name.trim().to_ascii_lowercase());
    directive.is_some_and(|name| !KEPT_DIRECTIVES.contains(&name.as_str()))
}

/// Returns true for an attribute that runs a script, reports to a server, or opens a window.
fn acts(element: &Element<'_, '_>, name: &str) -> bool {
    if name.starts_with("on") || REPORTING.contains(&name) {
        return true;
    }
    let value = value(element, name).unwrap_or_default();
    match name {
        // `_self` does nothing, and other names are those of frames.
        "target" | "formtarget" => value.trim_start().starts_with('_'),
        _ => is_script_url(&value),
    }
}

/// Returns true for a `javascript:` URL; browsers ignore line breaks and tabs in it, and control
/// characters before it (URL standard, section 4.4).
fn is_script_url(value: &str) -> bool {
    let is_ignored = |c: char| c <= ' ';
    let mut letters = value.trim_start_matches(is_ignored).chars();
    let mut letters = letters
        .by_ref()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'));
    "javascript:".chars().all(|wanted| {
        letters
            .next()
            .is_some_and(|letter| letter.eq_ignore_ascii_case(&wanted))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use web::url_attributes;

    use super::*;
    use crate::crawl_links::links_of_the_crawl;
    use crate::rewrite_html;

    fn inert(html: &str) -> String {
        inert_html(html, Fallback::Shown).unwrap()
    }

    #[test]
    fn what_runs_or_acts_is_removed_and_the_rest_stays() {
        for (html, expected) in [
            ("<p>a</p><script>b()</script><p>c", "<p>a</p><p>c"),
            ("<SCRIPT src=a.js></SCRIPT>", ""),
            (
                "<svg><script>b()</script><a></a></svg>",
                "<svg><a></a></svg>",
            ),
            ("<p onclick=a() OnLoad='b' id=c>", "<p id=c>"),
            ("<a href='javascript:a()'>b</a>", "<a>b</a>"),
            ("<a href='\u{1} Java\nScript&colon;a()'>b</a>", "<a>b</a>"),
            (
                "<a href='/javascript:'>b</a>",
                "<a href='/javascript:'>b</a>",
            ),
            ("<a href=/b ping=/c target=_blank>b</a>", "<a href=/b>b</a>"),
            (
                "<a href=/b target=menu>b</a>",
                "<a href=/b target=menu>b</a>",
            ),
            ("<base href=/b target=_top>", "<base href=/b>"),
            ("<meta http-equiv=Set-Cookie content=a=b><p>", "<p>"),
            (
                "<meta http-equiv=' REFRESH' content=5>",
                "<meta http-equiv=' REFRESH' content=5>",
            ),
            ("<meta name=a content=b>", "<meta name=a content=b>"),
        ] {
            assert_eq!(inert(html), expected, "{html}");
        }
    }

    #[test]
    fn pictures_of_lazy_loaders_replace_their_placeholders() {
        for (html, expected) in [
            ("<img data-src=a>", "<img data-src=a src=\"a\">"),
            (
                "<img src=data:,x data-src='a&amp;b' data-srcset='a 1x'>",
                "<img src=\"a&amp;b\" data-src='a&amp;b' data-srcset='a 1x' srcset=\"a 1x\">",
            ),
            ("<img src=b data-src=a>", "<img src=b data-src=a>"),
            ("<p data-src=a>", "<p data-src=a>"),
        ] {
            assert_eq!(inert(html), expected, "{html}");
        }
    }

    /// Lazy loaders name their pictures again for browsers without scripts.
    #[test]
    fn markup_for_browsers_without_scripts_is_shown_unless_the_scripts_have_run() {
        let html = "a<noscript><img src=b onerror=c></noscript>d";
        assert_eq!(inert(html), "a<img src=b>d");
        assert_eq!(inert_html(html, Fallback::Removed).unwrap(), "ad");
    }

    /// Generates pages of elements with URLs in any of their attributes.
    fn page() -> impl Strategy<Value = String> {
        let names: Vec<&str> = url_attributes().iter().map(|(name, _)| *name).collect();
        let url = "(/|//o\\.test/|http://o\\.test/)?[a-z]{1,3}(\\.png|\\?a=b&c|#d|,| 2x)?";
        let element = prop::sample::select(vec![
            "img",
            "a",
            "iframe",
            "link rel=stylesheet",
            "video",
            "p",
            "image",
            "use",
            "source",
            "td",
            "object",
            "form",
            "meta http-equiv=refresh",
            "base",
            "area",
            "IMG",
        ]);
        let attribute = (
            prop::sample::select(names),
            url,
            prop::sample::select(vec!["", "'", "\""]),
        );
        let attribute =
            attribute.prop_map(|(name, url, quote)| format!(" {name}={quote}{url}{quote}"));
        let attributes = prop::collection::vec(attribute, 0..4);
        let tag =
            (element, attributes).prop_map(|(element, all)| format!("<{element}{}>", all.concat()));
        let part = prop_oneof![
            4 => tag,
            1 => prop::sample::select(vec![
                "<noscript>", "</noscript>", "<svg>", "</svg>",
                "<style>p{background:url(/a)}</style>",
                "<p style='background:url(b)'>", "<style>@import 'c';", "<!--", "-->", "<template>",
                "<script>'</script>", "<meta http-equiv=refresh content='0;url=/d'>", "<textarea>",
            ]).prop_map(str::to_owned),
        ];
        prop::collection::vec(part, 1..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        /// The crawl's reader of links is the oracle.
        #[test]
        fn no_link_of_any_page_leaves_the_replay(html in page()) {
            let inert = inert_html(&html, Fallback::Shown).unwrap();
            let link = |url: &str| Some(format!("/replay/{url}"));
            let page = rewrite_html(&inert, "http://s.test/dir/page", &link).unwrap().text;
            for link in links_of_the_crawl(&page, "http://dashboard.test/") {
                let stays = link.url.as_str().starts_with("http://dashboard.test/replay/http");
                prop_assert!(stays || link.is_implied, "{} in {page}", link.url);
            }
        }
    }
}
