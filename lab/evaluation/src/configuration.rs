//! The configurations that are compared. Each line of a list is a row or column of the report.

/// The features that fingerprints are made from; the first line is that of the shipped ones.
pub(crate) const FEATURES: &[&str] = &[
    "word:1+log-tf",
    "word:1+tf",
    "word:1+none",
    "word:2+log-tf",
    "word:3+log-tf",
    "word:3+none",
    "char:5+log-tf",
];

/// The numbers of bits in which fingerprints may differ.
pub(crate) const DISTANCES: &[u32] = &[0, 3, 5, 7, 10];

/// The widths of the shingles that decide, in words; the first is the narrowest.
pub(crate) const WIDTHS: [usize; 2] = [3, 5];

/// The least resemblance of a near duplicate.
pub(crate) const THRESHOLDS: &[f64] = &[0.70, 0.75, 0.80, 0.85, 0.90];

/// The least resemblance in shingles and, beside it, in counted words.
pub(crate) const TWO_MEASURES: &[(f64, f64)] = &[
    (0.70, 0.85),
    (0.70, 0.90),
    (0.75, 0.85),
    (0.75, 0.90),
    (0.80, 0.90),
    (0.55, 0.85),
    (0.55, 0.87),
];

/// The least resemblance by the number of words of the shorter text, the longest first.
pub(crate) const BY_LENGTH: &[&[(usize, f64)]] = &[
    &[(350, 0.80), (100, 0.86), (50, 0.90), (0, 1.0)],
    &[(350, 0.80), (100, 0.86), (0, 0.90)],
    &[(800, 0.70), (200, 0.80), (0, 0.86)],
    &[(200, 0.80), (0, 0.86)],
    &[(1_000, 0.75), (200, 0.80), (0, 0.86)],
    &[(800, 0.70), (250, 0.78), (0, 0.86)],
    &[
        (2_400, 0.70),
        (1_200, 0.74),
        (600, 0.77),
        (300, 0.80),
        (150, 0.83),
        (0, 0.86),
    ],
];

/// Texts with fewer words are compared exactly only.
pub(crate) const MIN_WORDS: &[usize] = &[1, 15, 30, 50];

/// The minima of the sketch that is larger than the shipped one.
pub(crate) const LARGER_SKETCH: usize = 512;
