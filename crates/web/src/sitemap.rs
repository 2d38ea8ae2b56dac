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

mod decoded_text;
mod gathered;
mod json_feed;
mod lastmod;
mod listing;
mod read;
mod sniff;
mod text_sitemap;
mod xml;

pub use lastmod::{InvalidLastmod, Lastmod};
pub use listing::{ListedUrl, Listing, ListingKind, ListingLimits, ListingWarning};
pub use read::{read_listing, read_listing_in_parts};
pub use sniff::SNIFFED_LISTING_BYTES;
