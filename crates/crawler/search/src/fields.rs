//! The fields of a page in the index.
//!
//! | field | indexed as | stored |
//! |---|---|---|
//! | `title`, `text` | words with positions ([`crate::words`]) | the title only |
//! | `address` | words of the URL with positions | |
//! | `url` | | as it is |
//! | `host` | the host and its parent domains: `www.example.org`, `example.org`, `org` | |
//! | `language` | the primary subtag | as it is |
//! | `date` | milliseconds since 1970, for ranges | a column |
//! | `file`, `offset` | the file; the offset of the page's record in it | columns |
//!
//! The text itself is in the archive only.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use sinks::IndexText;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{
    Document, FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use web::{PageUrl, Timestamp};

use crate::words::tokens::WordTokenizer;

const WORDS: &str = "words";
const WHOLE: &str = "raw";

/// A page to index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPage {
    /// URL of its record in the archive.
    pub url: PageUrl,
    /// Date of its record: when it was fetched.
    pub at: Timestamp,
    /// File that contains its record, without the directory.
    pub file: Arc<str>,
    /// Offset of its record in bytes.
    pub offset: u64,
    /// Searchable text of the page.
    pub text: Box<IndexText>,
}

/// The fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) title: Field,
    pub(crate) text: Field,
    pub(crate) address: Field,
    pub(crate) url: Field,
    pub(crate) host: Field,
    pub(crate) language: Field,
    pub(crate) date: Field,
    pub(crate) file: Field,
    pub(crate) offset: Field,
}

pub(crate) const DATE: &str = "date";
pub(crate) const FILE: &str = "file";
pub(crate) const OFFSET: &str = "offset";

impl Fields {
    /// Returns the fields and their schema.
    pub(crate) fn schema() -> (Self, Schema) {
        let mut schema = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer(WORDS)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let words = TextOptions::default().set_indexing_options(words);
        let whole = TextFieldIndexing::default()
            .set_tokenizer(WHOLE)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        let whole = TextOptions::default().set_indexing_options(whole);
        let fields = Self {
            title: schema.add_text_field("title", words.clone() | STORED),
            text: schema.add_text_field("text", words.clone()),
            address: schema.add_text_field("address", words),
            url: schema.add_text_field("url", STORED),
            host: schema.add_text_field("host", whole.clone()),
            language: schema.add_text_field("language", whole.clone() | STORED),
            date: schema.add_u64_field(DATE, FAST),
            file: schema.add_text_field(FILE, whole.set_fast(WHOLE)),
            offset: schema.add_u64_field(OFFSET, FAST),
        };
        (fields, schema.build())
    }

    /// Returns the tokenizers of the fields.
    pub(crate) fn tokenizers() -> TokenizerManager {
        let tokenizers = TokenizerManager::default();
        tokenizers.register(WORDS, TextAnalyzer::builder(WordTokenizer).build());
        tokenizers
    }
}

/// A tantivy document that borrows the text of a page.
pub(crate) struct PageDocument {
    pub(crate) fields: Fields,
    pub(crate) page: IndexPage,
    /// The [`address_words`] of the page's URL.
    pub(crate) address: String,
}

/// Returns an address with spaces between its parts, so that each is a word; percent-encoding is
/// decoded.
pub(crate) fn address_words(url: &str) -> String {
    let decoded = percent_decode_str(url).decode_utf8_lossy();
    decoded.replace(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric(), " ")
}

/// Iterates over a host and its parent domains, the longest first; an IP address has no parents.
pub(crate) fn domains(host: &str) -> impl Iterator<Item = &str> {
    let is_name = !host.starts_with('[') && host.bytes().any(|byte| byte.is_ascii_alphabetic());
    std::iter::successors(Some(host), move |domain| {
        let (_, parent) = domain.split_once('.').filter(|_| is_name)?;
        Some(parent)
    })
}

impl Document for PageDocument {
    type Value<'a> = FieldValue<'a>;
    type FieldsValuesIter<'a> = std::vec::IntoIter<(Field, FieldValue<'a>)>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let Self {
            fields,
            page,
            address,
        } = self;
        let text = &page.text;
        let mut values = Vec::with_capacity(12);
        if let Some(title) = &text.title {
            values.push((fields.title, FieldValue::Text(title)));
        }
        values.push((fields.text, FieldValue::Text(&text.text)));
        values.push((fields.address, FieldValue::Text(address)));
        values.push((fields.url, FieldValue::Text(page.url.as_str())));
        for domain in domains(page.url.as_url().host_str().unwrap_or_default()) {
            values.push((fields.host, FieldValue::Text(domain)));
        }
        if let Some(language) = &text.language {
            values.push((fields.language, FieldValue::Text(language)));
        }
        values.push((fields.date, FieldValue::Number(page.at.as_millis())));
        values.push((fields.file, FieldValue::Text(&page.file)));
        values.push((fields.offset, FieldValue::Number(page.offset)));
        values.into_iter()
    }
}

/// A value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldValue<'a> {
    Text(&'a str),
    Number(u64),
}

impl<'a> Value<'a> for FieldValue<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Text(text) => ReferenceValueLeaf::Str(text),
            Self::Number(number) => ReferenceValueLeaf::U64(number),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_by_every_domain_that_it_is_in() {
        for (host, all) in [
            ("www.example.org", "www.example.org example.org org"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[2001:db8::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(domains(host).collect::<Vec<_>>().join(" "), all);
        }
    }

    #[test]
    fn the_parts_of_an_address_are_words() {
        for (url, words) in [
            (
                "https://www.example.org/a_b/c-d?e=1",
                "https   www example org a b c d e 1",
            ),
            ("http://example.org/%C3%A9t%C3%A9", "http   example org été"),
        ] {
            assert_eq!(address_words(url), words);
        }
    }
}
