//! The decision about each document: original, or duplicate of an earlier one.

use neardup::MatchKind;

use super::Run;
use crate::dedup::distinct_texts::DistinctTexts;
use crate::dedup::originals::{self, NearOriginal};
use crate::error::BatchError;

/// The decision about each document.
#[derive(Debug)]
pub(super) struct Decisions<'t> {
    texts: &'t DistinctTexts<'t>,
    /// The text of each document.
    text_of: Vec<u32>,
    /// The original of each text that is a near duplicate.
    near: Vec<Option<NearOriginal>>,
}

impl<'t> Decisions<'t> {
    /// Decides about all documents.
    pub(super) fn of(texts: &'t DistinctTexts<'_>, run: Run<'_>) -> Result<Self, BatchError> {
        let near = originals::decide(texts, run)?;
        let mut text_of = vec![0; texts.documents() as usize];
        for (text, documents) in (0..).zip(texts.groups.iter()) {
            for &document in documents {
                text_of[document as usize] = text;
            }
        }
        Ok(Self {
            texts,
            text_of,
            near,
        })
    }

    /// Returns the text of a document.
    pub(super) fn text_of(&self, document: u32) -> u32 {
        self.text_of[document as usize]
    }

    /// Returns the original of a document and the kind of match; `None` if the document is an
    /// original.
    pub(super) fn original_of(&self, document: u32) -> Option<(u32, MatchKind)> {
        let text = self.text_of[document as usize];
        let first_of = |text| self.texts.groups.get(text)[0];
        if let Some(near) = self.near[text as usize] {
            return Some((first_of(near.text), near.match_kind));
        }
        let first = first_of(text);
        (first != document).then(|| (first, self.texts.match_kind_of_equals(first, document)))
    }
}
