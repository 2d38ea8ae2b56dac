//! Which attribute of which element holds a URL, and what kind of link it makes.
//!
//! One table for both readers: the one that walks the tree, and the one that reads tags where there
//! is no tree. It goes through the HTML standard's index of attributes, every one whose value is a
//! URL, and the obsolete ones of its section 16.2; `docs/links.md` tells for each what is done and
//! why.

use std::borrow::Cow;

use html5ever::{LocalName, local_name, ns};
use scraper::node::Element;

use crate::html::link::LinkKind;
use crate::html::links::References;
use crate::html::relations::has_relation;
use crate::html::scanner::Tag;
use crate::html::srcset;

/// Whose element it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespace {
    Html,
    Svg,
    MathMl,
}

impl Namespace {
    pub(crate) fn of(element: &Element) -> Self {
        match element.name.ns {
            ns!(svg) => Self::Svg,
            ns!(mathml) => Self::MathMl,
            _ => Self::Html,
        }
    }
}

/// An element's attributes, whoever reads them.
pub(crate) trait AttributeSource<'p> {
    /// The value of the first attribute with this name, its character references resolved.
    fn value(&self, name: &str) -> Option<Cow<'p, str>>;
}

impl<'p> AttributeSource<'p> for &'p Element {
    /// Elements have few: looking through them is faster than making a name to look up.
    fn value(&self, name: &str) -> Option<Cow<'p, str>> {
        let (space, local) = match name.strip_prefix("xlink:") {
            Some(local) => (ns!(xlink), local),
            None => (ns!(), name),
        };
        let found = self
            .attrs
            .iter()
            .find(|(found, _)| &*found.local == local && found.ns == space);
        found.map(|(_, value)| Cow::Borrowed(&**value))
    }
}

impl<'p> AttributeSource<'p> for Tag<'p> {
    fn value(&self, name: &str) -> Option<Cow<'p, str>> {
        Tag::value(self, name)
    }
}

/// A tag of a text that does not live as long as what is found in it.
pub(crate) struct TransientTag<'a, 't>(pub &'a Tag<'t>);

impl<'p> AttributeSource<'p> for TransientTag<'_, '_> {
    fn value(&self, name: &str) -> Option<Cow<'p, str>> {
        Some(Cow::Owned(self.0.value(name)?.into_owned()))
    }
}

/// Whether [`gather`] may find something in an element of HTML with this name: most elements are
/// told apart by this alone.
pub(crate) fn may_refer(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("link")
            | local_name!("img")
            | local_name!("image")
            | local_name!("script")
            | local_name!("iframe")
            | local_name!("frame")
            | local_name!("source")
            | local_name!("video")
            | local_name!("audio")
            | local_name!("track")
            | local_name!("embed")
            | local_name!("object")
            | local_name!("input")
            | local_name!("blockquote")
            | local_name!("q")
            | local_name!("ins")
            | local_name!("del")
            | local_name!("body")
            | local_name!("table")
            | local_name!("thead")
            | local_name!("tbody")
            | local_name!("tfoot")
            | local_name!("tr")
            | local_name!("td")
            | local_name!("th")
            | local_name!("bgsound")
    ) || &**name == "portal"
}

/// Notes all links of an element but those with words (`a`, `area`), which are the walk's.
pub(crate) fn gather<'p>(
    name: &str,
    space: Namespace,
    element: &impl AttributeSource<'p>,
    references: &mut References<'p>,
) {
    match space {
        Namespace::Html => of_html(name, element, references),
        Namespace::Svg => {
            if matches!(name, "image" | "feImage" | "feimage" | "use" | "script") {
                add(references, foreign_href(element), LinkKind::Requisite);
            }
        }
        // MathML 3 section 2.1.6: any element may be a link.
        Namespace::MathMl => add(references, foreign_href(element), LinkKind::Page),
    }
}

/// The `href` of an element of SVG or MathML; the prefixed one is the older.
pub(crate) fn foreign_href<'p>(element: &impl AttributeSource<'p>) -> Option<Cow<'p, str>> {
    element
        .value("href")
        .or_else(|| element.value("xlink:href"))
}

fn of_html<'p>(name: &str, element: &impl AttributeSource<'p>, references: &mut References<'p>) {
    let value = |name| element.value(name);
    match name {
        "link" => of_link(element, references),
        "iframe" => {
            // Where there is a `srcdoc`, it is shown and the `src` is not.
            if value("srcdoc").is_none() {
                add(references, value("src"), LinkKind::Frame);
            }
            add(references, value("longdesc"), LinkKind::Page);
        }
        "frame" => {
            add(references, value("src"), LinkKind::Frame);
            add(references, value("longdesc"), LinkKind::Page);
        }
        "portal" => add(references, value("src"), LinkKind::Frame),
        "blockquote" | "q" | "ins" | "del" => add(references, value("cite"), LinkKind::Page),
        "object" => {
            let is_page = value("type").is_some_and(|media| is_html(&media));
            let kind = if is_page {
                LinkKind::Frame
            } else {
                LinkKind::Requisite
            };
            add(references, value("data"), kind);
        }
        "img" | "image" => {
            add(references, value("longdesc"), LinkKind::Page);
            if references.kinds.has(LinkKind::Requisite) {
                add(references, value("src"), LinkKind::Requisite);
                add_candidates(references, value("srcset"));
                add(references, value("lowsrc"), LinkKind::Requisite);
                add(references, value("dynsrc"), LinkKind::Requisite);
            }
        }
        _ if references.kinds.has(LinkKind::Requisite) => requisites(name, element, references),
        _ => {}
    }
}

fn requisites<'p>(name: &str, element: &impl AttributeSource<'p>, references: &mut References<'p>) {
    let value = |name| element.value(name);
    match name {
        "script" | "embed" | "audio" | "track" | "bgsound" => {
            add(references, value("src"), LinkKind::Requisite);
        }
        "source" => {
            add(references, value("src"), LinkKind::Requisite);
            add_candidates(references, value("srcset"));
        }
        "video" => {
            add(references, value("src"), LinkKind::Requisite);
            add(references, value("poster"), LinkKind::Requisite);
        }
        "input" if value("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
            add(references, value("src"), LinkKind::Requisite);
        }
        "body" | "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" => {
            add(references, value("background"), LinkKind::Requisite);
        }
        _ => {}
    }
}

fn of_link<'p>(element: &impl AttributeSource<'p>, references: &mut References<'p>) {
    let Some(rel) = element.value("rel") else {
        return;
    };
    if has_relation(&rel, "canonical") && references.canonical.is_none() {
        references.canonical = element.value("href");
    }
    let Some(kind) = of_relations(&rel) else {
        return;
    };
    if let Some(href) = element.value("href") {
        references.add(href, kind, &rel);
    }
    if kind == LinkKind::Requisite && references.kinds.has(kind) {
        add_candidates(references, element.value("imagesrcset"));
    }
}

/// What an element says of where it leads.
pub(crate) fn rel<'p>(element: &impl AttributeSource<'p>) -> Cow<'p, str> {
    element.value("rel").unwrap_or_default()
}

/// What kind of link a `<link>` or a header's `Link` with these relations is; none where it is no
/// link to a resource of its own (`preconnect`), or one that is not for readers (`pingback`), or
/// unknown.
pub(crate) fn of_relations(rel: &str) -> Option<LinkKind> {
    let has = |relations: &[&str]| {
        let mut words = rel.split_ascii_whitespace();
        words.any(|word| {
            relations
                .iter()
                .any(|relation| relation.eq_ignore_ascii_case(word))
        })
    };
    // `alternate stylesheet` is a style, not a page.
    if has(&["stylesheet"]) {
        return Some(LinkKind::Requisite);
    }
    if has(TO_PAGES) {
        return Some(LinkKind::Page);
    }
    has(TO_REQUISITES).then_some(LinkKind::Requisite)
}

/// Relations to pages, of the HTML standard and of IANA's registry, and those of earlier versions
/// of HTML.
const TO_PAGES: &[&str] = &[
    "alternate",
    "canonical",
    "author",
    "help",
    "license",
    "next",
    "prev",
    "search",
    "bookmark",
    "tag",
    "privacy-policy",
    "terms-of-service",
    "up",
    "first",
    "last",
    "index",
    "contents",
    "section",
    "amphtml",
    "archives",
    "start",
    "home",
    "top",
    "toc",
    "chapter",
    "subsection",
    "appendix",
    "glossary",
    "copyright",
    "previous",
    "collection",
    "item",
    "about",
    "related",
    "via",
    "self",
    "current",
    "latest-version",
    "predecessor-version",
    "successor-version",
    "version-history",
    "original",
    "memento",
    "timegate",
    "timemap",
    "describedby",
    "describes",
    "cite-as",
    "me",
    "prerender",
    "begin",
    "end",
    "parent",
    "child",
    "sitemap",
    "feed",
];

/// Relations to what a page needs.
const TO_REQUISITES: &[&str] = &[
    "icon",
    "apple-touch-icon",
    "apple-touch-icon-precomposed",
    "apple-touch-startup-image",
    "mask-icon",
    "fluid-icon",
    "image_src",
    "manifest",
    "preload",
    "modulepreload",
];

fn is_html(media: &str) -> bool {
    let media = media.split(';').next().unwrap_or_default().trim();
    media.eq_ignore_ascii_case("text/html") || media.eq_ignore_ascii_case("application/xhtml+xml")
}

fn add<'p>(references: &mut References<'p>, href: Option<Cow<'p, str>>, kind: LinkKind) {
    if let Some(href) = href {
        references.add(href, kind, "");
    }
}

fn add_candidates<'p>(references: &mut References<'p>, set: Option<Cow<'p, str>>) {
    match set {
        Some(Cow::Borrowed(set)) => {
            for url in srcset::candidates(set) {
                references.add(Cow::Borrowed(url), LinkKind::Requisite, "");
            }
        }
        Some(Cow::Owned(set)) => {
            for url in srcset::candidates(&set) {
                references.add(Cow::Owned(url.to_owned()), LinkKind::Requisite, "");
            }
        }
        None => {}
    }
}
