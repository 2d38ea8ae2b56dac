//! Links in the attributes of an element, by the table in [`url_attributes`].
//!
//! Both readers use it: the walk over the tree, and the tag stream in the absence of a tree.

use std::borrow::Cow;

use html5ever::{LocalName, ns};
use scraper::node::Element;

use crate::html::character_references::{self, TextContext};
use crate::html::lazy_names::lazy_name;
use crate::html::link::LinkKind;
use crate::html::links::References;
use crate::html::names::names;
use crate::html::relations::has_relation;
use crate::html::scanner::Tag;
use crate::html::srcset;
use crate::html::url_attributes::{self, AttributeLink, FOREIGN_HREFS, SVG_REQUISITES, UrlForm};
use crate::http::media_type::essence;
use crate::letter_case::starts_with_ignore_case;

/// The namespace of an element.
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

/// A source of an element's attributes.
pub(crate) trait AttributeSource<'p> {
    /// Returns the value of the first attribute with this name, with character references resolved.
    fn value(&self, name: &str) -> Option<Cow<'p, str>>;

    /// Returns the names of the element's lazy-loading attributes, in document order.
    fn lazy_names(&self) -> Vec<&'static str>;

    /// Returns the values of event handlers and of script URLs, in document order.
    fn scripts(&self) -> Vec<Cow<'p, str>>;
}

/// Returns the script in an attribute: in an event handler or a `javascript:` URL.
fn script_of<'v>(name: &str, value: &'v str) -> Option<&'v str> {
    const SCHEME: &str = "javascript:";
    if name.len() > 2 && starts_with_ignore_case(name, "on") {
        return Some(value);
    }
    let value = value.trim_start();
    starts_with_ignore_case(value, SCHEME).then(|| &value[SCHEME.len()..])
}

impl<'p> AttributeSource<'p> for &'p Element {
    /// Searches linearly: elements have few attributes, and interning a name costs more.
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

    fn lazy_names(&self) -> Vec<&'static str> {
        let names = self.attrs.iter().filter(|(name, _)| name.ns == ns!());
        names
            .filter_map(|(name, _)| lazy_name(&name.local))
            .collect()
    }

    fn scripts(&self) -> Vec<Cow<'p, str>> {
        let scripts = self
            .attrs
            .iter()
            .filter_map(|(name, value)| script_of(&name.local, value));
        scripts.map(Cow::Borrowed).collect()
    }
}

impl<'p> AttributeSource<'p> for Tag<'p> {
    fn value(&self, name: &str) -> Option<Cow<'p, str>> {
        Tag::value(self, name)
    }

    fn lazy_names(&self) -> Vec<&'static str> {
        self.attributes()
            .filter_map(|(name, _)| lazy_name(name))
            .collect()
    }

    fn scripts(&self) -> Vec<Cow<'p, str>> {
        let mut scripts = Vec::new();
        for (name, value) in self.attributes() {
            let value = character_references::resolve(value, TextContext::Attribute);
            if let Some(script) = script_of(name, &value) {
                scripts.push(Cow::Owned(script.to_owned()));
            }
        }
        scripts
    }
}

/// A tag whose text does not outlive the links found in it.
pub(crate) struct TransientTag<'a, 't>(pub &'a Tag<'t>);

impl<'p> AttributeSource<'p> for TransientTag<'_, '_> {
    fn value(&self, name: &str) -> Option<Cow<'p, str>> {
        Some(Cow::Owned(self.0.value(name)?.into_owned()))
    }

    fn lazy_names(&self) -> Vec<&'static str> {
        self.0.lazy_names()
    }

    fn scripts(&self) -> Vec<Cow<'p, str>> {
        let scripts = self.0.scripts().into_iter();
        scripts
            .map(|script| Cow::Owned(script.into_owned()))
            .collect()
    }
}

/// Returns true if [`gather`] may find a link in an HTML element with this name; this excludes most
/// elements.
pub(crate) fn may_refer(name: &LocalName) -> bool {
    matches!(
        *name,
        names![
            "link" "img" "image" "script" "iframe" "frame" "source" "video" "audio" "track" "embed"
            "object" "input" "blockquote" "q" "ins" "del" "body" "table" "thead" "tbody" "tfoot"
            "tr" "td" "th" "bgsound"
        ]
    ) || &**name == "portal"
        || name.starts_with("amp-")
}

/// Collects all links of an element, except links with anchor text (`a`, `area`), which the walk
/// handles.
pub(crate) fn gather<'p>(
    name: &str,
    space: Namespace,
    element: &impl AttributeSource<'p>,
    references: &mut References<'p>,
) {
    match space {
        Namespace::Html => of_html(name, element, references),
        Namespace::Svg => {
            if SVG_REQUISITES.contains(&name) {
                add(references, foreign_href(element), LinkKind::Requisite);
            }
        }
        // MathML 3 section 2.1.6: any element may be a link.
        Namespace::MathMl => add(references, foreign_href(element), LinkKind::Page),
    }
}

/// Returns the `href` of an SVG or MathML element.
pub(crate) fn foreign_href<'p>(element: &impl AttributeSource<'p>) -> Option<Cow<'p, str>> {
    FOREIGN_HREFS.iter().find_map(|name| element.value(name))
}

fn of_html<'p>(name: &str, element: &impl AttributeSource<'p>, references: &mut References<'p>) {
    if name == "link" {
        return of_link(element, references);
    }
    for attribute in url_attributes::of_html(name) {
        let Some(kind) = kind_of(&attribute.link, element) else {
            continue;
        };
        if !references.kinds.has(kind) {
            continue;
        }
        let value = element.value(attribute.name);
        match attribute.form {
            UrlForm::Url => add(references, value, kind),
            UrlForm::Candidates => add_candidates(references, value),
            // They may be on any element: `lazy_attributes` reads them.
            UrlForm::Lazy => {}
        }
    }
}

/// Returns the kind of an attribute's link on this element; `None` if it is not a link there.
fn kind_of<'p>(link: &AttributeLink, element: &impl AttributeSource<'p>) -> Option<LinkKind> {
    match link {
        AttributeLink::Kind(kind) => Some(*kind),
        AttributeLink::FrameWithoutSrcdoc => {
            element.value("srcdoc").is_none().then_some(LinkKind::Frame)
        }
        AttributeLink::Embedded => {
            let is_page = element.value("type").is_some_and(|media| is_html(&media));
            Some(match is_page {
                true => LinkKind::Frame,
                false => LinkKind::Requisite,
            })
        }
        AttributeLink::ImageButton => {
            let kind = element.value("type")?;
            let is_image = kind.eq_ignore_ascii_case("image");
            is_image.then_some(LinkKind::Requisite)
        }
        AttributeLink::Elsewhere => None,
    }
}

fn of_link<'p>(element: &impl AttributeSource<'p>, references: &mut References<'p>) {
    let Some(rel) = element.value("rel") else {
        return;
    };
    if has_relation(&rel, "canonical") && references.canonical.is_none() {
        references.canonical = element.value("href");
    }
    references.has_icon |= has_relation(&rel, "icon");
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

/// Returns the `rel` of an element.
pub(crate) fn rel<'p>(element: &impl AttributeSource<'p>) -> Cow<'p, str> {
    element.value("rel").unwrap_or_default()
}

/// Returns the kind of a `<link>` or of a `Link` header field with these relations; `None` if the
/// relation does not name a resource (`preconnect`), is not for readers (`pingback`), or is
/// unknown.
pub(crate) fn of_relations(rel: &str) -> Option<LinkKind> {
    // `alternate stylesheet` is a style, not a page.
    if has_relation(rel, "stylesheet") {
        return Some(LinkKind::Requisite);
    }
    let rel = rel.to_ascii_lowercase();
    // A page comes before a requisite.
    rel.split_ascii_whitespace().filter_map(of_relation).min()
}

/// Returns the kind of a link with this relation.
fn of_relation(relation: &str) -> Option<LinkKind> {
    match relation {
        // Of the HTML standard, of IANA's registry, and of earlier versions of HTML.
        "alternate" | "canonical" | "author" | "help" | "license" | "next" | "prev" | "search"
        | "bookmark" | "tag" | "privacy-policy" | "terms-of-service" | "up" | "first" | "last"
        | "index" | "contents" | "section" | "amphtml" | "archives" | "start" | "home" | "top"
        | "toc" | "chapter" | "subsection" | "appendix" | "glossary" | "copyright" | "previous"
        | "collection" | "item" | "about" | "related" | "via" | "self" | "current" | "original"
        | "memento" | "timegate" | "timemap" | "describedby" | "describes" | "cite-as" | "me"
        | "prerender" | "begin" | "end" | "parent" | "child" | "sitemap" | "feed" => {
            Some(LinkKind::Page)
        }
        "latest-version" | "predecessor-version" | "successor-version" | "version-history" => {
            Some(LinkKind::Page)
        }
        "icon" | "mask-icon" | "fluid-icon" | "image_src" | "manifest" | "preload"
        | "modulepreload" => Some(LinkKind::Requisite),
        "apple-touch-icon" | "apple-touch-icon-precomposed" | "apple-touch-startup-image" => {
            Some(LinkKind::Requisite)
        }
        _ => None,
    }
}

fn is_html(media: &str) -> bool {
    matches!(&*essence(media), "text/html" | "application/xhtml+xml")
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
