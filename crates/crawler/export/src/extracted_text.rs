//! The table of texts: the main content of each kept page, for training corpora.

use web::{PageFields, Preferences, Timestamp, Usage};

use crate::quality::QualitySignals;
use crate::table::{Column, Kind, Table, Value};
use crate::visit::{preference, preference_source};

/// The text of each kept page, in the order of the visits.
pub const TEXTS: Table = Table {
    schema: "texts/5",
    columns: &[
        Column::always("url", Kind::Text),
        Column::always("final_url", Kind::Text),
        Column::always("text", Kind::Text),
        Column::maybe("language", Kind::Text),
        Column::maybe("language_confidence", Kind::Real),
        Column::maybe("title", Kind::Text),
        Column::always("fetched_at", Kind::Time),
        Column::maybe("digest", Kind::Text),
        Column::always("cluster", Kind::Text),
        Column::always("words", Kind::U64),
        Column::always("mean_word_length", Kind::Real),
        Column::always("alphabetic_words", Kind::Real),
        Column::maybe("stop_words", Kind::Real),
        Column::always("hashes_per_word", Kind::Real),
        Column::always("ellipses_per_word", Kind::Real),
        Column::always("bullet_lines", Kind::Real),
        Column::always("ellipsis_lines", Kind::Real),
        Column::always("punctuated_lines", Kind::Real),
        Column::always("short_lines", Kind::Real),
        Column::always("duplicate_lines", Kind::Real),
        Column::always("duplicate_line_characters", Kind::Real),
        Column::always("top_2_grams", Kind::Real),
        Column::always("top_3_grams", Kind::Real),
        Column::always("top_4_grams", Kind::Real),
        Column::always("duplicate_5_grams", Kind::Real),
        Column::always("duplicate_6_grams", Kind::Real),
        Column::always("duplicate_7_grams", Kind::Real),
        Column::always("duplicate_8_grams", Kind::Real),
        Column::always("duplicate_9_grams", Kind::Real),
        Column::always("duplicate_10_grams", Kind::Real),
        Column::maybe("author", Kind::Text),
        Column::maybe("published", Kind::Date),
        Column::maybe("modified", Kind::Date),
        Column::maybe("description", Kind::Text),
        Column::maybe("site", Kind::Text),
        Column::maybe("image", Kind::Text),
        Column::maybe("type", Kind::Text),
        Column::maybe("license", Kind::Text),
        Column::maybe("tags", Kind::Text),
        Column::maybe("kind", Kind::Text),
        Column::maybe("fields", Kind::Text),
        Column::maybe("ai_train", Kind::Bool),
        Column::maybe("ai_input", Kind::Bool),
        Column::maybe("search", Kind::Bool),
        Column::maybe("preference_source", Kind::Text),
    ],
};

/// The text of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractedText<'a> {
    /// The `url` of the visit.
    pub url: &'a str,
    /// Its `final_url`.
    pub final_url: &'a str,
    /// The main content, plain or as Markdown.
    pub text: &'a str,
    /// The language, by ISO 639-1, else ISO 639-3.
    pub language: Option<&'a str>,
    /// The share of the text in this language.
    pub language_confidence: Option<f64>,
    /// The document's title.
    pub title: Option<&'a str>,
    /// The time of the request.
    pub fetched_at: Timestamp,
    /// The digest of the payload, as in the archive: `sha1:` and 32 letters.
    pub digest: Option<&'a str>,
    /// The `url` of the original of its near-duplicate cluster; its own if it is the original.
    pub cluster: &'a str,
    /// Figures about the plain text.
    pub quality: QualitySignals,
    /// The kind of the page: `article`, `list` or `form`.
    pub kind: Option<&'static str>,
    /// The user's fields as a JSON object; `None` without a value.
    pub own_fields: Option<&'a str>,
    /// The page's statements about itself.
    pub statements: &'a PageFields,
    /// The owner's preferences for the use of the page.
    pub preferences: Option<Preferences>,
}

impl<'a> ExtractedText<'a> {
    /// Returns its fields, for [`TEXTS`].
    #[must_use]
    pub fn fields(&self) -> [Option<Value<'a>>; TEXTS.columns.len()] {
        let (quality, page) = (&self.quality, self.statements);
        let text = |value: &'a Option<String>| value.as_deref().map(Value::Text);
        let real = |share: f64| Some(Value::Real(share));
        let [top_2, top_3, top_4] = quality.top_n_grams;
        let [five, six, seven, eight, nine, ten] = quality.duplicate_n_grams;
        [
            Some(Value::Text(self.url)),
            Some(Value::Text(self.final_url)),
            Some(Value::Text(self.text)),
            self.language.map(Value::Text),
            self.language_confidence.map(Value::Real),
            self.title.map(Value::Text),
            Some(Value::Time(self.fetched_at)),
            self.digest.map(Value::Text),
            Some(Value::Text(self.cluster)),
            Some(Value::Number(quality.words)),
            real(quality.mean_word_length),
            real(quality.alphabetic_words),
            quality.stop_words.map(Value::Real),
            real(quality.hashes_per_word),
            real(quality.ellipses_per_word),
            real(quality.bullet_lines),
            real(quality.ellipsis_lines),
            real(quality.punctuated_lines),
            real(quality.short_lines),
            real(quality.duplicate_lines),
            real(quality.duplicate_line_characters),
            real(top_2),
            real(top_3),
            real(top_4),
            real(five),
            real(six),
            real(seven),
            real(eight),
            real(nine),
            real(ten),
            text(&page.author),
            page.published.map(Value::Date),
            page.modified.map(Value::Date),
            text(&page.description),
            text(&page.site),
            text(&page.image),
            text(&page.kind),
            text(&page.license),
            text(&page.tags),
            self.kind.map(Value::Text),
            self.own_fields.map(Value::Text),
            preference(self.preferences, Usage::Train),
            preference(self.preferences, Usage::Input),
            preference(self.preferences, Usage::Search),
            preference_source(self.preferences),
        ]
    }
}
