//! The speed at which text becomes words, hashes and a fingerprint, language by language.
//!
//! `cargo run --release --bin text -- [LANGUAGE]` in `lab/benches/peers`. Texts are generated:
//! words by Zipf's law, spelled with the letters of each script at a language's usual lengths, so
//! that lengths of words and bytes a character are right. The best of several runs is shown, in MB
//! of UTF-8 a second, beside what `unicode-segmentation` needs for the words alone.

use std::hint::black_box;

use neardup::{Features, HashKey, NormalText};
use peers::{Random, best_of};
use unicode_segmentation::UnicodeSegmentation;

/// Bytes of text of each language.
const BYTES: usize = 1 << 20;
/// The size of a text, that of a page.
const PAGE: usize = 24 << 10;
const RUNS: usize = 25;

struct Language {
    name: &'static str,
    letters: &'static str,
    /// Letters of which one replaces one letter in this many.
    rare: (&'static str, usize),
    /// Least and most letters a word.
    word: (usize, usize),
    space: &'static str,
    stop: &'static str,
}

const LANGUAGES: [Language; 12] = [
    language(
        "English",
        "etaoinshrdlucmfwygpbvk",
        ("xjqz", 60),
        (1, 9),
        " ",
        ". ",
    ),
    language(
        "German",
        "enisratdhulcgmobwfkzpv",
        ("äöüß", 30),
        (2, 12),
        " ",
        ". ",
    ),
    language(
        "French",
        "esaitnrulodcpmvqfbghjx",
        ("éèàêçôù’", 14),
        (1, 10),
        " ",
        "\u{a0}! ",
    ),
    language(
        "Russian",
        "оеаинтсрвлкмдпуяыьгзбчйхжш",
        ("ёфщъэ", 50),
        (1, 11),
        " ",
        ". ",
    ),
    language(
        "Greek",
        "αοιετσνηυρπκμλγδχθφωβ",
        ("άέίόύήώς", 8),
        (1, 10),
        " ",
        ". ",
    ),
    language(
        "Arabic",
        "ايلمونرتبةعدسفهكقأحجشصضطخذزغثظ",
        ("ًَُِّ", 25),
        (2, 8),
        " ",
        "، ",
    ),
    language(
        "Hebrew",
        "יוהלאמרתבשנדקפחעסגטצזכ",
        ("״׳", 90),
        (2, 7),
        " ",
        ". ",
    ),
    language(
        "Hindi",
        "करनसतमहपलयबदजवगशटखचडभथधझ",
        ("ािीेोंु्ैू", 2),
        (2, 7),
        " ",
        "। ",
    ),
    language(
        "Korean",
        "이다의가는에을를한고은도하지로사기인서대자시어정",
        ("뷁햏", 200),
        (2, 5),
        " ",
        ". ",
    ),
    language(
        "Thai",
        "กนรอมลวสดตทยคงบปหพชจขผถธซฟ",
        ("่้าัีิะเแโไุู็์", 2),
        (3, 30),
        " ",
        " ",
    ),
    language("Chinese", "", ("、《》", 12), (8, 30), "，", "。"),
    language(
        "Japanese",
        "のにはをたがでてとしれさあいうるかなもこりらまんよくすせ",
        ("アイスルンー", 6),
        (8, 30),
        "、",
        "。",
    ),
];

const fn language(
    name: &'static str,
    letters: &'static str,
    rare: (&'static str, usize),
    word: (usize, usize),
    space: &'static str,
    stop: &'static str,
) -> Language {
    Language {
        name,
        letters,
        rare,
        word,
        space,
        stop,
    }
}

fn main() {
    println!(
        "{:9} {:>7} {:>8} {:>10} {:>12} {:>12} {:>12}",
        "", "uax29", "words", "× uax29", "word:1 none", "word:3 none", "log-tf"
    );
    let only = std::env::args().nth(1);
    for language in &LANGUAGES {
        if only.as_ref().is_some_and(|only| only != language.name) {
            continue;
        }
        let pages = pages(language);
        let speed = |work: &dyn Fn(&str)| {
            let bytes: usize = pages.iter().map(String::len).sum();
            let best = best_of(RUNS, || pages.iter().for_each(|page| work(page)));
            bytes as f64 / best.as_secs_f64() / 1e6
        };
        let fingerprint = |features: &str| {
            let features: Features = features.parse().expect("features that exist");
            speed(&|page| _ = black_box(features.fingerprint_of_text(page, HashKey::ZERO)))
        };
        let segmentation = speed(&|page| {
            _ = black_box(page.unicode_words().map(str::len).sum::<usize>());
        });
        let words = speed(&|page| _ = black_box(NormalText::of(page)));
        println!(
            "{:9} {segmentation:7.0} {words:8.0} {:10.1} {:12.0} {:12.0} {:12.0}",
            language.name,
            words / segmentation,
            fingerprint("word:1+none"),
            fingerprint("word:3+none"),
            fingerprint("word:1+log-tf")
        );
    }
}

fn pages(language: &Language) -> Vec<String> {
    let mut random = Random::new(1);
    let vocabulary: Vec<String> = (0..20_000).map(|_| word(language, &mut random)).collect();
    let mut pages = vec![String::new()];
    let mut bytes = 0;
    while bytes < BYTES {
        let page = pages.last_mut().expect("never empty");
        // By Zipf's law with exponent 1 the logarithm of the rank is uniform.
        let uniform = (random.draw() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (20_001_f64.powf(uniform) as usize - 1).min(19_999);
        page.push_str(&vocabulary[rank]);
        page.push_str(if random.draw().is_multiple_of(14) {
            language.stop
        } else {
            language.space
        });
        if page.len() >= PAGE {
            bytes += page.len();
            pages.push(String::new());
        }
    }
    pages
}

fn word(language: &Language, random: &mut Random) -> String {
    let (least, most) = language.word;
    let length = least + (random.draw() as usize) % (most - least + 1);
    let mut word = String::new();
    for number in 0..length {
        let c = if number > 0 && random.draw().is_multiple_of(language.rare.1 as u64) {
            pick(language.rare.0, random)
        } else if language.letters.is_empty()
            || language.name == "Japanese" && random.draw().is_multiple_of(3)
        {
            char::from_u32(0x4e00 + (random.draw() % 3_000) as u32).expect("an ideograph")
        } else {
            pick(language.letters, random)
        };
        word.push(c);
    }
    if random.draw().is_multiple_of(10) {
        let mut chars = word.chars();
        let first = chars.next().into_iter().flat_map(char::to_uppercase);
        return first.chain(chars).collect();
    }
    word
}

fn pick(letters: &str, random: &mut Random) -> char {
    let count = letters.chars().count();
    letters
        .chars()
        .nth(random.draw() as usize % count)
        .expect("below the count")
}
