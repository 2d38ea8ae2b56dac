//! The texts of archived pages, with the figures that curators of training corpora filter by.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use export::{ExportFault, ExtractedText, QualitySignals};
use neardup::StopWords;
use store::VisitRecord;

use super::destination::Destination;
use crate::read_again::ArchivedPage;

/// The rules by which texts are made.
pub(super) struct TextRules {
    /// True for Markdown instead of plain text.
    pub(super) markdown: bool,
    /// True if kept duplicates are wanted, too.
    duplicates: bool,
    /// The stop words of each language that was seen; `None` without a list.
    stop_words: Mutex<HashMap<String, Option<Arc<StopWords>>>>,
}

/// The text of a page.
pub(super) struct PageText {
    text: String,
    language: Option<String>,
    language_confidence: Option<f64>,
    title: Option<String>,
    /// The id of the page's record.
    record: String,
    digest: Option<String>,
    quality: QualitySignals,
    content_type: &'static str,
}

impl TextRules {
    pub(super) fn new(markdown: bool, duplicates: bool) -> Self {
        Self {
            markdown,
            duplicates,
            stop_words: Mutex::default(),
        }
    }

    /// Returns true if the text of this visit's page is wanted.
    pub(super) fn is_wanted(&self, row: &VisitRecord) -> bool {
        row.is_page() && (self.duplicates || row.fate.is_original())
    }

    /// Returns the text of a page; `None` if it has none.
    pub(super) fn text_of(&self, page: ArchivedPage) -> Option<PageText> {
        let document = page.document;
        if document.text.trim().is_empty() {
            return None;
        }
        let language = document.language.as_deref();
        let stop_words = language.and_then(|language| self.stop_words(language));
        let quality = QualitySignals::of(&document.text, stop_words.as_deref());
        let markdown = document.markdown().map(str::to_owned);
        let content_type = match markdown {
            Some(_) => "text/markdown",
            None => "text/plain",
        };
        Some(PageText {
            language_confidence: document.language_share(),
            text: markdown.unwrap_or(document.text),
            language: document.language,
            title: document.title,
            record: page.record,
            digest: page.digest,
            quality,
            content_type,
        })
    }

    fn stop_words(&self, language: &str) -> Option<Arc<StopWords>> {
        let mut lists = self
            .stop_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let known = lists.get(language).cloned();
        known.unwrap_or_else(|| {
            let list = StopWords::of_language(language).ok().map(Arc::new);
            lists.insert(language.to_owned(), list.clone());
            list
        })
    }
}

impl PageText {
    /// Writes the text of the page of a visit.
    pub(super) fn write<W: Write + Send>(
        &self,
        row: &VisitRecord,
        destination: &mut Destination<W>,
    ) -> Result<(), ExportFault> {
        // A changed page names its own earlier version.
        let original = row.duplicate_of.as_ref();
        let original = original.filter(|_| row.fate.is_duplicate());
        let text = ExtractedText {
            url: row.url.as_str(),
            final_url: row.final_url.as_ref().unwrap_or(&row.url).as_str(),
            text: &self.text,
            language: self.language.as_deref(),
            language_confidence: self.language_confidence,
            title: self.title.as_deref(),
            fetched_at: row.fetched_at,
            digest: self.digest.as_deref(),
            cluster: original.unwrap_or(&row.url).as_str(),
            quality: self.quality,
        };
        destination.write_text(&text, &self.record, self.content_type)
    }
}
