//! Stored values are a promise: these files may change only together with `neardup::ALGORITHM`.

#[path = "../../neardup/tests/golden_texts/mod.rs"]
mod golden_texts;

use classics::minhash::{Family, MinHasher};
use classics::samples::Sketch1997;
use golden_texts::{check, texts};
use neardup::{HashKey, NormalText, Shingles, Width};

#[test]
fn sketches_of_1997_are_those_that_were_stored() {
    let lines = texts().map(|(name, text)| {
        // Ten words in 1997; three leave something of short texts.
        let width = Width::new(3).unwrap();
        let shingles = Shingles::of(&NormalText::of(&text), width, HashKey::ZERO);
        let bytes = Sketch1997::of(&shingles).to_bytes();
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{name} {}", digits.get(..400).unwrap_or(&digits))
    });
    check(
        "sketches-1997.txt",
        include_str!("../golden/sketches-1997.txt"),
        lines,
    );
}

#[test]
fn minhashes_are_those_that_were_stored() {
    let hashers =
        [Family::Fast, Family::Permutations].map(|family| MinHasher::new(family, 12).unwrap());
    let lines = texts().map(|(name, text)| {
        let shingles = Shingles::of(&NormalText::of(&text), Width::VERIFICATION, HashKey::ZERO);
        let digits = |hasher: &MinHasher| -> String {
            let bytes = hasher.of(&shingles).to_bytes();
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        format!("{name} {}", hashers.each_ref().map(digits).join(" "))
    });
    check(
        "minhashes.txt",
        include_str!("../golden/minhashes.txt"),
        lines,
    );
}
