//! Repeated hashes in a list, found without comparing in pairs or sorting.
//!
//! Each hash writes its index to a slot that some of its bits name. A hash that finds its own index
//! there afterwards came last and stays; one that finds the index of an equal hash is a repetition;
//! one that finds the index of another hash is left for a further round with other bits.

/// Appends the hashes that repeat another one to `repetitions`, and puts the undecided ones into
/// `left`, equal ones together. Slots are named by the bits from bit `64 - shift` downwards.
#[inline(always)]
pub(crate) fn find_repetitions(
    hashes: &[u64],
    shift: u32,
    repetitions: &mut Vec<u64>,
    left: &mut Vec<u64>,
) {
    match hashes.len() {
        0..=0xffff => find_by_places::<u16>(hashes, shift, 4, repetitions, left),
        _ => find_by_places::<u32>(hashes, shift, 2, repetitions, left),
    }
}

/// An index into a list; the narrower it is, the more slots fit into the first-level cache.
trait SlotIndex: Copy + PartialEq {
    const FIRST: Self;
    fn of(index: usize) -> Self;
    fn index(self) -> usize;
}

impl SlotIndex for u16 {
    const FIRST: Self = 0;
    #[inline(always)]
    fn of(index: usize) -> Self {
        index as u16
    }
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl SlotIndex for u32 {
    const FIRST: Self = 0;
    #[inline(always)]
    fn of(index: usize) -> Self {
        index as u32
    }
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

#[inline(always)]
fn find_by_places<P: SlotIndex>(
    hashes: &[u64],
    shift: u32,
    slots: usize,
    repetitions: &mut Vec<u64>,
    left: &mut Vec<u64>,
) {
    let bits = (slots * hashes.len() / 2)
        .next_power_of_two()
        .trailing_zeros()
        .clamp(1, 28);
    let slot = |hash: u64| ((hash << shift) >> (64 - bits)) as usize;
    let mut places = vec![P::FIRST; 1 << bits];
    let places = &mut places[..];
    for (index, &hash) in hashes.iter().enumerate() {
        places[slot(hash)] = P::of(index);
    }

    left.clear();
    left.resize(hashes.len(), 0);
    let found = find_not_last(hashes, places, shift, 64 - bits, left);
    left.truncate(found);
    let not_last = std::mem::take(left);
    left.resize(found, 0);
    let others = &mut left[..found];
    let first = repetitions.len();
    repetitions.resize(first + found, 0);
    let same = &mut repetitions[first..];
    let (mut equal, mut unequal) = (0, 0);
    for &hash in &not_last {
        let repeats = hashes[places[slot(hash)].index()] == hash;
        (same[equal], others[unequal]) = (hash, hash);
        equal += usize::from(repeats);
        unequal += usize::from(!repeats);
    }
    left.truncate(unequal);
    repetitions.truncate(first + equal);
}

/// Copies the hashes that are not the last of their slot to `found`; returns their number.
#[inline(always)]
fn find_not_last<P: SlotIndex>(
    hashes: &[u64],
    places: &[P],
    shift: u32,
    drop: u32,
    found: &mut [u64],
) -> usize {
    let mut count = 0;
    for (index, &hash) in hashes.iter().enumerate() {
        found[count] = hash;
        let slot = ((hash << shift) >> drop) as usize;
        count += usize::from(places[slot] != P::of(index));
    }
    count
}
