//! Simhash: a weighted vote of features about each of 64 bits (Charikar, STOC 2002).
//!
//! Equal features are counted by sorting their hashes, and features of equal weight vote together. How many of them have
//! bit *i* set is counted for all 64 bits at once: counters lie across words, word *p* holding bit *p* of every counter,
//! and a carry-save adder takes in eight hashes with seven additions (Harley and Seal; Warren, *Hacker's Delight*, 2nd
//! ed., section 5-1).
//!
//! Invariant: all sums are integers, so a fingerprint has the same bits on every machine and in any order of features.

use crate::{Fingerprint, Weights};

/// The fingerprint of features with these hashes, each as often as it occurs. A tie gives 0.
pub(crate) fn simhash(mut hashes: Vec<u64>, weights: Weights) -> Fingerprint {
    hashes.sort_unstable();
    let mut sums = [0; 64];
    if weights == Weights::None {
        hashes.dedup();
        vote(&mut sums, &hashes, 1);
        return decided(&sums);
    }

    // Most features occur once: only the others are worth a list with counts.
    let mut once = Vec::with_capacity(hashes.len());
    let mut often: Vec<(usize, u64)> = Vec::new();
    for equal in hashes.chunk_by(|one, other| one == other) {
        match equal {
            [hash] => once.push(*hash),
            _ => often.push((equal.len(), equal[0])),
        }
    }
    vote(&mut sums, &once, weight(weights, 1));
    often.sort_unstable_by_key(|&(count, _)| count);
    for alike in often.chunk_by(|(one, _), (other, _)| one == other) {
        once.clear();
        once.extend(alike.iter().map(|&(_, hash)| hash));
        vote(&mut sums, &once, weight(weights, alike[0].0));
    }
    decided(&sums)
}

/// Adds `weight` to the sum of each bit for each of `hashes` that has it set, and takes it off for each that has not.
fn vote(sums: &mut [i64; 64], hashes: &[u64], weight: i64) {
    let votes = hashes.len() as i64;
    for (sum, ones) in sums.iter_mut().zip(ones_in(hashes)) {
        *sum += weight * (2 * i64::from(ones) - votes);
    }
}

fn decided(sums: &[i64; 64]) -> Fingerprint {
    let ones = (0..64).filter(|&bit| sums[bit] > 0);
    Fingerprint::new(ones.fold(0, |bits, bit| bits | 1 << bit))
}

fn weight(weights: Weights, count: usize) -> i64 {
    match weights {
        Weights::None => 1,
        Weights::Tf => count as i64,
        Weights::LogTf => i64::from(LOG_WEIGHTS[count.min(LOG_WEIGHTS.len() - 1)]),
    }
}

/// 1024 × (1 + ln tf), rounded, for tf from 1 to 255; computed in integers because a machine's logarithm may err.
const LOG_WEIGHTS: [u16; 256] = {
    const ONE: u64 = 1 << 48;
    let mut weights = [0; 256];
    let mut ln = 0;
    let mut tf = 1;
    while tf < 256 {
        // ln n - ln (n-1) = 2 artanh 1/(2n-1) = 2 (1/m + 1/3m³ + 1/5m⁵ + …) where m = 2n-1; nothing for n = 1.
        let m = 2 * tf - 1;
        let mut power = if tf == 1 { 0 } else { ONE / m };
        let mut divisor = 1;
        while power > 0 {
            ln += 2 * power / divisor;
            power /= m * m;
            divisor += 2;
        }
        weights[tf as usize] = ((((ONE + ln) >> 37) + 1) >> 1) as u16;
        tf += 1;
    }
    weights
};

/// For each bit, how many of `hashes` have it set.
fn ones_in(hashes: &[u64]) -> [u32; 64] {
    // Thirty-two words of counters: no group has 2³² features, since no text has that many bytes.
    let mut planes = [0_u64; 32];
    let (eights, rest) = hashes.as_chunks::<8>();
    for [a, b, c, d, e, f, g, h] in eights {
        let (ones, twos_1) = full_add(planes[0], *a, *b);
        let (ones, twos_2) = full_add(ones, *c, *d);
        let (ones, twos_3) = full_add(ones, *e, *f);
        let (ones, twos_4) = full_add(ones, *g, *h);
        let (twos, fours_1) = full_add(planes[1], twos_1, twos_2);
        let (twos, fours_2) = full_add(twos, twos_3, twos_4);
        let (fours, eight) = full_add(planes[2], fours_1, fours_2);
        (planes[0], planes[1], planes[2]) = (ones, twos, fours);
        add_to(&mut planes[3..], eight);
    }
    for hash in rest {
        add_to(&mut planes, *hash);
    }

    let mut ones = [0; 64];
    for (power, plane) in planes.iter().enumerate().filter(|&(_, &plane)| plane != 0) {
        for (bit, ones) in ones.iter_mut().enumerate() {
            *ones += ((plane >> bit & 1) as u32) << power;
        }
    }
    ones
}

/// Adds three bits in each of 64 lanes: their sum and what is carried.
#[inline]
fn full_add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, a & b | half & c)
}

/// Adds a bit to each of 64 counters.
#[inline]
fn add_to(planes: &mut [u64], bits: u64) {
    let mut carry = bits;
    for plane in planes {
        if carry == 0 {
            return;
        }
        (*plane, carry) = (*plane ^ carry, *plane & carry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// The definition, bit by bit.
    fn plain(features: &HashMap<u64, usize>, weights: Weights) -> Fingerprint {
        let mut bits = 0;
        for bit in 0..64 {
            let votes = features.iter().map(|(hash, &count)| {
                let weight = weight(weights, count);
                if hash >> bit & 1 == 1 { weight } else { -weight }
            });
            if votes.sum::<i64>() > 0 {
                bits |= 1 << bit;
            }
        }
        Fingerprint::new(bits)
    }

    #[test]
    fn logarithmic_weights_are_1_plus_ln_tf_in_steps_of_1_in_1024() {
        assert_eq!(LOG_WEIGHTS[..3], [0, 1024, 1734]);
        for (tf, &weight) in LOG_WEIGHTS.iter().enumerate().skip(1) {
            let exact = 1024.0 * (1.0 + (tf as f64).ln());
            assert!(
                (f64::from(weight) - exact).abs() <= 0.5 + 1e-6,
                "tf {tf}: {weight} for {exact}"
            );
        }
        assert_eq!(weight(Weights::LogTf, 255), weight(Weights::LogTf, usize::MAX));
    }

    #[test]
    fn a_tie_gives_zero() {
        assert_eq!(simhash(vec![u64::MAX, 0], Weights::None), Fingerprint::new(0));
        assert_eq!(
            simhash(vec![u64::MAX, 0, u64::MAX, 0], Weights::Tf),
            Fingerprint::new(0)
        );
    }

    proptest! {
        #[test]
        fn the_fast_fingerprint_has_the_bits_of_the_plain_one(
            features in prop::collection::hash_map(any::<u64>(), prop_oneof![Just(1), 1_usize..300], 0..80),
        ) {
            let repeated: Vec<u64> =
                features.iter().flat_map(|(&hash, &count)| std::iter::repeat_n(hash, count)).collect();
            for weights in [Weights::None, Weights::Tf, Weights::LogTf] {
                prop_assert_eq!(simhash(repeated.clone(), weights), plain(&features, weights));
            }
        }

        #[test]
        fn bits_are_counted_across_as_one_by_one(hashes in prop::collection::vec(any::<u64>(), 0..600)) {
            let expected: Vec<u32> =
                (0..64).map(|bit| hashes.iter().map(|hash| (hash >> bit & 1) as u32).sum()).collect();
            prop_assert_eq!(ones_in(&hashes).to_vec(), expected);
        }
    }
}
