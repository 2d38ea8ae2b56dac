//! Generated prose: words with the frequencies of a language.

/// Words of the generated language.
const VOCABULARY: u64 = 20_000;
/// Words of a line.
const LINE: u64 = 12;

/// Returns the word at this place of this stream, with Zipf's frequencies, and what follows it.
pub(crate) fn zipf(stream: u64, at: u64) -> String {
    let share = (random(stream, at) >> 11) as f64 / (1_u64 << 53) as f64;
    let rank = (VOCABULARY as f64).powf(share) as u64;
    // Frequent words are short.
    format!("{}{}", letters(rank), between(at))
}

/// Returns the text behind the word at this place.
pub(crate) fn between(at: u64) -> &'static str {
    if at % LINE == LINE - 1 { ".\n" } else { " " }
}

/// Returns the number at this place of this stream: SplitMix64's finaliser (Steele, Lea and Flood,
/// OOPSLA 2014).
pub(crate) fn random(stream: u64, number: u64) -> u64 {
    let mut bits = (stream << 40 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

fn letters(mut rank: u64) -> String {
    let mut word = String::new();
    loop {
        word.push(char::from(b'a' + (rank % 20) as u8));
        word.push(char::from(b"aeiou"[(rank % 5) as usize]));
        rank /= 20;
        if rank == 0 {
            return word;
        }
    }
}
