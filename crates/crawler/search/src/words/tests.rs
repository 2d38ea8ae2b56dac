use proptest::prelude::*;
use tantivy::tokenizer::TokenStream;
use unicode_segmentation::UnicodeSegmentation;

use super::fold::{MAX_WORD, fold_into};
use super::letters::{Letters, caseless};
use super::pieces::{Pieces, is_unspaced, says_something};
use super::tokens::Tokens;

fn folded(word: &str) -> String {
    let mut text = String::new();
    fold_into(&mut text, word, &Letters::get());
    text
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Tokens::of(text);
    let mut found = Vec::new();
    while tokens.advance() {
        if !tokens.is_part() {
            found.push(tokens.token().text.replace('\u{1f}', "⸱"));
        }
    }
    found
}

/// Returns all tokens with their positions.
fn placed_tokens(text: &str) -> Vec<(usize, String)> {
    let mut tokens = Tokens::of(text);
    let mut found = Vec::new();
    while tokens.advance() {
        let token = tokens.token();
        found.push((token.position, token.text.clone()));
    }
    found
}

#[test]
fn a_word_of_several_parts_has_a_token_for_each() {
    for (text, expected) in [
        (
            "use concurrent.futures now",
            "0use 1concurrent.futures 1concurrent 2futures 3now",
        ),
        ("a_b.C x", "0a_b.c 0a 1b 2c 3x"),
        ("__init__ _x", "0__init__ 0init 1_x 1x"),
        ("3.14 v2.0 1,000 can't", "03.14 1v2.0 21,000 3can't"),
        ("word_1 é_ß:x", "0word_1 0word 11 2é_ss:x 2é 3ss 4x"),
        ("été.日本", "0été 1日\u{1f}本 2本\u{1f}"),
    ] {
        let found = placed_tokens(text).into_iter();
        let found: Vec<String> = found.map(|(at, word)| format!("{at}{word}")).collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }
}

#[test]
fn words_are_those_of_uax_29_folded() {
    for (text, words) in [
        (
            "The quick (\"brown\") fox can't jump 32.3 feet, right?",
            "the|quick|brown|fox|can't|jump|32.3|feet|right",
        ),
        (
            "example.org a_b __ _x 1,000;2 a:b a, b",
            "example.org|a_b|_x|1,000;2|a:b|a|b",
        ),
        (
            "Straße STRASSE ﬁn ＡＢＣ e\u{301}t É",
            "strasse|strasse|fin|abc|ét|é",
        ),
        ("it’s «Привет, мир» ΟΔΟΣ", "it’s|привет|мир|οδοσ"),
        ("한국어 말 x한", "한국어|말|x한"),
        ("co\u{ad}operate אב\"ג", "cooperate|אב\"ג"),
        ("א' א': \"א'\" Ж' é'", "א'|א'|א'|ж|é"),
        ("", ""),
    ] {
        let words: Vec<&str> = words.split('|').filter(|word| !word.is_empty()).collect();
        assert_eq!(tokens(text), words, "{text}");
    }
}

#[test]
fn scripts_without_spaces_are_pairs_of_characters() {
    for (text, pairs) in [
        ("東京都", "東⸱京|京⸱都|都⸱"),
        ("in 東京, x", "in|東⸱京|京⸱|x"),
        ("カタカナ", "カ⸱タ|タ⸱カ|カ⸱ナ|ナ⸱"),
        ("ｶﾞ", "ガ⸱"),
        ("東 京", "東⸱|京⸱"),
        ("東a京", "東⸱|a|京⸱"),
        ("กี่ข ๑๒", "กี่⸱ข|ข⸱|๑๒"),
        ("は、に。", "は⸱|に⸱"),
    ] {
        let pairs: Vec<&str> = pairs.split('|').collect();
        assert_eq!(tokens(text), pairs, "{text}");
    }
}

#[test]
fn a_word_that_is_too_long_is_cut() {
    assert_eq!(folded(&"x".repeat(MAX_WORD)).len(), MAX_WORD);
    assert_eq!(folded(&"x".repeat(MAX_WORD + 1)).len(), MAX_WORD);
    assert_eq!(folded(&"é".repeat(MAX_WORD)).len(), MAX_WORD);
    assert_eq!(
        folded(&format!("x{}", "é".repeat(MAX_WORD))).len(),
        MAX_WORD - 1
    );
}

/// Generates texts that exercise the rules.
fn any_text() -> impl Strategy<Value = String> {
    let near = "[a-zA-Z0-9_ .,;:'\"’é\u{301}ßЖאΣ٣\u{ad}\u{200d}\u{200c}\
    \u{fe0f}🇩🇪👩\u{663}\n«»…—가ᄀİı]{0,40}";
    prop_oneof![near.prop_map(String::from), "\\PC{0,40}", any::<String>()]
}

proptest! {
    #[test]
    fn the_words_are_those_that_the_rules_give_for_the_whole_text(text in any_text()) {
        let spaced: String = text.chars().map(|c| if is_unspaced(c) { ' ' } else { c }).collect();
        let ours: Vec<&str> = Pieces::of(&spaced).map(|piece| &spaced[piece.place]).collect();
        let rules: Vec<&str> = spaced.unicode_words().filter(|word| says_something(word)).collect();
        prop_assert_eq!(ours, rules);
    }

    #[test]
    fn positions_have_no_gap_and_each_part_is_found_by_itself(text in any_text()) {
        let mut next = 0;
        for (position, _) in placed_tokens(&text) {
            prop_assert!(position == next || position + 1 == next, "{position} after {next}");
            next = position + 1;
        }
        let mut all = Tokens::of(&text);
        while all.advance() {
            if all.is_part() {
                let token = all.token();
                let part = &text[token.offset_from..token.offset_to];
                prop_assert!(tokens(part).contains(&token.text), "{part:?}");
            }
        }
    }

    #[test]
    fn every_unspaced_character_is_a_piece(text in "[a 東京カーｶﾞกี่ข、の_]{0,30}") {
        let characters = text.chars().filter(|&c| is_unspaced(c)).count();
        prop_assert_eq!(Pieces::of(&text).filter(|piece| piece.unspaced).count(), characters);
    }

    #[test]
    fn letters_of_the_table_fold_as_the_rules_say(word in "[\u{80}-\u{6ff}가-힣a-zA-Z]{1,8}") {
        let mut quick = String::new();
        if Letters::get().fold_into(&mut quick, &word) {
            let slow: String = caseless(word.chars()).collect();
            prop_assert_eq!(quick, slow);
        }
    }

    #[test]
    fn case_does_not_change_the_tokens(text in any_text()) {
        prop_assume!(!text.contains(['ı', 'İ']));
        let ascii = text.to_ascii_uppercase();
        prop_assert_eq!(tokens(&ascii), tokens(&text));
    }
}
