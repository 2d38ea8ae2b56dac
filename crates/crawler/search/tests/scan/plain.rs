//! A plain scan that tests every page for every query, word by word. The results of the index are
//! compared with it.
//!
//! It uses neither the engine nor its tokens: a text is its words by `unicode_words`, in lower
//! case. Each ideograph is a word, with a flag that is true if it directly follows the one before.
//! A word such as `a.b` or `a_b` stands where its first part stands, and the next word stands
//! behind its last part.

use testkit::Random;
use unicode_segmentation::UnicodeSegmentation;

/// A page, as a reader sees it.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) language: &'static str,
    /// Days since 1970.
    pub(crate) day: u64,
}

/// A query, in plain form.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// As it is typed, and its words.
    Words(String, Vec<Word>),
    Title(String, Vec<Word>),
    Host(String),
    Language(&'static str),
    After(u64),
    Before(u64),
    All(Vec<Asked>),
    Any(Vec<Asked>),
    Not(Box<Asked>),
}

/// The words of a page, by position.
pub(crate) struct Words {
    pub(crate) title: Vec<Position>,
    pub(crate) text: Vec<Position>,
}

impl Words {
    pub(crate) fn of(page: &Page) -> Self {
        Self {
            title: positions(&page.title),
            text: positions(&page.text),
        }
    }
}

/// A word and its position.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    position: usize,
    text: String,
    /// True for an ideograph that directly follows another.
    follows: bool,
    /// The parts of a word that has several.
    parts: Vec<String>,
}

/// The words that stand at one position: a whole, a part, or both.
pub(crate) struct Position {
    pub(crate) words: Vec<String>,
    follows: bool,
}

pub(crate) fn words(text: &str) -> Vec<Word> {
    let is_alone = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
    let mut found = Vec::new();
    let mut end_of_last = usize::MAX;
    let mut position = 0;
    for (at, word) in text.unicode_word_indices() {
        if word.chars().all(is_alone) {
            let mut follows = at == end_of_last;
            for c in word.chars() {
                found.push(Word {
                    position,
                    text: c.to_string(),
                    follows,
                    parts: Vec::new(),
                });
                follows = true;
                position += 1;
            }
            end_of_last = at + word.len();
        } else {
            let text = word.to_lowercase();
            let parts = parts(&text);
            let length = parts.len().max(1);
            found.push(Word {
                position,
                text,
                follows: false,
                parts,
            });
            position += length;
        }
    }
    found
}

/// Returns the parts of a word that underscores, colons or full stops between letters join; nothing
/// if it has none of these.
fn parts(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let joins = |at: usize| match letters[at] {
        '_' | ':' => true,
        '.' => letters[at - 1].is_alphabetic() && letters[at + 1].is_alphabetic(),
        _ => false,
    };
    if !(0..letters.len()).any(joins) {
        return Vec::new();
    }
    let mut parts = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        match joins(at) {
            true => parts.push(String::new()),
            false => parts.last_mut().unwrap().push(*letter),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the words of a text by position.
pub(crate) fn positions(text: &str) -> Vec<Position> {
    let mut all = Vec::new();
    for word in words(text) {
        all.push(Position {
            words: vec![word.text],
            follows: word.follows,
        });
        for (number, part) in word.parts.into_iter().enumerate() {
            if number > 0 {
                all.push(Position {
                    words: Vec::new(),
                    follows: false,
                });
            }
            all.last_mut().unwrap().words.push(part);
        }
    }
    all
}

/// Returns true if a part of a page has these words at their relative positions.
fn stand(phrase: &[Word], part: &[Position]) -> bool {
    (0..part.len()).any(|start| {
        phrase.iter().enumerate().all(|(number, word)| {
            part.get(start + word.position).is_some_and(|at| {
                at.words.contains(&word.text) && (number == 0 || at.follows == word.follows)
            })
        })
    })
}

impl Asked {
    pub(crate) fn fits(&self, page: &Page, has: &Words) -> bool {
        match self {
            Self::Words(_, words) => stand(words, &has.title) || stand(words, &has.text),
            Self::Title(_, words) => stand(words, &has.title),
            Self::Host(domain) => {
                page.host == *domain || page.host.ends_with(&format!(".{domain}"))
            }
            Self::Language(language) => page.language == *language,
            Self::After(day) => page.day >= *day,
            Self::Before(day) => page.day < *day,
            Self::All(all) => all.iter().all(|one| one.fits(page, has)),
            Self::Any(any) => any.iter().any(|one| one.fits(page, has)),
            Self::Not(not) => !not.fits(page, has),
        }
    }

    /// Returns the query as a person would type it.
    pub(crate) fn typed(&self) -> String {
        let list = |all: &[Self], joint: &str| {
            let typed: Vec<String> = all.iter().map(Self::typed).collect();
            format!("({})", typed.join(joint))
        };
        match self {
            Self::Words(typed, _) => typed.clone(),
            Self::Title(typed, _) => format!("title:{typed}"),
            Self::Host(domain) => format!("host:{domain}"),
            Self::Language(language) => format!("lang:{language}"),
            Self::After(day) => format!("after:{}", date(*day)),
            Self::Before(day) => format!("before:{}", date(*day)),
            Self::All(all) => list(all, " "),
            Self::Any(any) => list(any, " OR "),
            Self::Not(not) => format!("-{}", not.typed()),
        }
    }
}

/// Returns a day of 1970 to 1972; months have 28 days here.
fn date(day: u64) -> web::Timestamp {
    web::Timestamp::from_millis(day * 24 * 3_600_000)
}

/// Returns a query with words of one of these pages, so that most queries have matches.
pub(crate) fn ask(random: &mut Random, pages: &[Page], depth: usize) -> Asked {
    let page = &pages[random.below(pages.len())];
    let spoken: Vec<&str> = page
        .text
        .split_whitespace()
        .map(|word| word.trim_matches([',', '.']))
        .collect();
    let word = |random: &mut Random| {
        let whole = random.pick(&spoken);
        let parts: Vec<String> = words(whole)
            .into_iter()
            .flat_map(|word| word.parts)
            .collect();
        let typed = match parts.is_empty() || random.below(2) == 0 {
            true => whole.to_owned(),
            false => parts[random.below(parts.len())].clone(),
        };
        Asked::Words(typed.clone(), words(&typed))
    };
    match random.below(if depth == 0 { 9 } else { 14 }) {
        0..3 => word(random),
        3..5 => {
            let length = 2 + random.below(3);
            let start = random.below(spoken.len().saturating_sub(length) + 1);
            let phrase = spoken[start..].iter().take(length);
            let mut phrase = phrase.copied().collect::<Vec<_>>().join(" ");
            if random.below(3) == 0 {
                // The parts in a row.
                phrase = phrase.replace(['_', '.'], " ");
            }
            Asked::Words(format!("\"{phrase}\""), words(&phrase))
        }
        5 => {
            let typed = page.title.split(' ').next().unwrap_or("the").to_owned();
            let words = words(&typed);
            Asked::Title(typed, words)
        }
        6 => match random.below(2) {
            0 => Asked::Host(page.host.clone()),
            _ => Asked::Host(
                page.host
                    .split_once('.')
                    .map_or("org", |(_, parent)| parent)
                    .to_owned(),
            ),
        },
        7 => Asked::Language(page.language),
        8 => match random.below(2) {
            0 => Asked::After(page.day),
            _ => Asked::Before(page.day),
        },
        9..12 => {
            let mut all = vec![word(random), ask(random, pages, depth - 1)];
            if random.below(3) == 0 {
                all.push(Asked::Not(Box::new(ask(random, pages, depth - 1))));
            }
            Asked::All(all)
        }
        12 => Asked::Any(vec![
            ask(random, pages, depth - 1),
            ask(random, pages, depth - 1),
        ]),
        _ => Asked::All(vec![word(random), Asked::Not(Box::new(word(random)))]),
    }
}
