//! Reading of a body: from bytes to a [`Document`].

use encoding_rs::UTF_8;

use crate::html::content::MIN_MAIN_WORDS;
use crate::html::document::{Document, ParseWarning};
use crate::html::limits::ReadLimits;
use crate::html::lines::Lines;
use crate::html::link::LinkKind;
use crate::html::links::{Links, Reference, References};
use crate::html::main_selectors::Selection;
use crate::html::regions::Region;
use crate::html::relations::has_relation;
use crate::html::response_metadata::{ReadContext, ResponseMetadata};
use crate::html::subresources::Subresource;
use crate::html::walk::Walk;
use crate::html::work_budget::WorkBudget;
use crate::html::{
    audit, charset, fields, forms, language, lines, link_attributes, markdown, refresh, xhtml,
};
use crate::http::media_type::Media;
use crate::http::{link_header, media_type};
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// Maximum bytes of a page to search for forms.
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
    let context = ReadContext {
        metadata,
        form,
        limits,
        encoding: UTF_8,
    };
    let media = Media::of(metadata.content_type, body);
    let (mut document, headed) = Document::with_header(media, &context);
    if document.media == Media::Other {
        match Subresource::of(metadata.content_type, body, limits.kinds) {
            Some(part) => document.read_part(part, body, headed, &context),
            None => References::new(limits).resolve(headed, &context, &mut document),
        }
        return document;
    }
    let decoded = charset::decode(body, metadata.content_type, top_level_domain(metadata.url));
    let context = ReadContext {
        encoding: decoded.encoding,
        ..context
    };
    document.charset = decoded.encoding.name();
    if decoded.repaired {
        document.warnings.push(ParseWarning::Undecodable);
    }
    if document.media == Media::Html {
        if media_type::is_xhtml(metadata.content_type, body) {
            let mut budget = WorkBudget::new(limits.stream_effort);
            let page = xhtml::as_html(&decoded.text, &mut budget);
            document.read_page(&page, headed, &context);
        } else {
            document.read_page(&decoded.text, headed, &context);
        }
    } else {
        References::new(limits).resolve(headed, &context, &mut document);
        document.read_text(&decoded.text, limits);
    }
    document.detect_language();
    document
}

impl Document {
    /// Creates the document of a body that is not read yet, and returns the links in its header.
    pub(super) fn with_header(media: Media, context: &ReadContext<'_>) -> (Self, Links) {
        let mut document = Self::unread(media);
        for value in context.metadata.x_robots_tag {
            document
                .directives
                .add_header(value, context.metadata.agent);
        }
        let headed = document.read_header(context);
        (document, headed)
    }

    /// Replaces the declared language by the one that its text shows.
    pub(super) fn detect_language(&mut self) {
        (self.language, self.language_confidence) =
            language::of_page(self.language.as_deref(), &self.text);
    }

    /// Returns the links in header fields, and reads the canonical URL there. They are relative to
    /// the page's URL, even if the page has a `<base>`.
    fn read_header(&mut self, context: &ReadContext<'_>) -> Links {
        let (metadata, limits) = (context.metadata, context.limits);
        let join = |target: &str| metadata.url.join(target, context.form).ok();
        let mut links = Links::default();
        let mut add = |url: PageUrl, kind: LinkKind, rel: &str| {
            links.has_icon |= has_relation(rel, "icon");
            if url != *metadata.url {
                let reference = Reference::new("".into(), kind, rel, limits.rel_bytes);
                links.add(url, reference, limits);
            }
        };
        let values = metadata.link.iter();
        for link in values.flat_map(|value| link_header::links(value)) {
            // A link with another context belongs to that page.
            let anchor = link.anchor.as_deref();
            let is_ours = anchor.is_none_or(|anchor| join(anchor).as_ref() == Some(metadata.url));
            let Some(url) = join(link.target).filter(|_| is_ours) else {
                continue;
            };
            if self.canonical.is_none() && has_relation(&link.rel, "canonical") {
                self.canonical = Some(url.clone());
            }
            if limits.audit {
                let translated = || Some(url.clone());
                self.audit.translate(&link.rel, &link.hreflang, translated);
            }
            if let Some(kind) = link_attributes::of_relations(&link.rel) {
                add(url, kind, &link.rel);
            }
        }
        if let Some(url) = metadata.content_location.and_then(|url| join(url.trim())) {
            add(url, LinkKind::Page, "");
        }
        if let Some(url) = metadata.refresh.and_then(refresh::target).and_then(join) {
            add(url, LinkKind::Refresh, "");
        }
        links
    }

    /// Reads a text without markup.
    pub(super) fn read_text(&mut self, text: &str, limits: &ReadLimits) {
        let end = lines::end_of_share(text, limits.text);
        if end < text.len() {
            self.warnings.push(ParseWarning::TooMuchText);
        }
        text[..end].clone_into(&mut self.text);
    }

    fn read_page(&mut self, text: &str, headed: Links, context: &ReadContext<'_>) {
        let (metadata, limits) = (context.metadata, context.limits);
        let (markup, unscripted);
        let mut budget = WorkBudget::new(limits.tree_effort);
        let selectors = Selection::of(metadata.main, metadata.url);
        let own = metadata.fields.filter(|_| limits.fields);
        let keeps_all = own.is_some_and(|own| own.need_data(metadata.url));
        let parsed = selectors.parse(text, keeps_all, limits, &mut budget);
        let mut walk = Walk::new(metadata.agent, limits, text.len() / 4);
        walk.directives = self.directives;
        walk.selected = selectors.find(&parsed.html);
        walk.tree(parsed.html.tree.root());
        if let Some(rest) = &parsed.rest {
            self.warnings.push(ParseWarning::Parsing(rest.why));
            walk.rest(text, rest);
        }
        let (has_script, words) = (walk.has_script, walk.lines.words());
        if words < MIN_MAIN_WORDS && !walk.unscripted.is_empty() {
            // Scripts generate the page, except for its content for readers without scripts.
            markup = std::mem::take(&mut walk.unscripted);
            unscripted = selectors.parse(&markup, false, limits, &mut budget);
            walk.selected = selectors.find(&unscripted.html);
            walk.tree(unscripted.html.tree.root());
            if let Some(rest) = &unscripted.rest {
                walk.rest(&markup, rest);
            }
        }
        self.has_scripts = has_script;
        let longest = words.max(walk.lines.words() - words);
        self.needs_scripts = has_script && longest < MIN_MAIN_WORDS;
        walk.read_nested();
        read_forms(&mut walk.references, text, context);
        if walk.budget.is_spent() {
            self.warnings.push(ParseWarning::Unread);
        }
        if walk.lines.is_full() {
            self.warnings.push(ParseWarning::TooMuchText);
        }
        let base = walk.references.base_url(context);
        let mut references = walk.references;
        if let Some(rest) = walk.rest_contexts {
            rest.write(&mut references);
        }
        let resolve = |target: &str| {
            let url = base.join_in(context.encoding, target, context.form).ok();
            let url = url.filter(|url| url != metadata.url);
            url.map(|url| url.as_str().to_owned())
        };
        let url_of = |target: &str| base.join_in(context.encoding, target, context.form).ok();
        if limits.fields {
            let resolve = |target: &str| Some(url_of(target)?.as_str().to_owned());
            self.fields = fields::of_page(&parsed.html, metadata.url, resolve);
            if let Some(own) = own {
                self.own_fields = own.of_page(&parsed.html, metadata.url);
            }
        }
        if limits.audit {
            audit::read(&mut self.audit, &parsed.html, limits.title_chars, url_of);
        }
        let structure = walk.structure;
        let found = &mut references.found;
        let judge_links = |lines: &Lines, regions: &[Region], judged: &[bool]| {
            if let Some(contexts) = walk.contexts {
                contexts.write(lines, regions, judged, found);
            }
        };
        self.choose_texts(
            walk.lines,
            limits,
            judge_links,
            metadata
                .shared
                .map(|shared| |line: &str| shared.has(metadata.url, line)),
            |lines, is_chosen| {
                let structure = structure.as_ref()?;
                let text = markdown::write(structure, lines, is_chosen, resolve, limits.text);
                Some(text)
            },
        );
        references.add_implied_icon(&headed, context);
        references.resolve(headed, context, self);
        self.title = walk.title;
        self.language = walk.language;
        self.directives = walk.directives;
    }
}

/// Reads the URLs that forms request, if they are wanted.
fn read_forms(references: &mut References<'_>, text: &str, context: &ReadContext<'_>) {
    let (url, limits) = (context.metadata.url, context.limits);
    if limits.kinds.has(LinkKind::Form) {
        let budget = WorkBudget::new(limits.stream_effort / 4);
        let start = &text[..text.floor_char_boundary(FORM_BYTES)];
        for (url, rel) in forms::urls(start, url, context.encoding, budget) {
            references.add(url.into(), LinkKind::Form, &rel);
        }
    }
}

/// Returns the last label of a host name; `None` for an address.
fn top_level_domain(url: &PageUrl) -> Option<&str> {
    url.as_url().domain()?.rsplit('.').next()
}
