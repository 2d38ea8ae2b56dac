//! The links of a page, from references to resolved URLs.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::html::document::{Document, LostLinks, ParseWarning};
use crate::html::limits::ReadLimits;
use crate::html::link::{Link, LinkContext, LinkKind, LinkKinds};
use crate::html::relations::{self, Relations};
use crate::html::response_metadata::ReadContext;
use crate::letter_case::starts_with_ignore_case;
use crate::url::canonical::is_route;
use crate::url::page_url::{MAX_URL_BYTES, PageUrl, UrlError};
use crate::url::url_key::UrlKey;

/// Maximum references to resolve per allowed link: several may point to the same page, or to no
/// page. They are compared as written, so a repeated navigation bar counts once.
pub(crate) const TRIES_PER_LINK: usize = 4;

/// Bytes of URLs per allowed link. Ordinary URLs have a hundred; a base of 8 KiB makes every
/// reference 8 KiB long, and a journal records the URL of the page with every link.
const BYTES_PER_LINK: usize = 512;

/// The icon of a page that names none.
const IMPLIED_ICON: &str = "/favicon.ico";

/// A link as written in the page.
#[derive(Debug)]
pub(crate) struct Reference<'p> {
    pub href: Cow<'p, str>,
    pub kind: LinkKind,
    pub relations: Relations,
    pub rel: String,
    pub anchor: String,
    pub is_needed: bool,
    pub is_implied: bool,
    pub context: Option<LinkContext>,
}

impl<'p> Reference<'p> {
    pub(crate) fn new(href: Cow<'p, str>, kind: LinkKind, rel: &str, rel_bytes: usize) -> Self {
        Self {
            href,
            kind,
            relations: Relations::of_rel(rel),
            rel: relations::words(rel, rel_bytes),
            anchor: String::new(),
            is_needed: kind.is_needed(),
            is_implied: false,
            context: None,
        }
    }
}

/// Number of links to pages, and of other links. Separate limits keep pictures from crowding out
/// pages.
#[derive(Debug, Default)]
struct LinkCounts {
    pages: usize,
    others: usize,
}

impl LinkCounts {
    /// Counts a link, if there are fewer than `most` in its category.
    fn admit(&mut self, kind: LinkKind, most: usize) -> bool {
        let count = if is_page(kind) {
            &mut self.pages
        } else {
            &mut self.others
        };
        let has_room = *count < most;
        *count += usize::from(has_room);
        has_room
    }

    /// Moves a link to the kind of another occurrence.
    fn move_link(&mut self, before: LinkKind, kind: LinkKind) {
        if is_page(kind) && !is_page(before) {
            self.pages += 1;
            self.others -= 1;
        }
    }
}

/// The links of a page while it is read; their base may still follow.
#[derive(Debug)]
pub(crate) struct References<'p> {
    pub kinds: LinkKinds,
    pub found: Vec<Reference<'p>>,
    /// First `<base href>`.
    pub base: Option<Cow<'p, str>>,
    /// First `<link rel=canonical>`.
    pub canonical: Option<Cow<'p, str>>,
    /// True if a `<link rel=icon>` names an icon of the page.
    pub has_icon: bool,
    /// Index of each reference.
    known: HashMap<Cow<'p, str>, usize>,
    counts: LinkCounts,
    lost: LostLinks,
    /// Maximum number of pages, and of other links.
    most: usize,
    /// Maximum bytes of a `rel`.
    rel_bytes: usize,
}

impl<'p> References<'p> {
    pub(crate) fn new(limits: &ReadLimits) -> Self {
        Self {
            kinds: limits.kinds,
            found: Vec::new(),
            base: None,
            canonical: None,
            has_icon: false,
            known: HashMap::new(),
            counts: LinkCounts::default(),
            lost: LostLinks::default(),
            most: limits.links.saturating_mul(TRIES_PER_LINK),
            rel_bytes: limits.rel_bytes,
        }
    }

    /// Adds a reference with the `rel` of its element; skips references to the same page or to
    /// anything but a page. Returns its index if this element supplies its anchor text.
    pub(crate) fn add(&mut self, href: Cow<'p, str>, kind: LinkKind, rel: &str) -> Option<usize> {
        if !self.kinds.has(kind) {
            return None;
        }
        let start = href.trim_start();
        if is_same_page(start) || leads_elsewhere(start) {
            return None;
        }
        if href.len() > MAX_URL_BYTES {
            self.lost.too_long += 1;
            return None;
        }
        if let Some(&known) = self.known.get(&href) {
            let reference = &mut self.found[known];
            if !reference.rel.is_empty() {
                reference.rel =
                    relations::shared(&reference.rel, &relations::words(rel, self.rel_bytes));
            }
            reference.relations = reference.relations.shared_with(Relations::of_rel(rel));
            reference.is_needed |= kind.is_needed();
            let had_words = reference.kind == LinkKind::Page;
            if kind < reference.kind {
                self.counts.move_link(reference.kind, kind);
                reference.kind = kind;
            }
            return (!had_words && kind == LinkKind::Page).then_some(known);
        }
        if !self.counts.admit(kind, self.most) {
            self.lost.too_many += 1;
            return None;
        }
        let index = self.found.len();
        self.known.insert(href.clone(), index);
        self.found
            .push(Reference::new(href, kind, rel, self.rel_bytes));
        Some(index)
    }

    /// Adds the icon that browsers request for a page that names none (HTML Standard, section
    /// 4.6.7.8): every page of a host implies the same one. `headed` contains the links in header
    /// fields.
    pub(crate) fn add_implied_icon(&mut self, headed: &Links, context: &ReadContext<'_>) {
        if self.has_icon || headed.has_icon {
            return;
        }
        // Not relative to the `<base>` of the page.
        let Ok(icon) = context.metadata.url.join(IMPLIED_ICON, context.form) else {
            return;
        };
        let first = self.found.len();
        self.add(icon.as_str().to_owned().into(), LinkKind::Requisite, "");
        if let Some(added) = self.found.get_mut(first) {
            added.is_implied = true;
        }
    }

    /// Returns the index of an earlier reference to a page.
    pub(crate) fn page(&self, href: &str) -> Option<usize> {
        let index = *self.known.get(href)?;
        is_page(self.found[index].kind).then_some(index)
    }

    /// Returns the references to pages from index `first`, which were added by an element with this
    /// name; empty if the element is not displayed.
    pub(crate) fn shown_since(&self, first: usize, name: &str) -> impl Iterator<Item = usize> {
        let is_shown = !matches!(name, "link" | "meta");
        let added = if is_shown { first } else { self.found.len() };
        (added..self.found.len()).filter(|&index| is_page(self.found[index].kind))
    }

    /// Returns the base URL of references.
    pub(crate) fn base_url(&self, context: &ReadContext<'_>) -> PageUrl {
        let page = context.metadata.url;
        let base = self.base.as_ref();
        let base = base.and_then(|base| page.join_in(context.encoding, base, context.form).ok());
        base.unwrap_or_else(|| page.clone())
    }

    /// Resolves all references into a document, each request once, in document order; invalid URLs
    /// are dropped. `links` contains the links that are already known.
    pub(crate) fn resolve(
        self,
        mut links: Links,
        context: &ReadContext<'_>,
        document: &mut Document,
    ) {
        let (page, limits) = (context.metadata.url, context.limits);
        let base = &self.base_url(context);
        let join = |reference: &str| base.join_in(context.encoding, reference, context.form);
        let canonical = self.canonical.and_then(|canonical| join(&canonical).ok());
        links.lost.too_many += self.lost.too_many;
        links.lost.too_long += self.lost.too_long;
        let mut bytes = limits.links.saturating_mul(BYTES_PER_LINK);
        let each = base.as_str().len().max(page.as_str().len());
        for reference in self.found {
            // A reference that begins with a slash keeps little of its base; the difference is
            // negligible.
            let Some(left) = bytes.checked_sub(each + reference.href.len()) else {
                links.lost.too_many += 1;
                continue;
            };
            bytes = left;
            match join(&reference.href) {
                Ok(url) if url != *page => links.add(url, reference, limits),
                Err(UrlError::TooLong(_)) => links.lost.too_long += 1,
                Ok(_) | Err(_) => {}
            }
        }
        document.links = links.links;
        document.lost_links = links.lost;
        document.canonical = document.canonical.take().or(canonical);
        if document.lost_links.too_many > 0 {
            document.warnings.push(ParseWarning::TooManyLinks);
        }
    }
}

/// Resolved links, each request once.
#[derive(Debug, Default)]
pub(crate) struct Links {
    links: Vec<Link>,
    /// True if a header field names the page's icon.
    pub has_icon: bool,
    known: HashMap<UrlKey, usize>,
    counts: LinkCounts,
    lost: LostLinks,
    /// Known links beyond the limit, so that each is counted once.
    beyond: HashSet<UrlKey>,
}

impl Links {
    pub(crate) fn add(&mut self, url: PageUrl, reference: Reference<'_>, limits: &ReadLimits) {
        if !limits.kinds.has(reference.kind) {
            return;
        }
        // Rules judge the request, so two spellings of a page are two links.
        let key = UrlKey::of_name(&url.written());
        if let Some(&index) = self.known.get(&key) {
            let link = &mut self.links[index];
            link.relations = link.relations.shared_with(reference.relations);
            if !link.rel.is_empty() {
                link.rel = relations::shared(&link.rel, &reference.rel);
            }
            link.is_needed |= reference.is_needed;
            if let Some(context) = reference.context {
                LinkContext::merge(&mut link.context, context);
            }
            if reference.kind < link.kind {
                self.counts.move_link(link.kind, reference.kind);
                link.kind = reference.kind;
                if link.anchor.is_empty() {
                    link.anchor = reference.anchor;
                }
            }
            return;
        }
        if !self.counts.admit(reference.kind, limits.links) {
            self.lost.too_many += u64::from(self.beyond.insert(key));
            return;
        }
        self.known.insert(key, self.links.len());
        self.links.push(Link {
            url,
            kind: reference.kind,
            relations: reference.relations,
            rel: reference.rel,
            anchor: reference.anchor,
            is_needed: reference.is_needed,
            is_implied: reference.is_implied,
            context: reference.context,
        });
    }
}

/// Returns true for kinds of links to pages.
pub(crate) const fn is_page(kind: LinkKind) -> bool {
    LinkKinds::PAGES.has(kind)
}

/// Returns true for nothing, and for a fragment that is not the route of an application.
fn is_same_page(href: &str) -> bool {
    let fragment = href.strip_prefix('#');
    href.is_empty() || fragment.is_some_and(|fragment| !is_route(fragment))
}

/// Recognises frequent schemes that never point to pages, before anything is parsed.
fn leads_elsewhere(href: &str) -> bool {
    const ELSEWHERE: &[&str] = &["javascript:", "mailto:", "data:", "tel:", "blob:"];
    let mut schemes = ELSEWHERE.iter();
    schemes.any(|scheme| starts_with_ignore_case(href, scheme))
}
