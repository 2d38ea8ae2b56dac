//! Stored values are a promise: these files may change only together with `ALGORITHM`.

mod golden_texts;

use golden_texts::{check, texts};
use neardup::keys::ShortKey;
use neardup::{Features, HashKey, NormalText, PageText, Shingles, SignatureBuilder, Sketch, Width};

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
