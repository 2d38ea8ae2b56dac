//! Phrases: consecutive words.
//!
//! tantivy's phrase scorer merges two sorted lists of positions step by step, with an unpredictable
//! branch at each step. For two frequent words these lists are long, and every page contains both.
//! This scorer takes the rarest word in a page and marks its positions in an array. Each further
//! word confirms the marks that it fits, without unpredictable branches. Matches and scores are the
//! same (compared with a plain scan in `tests/scan`). Reasons and measurements:
//! `docs/adr/0014-own-scorers-beside-tantivys.md`.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{Bm25Weight, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED, Term};

use crate::query::clause::MAX_WORDS;
use crate::stepping;

/// Two or more terms of one field, each with its position in the phrase.
#[derive(Clone, Debug)]
pub(crate) struct Phrase {
    pub(crate) terms: Vec<(usize, Term)>,
}

impl Query for Phrase {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let similarity = match scoring {
            EnableScoring::Enabled {
                statistics_provider,
                ..
            } => {
                let terms: Vec<Term> = self.terms.iter().map(|(_, term)| term.clone()).collect();
                Some(Bm25Weight::for_terms(statistics_provider, &terms)?)
            }
            EnableScoring::Disabled { .. } => None,
        };
        let terms = self.terms.clone();
        Ok(Box::new(PhraseWeight { terms, similarity }))
    }

    fn query_terms<'a>(&'a self, visit: &mut dyn FnMut(&'a Term, bool)) {
        for (_, term) in &self.terms {
            visit(term, true);
        }
    }
}

struct PhraseWeight {
    terms: Vec<(usize, Term)>,
    similarity: Option<Bm25Weight>,
}

impl Weight for PhraseWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        stepping::scorer(self, segment, boost)
    }

    fn scorer_danger(
        &self,
        segment: &SegmentReader,
        target: DocId,
        boost: Score,
    ) -> tantivy::Result<(SeekDangerResult, Box<dyn Scorer>)> {
        let Some(mut scorer) = self.phrase_scorer(segment, boost)? else {
            let nowhere = SeekDangerResult::SeekLowerBound(TERMINATED);
            return Ok((nowhere, Box::new(EmptyScorer)));
        };
        Ok((scorer.seek_danger(target), Box::new(scorer)))
    }

    fn explain(&self, segment: &SegmentReader, page: DocId) -> tantivy::Result<Explanation> {
        stepping::explain(self, segment, page, "a phrase")
    }
}

impl PhraseWeight {
    /// Returns the scorer; `None` if the segment lacks a word of the phrase.
    fn phrase_scorer(
        &self,
        segment: &SegmentReader,
        boost: Score,
    ) -> tantivy::Result<Option<PhraseScorer>> {
        let field = self.terms[0].1.field();
        let index = segment.inverted_index(field)?;
        let positions = self.terms.iter().map(|(at, _)| *at);
        let last = positions.max().unwrap_or_default();
        let mut words = Vec::with_capacity(self.terms.len());
        for (at, term) in &self.terms {
            let option = IndexRecordOption::WithFreqsAndPositions;
            let Some(pages) = index.read_postings(term, option)? else {
                return Ok(None);
            };
            // Queries have far fewer terms than this.
            let to_end = u32::try_from(last - at).unwrap_or(u32::MAX);
            words.push(Word { pages, to_end });
        }
        words.sort_by_key(|word| word.pages.doc_freq());
        let norms = segment.fieldnorms_readers().get_field(field)?;
        Ok(Some(PhraseScorer {
            words,
            page: 0,
            count: 0,
            similarity: self.similarity.as_ref().map(|bm25| bm25.boost_by(boost)),
            norms: norms.unwrap_or_else(|| FieldNormReader::constant(segment.max_doc(), 1)),
            ends: PhraseEnds::default(),
            places: Vec::new(),
        }))
    }
}

struct Word {
    pages: SegmentPostings,
    /// Distance from this word to the last word of the phrase.
    to_end: u32,
}

impl Word {
    /// Returns the positions in the current page where the phrase would end.
    fn ends<'p>(&mut self, places: &'p mut Vec<u32>) -> &'p [u32] {
        self.pages.positions_with_offset(self.to_end, places);
        places
    }
}

struct PhraseScorer {
    /// Words, the rarest first.
    words: Vec<Word>,
    page: DocId,
    /// Number of occurrences in that page.
    count: u32,
    similarity: Option<Bm25Weight>,
    norms: FieldNormReader,
    ends: PhraseEnds,
    places: Vec<u32>,
}

impl PhraseScorer {
    /// Counts the occurrences of the phrase in the current page, which contains all words.
    fn count_here(&mut self) -> u32 {
        let rarest = (0..self.words.len()).min_by_key(|&word| self.words[word].pages.term_freq());
        let rarest = rarest.unwrap_or_default();
        self.ends.begin(self.words[rarest].ends(&mut self.places));
        let mut count = 0;
        for (number, word) in self.words.iter_mut().enumerate() {
            if number != rarest {
                count = self.ends.keep(word.ends(&mut self.places));
                if count == 0 {
                    break;
                }
            }
        }
        count
    }
}

impl DocSet for PhraseScorer {
    fn advance(&mut self) -> DocId {
        self.seek(self.page + 1)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        stepping::seek(self, target)
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if target >= TERMINATED {
            self.page = TERMINATED;
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        for word in &mut self.words {
            let mut page = word.pages.doc();
            if page < target {
                page = word.pages.seek(target);
            }
            if page > target {
                return SeekDangerResult::SeekLowerBound(page);
            }
        }
        self.count = self.count_here();
        if self.count == 0 {
            return SeekDangerResult::SeekLowerBound(target + 1);
        }
        self.page = target;
        SeekDangerResult::Found
    }

    fn doc(&self) -> DocId {
        self.page
    }

    fn size_hint(&self) -> u32 {
        let pages = self.words.first().map_or(0, |word| word.pages.size_hint());
        pages / (10 * u32::try_from(self.words.len()).unwrap_or(u32::MAX))
    }

    fn cost(&self) -> u64 {
        // Reading positions is the expensive part, so any other clause of a query should choose
        // pages first.
        let pages = self.words.first().map_or(0, |word| word.pages.size_hint());
        u64::from(pages) * 10 * self.words.len() as u64
    }
}

impl Scorer for PhraseScorer {
    fn score(&mut self) -> Score {
        match &self.similarity {
            Some(bm25) => bm25.score(self.norms.fieldnorm_id(self.page), self.count),
            None => 1.0,
        }
    }
}

/// Upper bound on the marks per page, which needs one mark per word of the phrase.
const MARKS: u16 = 2 * MAX_WORDS as u16;

/// Possible ends of a phrase in a page, as an array of marks: a position has the last mark if all
/// words so far fit it.
#[derive(Default)]
struct PhraseEnds {
    marks: Vec<u16>,
    last: u16,
}

impl PhraseEnds {
    /// Begins a page with the ends that its first word allows.
    fn begin(&mut self, places: &[u32]) {
        let length = places.last().map_or(0, |last| *last as usize + 1);
        if self.marks.len() < length {
            self.marks.resize(length, 0);
        }
        if self.last > u16::MAX - MARKS {
            self.marks.fill(0);
            self.last = 0;
        }
        self.last += 1;
        for &place in places {
            if let Some(mark) = self.marks.get_mut(place as usize) {
                *mark = self.last;
            }
        }
    }

    /// Keeps the ends that the next word also allows, and returns their number.
    fn keep(&mut self, places: &[u32]) -> u32 {
        let so_far = self.last;
        self.last += 1;
        let mut count = 0;
        for &place in places {
            if let Some(mark) = self.marks.get_mut(place as usize) {
                let stands = *mark == so_far;
                *mark = if stands { self.last } else { *mark };
                count += u32::from(stands);
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_kept_ends_are_common_to_all_words(
            pages in prop::collection::vec(
                prop::collection::vec(prop::collection::btree_set(0_u32..40, 1..12), 2..5),
                1..30,
            ),
            last in prop_oneof![Just(0), u16::MAX - MARKS - 3..u16::MAX - MARKS],
        ) {
            let mut ends = PhraseEnds { last, ..PhraseEnds::default() };
            for words in pages {
                let list = |word: &BTreeSet<u32>| word.iter().copied().collect::<Vec<u32>>();
                let mut all = words[0].clone();
                ends.begin(&list(&all));
                for word in &words[1..] {
                    all.retain(|place| word.contains(place));
                    prop_assert_eq!(ends.keep(&list(word)) as usize, all.len());
                }
            }
        }
    }
}
