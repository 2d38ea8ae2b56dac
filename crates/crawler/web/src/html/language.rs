//! The language of a page.
//!
//! A text is judged by windows spread evenly over it, so that neither navigation at its start nor
//! its length decides. Letters are weighted by script: a Han character counts as much as four Latin
//! letters. Kana and hangul distinguish Japanese, Korean and Chinese. For other scripts, each
//! window votes by its stop words, or by the trigrams of its words if the stop words are unclear. A
//! page's declared language wins unless the text clearly contradicts it, because many templates
//! declare English.
//!
//! Invariant: at most [`MAX_WINDOWS`] windows of [`WINDOW`] bytes are read from a text of any
//! length.

mod codes;
mod script;
mod stop_words;

use whatlang::{Detector, Lang};

use codes::{code_of, language_of};
use script::{EAST_ASIAN, SCRIPTS, Script};
use stop_words::StopWordCount;

pub(crate) use codes::of_tag;

/// Maximum number of windows of a text.
const MAX_WINDOWS: usize = 6;
/// Length of a window in bytes.
const WINDOW: usize = 600;
/// Bytes of a window that confirm a likely language, and the languages to compare it with: the most
/// frequent languages in Latin script. A comparison with all languages takes about four times as
/// long; a page takes half a millisecond in total.
const CONFIRMED: usize = 300;
const RIVALS: [Lang; 4] = [Lang::Eng, Lang::Deu, Lang::Fra, Lang::Spa];
/// Minimum mass of a text that always gets a language: about 80 words of a Latin alphabet.
const LONG: usize = 400;
/// Minimum number of letters of a script for a vote.
const MIN_LETTERS: usize = 12;
/// Minimum share of the mass for a script to vote, as its reciprocal.
const MIN_SHARE: usize = 8;
/// Minimum share of kana in Japanese, as its reciprocal. Running text is half kana, a table of
/// terms or names less.
const KANA: usize = 12;
/// Minimum certainty of a clear vote, where whatlang calls it reliable.
const CLEAR: f64 = 0.9;

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLanguage {
    /// ISO 639-1 code if there is one, otherwise ISO 639-3.
    pub code: &'static str,
    /// Percentage of the text in this language, by the votes of its windows.
    pub confidence: u8,
}

/// Returns the language of a page and the percentage of its text in that language, given the
/// declared language; `None` for a short, unclear text.
pub(crate) fn of_page(declared: Option<&str>, text: &str) -> (Option<String>, Option<u8>) {
    let ballot = Ballot::of(text, declared);
    let Some(declared) = declared else {
        let found = ballot.result();
        let code = found.map(|found| found.code.to_owned());
        return (code, found.map(|found| found.confidence));
    };
    if let Some(found) = ballot.result().filter(|_| ballot.contradicts(declared)) {
        return (Some(found.code.to_owned()), Some(found.confidence));
    }
    (Some(declared.to_owned()), ballot.confidence_in(declared))
}

/// Returns the language of a text; `None` for a short, unclear text.
#[must_use]
pub fn text_language(text: &str) -> Option<TextLanguage> {
    Ballot::of(text, None).result()
}

/// Returns windows spread evenly over a text, starting in the middle, since the first may be
/// navigation.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let count = text.len().div_ceil(WINDOW).clamp(1, MAX_WINDOWS);
    let step = text.len() / count;
    let middle = count / 2;
    (middle..count).chain(0..middle).map(move |number| {
        let start = text.floor_char_boundary(number * step);
        let end = text.floor_char_boundary(number * step + step.min(WINDOW));
        &text[start..end]
    })
}

/// The votes of a text's windows.
#[derive(Default)]
struct Ballot {
    votes: Vec<Vote>,
    /// Mass of all letters.
    mass: usize,
}

/// The votes for one language.
struct Vote {
    code: &'static str,
    mass: usize,
    /// Mass of each vote times its certainty: between similar languages, the more certain one wins.
    certain: f64,
}

impl Vote {
    fn is_clear(&self) -> bool {
        self.certain >= CLEAR * self.mass as f64
    }
}

impl Ballot {
    /// Counts the votes of a text. A window that is clearly in the declared language suffices;
    /// otherwise all languages are candidates.
    fn of(text: &str, declared: Option<&str>) -> Self {
        let windows: Vec<Window<'_>> = windows(text).map(Window::of).collect();
        let mass = |script| windows.iter().map(|window| window.mass(script)).sum();
        let masses = SCRIPTS.map(mass);
        let mut ballot = Self {
            votes: Vec::new(),
            mass: masses.iter().sum(),
        };
        for window in &windows {
            let mass = EAST_ASIAN.into_iter().map(|script| window.mass(script));
            ballot.vote(window.east_asian(), mass.sum(), 1.0);
        }
        let east_asian: usize = ballot.votes.iter().map(|vote| vote.mass).sum();
        if 2 * east_asian > ballot.mass {
            return ballot;
        }
        let declared = declared.and_then(language_of);
        for (script, mass) in SCRIPTS.into_iter().zip(masses) {
            let votes = !EAST_ASIAN.contains(&script) && mass * MIN_SHARE >= ballot.mass;
            if !votes || mass == 0 {
                continue;
            }
            let confirmed = declared
                .zip(windows.first())
                .and_then(|(declared, window)| {
                    Some((code_of(declared), confirm(window, script, declared)?))
                });
            match confirmed {
                Some((code, certainty)) => ballot.vote(code, mass, certainty),
                None => ballot.count(&windows, script, mass),
            }
        }
        if let [window, ..] = &*windows
            && ballot.votes.is_empty()
            && let Some(found) = whatlang::detect(window.text)
        {
            // All of its words are names in code.
            ballot.vote(code_of(found.lang()), ballot.mass, found.confidence());
        }
        ballot
    }

    /// Counts the votes of a script with this mass. If the first window with a language is clear
    /// and the next window confirms it, this language gets the whole mass.
    fn count(&mut self, windows: &[Window<'_>], script: Script, mass: usize) {
        let mut votes = Self::default();
        let has_enough = |window: &&Window<'_>| window.letters[script as usize] >= MIN_LETTERS;
        let mut windows = windows.iter().filter(has_enough).peekable();
        while let Some(window) = windows.next() {
            let Some((language, certainty)) = detect(&window.words(script)) else {
                continue;
            };
            let is_first = votes.votes.is_empty() && certainty >= CLEAR;
            if is_first
                && let Some(next) = windows.peek()
                && confirm(next, script, language).is_some()
            {
                self.vote(code_of(language), mass, certainty);
                return;
            }
            votes.vote(code_of(language), window.mass(script), certainty);
        }
        for vote in votes.votes {
            self.vote(vote.code, vote.mass, vote.certain / vote.mass as f64);
        }
    }

    fn vote(&mut self, code: &'static str, mass: usize, certainty: f64) {
        if mass == 0 {
            return;
        }
        let certain = mass as f64 * certainty;
        match self.votes.iter_mut().find(|vote| vote.code == code) {
            Some(vote) => {
                vote.mass += mass;
                vote.certain += certain;
            }
            None => self.votes.push(Vote {
                code,
                mass,
                certain,
            }),
        }
    }

    /// Returns the vote with the largest mass, weighted by certainty.
    fn winner(&self) -> Option<&Vote> {
        let votes = self.votes.iter();
        votes.max_by(|one, two| one.certain.total_cmp(&two.certain))
    }

    fn result(&self) -> Option<TextLanguage> {
        let winner = self.winner()?;
        (self.mass >= LONG || winner.is_clear()).then(|| TextLanguage {
            code: winner.code,
            confidence: self.hundredths(winner.mass),
        })
    }

    /// Returns true if the text is not in this language but clearly in another one.
    fn contradicts(&self, declared: &str) -> bool {
        let is_voted = |vote: &Vote| is_same(declared, vote.code);
        let is_other =
            |winner: &Vote| winner.is_clear() && usize::from(self.hundredths(winner.mass)) >= 50;
        self.mass >= LONG
            && language_of(declared).is_some()
            && !self.votes.iter().any(is_voted)
            && self.winner().is_some_and(is_other)
    }

    /// Returns the percentage of a text in this language; `None` for a short text. If the language
    /// cannot be detected, everything counts that is not clearly in another language.
    fn confidence_in(&self, declared: &str) -> Option<u8> {
        let is_found = language_of(declared).is_some();
        let counts = |vote: &&Vote| match is_found {
            true => is_same(declared, vote.code),
            false => !vote.is_clear(),
        };
        let mass = self.votes.iter().filter(counts).map(|vote| vote.mass).sum();
        (self.mass >= LONG || mass > 0).then(|| self.hundredths(mass))
    }

    fn hundredths(&self, mass: usize) -> u8 {
        u8::try_from(100 * mass / self.mass.max(1)).unwrap_or(100)
    }
}

/// Returns the language of words and its certainty.
fn detect(words: &str) -> Option<(Lang, f64)> {
    if let Some(language) = StopWordCount::of(words).clear() {
        return Some((language, 1.0));
    }
    let found = whatlang::detect(words)?;
    Some((found.lang(), found.confidence()))
}

/// Returns the certainty of a likely language, if the window is clearly in it.
fn confirm(window: &Window<'_>, script: Script, likely: Lang) -> Option<f64> {
    let words = window.words(script);
    if StopWordCount::of(&words).confirms(likely) {
        return Some(1.0);
    }
    let candidates = RIVALS.into_iter().chain([likely]).collect();
    let detector = Detector::with_allowlist(candidates);
    let found = detector.detect(&words[..words.floor_char_boundary(CONFIRMED)])?;
    let is_clear = found.lang() == likely && found.confidence() >= CLEAR;
    is_clear.then(|| found.confidence())
}

/// Returns true if the detected language may be the declared one. Norwegian is detected as Bokmål,
/// and Japanese without kana as Chinese.
fn is_same(declared: &str, found: &str) -> bool {
    match declared {
        "no" | "nn" => found == "nb",
        "ja" => matches!(found, "ja" | "zh"),
        _ => declared == found,
    }
}

/// A piece of a text, with its number of letters per script.
struct Window<'a> {
    text: &'a str,
    letters: [usize; SCRIPTS.len()],
}

impl<'a> Window<'a> {
    fn of(text: &'a str) -> Self {
        let mut letters = [0; SCRIPTS.len()];
        for script in text.chars().filter_map(Script::of) {
            letters[script as usize] += 1;
        }
        Self { text, letters }
    }

    fn mass(&self, script: Script) -> usize {
        self.letters[script as usize] * script.weight()
    }

    /// Returns the language of its East Asian characters.
    fn east_asian(&self) -> &'static str {
        let [han, kana, hangul] = EAST_ASIAN.map(|script| self.letters[script as usize]);
        match () {
            () if hangul > han + kana => "ko",
            () if kana * KANA >= han + kana => "ja",
            () => "zh",
        }
    }

    /// Returns the window's words in a script. A word with digits or signs inside is a name in
    /// code, a file or an address, and does not reveal the language.
    fn words(&self, script: Script) -> String {
        let mut words = String::with_capacity(self.text.len());
        for word in self.text.split_whitespace() {
            let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
            let is_word = word.chars().all(|letter| {
                Script::of(letter) == Some(script) || matches!(letter, '\'' | '’' | '-' | '·')
            });
            if is_word {
                words.push_str(word);
                words.push(' ');
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "The cat lies on the stove and sleeps, because outside the wind goes \
        over the fields and nobody wants to go before the door on such a day as this one. ";
    const GERMAN: &str = "Die Katze liegt auf dem Ofen und schläft, weil draußen der Wind über die \
        Felder geht und niemand vor die Tür gehen möchte. ";
    const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
    const CHINESE: &str = "自由软件的用户可以自由地运行、复制、分发、学习、修改并改进该软件。";
    const KOREAN: &str = "자유 소프트웨어는 사용자가 실행하고 복사하고 배포하고 고칠 수 있다. ";

    /// Checks the language and the least and the largest confidence.
    fn check(declared: Option<&str>, text: &str, language: &str, confidence: [u8; 2]) {
        let (found, share) = of_page(declared, text);
        let start: String = text.chars().take(40).collect();
        assert_eq!(found.as_deref(), Some(language), "{declared:?} {start}");
        let share = share.unwrap();
        assert!(
            (confidence[0]..=confidence[1]).contains(&share),
            "{share} {start}"
        );
    }

    #[test]
    fn the_language_of_a_text_is_detected_if_it_is_clear() {
        check(None, GERMAN, "de", [100, 100]);
        check(None, JAPANESE, "ja", [100, 100]);
        assert_eq!(text_language("404"), None);
        assert_eq!(text_language(""), None);
    }

    /// The first 1,000 characters decided: 81 of 160 pages in Chinese, Japanese or Korean under
    /// English navigation were English, 34 had no language.
    #[test]
    fn navigation_before_a_text_does_not_decide() {
        let navigation = ENGLISH.repeat(8);
        for (text, language) in [(CHINESE, "zh"), (JAPANESE, "ja"), (KOREAN, "ko")] {
            let page = format!("{navigation}\n{}", text.repeat(20));
            check(None, &page, language, [50, 90]);
            check(Some("en"), &page, language, [50, 90]);
        }
        let page = format!("{navigation}\n{}", GERMAN.repeat(40));
        check(None, &page, "de", [75, 100]);
    }

    #[test]
    fn the_larger_part_of_a_mixed_text_decides_and_the_confidence_is_its_share() {
        let page = format!("{}{}", GERMAN.repeat(30), ENGLISH.repeat(15));
        check(None, &page, "de", [60, 90]);
        check(Some("de"), &page, "de", [60, 100]);
        let code = "let x1 = foo_bar(&mut self.items[0], b\"GET /index.html\");\n".repeat(20);
        check(
            None,
            &format!("{code}{}", GERMAN.repeat(20)),
            "de",
            [60, 100],
        );
    }

    #[test]
    fn a_declared_language_counts_unless_the_text_clearly_contradicts_it() {
        check(Some("en"), &GERMAN.repeat(10), "de", [100, 100]);
        check(Some("de"), &GERMAN.repeat(10), "de", [100, 100]);
        // Basque cannot be detected.
        check(Some("eu"), &ENGLISH.repeat(10), "eu", [0, 10]);
        // A table of names has no kana.
        check(
            Some("ja"),
            &"東京都千代田区霞が関".replace('が', "").repeat(20),
            "ja",
            [100, 100],
        );
        let (language, confidence) = of_page(Some("fr"), "404");
        assert_eq!((language.as_deref(), confidence), (Some("fr"), None));
    }

    /// 213 of 1,790 long pages had no language, because their first 1,000 characters were unclear.
    #[test]
    fn a_long_text_always_has_a_language() {
        let names = "foo_bar1 x.y.z /usr/share/doc a@b.test ".repeat(40);
        assert!(text_language(&names).is_some());
        let mixed: String = [GERMAN, ENGLISH].concat().repeat(20);
        assert!(text_language(&mixed).is_some());
    }
}
