//! The answers of the signature index, in the order of its look-ups.

use neardup::{
    Features, HashKey, MAX_PER_BAND, Match, MatchKind, NormalText, PageSignature, PageText,
    Shingles, SignatureBuilder, SignatureIndex, Thresholds, Width,
};
use proptest::prelude::*;

const KEY: HashKey = HashKey::new(2026);

/// Returns `count` different words; those of different seeds differ.
fn words(seed: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{seed}{n}")).collect()
}

fn signature(payload: u128, text: &str, main_content: Option<&str>) -> PageSignature {
    SignatureBuilder::new(Features::default(), KEY).signature(
        payload,
        Some(PageText {
            main_content,
            ..PageText::of(text)
        }),
    )
}

fn signature_index(pages: impl IntoIterator<Item = (u64, PageSignature)>) -> SignatureIndex {
    let mut signature_index = SignatureIndex::new(Thresholds::default());
    pages
        .into_iter()
        .for_each(|(page, signature)| signature_index.insert(page, signature));
    signature_index
}

fn near(found: Option<Match>) -> Option<u64> {
    match found {
        Some(Match {
            of,
            match_kind: MatchKind::Near { .. },
        }) => Some(of),
        _ => None,
    }
}

#[test]
fn an_empty_signature_index_finds_nothing() {
    assert_eq!(signature_index([]).find(&signature(0, "", None)), None);
}

#[test]
fn the_same_bytes_come_before_the_same_words_and_these_before_nearly_the_same() {
    let text = words("w", 200).join(" ");
    let nearly = format!("{text} more");
    let signature_index = signature_index([
        (1, signature(10, &nearly, None)),
        (2, signature(20, &text, None)),
        (3, signature(30, "x", None)),
    ]);
    assert_eq!(
        signature_index.find(&signature(30, &text, None)),
        Some(Match {
            of: 3,
            match_kind: MatchKind::SamePayload
        })
    );
    assert_eq!(
        signature_index.find(&signature(40, &text.to_uppercase(), None)),
        Some(Match {
            of: 2,
            match_kind: MatchKind::SameText
        })
    );
    let third = format!("less {text}");
    let Some(Match {
        match_kind: MatchKind::Near { resemblance, .. },
        ..
    }) = signature_index.find(&signature(40, &third, None))
    else {
        panic!("not found");
    };
    assert!(resemblance > 0.95);
}

#[test]
fn two_empty_bodies_are_the_same_payload_and_two_texts_without_words_are_nothing() {
    let empty = KEY.digest(b"");
    let signature_index = signature_index([
        (1, signature(empty, "", None)),
        (2, signature(5, " .. ", None)),
    ]);
    assert_eq!(
        signature_index
            .find(&signature(empty, "", None))
            .unwrap()
            .match_kind,
        MatchKind::SamePayload
    );
    assert_eq!(signature_index.find(&signature(6, "", None)), None);
    assert_eq!(
        signature_index.find(&SignatureBuilder::new(Features::default(), KEY).signature(7, None)),
        None
    );
}

#[test]
fn a_page_with_a_date_and_a_counter_changed_is_found() {
    let page = |date: &str, count: &str| {
        let mut text = words("word", 300);
        text.insert(10, date.to_owned());
        text.push(count.to_owned());
        signature(KEY.digest(date.as_bytes()), &text.join(" "), None)
    };
    let signature_index = signature_index([(1, page("2026-01-01", "1,204 visits"))]);
    assert_eq!(
        near(signature_index.find(&page("2026-02-03", "7 visits"))),
        Some(1)
    );
}

#[test]
fn pages_that_share_a_frame_of_two_thirds_are_not_alike() {
    let page = |n: u64| {
        let text = [words("frame", 200), words(&format!("page{n}x"), 100)]
            .concat()
            .join(" ");
        signature(u128::from(n), &text, None)
    };
    let mut signature_index = signature_index([]);
    for n in 0..200 {
        assert_eq!(signature_index.find(&page(n)), None, "page {n}");
        signature_index.insert(n, page(n));
    }
}

#[test]
fn short_texts_are_alike_only_if_they_are_the_same() {
    let signature_index = signature_index([(
        1,
        signature(1, "please accept our cookies to continue", None),
    )]);
    assert_eq!(
        signature_index.find(&signature(
            2,
            "please accept our biscuits to continue",
            None
        )),
        None
    );
    let same = signature_index.find(&signature(
        2,
        "Please accept our cookies to continue.",
        None,
    ));
    assert_eq!(
        same,
        Some(Match {
            of: 1,
            match_kind: MatchKind::SameText
        })
    );
}

#[test]
fn boilerplate_alone_carries_no_verdict() {
    let frame = words("menu", 200).join(" ");
    let page =
        |payload: u128, own: &str| signature(payload, &format!("{frame} {own} footer"), Some(own));
    let signature_index = signature_index([(1, page(1, "a red door")), (2, page(2, ""))]);
    assert_eq!(near(signature_index.find(&page(3, "a blue door"))), None);
    let text = format!("{frame} a red door footer of today");
    assert_eq!(
        near(signature_index.find(&signature(4, &text, Some("A red door!")))),
        Some(1)
    );
    // One page is judged by its main content, the other by its frame.
    assert_eq!(near(signature_index.find(&signature(5, &text, None))), None);
    assert_eq!(
        near(signature_index.find(&signature(6, &text, Some("")))),
        None
    );
}

#[test]
fn the_most_similar_of_several_pages_is_named_and_the_first_of_equals() {
    let text = words("w", 300);
    let with = |extra: usize, tag: &str| [text.clone(), words(tag, extra)].concat().join(" ");
    let signature_index = signature_index([
        (9, signature(1, &with(30, "x"), None)),
        (7, signature(2, &with(2, "y"), None)),
        (3, signature(3, &with(2, "y").to_uppercase(), None)),
    ]);
    assert_eq!(
        near(signature_index.find(&signature(4, &with(3, "y"), None))),
        Some(7)
    );
}

#[test]
fn removed_pages_are_not_found_and_the_others_are() {
    let page = |n: u64| {
        signature(
            u128::from(n),
            &words(&format!("p{n}w"), 100).join(" "),
            None,
        )
    };
    let copy = |n: u64| {
        signature(
            u128::from(n) + 1_000,
            &[words(&format!("p{n}w"), 100), words("z", 1)]
                .concat()
                .join(" "),
            None,
        )
    };
    let mut signature_index = signature_index((0..50).map(|n| (n, page(n))));
    for n in (0..50).filter(|n| n % 2 == 0) {
        assert!(signature_index.remove(n));
    }
    assert!(!signature_index.remove(0));
    assert_eq!(signature_index.len(), 25);
    for n in 0..50 {
        assert_eq!(signature_index.contains(n), n % 2 == 1);
        assert_eq!(signature_index.get(n).is_some(), n % 2 == 1);
        assert_eq!(
            near(signature_index.find(&copy(n))),
            (n % 2 == 1).then_some(n)
        );
        assert_eq!(signature_index.find(&page(n)).is_some(), n % 2 == 1);
    }
}

#[test]
fn inserting_a_page_again_replaces_its_signature() {
    let (old, new) = (
        signature(1, &words("a", 50).join(" "), None),
        signature(2, &words("b", 50).join(" "), None),
    );
    let mut signature_index =
        signature_index([(5, old.clone()), (5, old.clone()), (5, new.clone())]);
    assert_eq!(signature_index.len(), 1);
    assert_eq!(signature_index.find(&old), None);
    assert_eq!(signature_index.get(5), Some(&new));
    assert!(signature_index.remove(5) && signature_index.is_empty());
}

#[test]
fn a_thousand_pages_with_one_band_in_common_are_kept_and_those_beyond_the_cap_are_found_otherwise()
{
    let frame = words("menu", 400).join(" ");
    let page = |n: usize| {
        let own = format!("picture number {n}");
        signature(n as u128, &format!("{frame} {own}"), Some(&own))
    };
    let mut signature_index = signature_index([]);
    for n in 0..MAX_PER_BAND + 200 {
        signature_index.insert(n as u64, page(n));
    }
    let last = MAX_PER_BAND + 199;
    let copy = PageSignature {
        payload: u128::MAX,
        ..page(last)
    };
    assert_eq!(
        signature_index.find(&copy),
        Some(Match {
            of: last as u64,
            match_kind: MatchKind::SameText
        })
    );
    assert!(
        signature_index.memory() / signature_index.len() < 2_000,
        "{}",
        signature_index.memory()
    );
}

#[test]
fn pages_of_different_groups_are_never_compared_and_those_of_one_group_as_without_groups() {
    let text = words("w", 200).join(" ");
    let near_text = format!("{text} more");
    let (original, same_bytes) = (signature(1, &text, None), signature(1, "x", None));
    let (same_text, nearly) = (
        signature(2, &text.to_uppercase(), None),
        signature(3, &near_text, None),
    );
    for (home, away) in [(0, 1), (1, 0), (1, 2), (u64::MAX, 0)] {
        let mut signature_index = SignatureIndex::new(Thresholds::default());
        signature_index.insert_in(home, 9, original.clone());
        for copy in [&original, &same_bytes, &same_text, &nearly] {
            assert_eq!(
                signature_index.find_in(home, copy).map(|found| found.of),
                Some(9)
            );
            assert_eq!(
                signature_index.find_in(away, copy),
                None,
                "{home} and {away}"
            );
        }
        signature_index.insert_in(away, 8, nearly.clone());
        assert_eq!(near(signature_index.find_in(away, &original)), Some(8));
        assert!(signature_index.remove(9) && signature_index.remove(8));
        assert!(
            [home, away]
                .iter()
                .all(|group| signature_index.find_in(*group, &original).is_none())
        );
    }
}

/// The page was found by its bands only, and a short one not at all.
#[test]
fn after_a_removal_the_next_page_with_the_same_text_or_payload_is_found() {
    let mut index = signature_index([
        (1, signature(7, "few words", None)),
        (2, signature(7, "other words", None)),
        (3, signature(8, "few words", None)),
    ]);
    assert!(index.remove(1));
    let found = |payload, text| {
        let found = index.find(&signature(payload, text, None));
        found.map(|found| (found.of, found.match_kind))
    };
    assert_eq!(found(7, "new words"), Some((2, MatchKind::SamePayload)));
    assert_eq!(found(9, "few words"), Some((3, MatchKind::SameText)));
}

#[test]
fn a_page_takes_less_than_eight_hundred_bytes() {
    let mut signature_index = signature_index([]);
    // The worst case: just after the collections have grown, one of them is half empty and the
    // maps are not full.
    for n in 0..20_000_u64 {
        let text = words(&format!("p{n}w"), 60).join(" ");
        signature_index.insert(n, signature(KEY.digest(&n.to_le_bytes()), &text, None));
    }
    let each = signature_index.memory() / signature_index.len();
    assert!(each < 800, "{each} bytes");
}

#[test]
fn binary_garbage_one_word_and_a_million_words_have_defined_answers() {
    let garbage = String::from_utf8_lossy(&KEY.as_u64().to_le_bytes().repeat(10_000)).into_owned();
    let million = "again ".repeat(1_000_000);
    let texts = ["", "word", &garbage, &million];
    let mut signature_index = signature_index([]);
    for (n, text) in (0_u64..).zip(texts) {
        assert_eq!(
            signature_index.find(&signature(u128::from(n), text, None)),
            None
        );
        signature_index.insert(n, signature(u128::from(n), text, None));
    }
    // A shingle of one word, a million times over, is the same set as twenty times over, and
    // another bag.
    let twenty = signature(99, &"again ".repeat(20), None);
    assert_eq!(signature_index.find(&twenty), None);
    let held = signature_index.get(3).unwrap();
    assert!(
        Thresholds::new(3, 0.8)
            .unwrap()
            .match_kind(&twenty, held)
            .is_some()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A signature index of many groups answers like many indexes without groups.
    #[test]
    fn an_index_of_groups_answers_like_an_index_for_each_group(
        pages in prop::collection::vec((0_u64..4, 0_usize..3, 0_usize..8, any::<bool>()), 1..40),
    ) {
        let mut together = SignatureIndex::new(Thresholds::default());
        let mut apart: Vec<SignatureIndex> =
            (0..4).map(|_| SignatureIndex::new(Thresholds::default())).collect();
        for (page, (group, topic, cut, forget)) in (0_u64..).zip(pages) {
            let text = words(&format!("topic{topic}x"), 60)[cut..].join(" ");
            let look = signature(u128::from(page % 30), &text, None);
            let alone = &mut apart[usize::try_from(group).unwrap()];
            prop_assert_eq!(together.find_in(group, &look), alone.find(&look));
            together.insert_in(group, page, look.clone());
            alone.insert(page, look);
            if forget {
                prop_assert_eq!(
                    together.remove(page / 2),
                    apart.iter_mut().any(|signature_index| signature_index.remove(page / 2)),
                );
            }
        }
    }

    /// All matches: each is one, they are in order, the first is that of `find`, and no equal page
    /// is missing, whatever was removed.
    #[test]
    fn all_matches_are_found_best_first_and_the_first_is_the_one_that_find_returns(
        pages in prop::collection::vec((0_usize..2, 0_usize..6, any::<bool>()), 1..40),
        most in 0_usize..6,
    ) {
        let thresholds = Thresholds::new(3, 0.7).unwrap();
        let mut index = SignatureIndex::new(thresholds);
        for (page, (topic, cut, forget)) in (0_u64..).zip(pages) {
            let text = words(&format!("topic{topic}x"), 60)[cut..].join(" ");
            let look = signature(u128::from(page % 10), &text, None);
            let found = index.find_all(&look);
            prop_assert_eq!(found.first().copied(), index.find(&look));
            let nearest = index.nearest(&look, most);
            prop_assert_eq!(&nearest[..], &found[..most.min(found.len())]);
            let rank = |one: &Match| match one.match_kind {
                MatchKind::SamePayload => (0, 0.0, one.of),
                MatchKind::SameText => (1, 0.0, one.of),
                MatchKind::Near { resemblance, .. } => (2, -resemblance, one.of),
            };
            prop_assert!(found.is_sorted_by(|one, two| rank(one) < rank(two)), "{:?}", found);
            for held in 0..page {
                let held_one = index.get(held);
                let match_kind = held_one.and_then(|held| thresholds.match_kind(&look, held));
                let one = found.iter().find(|found| found.of == held);
                match match_kind {
                    Some(MatchKind::SamePayload | MatchKind::SameText) => {
                        prop_assert_eq!(one.map(|one| one.match_kind), match_kind);
                    }
                    // Candidates of this resemblance may be missed, but not changed.
                    Some(kind) => prop_assert!(one.is_none_or(|one| one.match_kind == kind)),
                    None => prop_assert_eq!(one, None),
                }
            }
            index.insert(page, look);
            if forget {
                index.remove(page / 2);
            }
        }
    }

    /// Words are cut out in places. Near duplicates have a high resemblance, and pages of high
    /// resemblance are found.
    #[test]
    fn near_duplicates_resemble_by_exact_measure_too(
        cuts in prop::collection::btree_set(0_usize..400, 0..30),
    ) {
        let original = words("w", 400);
        let cut: Vec<&str> =
            original
                .iter()
                .enumerate()
                .filter(|(n, _)| !cuts.contains(n))
                .map(|(_, word)| word.as_str())
                .collect();
        let (original, cut) = (original.join(" "), cut.join(" "));
        let shingles = |text: &str| Shingles::of(&NormalText::of(text), Width::VERIFICATION, KEY);
        let exact = shingles(&original).resemblance(&shingles(&cut));
        let signature_index = signature_index([(1, signature(1, &original, None))]);
        match signature_index.find(&signature(2, &cut, None)) {
            Some(Match { match_kind: MatchKind::Near { resemblance, .. }, .. }) => {
                // Five standard errors.
                prop_assert!((resemblance - exact).abs() < 0.14, "{} for {}", resemblance, exact);
            }
            Some(found) => prop_assert!(cuts.is_empty(), "{:?}", found),
            None => prop_assert!(exact < 0.95, "missed {}", exact),
        }
    }
}
