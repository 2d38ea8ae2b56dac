//! The text of a page that was read from the archive, as a record of [`TEXTS`](crate::TEXTS).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use journal::VisitRecord;
use neardup::StopWords;
use web::{Document, PageFields, PageKind, ReadLimits, Usages};

use crate::extracted_text::ExtractedText;
use crate::quality::QualitySignals;

/// The options of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// True for Markdown instead of plain text.
    pub markdown: bool,
    /// True if kept duplicates are wanted, too.
    pub duplicates: bool,
    /// True to keep the lines that the pages of a host share.
    pub boilerplate: bool,
    /// True for a record per section instead of one per text.
    pub chunks: bool,
    /// Uses to respect: a page is omitted if its owner refuses one of them.
    pub respected: Usages,
}

/// The rules for making texts.
#[derive(Debug, Default)]
pub struct TextRules {
    options: TextOptions,
    /// The stop words of each language that was seen; `None` without a list.
    stop_words: Mutex<HashMap<String, Option<Arc<StopWords>>>>,
}

/// The text of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageText {
    text: String,
    is_markdown: bool,
    language: Option<String>,
    language_confidence: Option<f64>,
    title: Option<String>,
    digest: Option<String>,
    quality: QualitySignals,
    kind: Option<PageKind>,
    own_fields: Option<String>,
    statements: PageFields,
}

impl From<TextOptions> for TextRules {
    fn from(options: TextOptions) -> Self {
        Self {
            options,
            stop_words: Mutex::default(),
        }
    }
}

impl TextRules {
    /// Sets the limits of reading a page so that its document has everything for a text.
    pub fn widen(&self, limits: &mut ReadLimits) {
        limits.markdown = self.options.markdown;
        limits.fields = true;
    }

    /// Returns true if each section has a record of its own.
    #[must_use]
    pub const fn makes_chunks(&self) -> bool {
        self.options.chunks
    }

    /// Returns true if the lines that the pages of a host share are kept.
    #[must_use]
    pub const fn keeps_boilerplate(&self) -> bool {
        self.options.boilerplate
    }

    /// Returns true if the text of this visit's page is wanted.
    #[must_use]
    pub fn is_wanted(&self, visit: &VisitRecord) -> bool {
        let preferences = visit.details.preferences.unwrap_or_default();
        visit.is_page()
            && (self.options.duplicates || visit.fate.is_original())
            && preferences.refused(self.options.respected).is_none()
    }

    /// Returns the text of a page whose record has this digest; `None` if the text is blank.
    #[must_use]
    pub fn text_of(&self, document: Document, digest: Option<String>) -> Option<PageText> {
        if document.text.trim().is_empty() {
            return None;
        }
        let language = document.language.as_deref();
        let stop_words = language.and_then(|language| self.stop_words(language));
        let quality = QualitySignals::of(&document.text, stop_words.as_deref());
        let markdown = document.markdown().map(str::to_owned);
        Some(PageText {
            language_confidence: document.language_share(),
            is_markdown: markdown.is_some(),
            text: markdown.unwrap_or(document.text),
            language: document.language,
            title: document.title,
            digest,
            quality,
            kind: document.kind,
            own_fields: json_of(&document.own_fields),
            statements: document.fields,
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
    /// Returns the record of the text. `visit` is the visit of its page.
    #[must_use]
    pub fn record<'a>(&'a self, visit: &'a VisitRecord) -> ExtractedText<'a> {
        // A changed page names its own earlier version.
        let original = visit.duplicate_of.as_ref();
        let original = original.filter(|_| visit.fate.is_duplicate());
        ExtractedText {
            url: visit.url.as_str(),
            final_url: visit.final_url.as_ref().unwrap_or(&visit.url).as_str(),
            text: &self.text,
            language: self.language.as_deref(),
            language_confidence: self.language_confidence,
            title: self.title.as_deref(),
            fetched_at: visit.fetched_at,
            digest: self.digest.as_deref(),
            cluster: original.unwrap_or(&visit.url).as_str(),
            quality: self.quality,
            kind: self.kind.map(PageKind::name),
            own_fields: self.own_fields.as_deref(),
            statements: &self.statements,
            preferences: visit.details.preferences,
        }
    }

    /// Returns the media type of the text.
    #[must_use]
    pub fn content_type(&self) -> &'static str {
        match self.is_markdown {
            true => "text/markdown",
            false => "text/plain",
        }
    }
}

/// Returns the user's fields as a JSON object; `None` if there are none.
fn json_of(fields: &BTreeMap<String, String>) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let object = fields
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().into()));
    Some(serde_json::Value::Object(object.collect()).to_string())
}
