//! Pages in scripts that separate words otherwise than English does, or not at all, and a copy of
//! each with 4 % of its sentences removed.
//!
//! All pages of a set have one frame, and the words are distributed as in a language: pages share
//! words and phrases, but no sentence.

use std::collections::BTreeSet;

use super::language::{Language, Script};
use crate::random::Random;
use crate::sets::page::Page;
use crate::sets::set::{Goal, Question, Set, Truth};

/// Pages of each script, without their copies.
const PAGES: usize = 200;
/// The share of the sentences that the copies lack.
const REMOVED: f64 = 0.04;

const CHINESE: Script = Script {
    code: "zh",
    letters: &[(0x4e00, 0x55ff), (0x5e00, 0x61ff)],
    lengths: (1, 3),
    between: "",
    stop: "。",
    particles: &[],
};

const JAPANESE: Script = Script {
    code: "ja",
    letters: &[
        (0x4e00, 0x52ff),
        (0x4e00, 0x52ff),
        (0x30a2, 0x30ef),
        (0x3042, 0x3082),
    ],
    lengths: (1, 4),
    between: "",
    stop: "。",
    particles: &[
        "は",
        "が",
        "を",
        "に",
        "の",
        "で",
        "と",
        "も",
        "から",
        "ました",
        "である",
    ],
};

const OTHERS: [Script; 6] = [
    spaced("ru", &[(0x0430, 0x044f)]),
    spaced("el", &[(0x03b1, 0x03c9)]),
    spaced("ar", &[(0x0628, 0x063a), (0x0641, 0x064a)]),
    spaced("hi", &[(0x0915, 0x0939)]),
    Script {
        lengths: (1, 4),
        ..spaced("ko", &[(0xac00, 0xb3ff)])
    },
    Script {
        between: "",
        stop: " ",
        ..spaced("th", &[(0x0e01, 0x0e2e)])
    },
];

const fn spaced(code: &'static str, letters: &'static [(u32, u32)]) -> Script {
    Script {
        code,
        letters,
        lengths: (2, 9),
        between: " ",
        stop: ". ",
        particles: &[],
    }
}

pub(crate) fn chinese() -> Set {
    set(
        "chinese",
        "in made-up Chinese",
        &[CHINESE],
        PAGES,
        vec![Goal::Recall(0.95), Goal::Precision(1.0)],
    )
}

pub(crate) fn japanese() -> Set {
    set(
        "japanese",
        "in made-up Japanese",
        &[JAPANESE],
        PAGES,
        vec![Goal::Recall(0.95), Goal::Precision(1.0)],
    )
}

pub(crate) fn other_scripts() -> Set {
    let about = "in made-up Russian, Greek, Arabic, Hindi, Korean and Thai";
    set(
        "other-scripts",
        about,
        &OTHERS,
        PAGES / 4,
        vec![Goal::Recall(0.95), Goal::Precision(1.0)],
    )
}

fn set(name: &'static str, about: &str, scripts: &[Script], count: usize, goals: Vec<Goal>) -> Set {
    let mut pages = Vec::new();
    let mut pairs = BTreeSet::new();
    for (seed, &script) in (1..).zip(scripts) {
        let mut random = Random::new(seed);
        let language = Language::new(script, 4_000, &mut random);
        let frame = Frame::of(&language, &mut random);
        for number in 0..count {
            let title = language.phrase(&mut random);
            let sentences: Vec<String> = (0..random.between(15, 60))
                .map(|_| language.sentence(&mut random))
                .collect();
            let kept = without_some(&sentences, &mut random);
            let first = pages.len() as u32;
            pairs.insert((first, first + 1));
            for (what, sentences) in [("page", &sentences), ("copy", &kept)] {
                let html = frame.around(&title, sentences);
                let name = format!("{}/{what}-{number}", script.code);
                pages.extend(Page::of_html(name, html.as_bytes()));
            }
        }
    }
    Set {
        name,
        about: format!(
            "{} generated pages {about}, half of which are copies of the others with {} % of their \
             sentences removed.",
            pages.len(),
            REMOVED * 100.0
        ),
        pages,
        questions: vec![Question {
            name: "copies",
            truth: Truth::Pairs(pairs),
            goals,
        }],
    }
}

/// Returns all sentences but that share of them, and at least one fewer.
fn without_some(sentences: &[String], random: &mut Random) -> Vec<String> {
    let must_go = random.below(sentences.len());
    let mut kept = Vec::new();
    for (number, sentence) in sentences.iter().enumerate() {
        // One is removed in any case, which counts towards the share.
        let share = REMOVED - 1.0 / sentences.len() as f64;
        if number != must_go && random.fraction() >= share {
            kept.push(sentence.clone());
        }
    }
    kept
}

/// The parts that all pages of a site share.
struct Frame {
    code: &'static str,
    menu: String,
    foot: String,
}

impl Frame {
    fn of(language: &Language, random: &mut Random) -> Self {
        let links: Vec<String> = (0..25)
            .map(|number| {
                format!(
                    "<li><a href=\"/{number}\">{}</a></li>",
                    language.phrase(random)
                )
            })
            .collect();
        Self {
            code: language.script.code,
            menu: links.concat(),
            foot: language.sentence(random),
        }
    }

    fn around(&self, title: &str, sentences: &[String]) -> String {
        let paragraphs: Vec<String> = sentences
            .chunks(5)
            .map(|sentences| format!("<p>{}</p>\n", sentences.concat()))
            .collect();
        format!(
            "<!DOCTYPE html><html lang=\"{}\"><head>\
             <meta charset=\"utf-8\"><title>{title}</title></head>\n\
             <body><nav><ul>{}</ul></nav>\n\
             <main><h1>{title}</h1>\n{}</main>\n<footer><p>{}</p></footer></body></html>",
            self.code,
            self.menu,
            paragraphs.concat(),
            self.foot
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_lacks_at_least_one_sentence_and_four_percent_on_average() {
        let mut random = Random::new(9);
        let (mut all, mut kept) = (0, 0);
        for count in (15..60).cycle().take(4_500) {
            let sentences: Vec<String> = (0..count).map(|n| n.to_string()).collect();
            let some = without_some(&sentences, &mut random);
            assert!(some.len() < count);
            (all, kept) = (all + count, kept + some.len());
        }
        let removed = 1.0 - f64::from(kept as u32) / f64::from(all as u32);
        assert!((0.038..0.048).contains(&removed), "{removed}");
    }

    #[test]
    fn every_page_is_followed_by_its_copy_and_generation_is_reproducible() {
        let some = || set("some", "in all scripts", &OTHERS, 3, vec![]);
        let (once, again) = (some(), some());
        assert_eq!(once.pages.len(), 2 * OTHERS.len() * 3);
        for (one, two) in once.pages.iter().zip(&again.pages) {
            assert_eq!((&one.name, one.payload), (&two.name, two.payload));
        }
        for pair in once.pages.chunks(2) {
            assert_eq!(pair[0].name.replace("page", "copy"), pair[1].name);
            assert!(pair[0].full().len() > pair[1].full().len());
        }
    }
}
