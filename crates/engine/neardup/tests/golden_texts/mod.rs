//! The texts of golden files, here and in `classics`.

use neardup::ALGORITHM;

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

/// Returns the texts as the files name them: as they are, or `numbers N` for "1 2 3 … N".
pub(crate) fn texts() -> impl Iterator<Item = (String, String)> {
    let numbers = [40, 300, 5_000].map(|last| {
        let text: Vec<String> = (1..=last).map(|number| number.to_string()).collect();
        (format!("numbers {last}"), text.join(" "))
    });
    TEXTS
        .map(|text| (format!("{text:?}"), text.to_owned()))
        .into_iter()
        .chain(numbers)
}

/// Compares `lines` with the content of a golden file.
pub(crate) fn check(file: &str, golden: &str, lines: impl Iterator<Item = String>) {
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
