//! Bringing fingerprints into the order of one of their quarters.

/// A fingerprint and its number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberedFingerprint {
    pub(super) bits: u64,
    pub(super) number: u32,
}

/// Returns the quarter that leads in `table`.
#[inline]
pub(super) fn quarter(bits: u64, table: usize) -> usize {
    usize::from((bits >> (48 - 16 * table)) as u16)
}

/// Brings `entries` into the order of the quarter of `table`, by way of `spare`, which has as many
/// places. A byte at a time, the lower one first, so that what is written stays in the cache.
pub(super) fn by_quarter(
    entries: &mut [NumberedFingerprint],
    table: usize,
    spare: &mut [NumberedFingerprint],
) {
    let lower = |entry: &NumberedFingerprint| quarter(entry.bits, table) & 0xff;
    let upper = |entry: &NumberedFingerprint| quarter(entry.bits, table) >> 8;
    let (mut lowers, mut uppers) = ([0_u32; 256], [0_u32; 256]);
    for entry in entries.iter() {
        lowers[lower(entry)] += 1;
        uppers[upper(entry)] += 1;
    }
    by_byte(entries, spare, &mut lowers, lower);
    by_byte(spare, entries, &mut uppers, upper);
}

/// Copies `from` into `to` in the order of a byte, of which `counts` says how often each occurs; of
/// equal ones the order stays.
fn by_byte(
    from: &[NumberedFingerprint],
    to: &mut [NumberedFingerprint],
    counts: &mut [u32; 256],
    byte: impl Fn(&NumberedFingerprint) -> usize,
) {
    let mut sum = 0;
    for count in counts.iter_mut() {
        sum += *count;
        *count = sum - *count;
    }
    let next = counts;
    for entry in from {
        let next = &mut next[byte(entry)];
        to[*next as usize] = *entry;
        *next += 1;
    }
}
