//! Reading of a body: from bytes to a [`Document`].

use crate::html::content::{self, MIN_MAIN_WORDS};
use crate::html::document::{Document, ParseWarning};
use crate::html::limits::ReadLimits;
use crate::html::link::LinkKind;
use crate::html::links::{Links, Reference, References};
use crate::html::main_selectors::Selection;
use crate::html::relations::{self, Relations, has_relation};
use crate::html::response_metadata::ResponseMetadata;
use crate::html::subresources::Subresource;
use crate::html::walk::Walk;
use crate::html::work_budget::WorkBudget;
use crate::html::{charset, forms, language, lines, link_attributes, refresh};
use crate::http::link_header;
use crate::http::media_type::Media;
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// Bytes of a page that are searched for forms.
const FORM_BYTES: usize = 4 << 20;

/// Reads a body after content decoding.
///
/// ```
/// use web::{CanonicalForm, PageUrl, ReadLimits, ResponseMetadata, read};
///
/// let form = CanonicalForm::default();
/// let url = PageUrl::parse("https://example.org/", &form)?;
/// let body = b"<title>Lamps</title><p>A lamp. <a href=/lamps>More lamps</a>";
/// let page = read(body, &ResponseMetadata::of(&url), &form, &ReadLimits::default());
/// assert_eq!(page.title.as_deref(), Some("Lamps"));
/// assert_eq!(page.text, "A lamp. More lamps");
/// assert_eq!(page.links[0].url.as_str(), "https://example.org/lamps");
/// # Ok::<(), web::UrlError>(())
/// ```
#[must_use]
pub fn read(
    body: &[u8],
    metadata: &ResponseMetadata<'_>,
    form: &CanonicalForm,
    limits: &ReadLimits,
) -> Document {
    let mut document = Document::unread(Media::of(metadata.content_type, body));
    for value in metadata.x_robots_tag {
        document.directives.add_header(value, metadata.agent);
    }
    let mut headed = Headed::read(metadata, form, limits);
    document.canonical = headed.canonical.take();
    if document.media == Media::Other {
        if limits.kinds.has(LinkKind::Requisite)
            && let Some(part) = Subresource::of(metadata.content_type)
        {
            document.read_part(part, body, headed.links, metadata, form, limits);
            return document;
        }
        document.links_of_header(headed, metadata, form, limits);
        return document;
    }
    let decoded = charset::decode(body, metadata.content_type, top_level_domain(metadata.url));
    document.charset = decoded.charset;
    if decoded.repaired {
        document.warnings.push(ParseWarning::Undecodable);
    }
    if document.media == Media::Html {
        document.read_page(&decoded.text, headed.links, metadata, form, limits);
    } else {
        document.links_of_header(headed, metadata, form, limits);
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
        metadata: &ResponseMetadata<'_>,
        form: &CanonicalForm,
        limits: &ReadLimits,
    ) {
        let resolved = References::new(limits).resolve(headed.links, metadata.url, form, limits);
        self.links = resolved.links;
        self.warnings.extend(resolved.warning);
    }

    fn read_text(&mut self, text: &str, limits: &ReadLimits) {
        let end = lines::end_of_share(text, limits.text);
        if end < text.len() {
            self.warnings.push(ParseWarning::TooMuchText);
        }
        text[..end].clone_into(&mut self.text);
    }

    fn read_page(
        &mut self,
        text: &str,
        headed: Links,
        metadata: &ResponseMetadata<'_>,
        form: &CanonicalForm,
        limits: &ReadLimits,
    ) {
        let (markup, unscripted);
        let mut budget = WorkBudget::new(limits.tree_effort);
        let selectors = Selection::of(metadata.main, metadata.url);
        let parsed = selectors.parse(text, limits, &mut budget);
        let mut walk = Walk::new(metadata.agent, limits, text.len() / 4);
        walk.directives = self.directives;
        walk.selected = selectors.find(&parsed.html);
        walk.tree(parsed.html.tree.root());
        if let Some(rest) = &parsed.rest {
            self.warnings.push(ParseWarning::Parsing(rest.why));
            walk.rest(text, rest);
        }
        if walk.lines.words() < MIN_MAIN_WORDS && !walk.unscripted.is_empty() {
            // The page is made by scripts, except for its content for readers without them.
            markup = std::mem::take(&mut walk.unscripted);
            unscripted = selectors.parse(&markup, limits, &mut budget);
            walk.selected = selectors.find(&unscripted.html);
            walk.tree(unscripted.html.tree.root());
            if let Some(rest) = &unscripted.rest {
                walk.rest(&markup, rest);
            }
        }
        walk.read_nested();
        if limits.kinds.has(LinkKind::Form) {
            let budget = WorkBudget::new(limits.stream_effort / 4);
            let start = &text[..text.floor_char_boundary(FORM_BYTES)];
            for (url, rel) in forms::urls(start, metadata.url, budget) {
                walk.references.add(url.into(), LinkKind::Form, &rel);
            }
        }
        let resolved = walk.references.resolve(headed, metadata.url, form, limits);
        if walk.budget.is_spent() {
            self.warnings.push(ParseWarning::Unread);
        }
        if walk.lines.is_full() {
            self.warnings.push(ParseWarning::TooMuchText);
        }
        let texts = content::finish(walk.lines, limits.title_chars);
        self.title = walk.title;
        self.language = walk.language;
        self.directives = walk.directives;
        self.links = resolved.links;
        self.canonical = self.canonical.take().or(resolved.canonical);
        self.warnings.extend(resolved.warning);
        self.text = texts.text;
        self.full = texts.full;
        self.own = texts.own;
        self.judged = texts.judged;
        self.judged_own = texts.judged_own;
        self.heading = texts.heading;
    }
}

/// The links and the canonical URL in header fields. They are relative to the page's URL, whatever
/// its `<base>`.
struct Headed {
    links: Links,
    canonical: Option<PageUrl>,
}

impl Headed {
    fn read(metadata: &ResponseMetadata<'_>, form: &CanonicalForm, limits: &ReadLimits) -> Self {
        let mut headed = Self {
            links: Links::default(),
            canonical: None,
        };
        for link in metadata
            .link
            .iter()
            .flat_map(|value| link_header::links(value))
        {
            // A link with another context belongs to that page.
            let is_ours = link.anchor.as_ref().is_none_or(|anchor| {
                metadata
                    .url
                    .join(anchor, form)
                    .is_ok_and(|from| from == *metadata.url)
            });
            let Ok(url) = metadata.url.join(link.target, form) else {
                continue;
            };
            if !is_ours {
                continue;
            }
            if headed.canonical.is_none() && has_relation(&link.rel, "canonical") {
                headed.canonical = Some(url.clone());
            }
            if let Some(kind) = link_attributes::of_relations(&link.rel) {
                headed.add(url, kind, &link.rel, metadata, limits);
            }
        }
        let location = metadata.content_location.map(str::trim);
        if let Some(Ok(url)) = location.map(|location| metadata.url.join(location, form)) {
            headed.add(url, LinkKind::Page, "", metadata, limits);
        }
        let refresh = metadata.refresh.and_then(refresh::target);
        if let Some(Ok(url)) = refresh.map(|target| metadata.url.join(target, form)) {
            headed.add(url, LinkKind::Refresh, "", metadata, limits);
        }
        headed
    }

    fn add(
        &mut self,
        url: PageUrl,
        kind: LinkKind,
        rel: &str,
        metadata: &ResponseMetadata<'_>,
        limits: &ReadLimits,
    ) {
        if url != *metadata.url {
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

/// Returns the last label of a host name; `None` for an address.
fn top_level_domain(url: &PageUrl) -> Option<&str> {
    url.as_url().domain()?.rsplit('.').next()
}
