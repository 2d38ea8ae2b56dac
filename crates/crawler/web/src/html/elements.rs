//! Properties of HTML elements: their layout, their visibility, their role in the page's frame.

use html5ever::{local_name, ns};
use scraper::node::Element;

use crate::html::names::names;
use crate::html::tag_stream::is_shadow_mode;
use crate::html::{class_names, region_flags};

/// The layout of an element's text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Its text is part of the line.
    Inline,
    /// It has its own lines.
    Block,
    /// A space separates it.
    Cell,
    /// Its text is not read.
    Hidden,
}

/// Returns true if a tag ends the line, for reading without a tree.
pub(crate) fn ends_line(name: &str) -> bool {
    !matches!(
        name,
        "a" | "abbr" | "b" | "big" | "code" | "em" | "font"
            | "i" | "img" | "kbd" | "mark" | "q" | "s" | "small"
            | "span" | "strike" | "strong" | "sub" | "sup" | "tt" | "u" | "wbr"
            // Skipped elements.
            | "script" | "style" | "noscript" | "template" | "svg" | "textarea"
            | "title" | "iframe" | "xmp"
            | "noembed" | "noframes" | "select"
    )
}

/// Returns the value of an attribute. Elements have few attributes: a linear search is faster than
/// interning a name.
pub(crate) fn attribute<'p>(element: &'p Element, name: &str) -> Option<&'p str> {
    let found = element
        .attrs
        .iter()
        .find(|(found, _)| &*found.local == name && found.ns == ns!());
    found.map(|(_, value)| &**value)
}

/// Returns the layout that the HTML standard's section 15.3 suggests to browsers.
pub(crate) fn flow(element: &Element) -> Flow {
    if element.name.ns != ns!(html) {
        return if element.name.local == local_name!("svg") {
            Flow::Hidden
        } else {
            Flow::Inline
        };
    }
    match element.name.local {
        // A shadow root, which browsers show.
        local_name!("template") if is_shadow_root(element) => Flow::Inline,
        names![
            "script" "style" "noscript" "template" "title" "textarea" "select" "iframe" "noembed"
            "noframes" "object" "audio" "video" "canvas"
        ] => Flow::Hidden,
        names![
            "address" "article" "aside" "blockquote" "body" "br" "caption" "center" "dd" "details"
            "dialog" "dir" "div" "dl" "dt" "fieldset" "figcaption" "figure" "footer" "form" "h1"
            "h2" "h3" "h4" "h5" "h6" "header" "hgroup" "hr" "legend" "li" "listing" "main" "menu"
            "nav" "ol" "p" "plaintext" "pre" "section" "summary" "table" "tbody" "tfoot" "thead"
            "tr" "ul" "xmp"
        ] => Flow::Block,
        names!["td" "th"] => Flow::Cell,
        _ => Flow::Inline,
    }
}

/// Returns true for a template that is attached as a shadow root (HTML standard, "declarative
/// shadow roots").
fn is_shadow_root(element: &Element) -> bool {
    attribute(element, "shadowrootmode").is_some_and(is_shadow_mode)
}

/// Returns the flags that an element gives to its content, given the flags around it.
pub(crate) fn flags(element: &Element, outside: u32) -> u32 {
    let is_block = flow(element) == Flow::Block;
    let mut flags = by_name(element, outside);
    let mut is_hidden = false;
    if is_block && !element.attrs.is_empty() && element.name.local != local_name!("body") {
        flags |= class_names::of_block(element);
    }
    for (name, value) in &element.attrs {
        match name.local {
            local_name!("role") => flags |= by_role(value, outside),
            names!["class" "id"] if is_contents(value) => {
                flags |= region_flags::FRAME;
            }
            local_name!("itemprop") if value.trim().eq_ignore_ascii_case("articleBody") => {
                flags |= region_flags::BODY;
            }
            local_name!("hidden") if is_block => is_hidden = true,
            local_name!("style") if is_block && is_hidden_by_style(value) => is_hidden = true,
            _ => {}
        }
    }
    if is_hidden && (outside | flags) & region_flags::FOLDED == 0 {
        flags |= region_flags::HIDDEN;
    }
    flags
}

/// Hashes the name and the class of an element without digits (`post-17`): a template generates
/// elements with equal hashes.
pub(crate) fn kind(element: &Element) -> u32 {
    const PRIME: u32 = 0x0100_0193;
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(PRIME);
    let mut attributes = element.attrs.iter();
    let class = attributes.find(|(name, _)| name.local == local_name!("class"));
    let name = element.name.local.bytes().fold(0x811c_9dc5, mix);
    let class = class.map_or("", |(_, class)| &**class);
    class
        .bytes()
        .filter(|byte| !byte.is_ascii_digit())
        .fold(mix(name, b'.'), mix)
}

fn by_name(element: &Element, outside: u32) -> u32 {
    match element.name.local {
        local_name!("main") => region_flags::MAIN,
        local_name!("article") => region_flags::ARTICLE,
        local_name!("aside") if is_footnote(element) => 0,
        local_name!("aside") if outside & (region_flags::MAIN | region_flags::ARTICLE) != 0 => {
            region_flags::ASIDE
        }
        names!["nav" "aside" "footer" "dialog"] => region_flags::FRAME,
        // Inside an article it belongs to the article (ARIA in HTML, section 4).
        local_name!("header")
            if outside & (region_flags::MAIN | region_flags::ARTICLE | region_flags::SECTION)
                == 0 =>
        {
            region_flags::FRAME
        }
        local_name!("form") => region_flags::FORM,
        local_name!("figcaption") => region_flags::CAPTION,
        names!["button" "label"] => region_flags::BUTTON,
        names!["p" "blockquote" "pre"] => region_flags::PARAGRAPH,
        local_name!("section") if is_main(element) => {
            region_flags::PART | region_flags::SECTION | region_flags::MAIN
        }
        local_name!("section") => region_flags::PART | region_flags::SECTION,
        names!["table" "ul" "ol" "dl"] => region_flags::PART,
        local_name!("h1") => region_flags::HEADING | region_flags::TITLE,
        names!["h2" "h3" "h4" "h5" "h6"] => region_flags::HEADING,
        _ => 0,
    }
}

/// Returns true if a style hides its element.
fn is_hidden_by_style(style: &str) -> bool {
    style.split(';').any(|declaration| {
        let property = declaration.split_once(':');
        property.is_some_and(|(name, value)| name.trim() == "display" && value.trim() == "none")
    })
}

/// Returns true for an `aside` with footnotes, as docutils 0.18 and later emit them (ARIA in HTML
/// and DPUB-ARIA 1.1 define the roles). Footnotes are content: without them, a page of a manual
/// lost 139 words.
fn is_footnote(element: &Element) -> bool {
    element.attrs.iter().any(|(name, value)| match name.local {
        local_name!("role") => matches!(
            value.trim(),
            "note" | "doc-footnote" | "doc-endnote" | "doc-endnotes"
        ),
        local_name!("class") => {
            let mut names = value.split_ascii_whitespace();
            names.any(|name| matches!(name, "footnote" | "footnotes" | "footnote-list"))
        }
        _ => false,
    })
}

/// Returns true for `<section id="main" class="content">`, which replaces `<main>` in reference
/// manuals made by gi-docgen.
fn is_main(section: &Element) -> bool {
    let has = |wanted: &str, value: &str| {
        let mut attributes = section.attrs.iter();
        attributes.any(|(name, found)| &*name.local == wanted && found.trim() == value)
    };
    has("id", "main") && has("class", "content")
}

/// Returns the flags of WAI-ARIA landmark roles.
fn by_role(role: &str, outside: u32) -> u32 {
    match role.trim() {
        "main" => region_flags::MAIN,
        "article" => region_flags::ARTICLE,
        "complementary" if outside & (region_flags::MAIN | region_flags::ARTICLE) != 0 => {
            region_flags::ASIDE
        }
        "navigation" | "banner" | "contentinfo" | "search" | "complementary" => region_flags::FRAME,
        _ => 0,
    }
}

/// Returns true for a table of contents from docutils before 0.18; `contents` alone may name
/// anything.
fn is_contents(names: &str) -> bool {
    let has = |wanted: &str| names.split_ascii_whitespace().any(|name| name == wanted);
    has("contents") && (has("topic") || has("local"))
}
