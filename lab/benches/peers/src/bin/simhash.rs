//! Text to simhash, beside gaoya: gigabytes a second on one core.
//!
//!     cargo run --release --manifest-path lab/benches/peers/Cargo.toml --bin simhash -- \
//!         [--bytes-a-page 24000] [--pages 200]
//!
//! The pages are drawn from a seed: words of English lengths with Zipf's frequencies, and the same
//! mixed with Greek, Cyrillic, accented Latin and Chinese. gaoya lets each shingle vote as often as
//! it occurs, and so does `word:3+tf`; `word:3+none` also detects repetitions. gaoya does not
//! lower-case, and does not split words by Unicode's rules.

use std::hint::black_box;
use std::time::Duration;

use gaoya::simhash::{SimHash, SimSipHasher64};
use gaoya::text::{shingle_tokens, whitespace_split};
use neardup::{Features, HashKey, Instructions, NormalText, PageText, SignatureBuilder};
use peers::{Random, best_of};

const RUNS: usize = 15;

fn main() {
    let (mut pages, mut bytes) = (200, 24_000);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let number = arguments.next().and_then(|value| value.parse().ok());
        match (name.as_str(), number) {
            ("--pages", Some(number)) => pages = number,
            ("--bytes-a-page", Some(number)) => bytes = number,
            _ => {
                eprintln!("usage: simhash [--pages N] [--bytes-a-page N]");
                std::process::exit(2);
            }
        }
    }
    println!("{pages} pages of {bytes} bytes, each in the best of {RUNS} runs, one core");
    let prose = Prose::new(&[ENGLISH]);
    let ascii = prose.pages(pages, bytes, 1);
    let mixed = Prose::new(&[ENGLISH, LATIN, CYRILLIC, GREEK, CHINESE]).pages(pages, bytes, 2);
    let foreign = Prose::new(&[CYRILLIC]).pages(pages, bytes, 3);

    let words: usize = ascii.iter().map(|page| NormalText::of(page).len()).sum();
    println!(
        "{:.2} bytes a word\n",
        (pages * bytes) as f64 / words as f64
    );

    let peer = rate(&ascii, |page| {
        let words: Vec<&str> = whitespace_split(page).collect();
        simhash_of_gaoya().create_signature(shingle_tokens(&words, 3))
    });
    line("gaoya, word 3-shingles", peer, None);
    for instructions in Instructions::available() {
        let goal = match instructions.name() {
            "avx512" => Some(1.8),
            "portable" => Some(0.5),
            _ => None,
        };
        for features in ["word:3+none", "word:3+tf", "word:1+none", "word:1+log-tf"] {
            let goal = match features {
                "word:3+none" | "word:3+tf" => goal,
                "word:1+log-tf" if instructions == Instructions::best() => Some(0.5),
                _ => None,
            };
            let ours = fused(&ascii, features, instructions);
            line(
                &format!("ascii {features} {}", instructions.name()),
                ours,
                goal,
            );
            if features.starts_with("word:3") {
                println!("{:44} {:8.1} × gaoya (goal 30)", "", ours / peer);
            }
        }
    }
    for (name, pages) in [("mixed", &mixed), ("cyrillic", &foreign)] {
        for features in ["word:3+tf", "word:3+none", "word:1+log-tf"] {
            let ours = fused(pages, features, Instructions::best());
            let goal = features.starts_with("word:3").then_some(0.3);
            line(
                &format!("{name} {features} {}", Instructions::best().name()),
                ours,
                goal,
            );
        }
    }
    let signature_builder = SignatureBuilder::new(Features::default(), HashKey::new(7));
    for (name, pages) in [("ascii", &ascii), ("cyrillic", &foreign)] {
        line(
            &format!("{name}, normal text written down"),
            rate(pages, NormalText::of),
            None,
        );
        let signatures = rate(pages, |text| {
            signature_builder.signature(0, Some(PageText::of(text)))
        });
        line(&format!("{name}, signature"), signatures, None);
        let page = bytes as f64 / signatures / 1e3;
        println!("{:44} {page:8.1} µs a page", "");
    }
}

fn simhash_of_gaoya() -> SimHash<SimSipHasher64, u64, 64> {
    SimHash::new(SimSipHasher64::new(1, 2))
}

fn fused(pages: &[String], features: &str, instructions: Instructions) -> f64 {
    let features: Features = features.parse().expect("features that exist");
    rate(pages, |page| {
        features.fingerprint_of_text_by(page, HashKey::new(7), instructions)
    })
}

/// Returns gigabytes a second. Each page counts with its least time of all runs, which is hardly
/// ever one in which the machine did something else.
fn rate<T>(pages: &[String], mut work: impl FnMut(&str) -> T) -> f64 {
    let mut least = vec![Duration::MAX; pages.len()];
    for _ in 0..RUNS {
        for (page, least) in pages.iter().zip(&mut least) {
            *least = (*least).min(best_of(1, || black_box(work(page))));
        }
    }
    let bytes: usize = pages.iter().map(String::len).sum();
    bytes as f64 / least.iter().sum::<Duration>().as_secs_f64() / 1e9
}

fn line(what: &str, rate: f64, goal: Option<f64>) {
    let goal = goal.map_or(String::new(), |goal| {
        let verdict = if rate >= goal { "reached" } else { "MISSED" };
        format!("  goal {goal:.1}: {verdict}")
    });
    println!("{what:44} {rate:8.3} GB/s{goal}");
}

type Alphabet = (&'static str, &'static [usize]);
/// The frequencies of word lengths in English (Norvig, "English letter frequency counts", 2012:
/// 4.79 on average).
const LENGTHS: &[usize] = &[
    1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 7, 7, 7, 8, 8, 9, 9, 10, 11, 12,
];
const ENGLISH: Alphabet = ("eeeetttaaaoooiiinnnssshhhrrrdlcumwfgypbvk", LENGTHS);
const LATIN: Alphabet = ("eeenaaitoórsçéüößñlà", LENGTHS);
const CYRILLIC: Alphabet = ("ооеаинтсрвлкмдпуяыьгзбчйхжшюц", LENGTHS);
const GREEK: Alphabet = ("αοιετσνηυρπκμλςωδ", LENGTHS);
const CHINESE: Alphabet = (
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年",
    &[4, 6, 8, 10, 12],
);

/// A language of invented words.
struct Prose {
    /// The most frequent first.
    words: Vec<String>,
    /// The cumulative frequency of each word, of 2³².
    cumulated: Vec<u64>,
}

impl Prose {
    const WORDS: usize = 20_000;

    fn new(alphabets: &[Alphabet]) -> Self {
        let mut random = Random::new(alphabets.len() as u64);
        let letters: Vec<Vec<char>> = alphabets
            .iter()
            .map(|(letters, _)| letters.chars().collect())
            .collect();
        let word = |random: &mut Random, rank: usize| -> String {
            let which = rank % alphabets.len();
            let lengths = alphabets[which].1;
            // Frequent words are short and the others longer: 4.8 letters a word of the text.
            let drawn = lengths[random.below(lengths.len() as u64) as usize];
            let length = if rank < 100 * alphabets.len() {
                drawn.min(2 + rank % 3)
            } else {
                drawn.max(4) + 1
            };
            let letter = |_| letters[which][random.below(letters[which].len() as u64) as usize];
            (0..length).map(letter).collect()
        };
        let words: Vec<String> = (0..Self::WORDS)
            .map(|rank| word(&mut random, rank))
            .collect();
        let harmonic: f64 = (1..=Self::WORDS).map(|rank| 1.0 / rank as f64).sum();
        let mut sum = 0.0;
        let cumulated = (1..=Self::WORDS).map(|rank| {
            sum += 1.0 / rank as f64 / harmonic;
            (sum * (1_u64 << 32) as f64) as u64
        });
        Self {
            cumulated: cumulated.collect(),
            words,
        }
    }

    fn pages(&self, pages: usize, bytes: usize, seed: u64) -> Vec<String> {
        let mut random = Random::new(seed);
        (0..pages).map(|_| self.page(bytes, &mut random)).collect()
    }

    fn page(&self, bytes: usize, random: &mut Random) -> String {
        let mut page = String::new();
        let mut capital = true;
        while page.len() < bytes {
            let drawn = random.below(1 << 32);
            let rank = self.cumulated.partition_point(|&below| below <= drawn);
            let word = &self.words[rank.min(Self::WORDS - 1)];
            let mut letters = word.chars();
            match letters.next() {
                Some(first) if capital => page.extend(first.to_uppercase().chain(letters)),
                _ => page.push_str(word),
            }
            let mark = random.below(60);
            capital = mark < 3;
            page.push_str(match mark {
                0 => ".\n\n",
                1 | 2 => ". ",
                3..=6 => ", ",
                7 => "'s ",
                8 => " - ",
                9 => " 3.14 ",
                _ => " ",
            });
        }
        page
    }
}
