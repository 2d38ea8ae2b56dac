//! The table of signatures: all data for another program to compare two pages as
//! [`Thresholds::match_kind`](neardup::Thresholds::match_kind) does.
//!
//! Sketches are lists of whole numbers, because every database has `xor`, shifts and a count of
//! bits for these. The numbers are signed: not every database has unsigned ones, and the bits are
//! the same. Invariant: the bits of a list equal the bits of the stored sketch
//! (`docs/formats/export.md` defines which).

use neardup::{BAG_BYTES, PageSignature, SKETCH_BYTES, TextSignature};

use crate::table::{Column, Kind, Table, Value};

/// The signature of each page that was admitted or retained, in the order of the visits.
pub const SIGNATURES: Table = Table {
    schema: "signatures/2",
    columns: &[
        Column::always("url", Kind::Text),
        Column::always("payload", Kind::Bytes(DIGEST_BYTES)),
        Column::maybe("text_digest", Kind::Bytes(DIGEST_BYTES)),
        Column::maybe("words", Kind::U32),
        Column::maybe("main_content", Kind::Bytes(DIGEST_BYTES)),
        Column::maybe("fingerprint", Kind::Fingerprint),
        Column::maybe("minima", Kind::Integers),
        Column::maybe("bands", Kind::Integers),
        Column::maybe("bag", Kind::Integers),
        Column::maybe("diversity", Kind::U16),
        Column::maybe("title_terms", Kind::Integers),
        Column::maybe("required_title_terms", Kind::Integers),
    ],
};

/// The size of a digest.
const DIGEST_BYTES: u16 = 16;
/// The bytes of a sketch that are minima; band keys follow.
const MINIMA_BYTES: usize = 128;

/// A record of [`SIGNATURES`].
#[derive(Clone, Debug, PartialEq)]
pub struct PageSignatureRecord<'a> {
    url: &'a str,
    payload: [u8; DIGEST_BYTES as usize],
    text: Option<TextRecord>,
}

/// The columns that a page without text lacks.
#[derive(Clone, Debug, PartialEq)]
struct TextRecord {
    digest: [u8; DIGEST_BYTES as usize],
    words: u32,
    main_content: Option<[u8; DIGEST_BYTES as usize]>,
    fingerprint: neardup::Fingerprint,
    sketch: Option<SketchRecord>,
    bag: Option<BagRecord>,
    title_terms: Option<TitleTermsRecord>,
}

/// 256 minima of four bits, sixteen per number, and eight band keys of 32 bits.
#[derive(Clone, Debug, PartialEq)]
struct SketchRecord {
    minima: [i64; MINIMA_BYTES / 8],
    bands: [i64; (SKETCH_BYTES - MINIMA_BYTES) / 4],
}

/// 512 samples of one bit, and the diversity of the text in thousandths.
#[derive(Clone, Debug, PartialEq)]
struct BagRecord {
    samples: [i64; (BAG_BYTES - 4) / 8],
    diversity: u32,
}

/// The words of heading and title, and the number of words that count.
#[derive(Clone, Debug, PartialEq)]
struct TitleTermsRecord {
    words: Vec<i64>,
    required: usize,
}

impl<'a> PageSignatureRecord<'a> {
    /// Creates the record of a page.
    #[must_use]
    pub fn of(url: &'a str, signature: &PageSignature) -> Self {
        Self {
            url,
            payload: signature.payload.to_be_bytes(),
            text: signature.text.as_deref().map(TextRecord::of),
        }
    }

    /// Returns its fields, for [`SIGNATURES`].
    #[must_use]
    pub fn fields(&self) -> [Option<Value<'_>>; SIGNATURES.columns.len()] {
        let text = self.text.as_ref();
        let sketch = text.and_then(|text| text.sketch.as_ref());
        let bag = text.and_then(|text| text.bag.as_ref());
        let title_terms = text.and_then(|text| text.title_terms.as_ref());
        let main_content = text.and_then(|text| text.main_content.as_ref());
        [
            Some(Value::Text(self.url)),
            Some(Value::Bytes(&self.payload)),
            text.map(|text| Value::Bytes(&text.digest)),
            text.map(|text| Value::Number(text.words.into())),
            main_content.map(|digest| Value::Bytes(digest)),
            text.map(|text| Value::Fingerprint(text.fingerprint)),
            sketch.map(|sketch| Value::Integers(&sketch.minima)),
            sketch.map(|sketch| Value::Integers(&sketch.bands)),
            bag.map(|bag| Value::Integers(&bag.samples)),
            bag.map(|bag| Value::Number(bag.diversity.into())),
            title_terms.map(|title_terms| Value::Integers(&title_terms.words)),
            title_terms
                .map(|title_terms| Value::Integers(&title_terms.words[..title_terms.required])),
        ]
    }
}

impl TextRecord {
    fn of(text: &TextSignature) -> Self {
        Self {
            digest: text.digest.to_be_bytes(),
            words: text.words,
            main_content: text.main_content.map(u128::to_be_bytes),
            fingerprint: text.fingerprint,
            sketch: text.sketch.as_ref().map(|sketch| {
                let bytes = sketch.to_bytes();
                let (minima, bands) = bytes.split_at(MINIMA_BYTES);
                SketchRecord {
                    minima: numbers(minima),
                    bands: std::array::from_fn(|at| {
                        u32::from_le_bytes(bands.as_chunks().0[at]).into()
                    }),
                }
            }),
            bag: text.bag.as_ref().map(|bag| BagRecord {
                samples: numbers(&bag.to_bytes()[4..]),
                diversity: bag.diversity(text.words),
            }),
            title_terms: text
                .title_terms
                .as_ref()
                .map(|title_terms| TitleTermsRecord {
                    words: title_terms.all().iter().map(|&word| word.into()).collect(),
                    required: title_terms.required().len(),
                }),
        }
    }
}

/// Returns little-endian numbers by their bits.
fn numbers<const N: usize>(bytes: &[u8]) -> [i64; N] {
    std::array::from_fn(|at| i64::from_le_bytes(bytes.as_chunks().0[at]))
}
