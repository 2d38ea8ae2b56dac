//! Bringing fingerprints into the order of one of their quarters.

/// A fingerprint and its number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) bits: u64,
    pub(super) number: u32,
}

/// The quarter that leads in `table`.
#[inline]
pub(super) fn quarter(bits: u64, table: usize) -> usize {
    usize::from((bits >> (48 - 16 * table)) as u16)
}

/// Brings `entries` into the order of the quarter of `table`, by way of `spare`, which has as many places. A byte at a
/// time, the lower one first, so that what is written stays in the cache.
pub(super) fn by_quarter(entries: &mut [Entry], table: usize, spare: &mut [Entry]) {
    by_byte(entries, spare, |entry| quarter(entry.bits, table) & 0xff);
    by_byte(spare, entries, |entry| quarter(entry.bits, table) >> 8);
}

/// Copies `from` into `to` in the order of a byte; of equal ones the order stays.
fn by_byte(from: &[Entry], to: &mut [Entry], byte: impl Fn(&Entry) -> usize) {
    let mut ends = [0_u32; 256];
    from.iter().for_each(|entry| ends[byte(entry)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum - *end;
    }
    for entry in from {
        let end = &mut ends[byte(entry)];
        to[*end as usize] = *entry;
        *end += 1;
    }
}
