//! The new, changed, moved, gone and unchanged pages between two crawls, for `crawler changes`.
//!
//! The visits of both crawls are compared by key, in memory. Texts are read from the archives, one
//! page at a time, and only for pages that changed. If a page is gone and a new page has its bytes
//! or its text, the page moved.

mod list;

use std::collections::HashMap;
use std::path::Path;

use differences::{Difference, PrintedDifference, RunKind};
use journal::{Fate, StoreFault, VisitRecord};
use messages::{CommandError, SlowProgress};
use serde::{Serialize, Serializer};
use web::{Media, UrlKey};

pub use self::list::ChangeList;
use crate::captures::{Journals, Side, State};
use crate::moves::Moves;

/// The change of a page between two crawls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Only the later crawl has it.
    New,
    /// Its bytes differ.
    Changed,
    /// It has another URL.
    Moved,
    /// Only the earlier crawl has it.
    Gone,
    /// Its bytes are the same.
    Unchanged,
    /// The crawls cannot be compared.
    Unknown,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::New,
        Self::Changed,
        Self::Moved,
        Self::Gone,
        Self::Unchanged,
        Self::Unknown,
    ];

    /// Returns the word in the output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Gone => "gone",
            Self::Unchanged => "unchanged",
            Self::Unknown => "unknown",
        }
    }
}

/// Writes the word of a kind.
fn by_word<S: Serializer>(kind: &ChangeKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

/// The change of a page: a line of `--format json`.
#[derive(Debug, Serialize)]
pub struct Change<'a> {
    /// The kind of change.
    #[serde(rename = "change", serialize_with = "by_word")]
    pub kind: ChangeKind,
    /// The URL of the page.
    pub url: &'a str,
    /// Its old URL, if it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<&'a str>,
    /// Resemblance of its two texts: the share of common word 5-shingles, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resemblance: Option<f64>,
    /// The difference between its two texts.
    #[serde(flatten)]
    pub text: Option<ChangedText>,
    /// The reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The difference between two texts.
#[derive(Debug, Serialize)]
pub struct ChangedText {
    /// Runs of words that only the new text has.
    pub added: Vec<String>,
    /// Runs of words that only the old text has.
    pub removed: Vec<String>,
    /// All runs, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<PrintedDifference>,
    /// The texts that were compared.
    #[serde(skip)]
    pub compared: ComparedTexts,
}

/// The old and the new text of a page, and their difference.
#[derive(Debug)]
pub struct ComparedTexts {
    /// The old text.
    pub before: String,
    /// The new text.
    pub now: String,
    /// Their difference.
    pub difference: Difference,
}

/// Two crawls, compared by key.
pub struct Changes {
    moves: Moves,
    /// True if each changed text has all its runs.
    with_diff: bool,
    /// Maximum number of changed pages whose texts are compared.
    max_texts: usize,
    /// Changed pages so far.
    changed: usize,
    /// The later crawl's reasons why these pages are gone.
    gone_because: HashMap<UrlKey, String>,
}

impl Changes {
    /// Compares the crawls in two directories. With `with_diff`, each changed text has all its
    /// runs.
    ///
    /// # Errors
    /// [`CommandError`] if one of the crawls cannot be read.
    pub fn between(old: &Path, new: &Path, with_diff: bool) -> Result<Self, CommandError> {
        Ok(Self {
            moves: Moves::of(Journals::read(old, new)?)?,
            with_diff,
            max_texts: usize::MAX,
            changed: 0,
            gone_because: HashMap::new(),
        })
    }

    /// Compares the texts of the first changed pages only; later ones have no resemblance.
    #[must_use]
    pub fn with_max_texts(self, max_texts: usize) -> Self {
        Self { max_texts, ..self }
    }

    /// Compares the later crawl with the crawl in `newer`. Each journal is read once, even if all
    /// crawls of a series were run against each other.
    ///
    /// # Errors
    /// [`CommandError`] if the crawl cannot be read.
    pub fn advance(self, newer: &Path) -> Result<Self, CommandError> {
        Ok(Self {
            moves: Moves::of(self.moves.journals.advance(newer)?)?,
            changed: 0,
            gone_because: HashMap::new(),
            ..self
        })
    }

    /// Calls `give` with each page: first the pages of the later crawl in the order of its visits,
    /// then the pages that are gone.
    ///
    /// # Errors
    /// The outer error comes from reading a journal, the inner one from `give`.
    pub fn each<E>(
        &mut self,
        mut give: impl FnMut(&Change<'_>) -> Result<(), E>,
    ) -> Result<Result<(), E>, StoreFault> {
        let mut progress = SlowProgress::new("pages compared");
        for side in [Side::New, Side::Old] {
            for visit in journal::visits(&self.moves.journals.state_directory(side))? {
                let visit = visit?;
                let change = match side {
                    Side::New => self.of_new(&visit),
                    Side::Old => self.of_old(&visit),
                };
                if let Some(Err(error)) = change.map(|change| give(&change)) {
                    return Ok(Err(error));
                }
                progress.step();
            }
        }
        Ok(Ok(()))
    }

    /// Returns the change of a page of the later crawl; `None` for other visits.
    fn of_new<'r>(&'r mut self, visit: &'r VisitRecord) -> Option<Change<'r>> {
        let url = visit.url.key();
        if !visit.fate.is_page() {
            if self.moves.gone.contains(&url) {
                let fate = || visit.fate.as_str().to_owned();
                let reason = visit.reason_text().unwrap_or_else(fate);
                self.gone_because.insert(url, reason);
            }
            return None;
        }
        let known = self.moves.journals.state(Side::Old, url);
        if !known.is_some_and(State::is_page) {
            let from = self.moves.moved.get(&url);
            let from = from.and_then(|from| self.moves.moved_from.get(from));
            let kind = from.map_or(ChangeKind::New, |_| ChangeKind::Moved);
            return Some(Change {
                from: from.map(String::as_str),
                ..Change::of(kind, visit)
            });
        }
        Some(match self.moves.journals.is_unchanged(url) {
            Some(true) => Change::of(ChangeKind::Unchanged, visit),
            Some(false) => {
                self.changed += 1;
                match self.changed > self.max_texts {
                    true => Change::of(ChangeKind::Changed, visit),
                    false => self.compare_texts(visit),
                }
            }
            None => Change {
                reason: Some("a journal does not record its bytes".to_owned()),
                ..Change::of(ChangeKind::Unknown, visit)
            },
        })
    }

    /// Returns the change of a page of the earlier crawl that the later one does not have; `None`
    /// for other visits.
    fn of_old<'r>(&mut self, visit: &'r VisitRecord) -> Option<Change<'r>> {
        let url = visit.url.key();
        if !visit.fate.is_page() || !self.moves.gone.contains(&url) {
            return None;
        }
        let (kind, reason) = match self.moves.journals.state(Side::New, url) {
            Some(State::Waiting) => {
                let reason = "still queued in the later crawl";
                (ChangeKind::Unknown, reason.to_owned())
            }
            Some(State::Reached) => {
                let reason = "the later crawl reached it by a redirect, and lists it under the \
                    redirecting URL";
                (ChangeKind::Unknown, reason.to_owned())
            }
            _ => {
                let nothing = || "not found by the later crawl".to_owned();
                let because = self.gone_because.remove(&url);
                (ChangeKind::Gone, because.unwrap_or_else(nothing))
            }
        };
        Some(Change {
            reason: Some(reason),
            ..Change::of(kind, visit)
        })
    }

    /// Compares the texts of a page in both crawls: the main text, or the whole text if only the
    /// rest changed.
    fn compare_texts<'r>(&self, visit: &'r VisitRecord) -> Change<'r> {
        let without_text = |reason: String| Change {
            // The crawl's own estimate for a new version of a page.
            resemblance: visit.resemblance.filter(|_| visit.fate == Fate::Changed),
            reason: Some(reason),
            ..Change::of(ChangeKind::Changed, visit)
        };
        let capture = |side| self.moves.journals.capture(side, visit.url.key());
        let Some((old, new)) = capture(Side::Old).zip(capture(Side::New)) else {
            let reason = "other bytes; a near-duplicate in one of the crawls, so its text is not \
                archived";
            return without_text(reason.to_owned());
        };
        let old = self.moves.journals.document(&old);
        let documents = old.and_then(|old| Ok((old, self.moves.journals.document(&new)?)));
        let (old, new) = match documents {
            Ok(documents) => documents,
            Err(trouble) => return without_text(format!("its text cannot be read: {trouble}")),
        };
        if old.media == Media::Other || new.media == Media::Other {
            return without_text("other bytes; not a text".to_owned());
        }
        let (mut before, mut now) = (old.text.as_str(), new.text.as_str());
        if before == now {
            (before, now) = (old.full_text(), new.full_text());
        }
        let difference = Difference::of(before, now);
        let reason = match (difference.is_empty(), old.title == new.title) {
            (false, _) => None,
            (true, true) if before.split_whitespace().eq(now.split_whitespace()) => {
                Some("the same text in other bytes".to_owned())
            }
            (true, true) => Some("the same words; capitals or punctuation differ".to_owned()),
            (true, false) => Some(format!(
                "the same words under another title: {:?}, now {:?}",
                old.title.as_deref().unwrap_or_default(),
                new.title.as_deref().unwrap_or_default()
            )),
        };
        let resemblance = difference.statistics().resemblance;
        Change {
            resemblance: Some((resemblance * 10_000.0).round() / 10_000.0),
            text: Some(ChangedText {
                added: difference.words_of(RunKind::OnlyB, before, now),
                removed: difference.words_of(RunKind::OnlyA, before, now),
                diff: self.with_diff.then(|| difference.printed(before, now)),
                compared: ComparedTexts {
                    before: before.to_owned(),
                    now: now.to_owned(),
                    difference,
                },
            }),
            reason,
            ..Change::of(ChangeKind::Changed, visit)
        }
    }
}

impl<'a> Change<'a> {
    /// Returns a change with only the kind and the URL.
    fn of(kind: ChangeKind, visit: &'a VisitRecord) -> Self {
        Self {
            kind,
            url: visit.url.as_str(),
            from: None,
            resemblance: None,
            text: None,
            reason: None,
        }
    }
}
