//! Document frequencies as a text file.

use std::io::{self, BufRead, Read, Write};

use super::{DocumentFrequencies, MAX_TERM, MAX_TERMS};
use crate::features::{Unit, Width};
use crate::text::NormalText;

/// Maximum length of a line: a term, a tab, the digits of a count, and some room.
const MAX_LINE: usize = MAX_TERM + 64;

impl DocumentFrequencies {
    /// Reads a file written by [`DocumentFrequencies::write`], or a corpus file of the same form.
    /// Words are normalised like texts, so that `Straße` in a file is `strasse`; terms that become
    /// equal are counted together.
    ///
    /// # Errors
    /// [`FrequenciesError`] with the number of the wrong line.
    pub fn read(reader: impl BufRead) -> Result<Self, FrequenciesError> {
        let mut lines = Lines { reader, number: 0 };
        let head = lines.next()?.unwrap_or_default();
        let (documents, unit) = parse_head(&head).ok_or(FrequenciesError::Head)?;
        let mut frequencies = DocumentFrequencies::new(unit);
        frequencies.documents = documents;
        while let Some(line) = lines.next()? {
            let wrong = || FrequenciesError::Line(lines.number);
            let (term, count) = line.rsplit_once('\t').ok_or_else(wrong)?;
            let count: u32 = number(count).ok_or_else(wrong)?;
            if term.is_empty()
                || term.len() > MAX_TERM
                || count == 0
                || u64::from(count) > documents
            {
                return Err(wrong());
            }
            let whole = u32::try_from(documents).unwrap_or(u32::MAX);
            let sum = frequencies.counts.entry(normal(unit, term)).or_default();
            *sum = sum.saturating_add(count).min(whole);
            if frequencies.counts.len() > MAX_TERMS * 2 {
                return Err(FrequenciesError::TooMany(lines.number));
            }
        }
        Ok(frequencies)
    }

    /// Writes all counts, the most frequent first, equal counts in the byte order of the terms.
    ///
    /// # Errors
    /// Errors of `writer`.
    pub fn write(&self, mut writer: impl Write) -> io::Result<()> {
        writeln!(writer, "documents\t{}\t{}", self.documents, self.unit)?;
        let mut counts: Vec<(&str, u32)> = self
            .counts
            .iter()
            .map(|(term, count)| (&**term, *count))
            .collect();
        counts.sort_unstable_by(|(one, few), (other, many)| many.cmp(few).then(one.cmp(other)));
        for (term, count) in counts {
            writeln!(writer, "{term}\t{count}")?;
        }
        writer.flush()
    }
}

fn parse_head(head: &str) -> Option<(u64, Unit)> {
    let (documents, unit) = match *head.split('\t').collect::<Vec<_>>() {
        ["documents", documents] => (documents, Unit::Words(Width::ONE)),
        ["documents", documents, unit] => (documents, unit.parse().ok()?),
        _ => return None,
    };
    Some((number(documents)?, unit))
}

/// Parses digits without a sign.
fn number<N: std::str::FromStr>(digits: &str) -> Option<N> {
    let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| only_digits)
}

/// Returns `term` in the form that features of texts have. A term that cannot be a feature, such as
/// a punctuation mark, is not changed.
fn normal(unit: Unit, term: &str) -> Box<str> {
    let words = NormalText::of(term);
    match unit {
        Unit::Words(width) if (1..=width.get()).contains(&words.len()) => words.as_str().into(),
        Unit::Words(_) | Unit::Chars(_) => term.into(),
    }
}

struct Lines<R> {
    reader: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Returns the next line without its end; fails if it is too long or not UTF-8.
    fn next(&mut self) -> Result<Option<String>, FrequenciesError> {
        self.number += 1;
        let wrong = || FrequenciesError::Line(self.number);
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(MAX_LINE as u64 + 1);
        limited.read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.len() > MAX_LINE {
            return Err(wrong());
        }
        String::from_utf8(line).map(Some).or(Err(wrong()))
    }
}

/// Reasons why document frequencies cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrequenciesError {
    /// The file could not be read to its end.
    #[error("document frequencies cannot be read")]
    Io(#[from] io::Error),
    /// The first line is malformed.
    #[error(
        "line 1 must be `documents`, their number and optionally the features (`word:1`), \
         separated by tabs"
    )]
    Head,
    /// A line is malformed.
    #[error(
        "line {0} must be a term of at most {MAX_TERM} bytes, a tab, and a count \
         from 1 to the number of documents"
    )]
    Line(u64),
    /// The file has too many terms.
    #[error(
        "line {0} exceeds the maximum of {most} different terms; keep only frequent terms",
        most = 2 * MAX_TERMS
    )]
    TooMany(u64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(file: &str) -> Result<DocumentFrequencies, FrequenciesError> {
        DocumentFrequencies::read(file.as_bytes())
    }

    #[test]
    fn a_corpus_of_others_is_read_and_its_words_are_normalised() {
        let frequencies = read("documents\t1000\r\nThe\t900\nthe\t200\nStraße\t7\n—\t3\n").unwrap();
        assert_eq!(frequencies.documents(), 1_000);
        assert_eq!(frequencies.unit().to_string(), "word:1");
        assert_eq!(
            ["the", "strasse", "dog"].map(|word| frequencies.of(word)),
            [1_000, 7, 0]
        );
    }

    #[test]
    fn malformed_files_are_refused_with_the_number_of_the_line() {
        let message = |file: &str| read(file).unwrap_err().to_string();
        for wrong in [
            "",
            "the\t3\n",
            "documents\t-1\n",
            "documents\t+1\n",
            "documents\t9\tword:0\n",
            "documents\t1\tword:1\t\n",
        ] {
            assert!(
                message(wrong).starts_with("line 1 must be `documents`"),
                "{wrong:?}"
            );
        }
        for wrong in [
            "the",
            "the\t",
            "the\t0",
            "the\t10",
            "the\t+3",
            "the\t3.5",
            "\t3",
            "",
            "the\t99999999999",
        ] {
            let file = format!("documents\t9\na\t1\n{wrong}\nb\t1\n");
            assert!(
                message(&file).starts_with("line 3 must be a term"),
                "{wrong:?}"
            );
        }
        let long = |length| format!("documents\t9\n{}\t1\n", "x".repeat(length));
        assert_eq!(read(&long(MAX_TERM)).unwrap().len(), 1);
        assert!(message(&long(MAX_TERM + 1)).starts_with("line 2 "));
        assert!(message(&long(1 << 20)).starts_with("line 2 "));
        assert!(DocumentFrequencies::read(&b"documents\t9\n\xff\t1\n"[..]).is_err());
    }

    #[test]
    fn a_file_with_as_many_terms_as_fit_is_read_and_one_with_more_is_refused() {
        let file = |terms: usize| {
            let lines: String = (0..terms).map(|term| format!("{term}\t1\n")).collect();
            format!("documents\t1\n{lines}")
        };
        assert_eq!(read(&file(2 * MAX_TERMS)).unwrap().len(), 2 * MAX_TERMS);
        let refusal = read(&file(2 * MAX_TERMS + 1)).unwrap_err().to_string();
        assert!(
            refusal.starts_with("line 524290 exceeds the maximum"),
            "{refusal}"
        );
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_again(
            texts in prop::collection::vec("[a-cß東.' 1-2é]{0,20}", 0..12),
            unit in prop::sample::select(&["word:1", "word:3", "char:1", "char:4"][..]),
        ) {
            let mut frequencies = DocumentFrequencies::new(unit.parse().unwrap());
            for text in texts {
                frequencies.learn(&NormalText::of(&text));
            }
            let mut file = Vec::new();
            frequencies.write(&mut file).unwrap();
            prop_assert_eq!(DocumentFrequencies::read(&file[..]).unwrap(), frequencies);
        }

        #[test]
        fn any_bytes_are_frequencies_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let file = [b"documents\t9\n".as_slice(), &bytes].concat();
            if let Ok(frequencies) = DocumentFrequencies::read(&file[..]) {
                prop_assert!(frequencies.len() <= 200);
            }
        }
    }
}
