//! Pages in languages that we cannot ship real pages of: words by Zipf's law, spelled as each
//! script spells.
//!
//! Chinese: words of one to three ideographs. Japanese: kanji with kana endings and particles, and
//! katakana words. Korean: nouns with particles, spaced. Thai, Lao, Khmer and Burmese: syllables
//! without spaces, a space after a phrase. Everything follows from a seed.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `below` - 1.
    pub(crate) fn below(&mut self, below: usize) -> usize {
        (self.roll() % below as u64) as usize
    }

    /// From `least` to `most`.
    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Returns a rank below `ranks` by Zipf's law with exponent 1, about: the logarithm of the rank
    /// is uniform.
    pub(crate) fn zipf(&mut self, ranks: usize) -> usize {
        let uniform = (self.roll() >> 11) as f64 / (1_u64 << 53) as f64;
        (((ranks + 1) as f64).powf(uniform) as usize - 1).min(ranks - 1)
    }

    pub(crate) fn one_of(&mut self, choices: &str) -> char {
        let count = choices.chars().count();
        choices
            .chars()
            .nth(self.below(count))
            .expect("below the count")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    Chinese,
    Japanese,
    Korean,
    Thai,
    Lao,
    Khmer,
    Burmese,
}

/// The number of words of a language here.
const VOCABULARY: usize = 20_000;
/// The number of words specific to a page's subject, which make one word in four.
const SUBJECT: usize = 60;

/// Returns the sentences of a page; pages of different seeds share nothing but the language.
pub(crate) fn sentences(script: Script, seed: u64) -> Vec<String> {
    let mut dice = Dice::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let subject: Vec<usize> = (0..SUBJECT).map(|_| dice.below(VOCABULARY)).collect();
    let count = dice.between(25, 60);
    (0..count)
        .map(|_| sentence(script, &subject, &mut dice))
        .collect()
}

fn sentence(script: Script, subject: &[usize], dice: &mut Dice) -> String {
    let mut sentence = String::new();
    for number in 0..dice.between(6, 24) {
        let rank = match dice.below(4) {
            0 => subject[dice.zipf(SUBJECT)],
            _ => dice.zipf(VOCABULARY),
        };
        let phrase_ends = number > 0 && dice.below(7) == 0;
        match script {
            Script::Chinese if phrase_ends => sentence.push('，'),
            Script::Japanese if phrase_ends => sentence.push('、'),
            Script::Korean if number > 0 => sentence.push(' '),
            _ if phrase_ends => sentence.push(' '),
            _ => {}
        }
        sentence.push_str(&word(script, rank, dice));
    }
    sentence.push_str(match script {
        Script::Chinese | Script::Japanese => "。",
        Script::Korean => ". ",
        Script::Khmer => "។ ",
        Script::Burmese => "။ ",
        Script::Thai | Script::Lao => " ",
    });
    sentence
}

/// Returns the word of this rank; particles and endings are chosen freshly.
fn word(script: Script, rank: usize, dice: &mut Dice) -> String {
    let mut own = Dice::new(rank as u64 ^ 0xabcd_0000);
    // Frequent words are short.
    let length = match rank {
        0..60 => 1,
        60..4_000 => own.between(1, 2),
        _ => own.between(2, 3),
    };
    let mut spell = |first: char, count: usize| {
        char::from_u32(first as u32 + own.zipf(count) as u32).expect("letters lie together")
    };
    match script {
        Script::Chinese => (0..length).map(|_| spell('一', 4_000)).collect(),
        Script::Japanese if rank.is_multiple_of(9) => {
            (0..length + 2).map(|_| spell('ア', 80)).collect()
        }
        Script::Japanese => {
            let stem: String = (0..length).map(|_| spell('一', 2_000)).collect();
            let ending = [
                "は",
                "の",
                "を",
                "に",
                "が",
                "と",
                "で",
                "した",
                "している",
                "する",
                "ます",
                "から",
            ];
            stem + ending[dice.zipf(ending.len())]
        }
        Script::Korean => {
            let stem: String = (0..length + 1).map(|_| spell('가', 2_000)).collect();
            let particle = [
                "", "은", "는", "이", "가", "을", "를", "에", "에서", "의", "로", "하다", "했다",
            ];
            stem + particle[dice.zipf(particle.len())]
        }
        Script::Thai => syllables(
            &mut own,
            length,
            "กขคงจชซดตถทธนบปผพฟมยรลวสหอ",
            "ะาิีึืุู",
            "เแโไ",
            "่้",
            "กงดนบมยว",
        ),
        Script::Lao => syllables(
            &mut own,
            length,
            "ກຂຄງຈຊຍດຕຖທນບປຜພມຢຣລວສຫອຮ",
            "ະາິີຶືຸູ",
            "ເແໂໄ",
            "່້",
            "ກງດນບມຍວ",
        ),
        Script::Khmer => syllables(
            &mut own,
            length,
            "កខគឃងចឆជញដឋណតថទធនបផពភមយរលវសហអ",
            "ាិីឹឺុូួើែោៅ",
            "",
            "",
            "កងញតនបមល",
        ),
        Script::Burmese => syllables(
            &mut own,
            length,
            "ကခဂငစဆဇညတထဒနပဖဗမယရလဝသဟအ",
            "ာိီုူေဲံ",
            "",
            "့း",
            "",
        ),
    }
}

fn syllables(
    own: &mut Dice,
    count: usize,
    initials: &str,
    vowels: &str,
    leading: &str,
    tones: &str,
    finals: &str,
) -> String {
    let mut word = String::new();
    for _ in 0..count {
        let leads = !leading.is_empty() && own.below(4) == 0;
        if leads {
            word.push(own.one_of(leading));
        }
        word.push(own.one_of(initials));
        if !leads {
            word.push(own.one_of(vowels));
        }
        if !tones.is_empty() && own.below(3) == 0 {
            word.push(own.one_of(tones));
        }
        if !finals.is_empty() && own.below(2) == 0 {
            word.push(own.one_of(finals));
        }
    }
    word
}

/// Returns `sentences` without `percent` hundredths of them, at least one.
pub(crate) fn without_some(sentences: &[String], percent: usize, seed: u64) -> String {
    let mut dice = Dice::new(!seed);
    let mut left: Vec<&String> = sentences.iter().collect();
    for _ in 0..(sentences.len() * percent).div_ceil(100) {
        left.remove(dice.below(left.len()));
    }
    left.into_iter().map(String::as_str).collect()
}
