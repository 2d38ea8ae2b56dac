use neardup::NormalText;
use proptest::prelude::*;

use super::*;

/// Returns the runs as `git diff --word-diff` marks them; shared ones as the second text has them.
fn marked(a: &str, b: &str) -> String {
    let difference = Difference::of(a, b);
    let runs = difference.runs().iter();
    let marked = runs.map(|run| match run.kind {
        RunKind::Same => b[run.b.clone()].to_owned(),
        RunKind::OnlyA => format!("[-{}-]", &a[run.a.clone()]),
        RunKind::OnlyB => format!("{{+{}+}}", &b[run.b.clone()]),
    });
    marked.collect()
}

fn words(text: &str) -> NormalText {
    NormalText::of(text)
}

/// Checks the invariants of a difference; returns it.
fn check(a: &str, b: &str, bytes: usize, max_words: usize) -> Difference {
    let difference = Difference::of_first(a, b, bytes, max_words);
    let (mut at_a, mut at_b) = (0, 0);
    for run in difference.runs() {
        assert_eq!(
            (run.a.start, run.b.start),
            (at_a, at_b),
            "{a:?} {b:?} {run:?}"
        );
        (at_a, at_b) = (run.a.end, run.b.end);
        assert!(!(run.a.is_empty() && run.b.is_empty()), "{run:?}");
        let (in_a, in_b) = (words(&a[run.a.clone()]), words(&b[run.b.clone()]));
        match run.kind {
            RunKind::Same => assert_eq!(in_a, in_b, "{a:?} {b:?} {run:?}"),
            RunKind::OnlyA => assert!(run.b.is_empty(), "{run:?}"),
            RunKind::OnlyB => assert!(run.a.is_empty(), "{run:?}"),
        }
        assert_eq!(run.words, in_a.len().max(in_b.len()), "{run:?}");
    }
    let (length_a, length_b) = difference.cut().unwrap_or((a.len(), b.len()));
    assert_eq!((at_a, at_b), (length_a, length_b), "{a:?} {b:?}");
    let (words_a, words_b) = (words(&a[..length_a]), words(&b[..length_b]));
    assert_eq!(difference.is_empty(), words_a == words_b, "{a:?} {b:?}");
    let figures = difference.statistics();
    assert_eq!(
        (figures.words_a, figures.words_b),
        (words_a.len(), words_b.len())
    );
    let only = |kind| {
        let runs = difference.runs().iter().filter(move |run| run.kind == kind);
        runs.map(|run| run.words).sum::<usize>()
    };
    assert_eq!(figures.words_only_a, only(RunKind::OnlyA));
    assert_eq!(figures.words_only_b, only(RunKind::OnlyB));
    for context in [0, 1, 3, 100] {
        check_folds(&difference, a, b, context);
    }
    difference
}

/// Checks that stretches tile what the runs tile, and that nothing but common words is folded.
fn check_folds(difference: &Difference, a: &str, b: &str, context: usize) {
    let (mut at_a, mut at_b, mut total) = (0, 0, 0);
    for stretch in difference.folded(context) {
        let (Stretch::Shown(run) | Stretch::Folded(run)) = &stretch;
        assert_eq!(
            (run.a.start, run.b.start),
            (at_a, at_b),
            "{a:?} {b:?} {stretch:?}"
        );
        (at_a, at_b) = (run.a.end, run.b.end);
        total += run.words;
        assert!(!matches!(&stretch, Stretch::Folded(run) if run.kind != RunKind::Same));
    }
    let runs = difference.runs();
    let ends = runs.last().map_or((0, 0), |run| (run.a.end, run.b.end));
    assert_eq!((at_a, at_b), ends, "{a:?} {b:?}");
    assert_eq!(total, runs.iter().map(|run| run.words).sum::<usize>());
}

#[test]
fn a_reader_sees_the_texts_as_they_were_written() {
    for (a, b, expected) in [
        ("", "", ""),
        ("one two", "one two", "one two"),
        ("One, two.", "one TWO!", "one TWO!"),
        ("use it now", "never use it", "{+never+} use it[-now-]"),
        ("one two three", "one three", "one[-two-] three"),
        (
            "one (two), three",
            "one (2), three",
            "one [-(two),-]{+(2),+} three",
        ),
        (
            "1. old\n2. old",
            "1. new\n2. old",
            "1. [-old-]{+new+}\n2. old",
        ),
        ("東京都", "東京府", "東京[-都-]{+府+}"),
        ("", "new text", "{+new text+}"),
        ("…", "new", "[-…-]{+new+}"),
        ("…", "!", "!"),
        ("gone", "…", "[-gone-]{+…+}"),
        ("Straße\u{ad}n", "STRASSEN", "STRASSEN"),
    ] {
        assert_eq!(marked(a, b), expected, "{a:?} {b:?}");
        check(a, b, MAX_TEXT, MAX_WORDS);
    }
}

#[test]
fn words_that_two_rewritten_passages_share_by_chance_are_part_of_the_change() {
    let a = "we take a very long and quite old road to the town of our fathers and mothers";
    let b = "they never go by any means or ways on the first day after some other feast";
    assert_eq!(marked(a, b), format!("[-{a}-]{{+{b}+}}"));
    // A single word between two single words is context.
    assert_eq!(marked("1 and 2", "3 and 4"), "[-1-]{+3+} and [-2-]{+4+}");
}

#[test]
fn figures_count_words_and_shingles_of_five_words() {
    let figures =
        *Difference::of("one two three four five six", "one two three four five 6").statistics();
    let expected = DifferenceStatistics {
        words_a: 6,
        words_b: 6,
        words_only_a: 1,
        words_only_b: 1,
        shared_shingles: 1,
        shingles_only_a: 1,
        shingles_only_b: 1,
        resemblance: 1.0 / 3.0,
        containment_a_in_b: 0.5,
        containment_b_in_a: 0.5,
    };
    assert_eq!(figures, expected);
    let same = *Difference::of("one two", "one two").statistics();
    assert_eq!((same.words_only_a, same.resemblance), (0, 1.0));
}

#[test]
fn words_far_from_a_change_are_folded() {
    let (a, b) = ("a b c d e f g h X i j", "a b c d e f g h i j");
    let shown = |context| -> Vec<String> {
        let stretches = Difference::of(a, b).folded(context);
        let text = stretches.into_iter().map(|stretch| match stretch {
            Stretch::Shown(run) => a[run.a].to_owned(),
            Stretch::Folded(run) => format!("<{} words>", run.words),
        });
        text.collect()
    };
    assert_eq!(shown(2), ["<6 words>", "g h ", "X", " i j"]);
    assert_eq!(shown(0), ["<8 words>", "X", " i j"]);
    assert_eq!(shown(9), ["a b c d e f g h ", "X", " i j"]);
    let same = Difference::of("a b c", "a b c").folded(5);
    assert!(
        matches!(same[..], [Stretch::Folded(Run { words: 3, .. })]),
        "{same:?}"
    );
}

#[test]
fn texts_are_compared_up_to_the_caps_and_no_further() {
    let (a, b) = ("one two three", "one two other");
    for (bytes, max_words, cut, is_same) in [
        (13, 3, None, false),
        (13, 2, Some((8, 8)), true),
        (12, 3, Some((7, 7)), true),
        (0, 3, Some((0, 0)), true),
        (13, 0, Some((0, 0)), true),
    ] {
        let difference = check(a, b, bytes, max_words);
        assert_eq!(difference.cut(), cut, "{bytes} {max_words}");
        assert_eq!(difference.is_empty(), is_same, "{bytes} {max_words}");
    }
    // A text that is not cut is whole beside one that is.
    assert_eq!(check("one", "one two", 100, 1).cut(), Some((3, 4)));
}

proptest! {
    #[test]
    fn runs_tile_both_texts_and_shared_runs_have_equal_words(
        a in "([a-d東é]{1,2}[ ,.\n]{0,2}){0,24}",
        b in "([a-dD東É]{1,2}[ ,.\n]{0,2}){0,24}",
    ) {
        check(&a, &b, MAX_TEXT, MAX_WORDS);
    }

    #[test]
    fn any_texts_have_a_difference(a in "\\PC{0,40}", b in "\\PC{0,40}", words in 0_usize..20) {
        check(&a, &b, 50, words);
        check(&a, &a, 50, words);
    }

    #[test]
    fn an_edited_text_is_told_by_what_was_edited(
        before in prop::collection::vec("[a-z]{3}", 0..20),
        removed in prop::collection::vec("[A-Z]{4}", 0..4),
        added in prop::collection::vec("[0-9]{5}", 0..4),
        after in prop::collection::vec("[a-z]{3}", 0..20),
    ) {
        let text = |middle: &[String]| {
            [before.as_slice(), middle, after.as_slice()].concat().join(" ")
        };
        let figures = *Difference::of(&text(&removed), &text(&added)).statistics();
        prop_assert_eq!(figures.words_only_a, removed.len());
        prop_assert_eq!(figures.words_only_b, added.len());
    }
}
