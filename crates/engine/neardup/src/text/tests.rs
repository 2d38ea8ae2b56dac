use super::*;
use crate::simd::instructions::Instructions;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

fn check(text: &str, words: &[&str]) {
    let normal = NormalText::of(text);
    assert_eq!(normal.words().collect::<Vec<_>>(), words, "{text:?}");
    assert_eq!(normal.as_str(), words.join(" "));
    assert_eq!(normal.len(), words.len());
    assert_eq!(normal.is_empty(), words.is_empty());
}

#[test]
fn words_are_unicode_words_in_lower_case() {
    check("", &[]);
    check(" \t\r\n .,;!? --- ___ ", &[]);
    check("One", &["one"]);
    check(
        "Don't PANIC: 3.14, 1,000 and e.g. foo_bar!",
        &["don't", "panic", "3.14", "1,000", "and", "e.g", "foo_bar"],
    );
    check(
        "127.0.0.1:9090 a:b 1:2 a,b",
        &["127.0.0.1", "9090", "a:b", "1", "2", "a", "b"],
    );
    check("Straße, ÉTÉ; Don’t", &["strasse", "été", "don’t"]);
    check("a\u{0}b\u{7f}c", &["a", "b", "c"]);
}

#[test]
fn a_text_is_read_up_to_its_cap_and_no_byte_further() {
    for (bytes, words) in [
        (0, ""),
        (7, "one two"),
        (8, "one two"),
        (9, "one two"),
        (10, "one two é"),
    ] {
        assert_eq!(
            NormalText::of_first("one two éé", bytes).as_str(),
            words,
            "{bytes}"
        );
    }
    assert_eq!(NormalText::of_first("one", usize::MAX).as_str(), "one");
}

#[test]
fn a_sigma_is_a_sigma_wherever_it_stands() {
    check("ΟΔΟΣ οδος", &["οδοσ", "οδοσ"]);
}

#[test]
fn each_han_ideograph_and_each_kana_is_a_word() {
    check("東京タワー", &["東", "京", "タ", "ワ", "ー"]);
    check(
        "ひらがなAPIを使う",
        &["ひ", "ら", "が", "な", "api", "を", "使", "う"],
    );
    check("カ\u{3099}_x 〆切", &["ガ", "_x", "〆", "切"]);
    check("ﾊﾞ", &["ﾊ\u{ff9e}"]);
    check("葛\u{e0100}飾", &["葛\u{e0100}", "飾"]);
    check("한국어 문장", &["한국어", "문장"]);
}

#[test]
fn binary_garbage_has_some_words_and_does_not_panic() {
    let garbage: Vec<u8> = (0..100_000_u32)
        .map(|n| crate::mix::mix(u64::from(n)) as u8)
        .collect();
    let normal = NormalText::of(&String::from_utf8_lossy(&garbage));
    assert!(
        normal
            .words()
            .all(|word| !word.is_empty() && !word.contains(' '))
    );
}

#[test]
fn texts_that_differ_in_capitals_and_punctuation_have_one_digest_and_others_do_not() {
    let digest = |text| NormalText::of(text).digest(HashKey::ZERO);
    assert_eq!(
        digest("To be, or NOT to be"),
        digest("to be or not -- to be?")
    );
    assert_ne!(digest("to be or not to be"), digest("to be or not tobe"));
    assert_ne!(digest("ab c"), digest("a bc"));
}

/// Returns the words by the definition, as plainly as possible.
fn plain(text: &str) -> Vec<String> {
    let pieces = text
        .split(char::is_whitespace)
        .flat_map(cut_around_kana_and_ideographs);
    let words =
        pieces.flat_map(|piece| piece.unicode_words().map(str::to_owned).collect::<Vec<_>>());
    words.map(|word| fold::folded(&word)).collect()
}

/// Returns each ideograph and kana with the marks that belong to it, and the pieces in between.
fn cut_around_kana_and_ideographs(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut marks_may_follow = false;
    for c in text.chars() {
        let alone = letters::is_word_by_itself(c);
        marks_may_follow = alone || marks_may_follow && letters::belongs_to_what_is_before(c);
        if alone
            || !marks_may_follow
                && pieces
                    .last()
                    .unwrap()
                    .starts_with(letters::is_word_by_itself)
        {
            pieces.push(String::new());
        }
        pieces.last_mut().unwrap().push(c);
    }
    pieces
}

/// Returns the words of the normal text, after checking that the hashes made without it are equal
/// to theirs.
fn words_of(text: &str) -> Vec<String> {
    let normal = NormalText::of(text);
    let mut hashes = Vec::new();
    let add = |batch: &[u64]| hashes.extend_from_slice(batch);
    crate::words::each_batch(text, HashKey::ZERO, Instructions::best(), add);
    assert_eq!(hashes, normal.hashes(HashKey::ZERO), "{text:?}");
    normal.words().map(str::to_owned).collect()
}

proptest! {
    #[test]
    fn the_fast_way_through_ascii_finds_the_words_of_uax_29(text in "[ -~\t\n\r]{0,80}") {
        prop_assert_eq!(words_of(&text), plain(&text));
    }

    #[test]
    fn joining_marks_in_ascii_are_those_of_uax_29(text in "[aZ5_.,:;' -]{0,40}") {
        prop_assert_eq!(words_of(&text), plain(&text));
    }

    #[test]
    fn any_ascii_bytes_give_the_words_of_uax_29(bytes in prop::collection::vec(0_u8..128, 0..60)) {
        let text: String = bytes.into_iter().map(char::from).collect();
        prop_assert_eq!(words_of(&text), plain(&text));
    }

    #[test]
    fn any_text_has_the_words_of_the_definition(text in mixed()) {
        prop_assert_eq!(words_of(&text), plain(&text));
    }

    #[test]
    fn texts_of_many_scripts_have_the_words_of_the_definition(text in "\\PC{0,60}") {
        prop_assert_eq!(words_of(&text), plain(&text));
    }

    #[test]
    fn no_text_is_refused_and_words_hold_no_white_space(text in any::<String>()) {
        for word in NormalText::of(&text).words() {
            prop_assert!(!word.is_empty());
            prop_assert!(!word.contains(char::is_whitespace));
        }
    }

    #[test]
    fn texts_that_are_canonically_equivalent_but_for_case_are_one(
        text in "[ -~éÉßàựΣςᾳ가각のガåạ\u{323}\u{301}\u{345}]{0,30}",
    ) {
        let other: String = text.nfd().collect();
        prop_assert_eq!(NormalText::of(&text), NormalText::of(&other));
        let upper = text.replace(['ᾳ', '\u{345}'], "").to_uppercase();
        let lower = text.replace(['ᾳ', '\u{345}'], "").to_lowercase();
        prop_assert_eq!(NormalText::of(&upper), NormalText::of(&lower));
    }
}

/// Generates characters that interact, among some that do not, with stretches of ASCII in between.
fn mixed() -> impl Strategy<Value = String> {
    let telling = "[aZß0٣_.,:;'\"’·!—。 \u{a0}\u{202f}\n\u{ad}\u{200b}-\u{200f}אבЖжΣςéاहन्दि\
        \u{93c}\u{301}\u{323}\u{345}\u{64e}\u{651}\u{e38}\u{e48}\u{5b0}\u{5bc}\
        東のカガーㇰ゙ﾊﾞ゛〱㌀²½สวัดืีကင်္ខ្មꆈ한\
        \u{1112}\u{1161}\u{11ab}İıŉﬁǰΐ🇦🇧👩\u{200d}❤\u{fe0f}\u{1f3fb}𐐀𑀸𠀀豈\u{e0100}‿]";
    let piece = prop_oneof![
        12 => telling.prop_map(|c: String| c),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-z ,.]{0,8}[ ]?[a-zA-Z .,']{40,120}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn words_are_the_same_wherever_chunks_end(
        before in prop::sample::select(
            vec!["é", "ж ", "東", "ขุ่", "a’é", "ﬁ²", "\u{ad}é", "é\u{301}\u{323} "],
        ),
        times in 400_usize..2_100,
        text in mixed(),
    ) {
        words_of(&(before.repeat(times) + &text.repeat(40)));
    }
}

#[test]
fn every_character_of_the_first_two_planes_behaves_among_others_as_the_definition_says() {
    for c in ('\u{80}'..='\u{1ffff}').filter(|c| {
        !('\u{4e10}'..='\u{9ff0}').contains(c) && !('\u{ac10}'..='\u{d7a0}').contains(c)
    }) {
        let text = format!("a{c}b 5{c}5א{c}א\"{c}.{c} {c}{c}の{c}_");
        assert_eq!(words_of(&text), plain(&text), "{c:?}");
    }
}

#[test]
fn tokens_are_taken_as_they_are_and_empty_ones_are_left_out() {
    let text = NormalText::of_tokens(["New York", "", "IS", "a", "city"]);
    let words: Vec<&str> = text.words().collect();
    assert_eq!(words, ["New York", "IS", "a", "city"]);
    assert_eq!(text.as_str(), "New York IS a city");
    assert!(NormalText::of_tokens([""; 3]).is_empty());
}

proptest! {
    #[test]
    fn a_text_of_its_own_words_is_that_text(text in "([a-cé東 ,.]{0,9} ){0,30}") {
        let normal = NormalText::of(&text);
        prop_assert_eq!(NormalText::of_tokens(normal.words()), normal.clone());
        let owned: Vec<String> = normal.words().map(str::to_owned).collect();
        prop_assert_eq!(NormalText::of_tokens(owned), normal);
    }
}
