//! HTML, text and PDF documents: text, title, language, links, directives.
//!
//! [`read()`](read::read) cannot fail. A page may be wrongly encoded, hostile to its reader, or not
//! a page at all. As much as possible is read, and anything capped or repaired is noted as a
//! [`ParseWarning`].
//!
//! Sources: the HTML standard for tokens, trees and encodings; DESIGN, "The verdict", for the text
//! that verdicts are made from.

mod anchor_text;
mod audit;
mod audit_fields;
mod boilerplate;
mod character_references;
pub(crate) mod charset;
mod class_names;
mod compared_text;
mod content;
pub(crate) mod css;
pub(crate) mod directives;
pub(crate) mod document;
mod elements;
mod fast_path;
mod fields;
mod forms;
mod item_lists;
mod language;
mod lazy_attributes;
mod lazy_names;
mod limits;
mod lines;
mod link;
mod link_attributes;
mod link_contexts;
mod linked_data;
mod links;
mod main_content;
mod main_selectors;
mod markdown;
mod names;
mod own_fields;
mod page_date;
mod page_fields;
mod page_kind;
mod pdf;
mod pdf_content;
mod prefix_sums;
mod read;
mod refresh;
mod region_flags;
mod regions;
pub(crate) mod relations;
mod response_metadata;
mod rest_contexts;
mod scanner;
mod script_links;
mod shared_lines;
mod srcset;
mod subresources;
mod tag_stream;
mod titled_block;
mod tree;
mod url_attributes;
mod url_places;
mod walk;
mod work_budget;
mod xhtml;

pub use audit_fields::{AuditFields, Translation};
pub use content::MIN_MAIN_WORDS;
pub use directives::Directives;
pub use document::{Document, LostLinks, MainContent, ParseWarning};
pub use language::{TextLanguage, text_language};
pub use lazy_attributes::{LazyValue, is_preview, lazy_value};
pub use limits::{ParserStop, ReadLimits};
pub use link::{Link, LinkContext, LinkKind, LinkKinds};
pub use main_selectors::{BadSelector, MainSelectors};
pub use own_fields::FieldSelectors;
pub use page_date::PageDate;
pub use page_fields::PageFields;
pub use page_kind::PageKind;
pub use pdf::read_pdf;
pub use pdf_content::{PdfContent, PdfFailure, ReadPdf};
pub use read::read;
pub use relations::{Relations, UnknownRelation};
pub use response_metadata::ResponseMetadata;
pub use shared_lines::SharedLines;
pub use url_attributes::{UrlForm, url_attributes};
pub use url_places::{
    CssUrl, attribute_value, css_urls, page_text, refresh_url, sheet_text, srcset_urls, tld,
};
