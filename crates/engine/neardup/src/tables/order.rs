//! Radix sort of fingerprints by one of their quarters.

/// A fingerprint with its number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberedFingerprint {
    pub(super) bits: u64,
    pub(super) number: u32,
}

/// Returns these fingerprints, numbered from `first`.
pub(super) fn numbered(bits: impl Iterator<Item = u64>, first: u32) -> Vec<NumberedFingerprint> {
    bits.zip(first..)
        .map(|(bits, number)| NumberedFingerprint { bits, number })
        .collect()
}

/// Returns the quarter that leads in `table`.
#[inline]
pub(super) fn quarter(bits: u64, table: usize) -> usize {
    usize::from((bits >> (48 - 16 * table)) as u16)
}

/// Sorts `entries` by the quarter of `table`, with `spare`, of the same length, as a buffer. Sorts
/// one byte at a time, the lower byte first, so that written data stay in the cache.
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

/// Copies `from` into `to`, sorted by a byte with the histogram `counts`; the sort is stable.
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
