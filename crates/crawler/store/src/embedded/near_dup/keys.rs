//! The lookup keys of a document.
//!
//! Eleven exact keys (page, payload, text, eight bands) and the fingerprint. A key only proposes a
//! candidate: 32 bits sometimes collide, so lookups compare the complete value.
//!
//! Invariant: table numbers are on disk forever.

use neardup::keys::ShortKey;
use neardup::{BANDS, Fingerprint, PageSignature, Partition};
use web::UrlKey;

use crate::embedded::tables::Table;

/// Number of kinds of exact keys.
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

/// Maximum number of tables of fingerprints in a design: their numbers are the upper half.
pub(super) const MAX_TABLES: usize = 128;

/// Returns the table of fingerprints for the design's permutation with this number.
pub(super) const fn table_of_permutation(number: usize) -> Table {
    debug_assert!(number < MAX_TABLES, "the design was checked");
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

/// Returns all exact keys of a page with this signature.
pub(super) fn of_page_with(
    page: UrlKey,
    group: u64,
    signature: &PageSignature,
) -> impl Iterator<Item = ExactKey> + Clone + use<> {
    let text = signature.text.as_deref();
    let bands = of_resemblance(group, signature).map(|resemblance| resemblance.bands);
    [
        Some(of_page(page)),
        Some(of_payload(group, signature.payload)),
        text.map(|text| of_text(group, text.digest)),
    ]
    .into_iter()
    .flatten()
    .chain(bands.into_iter().flatten())
}

/// The keys for finding candidates for near-duplicates of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearKeys {
    pub(super) fingerprint: Fingerprint,
    pub(super) bands: [ExactKey; BANDS],
}

/// Returns the keys for near-duplicates; `None` if only the exact text may decide.
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
