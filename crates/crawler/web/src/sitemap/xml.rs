//! Listings in XML: sitemaps, their indexes, RSS and Atom, all parsed by one walk over the tags.
//!
//! Names are matched without namespaces, which many sites get wrong. `<loc>` differs from
//! `<image:loc>` by its position (directly in an entry) and by having the entry's prefix.

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesEnd, BytesRef, BytesStart, Event};
use quick_xml::name::QName;

use crate::html::relations::has_relation;
use crate::sitemap::decoded_text::DecodedText;
use crate::sitemap::gathered::Gathered;
use crate::sitemap::lastmod::Lastmod;
use crate::sitemap::listing::{ListedUrl, ListingKind, ListingWarning};
use crate::url::page_url::{MAX_URL_BYTES, PageUrl};

/// Maximum nesting of tags; a listing needs seven.
const DEPTH: usize = 512;

/// Maximum nesting of `xml:base`.
const BASES: usize = 16;

/// Maximum number of attributes examined in a tag.
const ATTRIBUTES: usize = 32;

/// Returns the kind of a listing by its root element.
pub(super) fn root(head: &str) -> Option<ListingKind> {
    let mut reader = Reader::from_str(head);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                return match tag.local_name().into_inner() {
                    "urlset" => Some(ListingKind::Sitemap),
                    "sitemapindex" => Some(ListingKind::SitemapIndex),
                    // Some feeds of RSS lack their root.
                    "rss" | "feed" | "RDF" | "channel" => Some(ListingKind::Feed),
                    _ => None,
                };
            }
            Ok(Event::Text(text)) if !text.trim().is_empty() => return None,
            Ok(Event::Eof | Event::End(_) | Event::CData(_) | Event::GeneralRef(_)) | Err(_) => {
                return None;
            }
            Ok(_prolog) => {}
        }
    }
}

pub(super) fn read(text: &mut DecodedText<'_>, gathered: &mut Gathered<'_>) {
    let mut reader = Reader::from_reader(text);
    let mut piece = Vec::new();
    let config = reader.config_mut();
    // Sites write `?a=1&b=2` unescaped, and leave tags unclosed.
    config.allow_dangling_amp = true;
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    let wants_requisites = gathered.requisite_room > 0;
    let mut walk = Walk {
        gathered,
        root: None,
        wants_requisites,
        depth: 0,
        channel: None,
        bases: Vec::new(),
        entry: None,
        field: None,
    };
    loop {
        piece.clear();
        reader.get_mut().begin_piece();
        match reader.read_event_into(&mut piece) {
            Ok(Event::Start(tag)) => walk.open(&tag),
            Ok(Event::Empty(tag)) => {
                walk.open(&tag);
                walk.close(&tag.to_end());
            }
            Ok(Event::End(tag)) => walk.close(&tag),
            Ok(Event::Text(text)) => walk.text(&text),
            Ok(Event::CData(text)) => walk.text(&text),
            Ok(Event::GeneralRef(reference)) => walk.reference(&reference),
            Ok(Event::Eof) => {
                let is_open = walk.depth > 0;
                walk.gathered.note_if(is_open, ListingWarning::Broken);
                break;
            }
            // A document type is skipped with all its declarations.
            Ok(Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::DocType(_)) => {}
            Err(_broken) => {
                walk.gathered.note(ListingWarning::Broken);
                break;
            }
        }
        if walk.depth > DEPTH {
            walk.gathered.note(ListingWarning::Broken);
            break;
        }
        if walk.gathered.is_full {
            break;
        }
    }
    // A truncated address is a different address.
    walk.field = None;
    walk.end_entry();
}

struct Walk<'g, 'a> {
    gathered: &'g mut Gathered<'a>,
    /// Prefix of the root, which the tags of a sitemap share.
    root: Option<String>,
    /// True if pictures and films are kept.
    wants_requisites: bool,
    /// Number of open tags.
    depth: usize,
    /// Depth of the RSS channel.
    channel: Option<usize>,
    /// `xml:base` of open tags, with their depth.
    bases: Vec<(usize, PageUrl)>,
    entry: Option<Entry>,
    field: Option<Field>,
}

/// The entry being read.
struct Entry {
    /// Tag of the entry, including its prefix.
    name: String,
    depth: usize,
    is_further: bool,
    urls: Vec<PageUrl>,
    /// An RSS `guid`, which is a URL unless it is marked otherwise.
    guid: Option<PageUrl>,
    lastmod: Option<Lastmod>,
}

/// The field of an entry or of a channel whose text is being read.
struct Field {
    kind: FieldKind,
    depth: usize,
    text: String,
    /// True if it contains something invalid.
    spoilt: bool,
}

#[derive(Clone, Copy)]
enum FieldKind {
    Address,
    Guid,
    Lastmod,
    /// The page of a channel.
    Site,
    /// A picture, a film, or the preview of a film.
    Requisite,
}

impl Walk<'_, '_> {
    fn open(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        let (name, prefix) = (tag.local_name().into_inner(), prefix_of(tag.name()));
        if self.root.is_none() {
            self.root = Some(prefix.to_owned());
        }
        self.rebase(tag);
        if let Some(is_further) = self.begins_entry(name, prefix) {
            self.end_entry();
            self.entry = Some(Entry {
                name: tag.name().0.to_owned(),
                depth: self.depth,
                is_further,
                urls: Vec::new(),
                guid: None,
                lastmod: None,
            });
            return;
        }
        let Some(entry) = &self.entry else {
            self.follow_feed(tag, name);
            return;
        };
        if self.field.is_some() {
            return;
        }
        let is_own = prefix == prefix_of(QName(&entry.name));
        if self.depth == entry.depth + 2 {
            let is_requisite = match name {
                "loc" => !is_own,
                "content_loc" | "thumbnail_loc" => true,
                _ => false,
            };
            if is_requisite && self.wants_requisites && !self.is_feed() {
                self.begin_field(FieldKind::Requisite);
            }
            return;
        }
        if self.depth != entry.depth + 1 {
            return;
        }
        if name == "link" && self.links_by_attribute(tag) {
            return;
        }
        let is_feed = self.is_feed();
        let kind = match name {
            "loc" if !is_feed && is_own => FieldKind::Address,
            "lastmod" if !is_feed && is_own => FieldKind::Lastmod,
            "link" if is_feed && is_own => FieldKind::Address,
            "guid" if is_feed && is_own => {
                let is_address = attribute(tag, "isPermaLink").is_none_or(|value| value != "false");
                if !is_address {
                    return;
                }
                FieldKind::Guid
            }
            _ => return,
        };
        self.begin_field(kind);
    }

    fn begin_field(&mut self, kind: FieldKind) {
        self.field = Some(Field {
            kind,
            depth: self.depth,
            text: String::new(),
            spoilt: false,
        });
    }

    fn is_feed(&self) -> bool {
        self.gathered.part.kind == ListingKind::Feed
    }

    /// Returns true for a tag that begins an entry for a further sitemap, false for an entry for a
    /// page, and `None` for other tags.
    fn begins_entry(&self, name: &str, prefix: &str) -> Option<bool> {
        let shares_prefix = self.root.as_deref() == Some(prefix);
        match name {
            "item" | "entry" if self.is_feed() => Some(false),
            "url" if !self.is_feed() && shares_prefix => Some(false),
            "sitemap" if !self.is_feed() && shares_prefix => Some(true),
            _ => None,
        }
    }

    /// Reads `<link href>` of Atom, and of translations in sitemaps (`xhtml:link`). Returns true
    /// for such a tag.
    fn links_by_attribute(&mut self, tag: &BytesStart<'_>) -> bool {
        let Some(href) = attribute(tag, "href") else {
            return false;
        };
        let rel = attribute(tag, "rel");
        // A link of Atom without a relation is an alternate (RFC 4287 section 4.2.7.2).
        if rel.is_none_or(|rel| has_relation(&rel, "alternate")) {
            let url = self.resolve(&href);
            self.add(url);
        }
        true
    }

    /// Follows the page of a feed, and its continuation (RFC 5005 sections 3 and 4).
    fn follow_feed(&mut self, tag: &BytesStart<'_>, name: &str) {
        if name == "channel" && self.is_feed() {
            self.channel = Some(self.depth);
        }
        if name != "link" || !self.is_feed() || self.field.is_some() {
            return;
        }
        let Some(href) = attribute(tag, "href") else {
            // RSS 2.0: the channel's `link` is the site's URL. The image of a channel also contains
            // a `link`.
            if self
                .channel
                .is_some_and(|channel| self.depth == channel + 1)
            {
                self.begin_field(FieldKind::Site);
            }
            return;
        };
        let rel = attribute(tag, "rel").unwrap_or_else(|| "alternate".to_owned());
        if has_relation(&rel, "alternate") {
            if let Some(url) = self.resolve(&href) {
                self.gathered.keep_page(ListedUrl { url, lastmod: None });
            }
            return;
        }
        if !["next", "prev-archive"]
            .iter()
            .any(|onward| has_relation(&rel, onward))
        {
            return;
        }
        if let Some(url) = self.resolve(&href) {
            self.gathered.keep_further(ListedUrl { url, lastmod: None });
        }
    }

    fn rebase(&mut self, tag: &BytesStart<'_>) {
        if self.bases.len() == BASES || !tag.attributes_raw().contains("xml:base") {
            return;
        }
        if let Some(base) = attribute(tag, "xml:base").and_then(|base| self.resolve(&base)) {
            self.bases.push((self.depth, base));
        }
    }

    fn resolve(&mut self, address: &str) -> Option<PageUrl> {
        let base = self.bases.last().map(|(_, base)| base);
        self.gathered.resolve(base, address)
    }

    fn add(&mut self, url: Option<PageUrl>) {
        let (Some(url), Some(entry)) = (url, &mut self.entry) else {
            return;
        };
        if entry.urls.len() < self.gathered.room {
            entry.urls.push(url);
        } else {
            self.gathered.fill();
        }
    }

    fn close(&mut self, tag: &BytesEnd<'_>) {
        let ends = self.entry.as_ref().map(|entry| {
            let is_it = self.depth == entry.depth || tag.name().0 == entry.name;
            (is_it, entry.depth)
        });
        match ends {
            Some((true, depth)) => {
                self.end_field();
                self.end_entry();
                // Tags left open inside end with the entry.
                self.depth = depth;
            }
            _ if self
                .field
                .as_ref()
                .is_some_and(|field| self.depth <= field.depth) =>
            {
                self.end_field();
            }
            _ => {}
        }
        while self
            .bases
            .last()
            .is_some_and(|(depth, _)| *depth >= self.depth)
        {
            self.bases.pop();
        }
        self.channel = self.channel.filter(|channel| *channel < self.depth);
        self.depth = self.depth.saturating_sub(1);
    }

    fn text(&mut self, text: &str) {
        let Some(field) = &mut self.field else { return };
        if field.text.len() + text.len() > MAX_URL_BYTES + MARGIN {
            field.spoilt = true;
        } else {
            field.text.push_str(text);
        }
    }

    /// Resolves `&amp;` and `&#38;`; an entity declared by the document is not expanded.
    fn reference(&mut self, reference: &BytesRef<'_>) {
        if self.field.is_none() {
            return;
        }
        let character = reference.resolve_char_ref().ok().flatten();
        match (character, resolve_predefined_entity(reference)) {
            (Some(character), _) => self.text(character.encode_utf8(&mut [0; 4])),
            (None, Some(text)) => self.text(text),
            (None, None) => {
                if let Some(field) = &mut self.field {
                    field.spoilt = true;
                }
            }
        }
    }

    fn end_field(&mut self) {
        let Some(field) = self.field.take() else {
            return;
        };
        match field.kind {
            FieldKind::Lastmod => {
                let lastmod = field.text.parse().ok().filter(|_| !field.spoilt);
                self.gathered
                    .note_if(lastmod.is_none(), ListingWarning::InvalidLastmod);
                if let Some(entry) = &mut self.entry {
                    entry.lastmod = lastmod;
                }
            }
            FieldKind::Address | FieldKind::Site | FieldKind::Requisite if field.spoilt => {
                self.gathered.note(ListingWarning::NoUrl);
            }
            FieldKind::Site => {
                if let Some(url) = self.resolve(&field.text) {
                    self.gathered.keep_page(ListedUrl { url, lastmod: None });
                }
            }
            FieldKind::Requisite => {
                if let Some(url) = self.resolve(&field.text) {
                    self.gathered.keep_requisite(url);
                }
            }
            FieldKind::Address => {
                let url = self.resolve(&field.text);
                self.add(url);
            }
            FieldKind::Guid => {
                // A `guid` is often not an address, so it is never relative.
                let guid = PageUrl::parse(field.text.trim(), self.gathered.form).ok();
                if let Some(entry) = &mut self.entry {
                    entry.guid = guid.filter(|_| !field.spoilt);
                }
            }
        }
    }

    fn end_entry(&mut self) {
        let Some(entry) = self.entry.take() else {
            return;
        };
        let guid = entry.guid.filter(|guid| !entry.urls.contains(guid));
        for url in entry.urls.into_iter().chain(guid) {
            let listed = ListedUrl {
                url,
                lastmod: entry.lastmod,
            };
            if entry.is_further {
                self.gathered.keep_further(listed);
            } else {
                self.gathered.keep_page(listed);
            }
        }
    }
}

/// Allowance for white space around an address.
const MARGIN: usize = 1024;

fn prefix_of(name: QName<'_>) -> &str {
    name.0.split_once(':').map_or("", |(prefix, _)| prefix)
}

/// Returns the value of an attribute with the entities that XML defines resolved.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    // The check for repeated names takes quadratic time.
    attributes.with_checks(false);
    let found = attributes
        .take(ATTRIBUTES)
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.0 == name)?;
    let resolved = unescape(&found.value).map(std::borrow::Cow::into_owned);
    Some(resolved.unwrap_or_else(|_entity| found.value.into_owned()))
}
