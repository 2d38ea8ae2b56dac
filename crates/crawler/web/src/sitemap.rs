//! Sitemaps, sitemap indexes and feeds: documents that list pages.
//!
//! The first bytes of a document decide its kind, not its name or its type: servers send sitemaps
//! as `text/html`, `text/plain` and `application/octet-stream`. [`read_listing`] cannot fail:
//! entries before a break count, and anything capped or skipped is noted as a [`ListingWarning`].
//!
//! Memory: a piece of the text, plus a thousand entries if they are read in parts
//! ([`read_listing_in_parts`]), or [`ListingLimits::entries`] if they are read at once.
//!
//! Entities declared by a document are never expanded, and reading a document fetches nothing. So
//! it cannot grow while it is read ("billion laughs") and cannot cause requests. Tags nest at most
//! 512 deep.
//!
//! Sources: the sitemap protocol 0.9 (<https://www.sitemaps.org/protocol.html>), RSS 0.9x, 1.0 and
//! 2.0, Atom (RFC 4287), its paging and archiving (RFC 5005), JSON Feed 1.1. `feed-rs` reads feeds
//! too, but a JSON Feed of 75 kB with 4,000 authors and 4,000 items cost it 2.5 GB and 8 s
//! (measured, 3.0.0), and a feed that breaks off yields nothing.

mod decoded_text;
mod gathered;
mod json_feed;
mod lastmod;
mod listing;
mod read;
mod sniff;
mod text_sitemap;
mod xml;

pub(crate) use decoded_text::utf_16;
pub use lastmod::{InvalidLastmod, Lastmod};
pub use listing::SNIFFED_LISTING_BYTES;
pub use listing::{ListedUrl, Listing, ListingKind, ListingLimits, ListingWarning};
pub use read::{read_listing, read_listing_in_parts};
