//! Repeated hashes in a list, found without pairwise comparison or sorting.
//!
//! Each hash writes its index to a slot that some of its bits select. A hash that finds its own
//! index there afterwards came last and stays. A hash that finds the index of an equal hash is a
//! repetition. A hash that finds the index of a different hash is left for another round with other
//! bits.

/// Appends repeated hashes to `repetitions`, and puts the undecided hashes into `left`, equal
/// hashes together. The bits from bit `64 - shift` downwards select the slot.
#[inline(always)]
pub(crate) fn find_repetitions(
    hashes: &[u64],
    shift: u32,
    repetitions: &mut Vec<u64>,
    left: &mut Vec<u64>,
) {
    // The narrower an index is, the more slots fit into the first-level cache.
    match hashes.len() {
        0..=0xffff => find_by_places(hashes, shift, 4, |index| index as u16, repetitions, left),
        _ => find_by_places(hashes, shift, 2, |index| index as u32, repetitions, left),
    }
}

/// Does what [`find_repetitions`] does, with at least `slots` / 2 slots per hash. `index` makes an
/// index narrow.
#[inline(always)]
fn find_by_places<Index: Copy + Default + PartialEq + Into<u32>>(
    hashes: &[u64],
    shift: u32,
    slots: usize,
    index: impl Fn(usize) -> Index,
    repetitions: &mut Vec<u64>,
    left: &mut Vec<u64>,
) {
    let bits = (slots * hashes.len() / 2)
        .next_power_of_two()
        .trailing_zeros()
        .clamp(1, 28);
    let slot = |hash: u64| ((hash << shift) >> (64 - bits)) as usize;
    let mut places = vec![Index::default(); 1 << bits];
    let places = &mut places[..];
    for (at, &hash) in hashes.iter().enumerate() {
        places[slot(hash)] = index(at);
    }

    left.clear();
    left.resize(hashes.len(), 0);
    let found = find_not_last(hashes, places, index, shift, 64 - bits, left);
    left.truncate(found);
    let not_last = std::mem::take(left);
    left.resize(found, 0);
    let others = &mut left[..found];
    let first = repetitions.len();
    repetitions.resize(first + found, 0);
    let same = &mut repetitions[first..];
    let (mut equal, mut unequal) = (0, 0);
    for &hash in &not_last {
        let repeats = hashes[places[slot(hash)].into() as usize] == hash;
        (same[equal], others[unequal]) = (hash, hash);
        equal += usize::from(repeats);
        unequal += usize::from(!repeats);
    }
    left.truncate(unequal);
    repetitions.truncate(first + equal);
}

/// Copies the hashes that are not the last of their slot to `found`; returns their number.
#[inline(always)]
fn find_not_last<Index: Copy + PartialEq>(
    hashes: &[u64],
    places: &[Index],
    index: impl Fn(usize) -> Index,
    shift: u32,
    drop: u32,
    found: &mut [u64],
) -> usize {
    let mut count = 0;
    for (at, &hash) in hashes.iter().enumerate() {
        found[count] = hash;
        let slot = ((hash << shift) >> drop) as usize;
        count += usize::from(places[slot] != index(at));
    }
    count
}
