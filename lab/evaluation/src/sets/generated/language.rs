//! Invented languages: words of the letters of a script, some of which are far more frequent than
//! others.

use crate::random::Random;

/// The conventions of a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    /// Its name as a language code: it goes into `lang`.
    pub(super) code: &'static str,
    /// The ranges of its letters. A word keeps to one of them.
    pub(super) letters: &'static [(u32, u32)],
    /// Letters of the shortest and of the longest word.
    pub(super) lengths: (usize, usize),
    /// The separator of two words.
    pub(super) between: &'static str,
    /// The end of a sentence.
    pub(super) stop: &'static str,
    /// Short words, such as particles, that make up every other word; there may be none.
    pub(super) particles: &'static [&'static str],
}

/// A script and its words.
#[derive(Debug)]
pub(super) struct Language {
    pub(super) script: Script,
    words: Vec<String>,
}

impl Language {
    /// Returns a language of this many words.
    pub(super) fn new(script: Script, words: usize, random: &mut Random) -> Self {
        let words = (0..words).map(|_| word(script, random)).collect();
        Self { script, words }
    }

    /// Returns a sentence of 6 to 18 words.
    pub(super) fn sentence(&self, random: &mut Random) -> String {
        let mut sentence = String::new();
        for place in 0..random.between(6, 18) {
            if place > 0 {
                sentence.push_str(self.script.between);
            }
            let word: &String = random.pick_by_rank(&self.words);
            sentence.push_str(word);
            if !self.script.particles.is_empty() {
                let particle: &&str = random.pick(self.script.particles);
                sentence.push_str(particle);
            }
        }
        sentence.push_str(self.script.stop);
        sentence
    }

    /// Returns a few words, as in a menu or a headline.
    pub(super) fn phrase(&self, random: &mut Random) -> String {
        let words: Vec<&str> = (0..random.between(1, 4))
            .map(|_| random.pick_by_rank(&self.words).as_str())
            .collect();
        words.join(self.script.between)
    }
}

fn word(script: Script, random: &mut Random) -> String {
    let &(first, last) = random.pick(script.letters);
    let letters = (first..=last)
        .filter_map(char::from_u32)
        .filter(|letter| letter.is_alphabetic());
    let letters: Vec<char> = letters.collect();
    let length = random.between(script.lengths.0, script.lengths.1);
    (0..length).map(|_| *random.pick(&letters)).collect()
}
