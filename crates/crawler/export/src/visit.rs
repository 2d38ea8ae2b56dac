//! The table of visits, in the order they ended.
//!
//! New columns are appended after the columns that scripts know; the sketch, which is rarely
//! needed, is the last. The journal has a sketch when its page is admitted, before the visit's
//! record, so sketches are held until then: memory grows with the visits in progress (and with
//! visits that no session ended), not with the pages. A page that was not archived has no sketch.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use journal::{
    FinishedVisit, History, Record, Rendered, Revocations, StoreFault, VisitRecord, revocations,
};
use neardup::{PageSignature, SKETCH_BYTES, Sketch};
use serde::ser::{Serialize, Serializer};
use web::{Preferences, UrlKey, Usage};

use crate::table::{Column, Kind, Table, Value};
use crate::text::Line;

/// A visit, with the data of its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// Its record.
    pub record: VisitRecord,
    /// The start of its first record in its archive file. Redirects come before the page.
    pub records_from: Option<u64>,
    /// The sketch that later pages are compared with; `None` if the page was not admitted or is
    /// compared only exactly.
    pub sketch: Option<[u8; SKETCH_BYTES]>,
    /// Its whole signature, if [signatures](Visits::with_signatures) are requested and the page was
    /// admitted or retained.
    pub signature: Option<Box<PageSignature>>,
    /// The names of the limits that cut it, separated by spaces; `None` if it is whole.
    pub truncated: Option<String>,
}

/// One record per visit.
pub const VISITS: Table = Table {
    schema: "visits/9",
    columns: COLUMNS.split_at(COLUMNS.len() - 1).0,
};

/// The same table with the sketch of each kept page.
pub const SKETCHES: Table = Table {
    schema: "visits-sketches/9",
    columns: COLUMNS,
};

const COLUMNS: &[Column] = &[
    Column::always("url", Kind::Text),
    Column::always("final_url", Kind::Text),
    Column::maybe("status", Kind::U16),
    Column::always("fetched_at", Kind::Time),
    Column::always("depth", Kind::U32),
    Column::maybe("via", Kind::Text),
    Column::maybe("content_type", Kind::Text),
    Column::always("bytes", Kind::U64),
    Column::maybe("charset", Kind::Text),
    Column::maybe("language", Kind::Text),
    Column::maybe("title", Kind::Text),
    Column::always("verdict", Kind::Text),
    Column::maybe("duplicate_of", Kind::Text),
    Column::maybe("distance", Kind::U32),
    Column::maybe("resemblance", Kind::Real),
    Column::maybe("fingerprint", Kind::Fingerprint),
    Column::maybe("reason", Kind::Text),
    Column::maybe("warc_file", Kind::Text),
    Column::maybe("warc_offset", Kind::U64),
    Column::always("kind", Kind::Text),
    Column::maybe("canonical", Kind::Text),
    Column::maybe("duration_ms", Kind::U64),
    Column::maybe("words", Kind::U32),
    Column::always("redirects", Kind::U32),
    Column::maybe("digest", Kind::Text),
    Column::maybe("relevance", Kind::Real),
    Column::maybe("truncated", Kind::Text),
    Column::maybe("language_confidence", Kind::Real),
    Column::always("needs_scripts", Kind::Bool),
    Column::maybe("rendered", Kind::Text),
    Column::maybe("ai_train", Kind::Bool),
    Column::maybe("ai_input", Kind::Bool),
    Column::maybe("search", Kind::Bool),
    Column::maybe("preference_source", Kind::Text),
    Column::maybe("sketch", Kind::Bytes(SKETCH_BYTES as u16)),
];

impl Visit {
    /// Returns its fields, for [`SKETCHES`]; [`VISITS`] lacks the last.
    #[must_use]
    pub fn fields(&self) -> [Option<Value<'_>>; COLUMNS.len()] {
        fields(
            &self.record,
            self.truncated.as_deref(),
            self.sketch.as_ref(),
        )
    }
}

fn fields<'a>(
    visit: &'a VisitRecord,
    truncated: Option<&'a str>,
    sketch: Option<&'a [u8; SKETCH_BYTES]>,
) -> [Option<Value<'a>>; COLUMNS.len()] {
    let text = |text: &'a Option<String>| text.as_deref().map(Value::Text);
    let url = |url: &'a web::PageUrl| Value::Text(url.as_str());
    let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let details = &visit.details;
    [
        Some(url(&visit.url)),
        Some(url(visit.final_url.as_ref().unwrap_or(&visit.url))),
        visit.status.map(|status| Value::Number(status.into())),
        Some(Value::Time(visit.fetched_at)),
        Some(Value::Number(visit.depth.into())),
        visit.via.as_ref().map(url),
        text(&visit.content_type),
        Some(Value::Number(visit.bytes)),
        text(&visit.charset),
        text(&visit.language),
        text(&visit.title),
        Some(Value::Text(visit.fate.as_str())),
        visit.duplicate_of.as_ref().map(url),
        visit.distance.map(|bits| Value::Number(bits.into())),
        visit.resemblance.map(Value::Real),
        visit.fingerprint.map(Value::Fingerprint),
        visit.reason.as_ref().map(Value::Reason),
        text(&visit.warc_file),
        visit.warc_offset.map(Value::Number),
        Some(Value::Text(visit.kind())),
        visit.canonical.as_ref().map(url),
        details.duration.map(millis).map(Value::Number),
        details.words.map(|words| Value::Number(words.into())),
        Some(Value::Number(details.redirects.into())),
        text(&details.digest),
        details
            .relevance
            .map(|relevance| Value::Real(relevance.share())),
        truncated.map(Value::Text),
        details.language_share().map(Value::Real),
        Some(Value::Bool(details.needs_scripts)),
        details.rendered.as_ref().map(rendered).map(Value::Text),
        preference(details.preferences, Usage::Train),
        preference(details.preferences, Usage::Input),
        preference(details.preferences, Usage::Search),
        preference_source(details.preferences),
        sketch.map(|sketch| Value::Bytes(sketch)),
    ]
}

/// Returns the value of a column about one use: true if the owner allows it, false for a refusal.
pub(crate) fn preference(all: Option<Preferences>, usage: Usage) -> Option<Value<'static>> {
    let preference = all?.get(usage)?;
    Some(Value::Bool(preference.is_allowed))
}

/// Returns the value of the column with the source of the preferences.
pub(crate) fn preference_source(all: Option<Preferences>) -> Option<Value<'static>> {
    Some(Value::Text(all?.source()?.as_str()))
}

/// Returns the word for the result of running the scripts of a page.
const fn rendered(result: &Rendered) -> &'static str {
    match result {
        Rendered::Dom { adds: true, .. } => "yes",
        Rendered::Dom { adds: false, .. } => "unchanged",
        Rendered::Failed(_) => "failed",
    }
}

/// A record that serializes to the JSON object of the export.
#[derive(Clone, Copy, Debug)]
pub struct VisitRow<'a>(pub &'a VisitRecord);

impl Serialize for VisitRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let truncated = self.0.details.truncated_by();
        Line(VISITS, &fields(self.0, truncated.as_deref(), None)).serialize(serializer)
    }
}

/// The visits of a crawl, in the order they ended.
pub struct Visits {
    history: History,
    revoked: Revocations,
    /// Signatures of admitted pages whose visit is still open at this point of the journal.
    begun: HashMap<UrlKey, Begun>,
    /// The end of the last visit in each archive file.
    ends: HashMap<String, u64>,
    sketches: bool,
    signatures: bool,
}

/// The requested parts of a page's signature.
#[derive(Default)]
struct Begun {
    sketch: Option<[u8; SKETCH_BYTES]>,
    signature: Option<Box<PageSignature>>,
}

impl Visits {
    /// Opens the journal of the store in `state` without a lock. Visits have sketches only if
    /// `sketches` is set.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be opened.
    pub fn open(state: &Path, sketches: bool) -> Result<Self, StoreFault> {
        Ok(Self {
            revoked: revocations(state)?,
            history: History::open(state)?,
            begun: HashMap::new(),
            ends: HashMap::new(),
            sketches,
            signatures: false,
        })
    }

    /// Returns the visits with the whole signature of each admitted or retained page.
    #[must_use]
    pub fn with_signatures(self) -> Self {
        Self {
            signatures: true,
            ..self
        }
    }

    fn begin(&mut self, page: UrlKey, signature: Box<PageSignature>) {
        let text = signature.text.as_ref().filter(|_| self.sketches);
        let sketch = text.and_then(|text| text.sketch.as_ref());
        let begun = Begun {
            sketch: sketch.map(Sketch::to_bytes),
            signature: self.signatures.then_some(signature),
        };
        if begun.sketch.is_some() || begun.signature.is_some() {
            self.begun.insert(page, begun);
        }
    }

    fn end(&mut self, visit: FinishedVisit) -> Option<Visit> {
        // Visits are journalled in the order of the archive.
        let records_from = visit
            .archived
            .map(|span| self.ends.insert(span.file, span.end).unwrap_or_default());
        let mut visit = *visit.record;
        self.revoked.amend(&mut visit);
        if self.revoked.take(&visit).is_some() {
            // The page is queued again and may have kept its admission.
            return None;
        }
        let Begun { sketch, signature } = self.begun.remove(&visit.url.key()).unwrap_or_default();
        Some(Visit {
            truncated: visit.details.truncated_by(),
            record: visit,
            records_from,
            sketch,
            signature,
        })
    }
}

impl Iterator for Visits {
    type Item = Result<Visit, StoreFault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.history.next()? {
                Ok(Record::Settled(settled)) => {
                    if let Some(visit) = self.end(settled.visit) {
                        return Some(Ok(visit));
                    }
                }
                Ok(Record::Admitted { page, signature }) => self.begin(page.key(), signature),
                Ok(Record::Retained(seated)) => {
                    self.begin(seated.page.key(), Box::new(seated.signature));
                }
                Ok(Record::Forgotten { page }) => drop(self.begun.remove(&page)),
                Ok(_) => {}
                Err(fault) => return Some(Err(fault)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_the_contract_come_first_and_the_sketch_is_the_last() {
        let names: Vec<&str> = SKETCHES.columns.iter().map(|column| column.name).collect();
        assert_eq!(VISITS.columns.len() + 1, SKETCHES.columns.len());
        assert_eq!(
            names.join(" "),
            "url final_url status fetched_at depth via content_type \
             bytes charset language title verdict duplicate_of \
             distance resemblance fingerprint reason warc_file warc_offset kind canonical \
             duration_ms words redirects digest relevance truncated \
             language_confidence needs_scripts rendered ai_train ai_input search \
             preference_source sketch"
        );
    }
}
