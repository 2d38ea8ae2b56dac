//! Reading of a body: from bytes to a [`Document`].

use crate::html::content::{self, MIN_MAIN_WORDS};
use crate::html::document::{Document, ParseWarning};
use crate::html::limits::ReadLimits;
use crate::html::link::LinkKind;
use crate::html::links::{Links, Reference, References};
use crate::html::main_selectors::Selection;
use crate::html::relations::{self, Relations, has_relation};
use crate::html::response_metadata::ResponseMetadata;
use crate::html::subresources::Part;
use crate::html::walk::Walk;
use crate::html::work_budget::WorkBudget;
use crate::html::{charset, forms, language, lines, link_attributes, refresh};
use crate::http::link_header;
use crate::http::media_type::Media;
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// How much of a page is looked through for forms.
const FORM_BYTES: usize = 4 << 20;

/// Reads a body whose content coding was taken off.
#[must_use]
pub fn read(
    body: &[u8],
    hints: &ResponseMetadata<'_>,
    form: &CanonicalForm,
    limits: &ReadLimits,
) -> Document {
    let mut document = Document::unread(Media::of(hints.content_type, body));
    for value in hints.x_robots_tag {
        document.directives.add_header(value, hints.agent);
    }
    let mut headed = Headed::read(hints, form, limits);
    document.canonical = headed.canonical.take();
    if document.media == Media::Other {
        if limits.kinds.has(LinkKind::Requisite)
            && let Some(part) = Part::of(hints.content_type)
        {
            document.read_part(part, body, headed.links, hints, form, limits);
            return document;
        }
        document.links_of_header(headed, hints, form, limits);
        return document;
    }
    let decoded = charset::decode(body, hints.content_type, top_level_domain(hints.url));
    document.charset = decoded.charset;
    if decoded.repaired {
        document.oddities.push(ParseWarning::Undecodable);
    }
    if document.media == Media::Html {
        document.read_page(&decoded.text, headed.links, hints, form, limits);
    } else {
        document.links_of_header(headed, hints, form, limits);
        document.read_text(&decoded.text, limits);
    }
    if document.language.is_none() {
        document.language = language::of_text(&document.text);
    }
    document
}

impl Document {
    fn links_of_header(
        &mut self,
        headed: Headed,
        hints: &ResponseMetadata<'_>,
        form: &CanonicalForm,
        limits: &ReadLimits,
    ) {
        let resolved = References::new(limits).resolve(headed.links, hints.url, form, limits);
        self.links = resolved.links;
        self.oddities.extend(resolved.oddity);
    }

    fn read_text(&mut self, text: &str, limits: &ReadLimits) {
        let end = lines::end_of_share(text, limits.text);
        if end < text.len() {
            self.oddities.push(ParseWarning::TooMuchText);
        }
        text[..end].clone_into(&mut self.text);
    }

    fn read_page(
        &mut self,
        text: &str,
        headed: Links,
        hints: &ResponseMetadata<'_>,
        form: &CanonicalForm,
        limits: &ReadLimits,
    ) {
        let (markup, unscripted);
        let mut effort = WorkBudget::new(limits.tree_effort);
        let selectors = Selection::of(hints.main, hints.url);
        let parsed = selectors.parse(text, limits, &mut effort);
        let mut walk = Walk::new(hints.agent, limits, text.len() / 4);
        walk.directives = self.directives;
        walk.selected = selectors.find(&parsed.html);
        walk.tree(parsed.html.tree.root());
        if let Some(rest) = &parsed.rest {
            self.oddities.push(ParseWarning::Parsing(rest.why));
            walk.rest(text, rest);
        }
        if walk.lines.words() < MIN_MAIN_WORDS && !walk.unscripted.is_empty() {
            // All of the page is made by scripts, but for what it has for readers without.
            markup = std::mem::take(&mut walk.unscripted);
            unscripted = selectors.parse(&markup, limits, &mut effort);
            walk.selected = selectors.find(&unscripted.html);
            walk.tree(unscripted.html.tree.root());
            if let Some(rest) = &unscripted.rest {
                walk.rest(&markup, rest);
            }
        }
        walk.read_nested();
        if limits.kinds.has(LinkKind::Form) {
            let effort = WorkBudget::new(limits.stream_effort / 4);
            let start = &text[..text.floor_char_boundary(FORM_BYTES)];
            for (url, rel) in forms::urls(start, hints.url, effort) {
                walk.references.add(url.into(), LinkKind::Form, &rel);
            }
        }
        let resolved = walk.references.resolve(headed, hints.url, form, limits);
        if walk.effort.is_spent() {
            self.oddities.push(ParseWarning::Unread);
        }
        if walk.lines.is_full() {
            self.oddities.push(ParseWarning::TooMuchText);
        }
        let texts = content::finish(walk.lines, limits.title_chars);
        self.title = walk.title;
        self.language = walk.language;
        self.directives = walk.directives;
        self.links = resolved.links;
        self.canonical = self.canonical.take().or(resolved.canonical);
        self.oddities.extend(resolved.oddity);
        self.text = texts.text;
        self.full = texts.full;
        self.own = texts.own;
        self.judged = texts.judged;
        self.judged_own = texts.judged_own;
        self.heading = texts.heading;
    }
}

/// What header fields say of other pages. They are relative to the page itself, whatever its
/// `<base>` is.
struct Headed {
    links: Links,
    canonical: Option<PageUrl>,
}

impl Headed {
    fn read(hints: &ResponseMetadata<'_>, form: &CanonicalForm, limits: &ReadLimits) -> Self {
        let mut headed = Self {
            links: Links::default(),
            canonical: None,
        };
        for link in hints
            .link
            .iter()
            .flat_map(|value| link_header::links(value))
        {
            // What is from another page is that page's link.
            let is_ours = link.anchor.as_ref().is_none_or(|anchor| {
                hints
                    .url
                    .join(anchor, form)
                    .is_ok_and(|from| from == *hints.url)
            });
            let Ok(url) = hints.url.join(link.target, form) else {
                continue;
            };
            if !is_ours {
                continue;
            }
            if headed.canonical.is_none() && has_relation(&link.rel, "canonical") {
                headed.canonical = Some(url.clone());
            }
            if let Some(kind) = link_attributes::of_relations(&link.rel) {
                headed.add(url, kind, &link.rel, hints, limits);
            }
        }
        let location = hints.content_location.map(str::trim);
        if let Some(Ok(url)) = location.map(|location| hints.url.join(location, form)) {
            headed.add(url, LinkKind::Page, "", hints, limits);
        }
        let refresh = hints.refresh.and_then(refresh::target);
        if let Some(Ok(url)) = refresh.map(|target| hints.url.join(target, form)) {
            headed.add(url, LinkKind::Refresh, "", hints, limits);
        }
        headed
    }

    fn add(
        &mut self,
        url: PageUrl,
        kind: LinkKind,
        rel: &str,
        hints: &ResponseMetadata<'_>,
        limits: &ReadLimits,
    ) {
        if url != *hints.url {
            let reference = Reference {
                href: "".into(),
                kind,
                relations: Relations::of_rel(rel),
                rel: relations::words(rel, limits.rel_bytes),
                anchor: String::new(),
                is_needed: kind.is_needed(),
            };
            self.links.add(url, reference, limits);
        }
    }
}

/// The last label of a host's name; nothing for an address.
fn top_level_domain(url: &PageUrl) -> Option<&str> {
    url.as_url().domain()?.rsplit('.').next()
}
