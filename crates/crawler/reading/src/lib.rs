//! Reading: a response becomes a document, and a document the text that is compared.
//!
//! The crawl reads pages by these rules while it visits them; commands and the Python package read
//! them again from the archive by the same code and settings. So the crate knows neither a network
//! nor a store: [`ReadingRules`] and an [`Exchange`](web::Exchange) give a
//! [`Document`](web::Document).
//!
//! Invariant: the same exchange and rules give the same document, whenever it is read.

mod document;
mod listing_rules;
mod rules;
mod settings;
mod text;

pub use document::{
    ReceivedBody, decoded, document, document_here, is_read_as_pdf, listing_kind, read_body,
};
pub use listing_rules::{ListingRules, Sitemaps};
pub use rules::ReadingRules;
pub use settings::{HostReading, ReadingSettings};
pub use text::{compared_page, page_text};
