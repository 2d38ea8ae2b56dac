//! Documents that list pages: sitemaps, indexes of sitemaps, feeds.
//!
//! What a document is, its first bytes tell, not its name and not its type: servers call sitemaps
//! `text/html`, `text/plain` and `application/octet-stream`. [`read_listing`] cannot fail: what was
//! read before a document broke off counts, and what was capped or passed over is noted as a
//! [`ListingWarning`].
//!
//! Memory: a piece of its text, and [`ENTRIES_AT_ONCE`] entries for those who take them as they
//! come ([`read_listing_in_parts`]); [`ListingLimits::entries`] for those who want all at once.
//!
//! Entities that a document declares are never expanded and nothing is fetched for it, so that it
//! cannot grow while it is read ("billion laughs") and cannot ask for anything. Tags nest 512 deep
//! at most.
//!
//! Sources: the sitemap protocol 0.9 (<https://www.sitemaps.org/protocol.html>), RSS 0.9x, 1.0 and
//! 2.0, Atom (RFC 4287), its paging and archiving (RFC 5005), JSON Feed 1.1. `feed-rs` reads feeds
//! too, but a JSON Feed of 75 kB with 4,000 authors and 4,000 items cost it 2.5 GB and 8 s
//! (measured, 3.0.0), and a feed that breaks off yields nothing.

mod json;
mod lastmod;
mod lines;
mod text;
mod xml;

use std::io::Read;
use std::ops::ControlFlow;

use encoding_rs::{UTF_16BE, UTF_16LE};

pub use lastmod::{Lastmod, NoDate};

use self::text::Text;
use crate::document::Media;
use crate::{CanonicalForm, PageUrl};

/// How much of a body is looked at to tell what it is: a prolog, comments and a document type may
/// come before the root.
pub const SNIFFED_LISTING_BYTES: usize = 16 << 10;

/// What lists pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingKind {
    /// `<urlset>`.
    Sitemap,
    /// `<sitemapindex>`.
    SitemapIndex,
    /// Plain text, an absolute URL a line.
    TextSitemap,
    /// RSS or Atom.
    Feed,
    /// JSON Feed.
    JsonFeed,
}

impl ListingKind {
    /// What a body is, by its beginning; none where it is no listing. `content_type` counts for
    /// plain text alone.
    #[must_use]
    pub fn of(content_type: Option<&str>, body: &[u8]) -> Option<Self> {
        let head = &body[..body.len().min(SNIFFED_LISTING_BYTES)];
        if let Some(encoding) = utf_16(head) {
            let (text, _) = encoding.decode_with_bom_removal(head);
            return match first_char(&text) {
                Some('<') => xml::root(&text),
                _ => lines::of(content_type, body),
            };
        }
        let start = head
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(head)
            .trim_ascii_start();
        match start.first() {
            Some(b'<') if is_page(start) => None,
            Some(b'<') => xml::root(&String::from_utf8_lossy(start)),
            Some(b'{') => json::is_feed(start).then_some(Self::JsonFeed),
            Some(b'h' | b'H') if Media::of(content_type, body) == Media::Text => {
                lines::of(content_type, body)
            }
            _ => None,
        }
    }

    /// Whether it is XML.
    #[must_use]
    pub const fn is_markup(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapIndex | Self::Feed)
    }

    /// Whether it is a sitemap of some kind; a feed otherwise.
    #[must_use]
    pub const fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapIndex | Self::TextSitemap)
    }
}

/// How much of a listing is read. How large a body is, is its reader's limit, not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingLimits {
    /// Pages and further listings, all together.
    pub entries: usize,
}

/// The protocol allows 50,000 entries a sitemap; twice as many are tolerated.
impl Default for ListingLimits {
    fn default() -> Self {
        Self { entries: 100_000 }
    }
}

/// A listing, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// What it is.
    pub kind: ListingKind,
    /// The pages that it lists, in its order; a page that stands there twice is there twice.
    pub pages: Vec<Listed>,
    /// The sitemaps of an index, or where a feed goes on (RFC 5005 `next` and `prev-archive`).
    pub further: Vec<Listed>,
    /// What was capped, repaired or passed over; each at most once.
    pub oddities: Vec<ListingWarning>,
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Where it leads.
    pub url: PageUrl,
    /// When that was last changed, as a sitemap tells; feeds are not asked.
    pub lastmod: Option<Lastmod>,
}

/// Something that was capped, repaired or passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingWarning {
    /// Some bytes mean nothing in its encoding.
    Undecodable,
    /// It breaks off, or its markup cannot be read any further: what comes before counts.
    Broken,
    /// There are more entries than [`ListingLimits::entries`]: the first ones were kept.
    TooMany,
    /// An entry's address is none of a page, or has an entity in it that XML does not define.
    NoUrl,
    /// A `lastmod` is no date: its entry counts as one without.
    NoDate,
}

/// Entries that are kept until they are handed on.
const ENTRIES_AT_ONCE: usize = 1_000;

/// Reads a listing whose content coding is taken off. Addresses are relative to `url`. It is read
/// as it comes, and no further than its entries are kept; `body` says by an error that it is not
/// whole.
#[must_use]
pub fn read_listing(
    kind: ListingKind,
    body: impl Read,
    content_type: Option<&str>,
    url: &PageUrl,
    form: &CanonicalForm,
    limits: &ListingLimits,
) -> Listing {
    let mut whole = Listing::empty(kind);
    whole.oddities = read_listing_in_parts(kind, body, content_type, url, form, limits, |part| {
        whole.pages.extend(part.pages);
        whole.further.extend(part.further);
        ControlFlow::Continue(())
    });
    whole
}

/// Reads a listing as [`read_listing`] does, and hands its entries on in parts of a bounded size,
/// in order and without oddities, until `use_part` breaks off. Returns the oddities of the whole.
pub fn read_listing_in_parts(
    kind: ListingKind,
    mut body: impl Read,
    content_type: Option<&str>,
    url: &PageUrl,
    form: &CanonicalForm,
    limits: &ListingLimits,
    mut use_part: impl FnMut(Listing) -> ControlFlow<()>,
) -> Vec<ListingWarning> {
    let mut gathered = Gathered {
        part: Listing::empty(kind),
        oddities: Vec::new(),
        use_part: &mut use_part,
        page: url,
        form,
        room: limits.entries,
        is_full: false,
    };
    if kind == ListingKind::JsonFeed {
        json::read(body, &mut gathered);
    } else {
        let mut text = Text::of(&mut body, content_type);
        match kind {
            ListingKind::TextSitemap => lines::read(&mut text, &mut gathered),
            _ => xml::read(&mut text, &mut gathered),
        }
        gathered.note_if(text.repaired, ListingWarning::Undecodable);
    }
    gathered.hand_on();
    gathered.oddities
}

impl Listing {
    fn empty(kind: ListingKind) -> Self {
        Self {
            kind,
            pages: Vec::new(),
            further: Vec::new(),
            oddities: Vec::new(),
        }
    }
}

/// What was gathered of a listing so far.
struct Gathered<'a> {
    /// The entries that were not handed on yet.
    part: Listing,
    oddities: Vec<ListingWarning>,
    use_part: &'a mut dyn FnMut(Listing) -> ControlFlow<()>,
    page: &'a PageUrl,
    form: &'a CanonicalForm,
    /// Entries that may still be kept.
    room: usize,
    /// Whether there was another one, or nobody wants one.
    is_full: bool,
}

impl Gathered<'_> {
    fn note(&mut self, oddity: ListingWarning) {
        if !self.oddities.contains(&oddity) {
            self.oddities.push(oddity);
        }
    }

    fn note_if(&mut self, is_so: bool, oddity: ListingWarning) {
        if is_so {
            self.note(oddity);
        }
    }

    /// The page that an address means; relative ones are tolerated.
    fn resolve(&mut self, base: Option<&PageUrl>, address: &str) -> Option<PageUrl> {
        let address = address.trim();
        let url = base.unwrap_or(self.page).join(address, self.form).ok();
        let url = url.filter(|_| !address.is_empty());
        self.note_if(url.is_none(), ListingWarning::NoUrl);
        url
    }

    fn keep_page(&mut self, listed: Listed) {
        if self.has_room() && listed.url != *self.page {
            self.part.pages.push(listed);
            self.kept();
        }
    }

    fn keep_further(&mut self, listed: Listed) {
        if self.has_room() && listed.url != *self.page {
            self.part.further.push(listed);
            self.kept();
        }
    }

    fn kept(&mut self) {
        self.room -= 1;
        if self.part.pages.len() + self.part.further.len() >= ENTRIES_AT_ONCE {
            self.hand_on();
        }
    }

    /// Hands on what was gathered since the last time.
    fn hand_on(&mut self) {
        let next = Listing::empty(self.part.kind);
        let part = std::mem::replace(&mut self.part, next);
        let is_empty = part.pages.is_empty() && part.further.is_empty();
        if !is_empty && (self.use_part)(part).is_break() {
            self.room = 0;
            self.is_full = true;
        }
    }

    fn has_room(&mut self) -> bool {
        if self.room == 0 && !self.is_full {
            self.fill();
        }
        self.room > 0
    }

    fn fill(&mut self) {
        self.is_full = true;
        self.note(ListingWarning::TooMany);
    }
}

/// UTF-16, by its byte order mark, or by how a tag would begin in it (XML 1.0 appendix F).
fn utf_16(body: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    match body {
        [0xff, 0xfe, ..] | [b'<', 0, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] | [0, b'<', ..] => Some(UTF_16BE),
        _ => None,
    }
}

fn first_char(text: &str) -> Option<char> {
    text.trim_start().chars().next()
}

/// How nearly every page begins: told apart before anything is parsed.
fn is_page(start: &[u8]) -> bool {
    const PAGES: &[&[u8]] = &[b"<!doctype html", b"<html"];
    PAGES.iter().any(|page| {
        start
            .get(..page.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(page))
    })
}
