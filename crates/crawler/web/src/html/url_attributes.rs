//! The table of attributes that hold URLs: the elements, the attribute, its form, and the link.
//!
//! It covers every attribute with a URL in the HTML standard's index of attributes, the obsolete
//! ones in section 16.2, and the elements of AMP; `docs/guide/links.md` explains each. The readers
//! of links collect the rows that are links ([`crate::html::link_attributes`]), and the attributes
//! of lazy loaders on any element ([`crate::html::lazy_attributes`]). A page that is moved needs
//! all of them, on any element: [`url_attributes`].

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::html::lazy_names::LAZY;
use crate::html::link::LinkKind;

/// An attribute of some elements.
pub(crate) struct UrlAttribute {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its content.
    pub(crate) form: UrlForm,
    /// The kind of its link, or where it is read instead.
    pub(crate) link: AttributeLink,
}

/// The content of an attribute that holds URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlForm {
    /// One URL.
    Url,
    /// A list of image candidates (HTML standard, section 4.8.4.2.1).
    Candidates,
    /// Value for a lazy loader: [`lazy_value`](crate::lazy_value) finds the URLs in it.
    Lazy,
}

/// The kind of an attribute's link.
pub(crate) enum AttributeLink {
    /// Always this kind.
    Kind(LinkKind),
    /// A frame. A `srcdoc` replaces it.
    FrameWithoutSrcdoc,
    /// A frame if the `type` is HTML, a requisite otherwise.
    Embedded,
    /// A requisite if the `type` is `image`, no link otherwise.
    ImageButton,
    /// Not collected from the table: the reader of `<link>`, anchors, forms or bases reads it, or
    /// nothing follows it.
    Elsewhere,
}

use AttributeLink::{Elsewhere, Kind};
use LinkKind::{Frame, Page, Requisite};

const fn url(name: &'static str, link: AttributeLink) -> UrlAttribute {
    UrlAttribute {
        name,
        form: UrlForm::Url,
        link,
    }
}

const fn candidates(name: &'static str, link: AttributeLink) -> UrlAttribute {
    UrlAttribute {
        name,
        form: UrlForm::Candidates,
        link,
    }
}

/// Attributes of one or more elements.
type Row = (&'static [&'static str], &'static [UrlAttribute]);

/// Attributes of HTML elements, in the order of their links. An element is in one row only.
const HTML: &[Row] = &[
    (
        &["td", "th", "tr", "table", "tbody", "thead", "tfoot", "body"],
        &[url("background", Kind(Requisite))],
    ),
    (
        &["script", "embed", "audio", "track", "bgsound"],
        &[url("src", Kind(Requisite))],
    ),
    (
        &["img", "image"],
        &[
            url("longdesc", Kind(Page)),
            url("src", Kind(Requisite)),
            candidates("srcset", Kind(Requisite)),
            url("lowsrc", Kind(Requisite)),
            url("dynsrc", Kind(Requisite)),
        ],
    ),
    (
        &["source", "amp-img", "amp-anim"],
        &[
            url("src", Kind(Requisite)),
            candidates("srcset", Kind(Requisite)),
        ],
    ),
    (
        &["video", "amp-video", "amp-audio"],
        &[url("src", Kind(Requisite)), url("poster", Kind(Requisite))],
    ),
    (
        &["iframe"],
        &[
            url("src", AttributeLink::FrameWithoutSrcdoc),
            url("longdesc", Kind(Page)),
        ],
    ),
    (
        &["frame"],
        &[url("src", Kind(Frame)), url("longdesc", Kind(Page))],
    ),
    (&["portal"], &[url("src", Kind(Frame))]),
    (
        &["amp-iframe", "amp-video-iframe"],
        &[url("src", Kind(Frame)), url("poster", Kind(Requisite))],
    ),
    (
        &["blockquote", "q", "ins", "del"],
        &[url("cite", Kind(Page))],
    ),
    (&["object"], &[url("data", AttributeLink::Embedded)]),
    (
        &["input"],
        &[
            url("src", AttributeLink::ImageButton),
            url("formaction", Elsewhere),
        ],
    ),
    (
        &["link"],
        &[url("href", Elsewhere), candidates("imagesrcset", Elsewhere)],
    ),
    (&["a", "area", "base"], &[url("href", Elsewhere)]),
    (&["form"], &[url("action", Elsewhere)]),
    (&["button"], &[url("formaction", Elsewhere)]),
    (&["html"], &[url("manifest", Elsewhere)]),
    (&["head"], &[url("profile", Elsewhere)]),
];

/// SVG elements that load what their [`FOREIGN_HREFS`] attribute names; an `a` is an anchor.
pub(crate) const SVG_REQUISITES: [&str; 5] = ["image", "feImage", "feimage", "use", "script"];

/// Attributes of SVG and MathML elements with the element's link; the prefixed form is older.
pub(crate) const FOREIGN_HREFS: [&str; 2] = ["href", "xlink:href"];

/// Returns the attributes of an HTML element that hold URLs, in the order of their links.
pub(crate) fn of_html(element: &str) -> &'static [UrlAttribute] {
    let row = HTML
        .iter()
        .find(|(elements, _)| elements.contains(&element));
    row.map_or(&[], |(_, attributes)| attributes)
}

/// Returns the names of all attributes that hold URLs, and their form, each once. A name means the
/// same on any element.
#[must_use]
pub fn url_attributes() -> &'static [(&'static str, UrlForm)] {
    static ALL: LazyLock<Vec<(&str, UrlForm)>> = LazyLock::new(|| {
        let html = HTML.iter().flat_map(|(_, attributes)| *attributes);
        let mut all: BTreeMap<_, _> = html.map(|found| (found.name, found.form)).collect();
        all.extend(FOREIGN_HREFS.map(|name| (name, UrlForm::Url)));
        all.extend(LAZY.iter().map(|name| (*name, UrlForm::Lazy)));
        all.into_iter().collect()
    });
    &ALL
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use html5ever::LocalName;

    use super::*;
    use crate::html::link_attributes::may_refer;

    #[test]
    fn an_element_is_in_one_row_and_may_refer_if_it_has_a_link() {
        let mut rows = HashMap::new();
        for (row, (elements, attributes)) in HTML.iter().enumerate() {
            let is_link = |found: &UrlAttribute| !matches!(found.link, Elsewhere);
            for element in *elements {
                assert_eq!(rows.insert(*element, row), None, "{element}");
                let has_link = attributes.iter().any(is_link) || *element == "link";
                assert_eq!(may_refer(&LocalName::from(*element)), has_link, "{element}");
            }
        }
    }

    #[test]
    fn a_name_has_one_form() {
        for attribute in HTML.iter().flat_map(|(_, attributes)| *attributes) {
            let expected = (attribute.name, attribute.form);
            assert!(url_attributes().contains(&expected), "{}", attribute.name);
        }
    }
}
