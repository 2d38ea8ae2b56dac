//! Alignment of two texts: the words that they share, in the same sequence.
//!
//! Every algorithm takes quadratic time for some pair of texts, and texts come from strangers. Long
//! texts are therefore cut at words that occur once in each (the anchors of Bram Cohen's patience
//! diff) or, without such words, in the middle. Windows of at most [`WINDOW`] words are compared by
//! imara-diff: a histogram diff, or Myers's algorithm ("An O(ND) Difference Algorithm", 1986) if
//! their words repeat often. The time is linear in the number of words, and the recursion is
//! shallow.
//!
//! Single words that two rewritten passages share by chance ("the", "of") mean nothing to a reader
//! and cut the passages into confetti, so [`joined`] merges such changes.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, NoSliderHeuristic, Token};
use neardup::NormalText;

/// Number of words of a window. The worst known case, two windows of two words in random order,
/// takes some ten milliseconds.
const WINDOW: usize = 2048;

/// Number of times that a stretch is cut at anchors: words that are frequent in the text may occur
/// once in a stretch.
const CUTS: u32 = 3;

/// A change is joined with the next if both are at least this many times as long as the words
/// between them.
const CONFETTI: usize = 4;

/// A place where two texts differ: words of one text, of the other or of both. Ranges count words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) a: Range<usize>,
    pub(crate) b: Range<usize>,
}

impl Change {
    fn len(&self) -> usize {
        self.a.len().max(self.b.len())
    }
}

/// Returns the changes that turn the words of `a` into the words of `b`, ascending and separate.
pub(crate) fn changes(a: &NormalText, b: &NormalText) -> Vec<Change> {
    let mut input = InternedInput::default();
    input.update_before(a.words());
    input.update_after(b.words());
    let words = input.interner.num_tokens() as usize;
    let mut alignment = Alignment {
        a: &input.before,
        b: &input.after,
        met: vec![Met::default(); words],
        changes: Vec::new(),
    };
    alignment.align(0..input.before.len(), 0..input.after.len(), CUTS);
    joined(alignment.changes)
}

/// The occurrences of a word in two stretches.
#[derive(Clone, Copy, Default)]
struct Met {
    times_in_a: u32,
    times_in_b: u32,
    /// Last position of the word in the second stretch.
    in_b: usize,
}

/// Two texts that are being compared.
struct Alignment<'a> {
    a: &'a [Token],
    b: &'a [Token],
    /// Occurrences by word; all zero between two stretches.
    met: Vec<Met>,
    /// Changes found so far, ascending.
    changes: Vec<Change>,
}

impl Alignment<'_> {
    /// Adds the changes of two stretches, which are cut at anchors `cuts` times.
    fn align(&mut self, mut a: Range<usize>, mut b: Range<usize>, cuts: u32) {
        let is_same = |(one, two): &(&Token, &Token)| one == two;
        let (words_a, words_b) = (&self.a[a.clone()], &self.b[b.clone()]);
        let head = words_a.iter().zip(words_b).take_while(is_same).count();
        (a.start, b.start) = (a.start + head, b.start + head);
        let backwards = words_a[head..]
            .iter()
            .rev()
            .zip(words_b[head..].iter().rev());
        let tail = backwards.take_while(is_same).count();
        (a.end, b.end) = (a.end - tail, b.end - tail);
        if a.is_empty() && b.is_empty() {
            return;
        }
        if a.is_empty() || b.is_empty() {
            return self.changes.push(Change { a, b });
        }
        if a.len().max(b.len()) <= WINDOW {
            return self.compare(a, b);
        }
        let anchors = if cuts > 0 {
            self.anchors(&a, &b)
        } else {
            Vec::new()
        };
        if anchors.is_empty() {
            let (in_a, in_b) = (a.start + a.len() / 2, b.start + b.len() / 2);
            self.align(a.start..in_a, b.start..in_b, 0);
            return self.align(in_a..a.end, in_b..b.end, 0);
        }
        for (in_a, in_b) in anchors {
            self.align(a.start..in_a, b.start..in_b, cuts - 1);
            (a.start, b.start) = (in_a + 1, in_b + 1);
        }
        self.align(a, b, cuts - 1);
    }

    /// Returns the positions of words that occur once in each stretch: the longest selection that
    /// has the same order in both.
    fn anchors(&mut self, a: &Range<usize>, b: &Range<usize>) -> Vec<(usize, usize)> {
        for word in &self.a[a.clone()] {
            self.met[word.0 as usize].times_in_a += 1;
        }
        for (place, word) in b.clone().zip(&self.b[b.clone()]) {
            let met = &mut self.met[word.0 as usize];
            met.times_in_b += 1;
            met.in_b = place;
        }
        let mut single = Vec::new();
        for (place, word) in a.clone().zip(&self.a[a.clone()]) {
            let met = &self.met[word.0 as usize];
            if (met.times_in_a, met.times_in_b) == (1, 1) {
                single.push((place, met.in_b));
            }
        }
        self.forget(a, b);
        longest_ascending(&single)
    }

    /// Adds the changes of two windows.
    fn compare(&mut self, a: Range<usize>, b: Range<usize>) {
        // The words of the windows get new numbers, because a histogram has an entry for each.
        let mut words = 0;
        let mut renumbered = |window: &[Token], met: &mut [Met]| -> Vec<Token> {
            let numbers = window.iter().map(|word| {
                let met = &mut met[word.0 as usize];
                if met.times_in_a == 0 {
                    words += 1;
                    met.times_in_a = words;
                }
                Token(met.times_in_a - 1)
            });
            numbers.collect()
        };
        let window_a = renumbered(&self.a[a.clone()], &mut self.met);
        let window_b = renumbered(&self.b[b.clone()], &mut self.met);
        self.forget(&a, &b);
        let mut diff = Diff::default();
        diff.compute_with(Algorithm::Histogram, &window_a, &window_b, words);
        diff.postprocess_with(&window_a, &window_b, NoSliderHeuristic);
        let moved =
            |by: usize, range: Range<u32>| by + range.start as usize..by + range.end as usize;
        self.changes.extend(diff.hunks().map(|hunk| Change {
            a: moved(a.start, hunk.before),
            b: moved(b.start, hunk.after),
        }));
    }

    /// Resets the occurrences of the words of two stretches.
    fn forget(&mut self, a: &Range<usize>, b: &Range<usize>) {
        for word in self.a[a.clone()].iter().chain(&self.b[b.clone()]) {
            self.met[word.0 as usize] = Met::default();
        }
    }
}

/// Returns the longest subsequence of pairs that also ascends in the second part. The pairs ascend
/// in the first part; their second parts are distinct. Patience sorting: each pair goes onto the
/// first pile whose top is greater.
fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tops: Vec<usize> = Vec::new();
    // The top of the previous pile at the time when a pair was put onto its pile.
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (place, pair) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|&top| pairs[top].1 < pair.1);
        before.push(pile.checked_sub(1).map(|pile| tops[pile]));
        match tops.get_mut(pile) {
            Some(top) => *top = place,
            None => tops.push(place),
        }
    }
    let mut last = tops.last().copied();
    let mut longest = Vec::with_capacity(tops.len());
    while let Some(place) = last {
        longest.push(pairs[place]);
        last = before[place];
    }
    longest.reverse();
    longest
}

/// Joins changes that have few words between them, relative to their own length.
fn joined(changes: Vec<Change>) -> Vec<Change> {
    let mut joined: Vec<Change> = Vec::with_capacity(changes.len());
    for change in changes {
        match joined.last_mut() {
            Some(last)
                if (change.a.start - last.a.end) * CONFETTI <= last.len().min(change.len()) =>
            {
                last.a.end = change.a.end;
                last.b.end = change.b.end;
            }
            _ => joined.push(change),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a text of this number of words, drawn from `vocabulary`.
    fn text(stream: u64, words: u64, vocabulary: u64) -> NormalText {
        let mixed = |at: u64| {
            let bits = (stream << 40 | at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
        };
        NormalText::of_tokens((0..words).map(|at| format!("w{}", mixed(at) % vocabulary)))
    }

    /// Checks that the words between changes are equal, and returns the number of changed words.
    fn check(a: &NormalText, b: &NormalText) -> usize {
        let (words_a, words_b): (Vec<_>, Vec<_>) = (a.words().collect(), b.words().collect());
        let (mut at_a, mut at_b, mut changed) = (0, 0, 0);
        let end = Change {
            a: words_a.len()..words_a.len(),
            b: words_b.len()..words_b.len(),
        };
        for change in changes(a, b).into_iter().chain([end]) {
            assert_eq!(words_a[at_a..change.a.start], words_b[at_b..change.b.start]);
            (at_a, at_b) = (change.a.end, change.b.end);
            changed += change.a.len() + change.b.len();
        }
        changed
    }

    #[test]
    fn long_texts_are_cut_and_their_changes_found() {
        for vocabulary in [2, 60, 100_000] {
            let a = text(1, 9_000, vocabulary);
            check(&a, &text(2, 7_000, vocabulary));
            let with = |places: &[usize]| {
                let words = a.words().enumerate().flat_map(|(place, word)| {
                    let added = places.contains(&place).then_some("added");
                    added.into_iter().chain([word])
                });
                NormalText::of_tokens(words)
            };
            assert_eq!(check(&a, &with(&[4_500])), 1);
            // Without anchors, a cut in the middle may cost a word on either side.
            let changed = check(&a, &with(&[10, 2_500, 8_000]));
            assert!((3..60).contains(&changed), "{vocabulary}: {changed}");
        }
    }

    #[test]
    fn a_stretch_without_anchors_is_as_long_as_it_may_be() {
        let a = NormalText::of_tokens(std::iter::repeat_n("a", 10_000));
        let b = NormalText::of_tokens(std::iter::repeat_n("b", 3));
        assert_eq!(check(&a, &b), 10_003);
        assert_eq!(check(&b, &a), 10_003);
        let none = NormalText::default();
        assert_eq!((check(&a, &none), check(&none, &none)), (10_000, 0));
    }

    proptest! {
        #[test]
        fn the_longest_ascending_subsequence_is_as_long_as_any(
            seconds in Just((0..9_usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let pairs: Vec<_> = seconds.iter().copied().enumerate().collect();
            let longest = longest_ascending(&pairs);
            prop_assert!(longest.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            let subsets = (0_u32..1 << pairs.len()).map(|subset| {
                let chosen = pairs.iter().filter(|(place, _)| subset >> place & 1 == 1);
                chosen.map(|(_, second)| *second).collect::<Vec<_>>()
            });
            let ascending = subsets.filter(|chosen| chosen.is_sorted());
            prop_assert_eq!(ascending.map(|chosen| chosen.len()).max(), Some(longest.len()));
        }
    }
}
