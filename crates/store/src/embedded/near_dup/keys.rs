//! The keys under which a document is found.
//!
//! Eleven exact keys (page, payload, text, eight bands) and the fingerprint. Each only proposes a
//! candidate: 32 bits collide now and then, so lookups compare the whole.
//!
//! Invariant: table numbers are on disk for ever.

use neardup::keys::ShortKey;
use neardup::{BANDS, Fingerprint, PageSignature, Partition};
use web::UrlKey;

use crate::embedded::tables::Table;

/// The number of kinds of exact keys.
pub(super) const KINDS: usize = 3 + BANDS;

/// A kind of exact keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyKind(u8);

impl KeyKind {
    /// The page's key: a document without it is gone.
    pub(super) const PAGE: Self = Self(0);
    const PAYLOAD: Self = Self(1);
    const TEXT: Self = Self(2);
    const FIRST_BAND: u8 = 3;

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..KINDS as u8).map(Self)
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the table on disk.
    pub(super) const fn table(self) -> Table {
        Table::new(0x10 + self.0)
    }
}

/// The most tables of fingerprints in a design: their numbers are the upper half.
pub(super) const MOST_TABLES: usize = 128;

/// Returns the table of the fingerprints in the order of the design's permutation of this number.
pub(super) const fn table_of_permutation(number: usize) -> Table {
    debug_assert!(number < MOST_TABLES, "the design was checked");
    Table::new(0x80 | number as u8)
}

/// An exact key of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExactKey {
    pub(super) kind: KeyKind,
    pub(super) short: ShortKey,
}

impl ExactKey {
    fn new(kind: KeyKind, key: u64) -> Self {
        let short = ShortKey::of(key);
        Self { kind, short }
    }
}

pub(super) fn of_page(page: UrlKey) -> ExactKey {
    ExactKey::new(KeyKind::PAGE, page.as_u64())
}

pub(super) fn of_payload(group: u64, payload: u128) -> ExactKey {
    ExactKey::new(KeyKind::PAYLOAD, Partition::of(group).digest(payload))
}

pub(super) fn of_text(group: u64, digest: u128) -> ExactKey {
    ExactKey::new(KeyKind::TEXT, Partition::of(group).digest(digest))
}

/// The keys under which texts that may be near-duplicates are candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearKeys {
    pub(super) fingerprint: Fingerprint,
    pub(super) bands: [ExactKey; BANDS],
}

/// Returns the keys for near-duplicates; none if only the exact text may decide.
pub(super) fn of_resemblance(group: u64, signature: &PageSignature) -> Option<NearKeys> {
    let text = signature.text.as_deref()?;
    let bands = text.sketch.as_ref()?.bands();
    let partition = Partition::of(group);
    Some(NearKeys {
        fingerprint: partition.fingerprint(text.fingerprint),
        bands: std::array::from_fn(|number| ExactKey {
            kind: KeyKind(KeyKind::FIRST_BAND + number as u8),
            short: partition.band(bands[number]),
        }),
    })
}
