//! Stored values are a promise: these files may change only together with `ALGORITHM`.

use neardup::keys::ShortKey;
use neardup::minhash::{Family, MinHasher};
use neardup::samples::Sketch1997;
use neardup::{
    ALGORITHM, Features, HashKey, NormalText, PageText, Shingles, SignatureBuilder, Sketch, Width,
};

const TEXTS: [&str; 8] = [
    "",
    "Word",
    "a rose is a rose is a rose",
    "To be, or not to be: that is the question. Whether 'tis nobler in the mind \
     to suffer 3.14 slings & 1,000 arrows…",
    "Wenn jeder an sich denkt, ist an alle gedacht. STRASSE, Straße, ÜBER; „Gänsefüßchen“",
    "Ο Όμηρος, ο ΟΔΥΣΣΕΥΣ — и Война и МИР",
    "吾輩は猫である。名前はまだ無い。カタカナ ﾊﾝｶｸ API を使う",
    "สวัสดี ชาวโลก 안녕하세요 세계 שלום עולם مرحبا بالعالم",
];

/// Texts as the files name them: as they are, or `numbers N` for "1 2 3 … N".
fn texts() -> impl Iterator<Item = (String, String)> {
    let numbers = [40, 300, 5_000].map(|last| {
        let text: Vec<String> = (1..=last).map(|number| number.to_string()).collect();
        (format!("numbers {last}"), text.join(" "))
    });
    TEXTS
        .map(|text| (format!("{text:?}"), text.to_owned()))
        .into_iter()
        .chain(numbers)
}

fn check(file: &str, golden: &str, lines: impl Iterator<Item = String>) {
    let now = format!(
        "# algorithm {ALGORITHM}\n{}\n",
        lines.collect::<Vec<_>>().join("\n")
    );
    assert!(
        now == golden,
        "values that crawls have stored have changed: raise ALGORITHM, \
         and write this to golden/{file}:\n{now}"
    );
}

#[test]
fn fingerprints_and_digests_are_those_that_were_stored() {
    let columns = ["word:1+log-tf", "word:3+none", "char:5+none"];
    let features = columns.map(|column| column.parse::<Features>().unwrap());
    let lines = texts().map(|(name, text)| {
        let text = NormalText::of(&text);
        let [a, b, c] = features.map(|features| features.fingerprint(&text, HashKey::ZERO));
        format!("{:032x} {a} {b} {c} {name}", text.digest(HashKey::ZERO))
    });
    let head = format!("# digest {} text", columns.join(" "));
    let golden = include_str!("../golden/fingerprints.txt");
    check(
        "fingerprints.txt",
        golden,
        std::iter::once(head).chain(lines),
    );
}

#[test]
fn sketches_are_those_that_were_stored() {
    let lines = texts().map(|(name, text)| {
        let shingles = Shingles::of(&NormalText::of(&text), Width::VERIFICATION, HashKey::ZERO);
        let digits = |sketch: Sketch| sketch.to_bytes().map(|byte| format!("{byte:02x}")).concat();
        format!(
            "{name} {}",
            Sketch::of(&shingles).map_or("none".to_owned(), digits)
        )
    });
    check(
        "sketches.txt",
        include_str!("../golden/sketches.txt"),
        lines,
    );
}

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
fn bags_and_title_terms_are_those_that_were_stored() {
    let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let lines = texts().map(|(name, text)| {
        // The text is long enough for a sketch.
        let long = [text.as_str(); 16].join(" ");
        let page = PageText {
            title: Some("Word, rose & 猫 of ΟΔΥΣΣΕΥΣ 3.14"),
            heading: Some("A rose is 3.14"),
            ..PageText::of(&long)
        };
        let digits = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let Some(text) = signature_builder.signature(0, Some(page)).text else {
            return format!("{name} none");
        };
        let bag = text
            .bag
            .map_or("none".to_owned(), |bag| digits(&bag.to_bytes()));
        let title_terms = text.title_terms.map_or("none".to_owned(), |title_terms| {
            digits(&title_terms.to_bytes())
        });
        format!("{name} {bag} {title_terms} {:032x}", text.digest)
    });
    check("bags.txt", include_str!("../golden/bags.txt"), lines);
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

#[test]
fn keys_are_cut_to_the_bits_that_were_stored() {
    let keys = [
        0,
        1,
        2,
        0xffff_ffff,
        1 << 32,
        7 << 32 | 0xdead_beef,
        u64::MAX - 1,
        u64::MAX,
    ];
    let lines = keys.map(|key| format!("{key:016x} {:08x}", ShortKey::of(key).as_u32()));
    check(
        "short-keys.txt",
        include_str!("../golden/short-keys.txt"),
        lines.into_iter(),
    );
}
