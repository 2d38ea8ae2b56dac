//! MinHash against its theory, and what it refuses.

use proptest::prelude::*;

use super::*;
use crate::mix::mix;

const FAMILIES: [Family; 2] = [Family::Fast, Family::Permutations];

fn hasher(family: Family, minima: usize) -> MinHasher {
    MinHasher::new(family, minima).unwrap()
}

/// Returns the MinHash of the members numbered so, as `seed` draws them.
fn scheme(hasher: &MinHasher, seed: u64, numbers: std::ops::Range<u64>) -> MinHash {
    let size = numbers.end - numbers.start;
    let members: Vec<u64> = numbers.map(|n| mix(mix(seed).wrapping_add(n))).collect();
    hasher.of_members(&members, size)
}

/// For each pair of sets, which share so many members and have so many each of their own: the mean
/// error of the estimate, and the root of the mean square one, both in units of √(J(1-J)/n).
fn errors(hasher: &MinHasher, pairs: impl ExactSizeIterator<Item = (u64, u64)>) -> (f64, f64) {
    let number = pairs.len() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for (seed, (shared, apart)) in (0..).zip(pairs) {
        let resemblance = shared as f64 / (shared + 2 * apart) as f64;
        let unit = (resemblance * (1.0 - resemblance) / hasher.minima as f64).sqrt();
        let one = scheme(hasher, seed, 0..shared + apart);
        let two = scheme(hasher, seed, apart..shared + 2 * apart);
        let error = (one.resemblance(&two).unwrap() - resemblance) / unit;
        sum += error;
        squares += error * error;
    }
    (sum / number, (squares / number).sqrt())
}

/// The mean of so many estimates strays from the truth by one standard error more than four times
/// in 16,000.
fn is_unbiased(bias: f64, pairs: u64) -> bool {
    bias.abs() < 4.0 / (pairs as f64).sqrt()
}

/// Sets of 400 members many times outnumber 32 minima, so that theory holds to both sides.
#[test]
fn estimates_for_ten_thousand_random_pairs_are_unbiased_and_err_as_theory_says() {
    let pairs = (0..10_000_u32).map(|seed| {
        let shared = 40 + mix(u64::from(seed) + 1) % 321;
        (shared, 400 - shared)
    });
    let (bias, error) = errors(&hasher(Family::Fast, 32), pairs);
    assert!(is_unbiased(bias, 10_000), "bias {bias}");
    assert!((error - 1.0).abs() < 0.1, "{error} of the theory's error");
}

#[test]
fn permutations_err_as_theory_says_whatever_the_size() {
    let permutations = hasher(Family::Permutations, 64);
    for pair in [(1, 1), (40, 20), (90, 5), (20, 40)] {
        let (bias, error) = errors(&permutations, [pair; 2_000].into_iter());
        assert!(is_unbiased(bias, 2_000), "{pair:?}: bias {bias}");
        assert!(
            (error - 1.0).abs() < 0.1,
            "{pair:?}: {error} of the theory's error"
        );
    }
}

/// A set that is not much larger than the number of minima is sampled nearly without replacement.
#[test]
fn the_fast_family_errs_no_more_than_theory_allows_whatever_the_size() {
    for (minima, pair) in [
        (200, (1, 1)),
        (200, (8, 4)),
        (200, (100, 20)),
        (64, (200, 100)),
    ] {
        let (bias, error) = errors(&hasher(Family::Fast, minima), [pair; 400].into_iter());
        assert!(is_unbiased(bias, 400), "{pair:?}: bias {bias}");
        assert!(error < 1.1, "{pair:?}: {error} of the theory's error");
    }
}

#[test]
fn a_set_resembles_itself_entirely_and_the_empty_set_only_itself() {
    for family in FAMILIES {
        let hasher = hasher(family, 200);
        for size in [0, 1, 2, 50, 1_000] {
            let set = scheme(&hasher, 3, 0..size);
            assert_eq!(set.resemblance(&set), Ok(1.0), "{family:?}, {size}");
            assert_eq!(set.containment_in(&set), Ok(1.0), "{family:?}, {size}");
            assert_eq!((set.is_empty(), set.size()), (size == 0, size));
        }
        let (empty, one) = (scheme(&hasher, 1, 0..0), scheme(&hasher, 1, 0..1));
        assert_eq!(empty.resemblance(&one), Ok(0.0));
        assert_eq!(empty.containment_in(&one), Ok(1.0));
        assert_eq!(one.containment_in(&empty), Ok(0.0));
        assert_eq!(empty.union(&one), Ok(one));
    }
}

/// The mean over 200 pairs; each errs by about 6 %.
#[test]
fn containment_follows_from_resemblance_and_sizes() {
    for family in FAMILIES {
        let hasher = hasher(family, 200);
        let mean = (0..200)
            .map(|seed| {
                let part = scheme(&hasher, seed, 0..300);
                let whole = scheme(&hasher, seed, 60..600);
                part.containment_in(&whole).unwrap()
            })
            .sum::<f64>()
            / 200.0;
        assert!((mean - 240.0 / 300.0).abs() < 0.02, "{family:?}: {mean}");
    }
}

#[test]
fn invalid_numbers_of_minima_are_refused() {
    for minima in [0, MAX_MINIMA + 1, usize::MAX] {
        let refused = MinHasher::new(Family::Fast, minima)
            .unwrap_err()
            .to_string();
        assert_eq!(
            refused,
            format!("a MinHash must have 1 to 4096 minima, got {minima}")
        );
    }
    for (family, minima) in [
        (Family::Fast, 1),
        (Family::Fast, MAX_MINIMA),
        (Family::Permutations, 1),
    ] {
        assert_eq!(
            scheme(&hasher(family, minima), 1, 0..30).minima().len(),
            minima
        );
    }
}

#[test]
fn values_of_different_schemes_are_not_compared() {
    let fast = scheme(&MinHasher::default(), 1, 0..9);
    let permuted = scheme(&hasher(Family::Permutations, 200), 1, 0..9);
    let refused = fast.resemblance(&permuted).unwrap_err().to_string();
    assert_eq!(
        refused,
        "200 fast minima cannot be compared with 200 permuted minima"
    );
    let fewer = scheme(&hasher(Family::Fast, 199), 1, 0..9);
    assert!(fast.containment_in(&fewer).is_err() && fast.union(&fewer).is_err());
}

#[test]
fn bytes_that_are_no_minhash_of_this_version_are_refused() {
    let bytes = scheme(&hasher(Family::Fast, 3), 1, 0..9).to_bytes();
    assert_eq!(bytes.len(), 13 + 3 * 8);
    let changed = |at: usize, to: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = to;
        MinHash::from_bytes(&bytes).unwrap_err()
    };
    assert_eq!(
        changed(1, 9),
        NotAMinHash::Algorithm(neardup::ALGORITHM + 0x900)
    );
    assert_eq!(changed(2, 2), NotAMinHash::Family(2));
    assert_eq!(changed(3, 4), NotAMinHash::Length);
    assert_eq!(changed(4, 255), NotAMinHash::Length);
    for length in 0..bytes.len() {
        assert!(MinHash::from_bytes(&bytes[..length]).is_err());
    }
    let (mut none, mut longer) = (bytes[..13].to_vec(), bytes.clone());
    none[3] = 0;
    longer.push(0);
    assert_eq!(MinHash::from_bytes(&none), Err(NotAMinHash::Length));
    assert_eq!(MinHash::from_bytes(&longer), Err(NotAMinHash::Length));
}

proptest! {
    #[test]
    fn a_minhash_is_read_as_it_was_written(
        members in prop::collection::vec(any::<u64>(), 0..100),
        minima in 1_usize..80,
        size: u64,
        fast: bool,
    ) {
        let minhash = hasher(FAMILIES[usize::from(fast)], minima).of_members(&members, size);
        prop_assert_eq!(&MinHash::from_bytes(&minhash.to_bytes()).unwrap(), &minhash);
        let written = postcard::to_allocvec(&minhash).unwrap();
        prop_assert_eq!(&postcard::from_bytes::<MinHash>(&written).unwrap(), &minhash);
    }

    #[test]
    fn any_bytes_are_a_minhash_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(minhash) = MinHash::from_bytes(&bytes) {
            prop_assert_eq!(minhash.to_bytes(), bytes);
        }
    }

    #[test]
    fn the_minima_of_a_union_are_those_of_all_members(
        one in prop::collection::vec(any::<u64>(), 0..100),
        two in prop::collection::vec(any::<u64>(), 0..100),
        minima in 1_usize..80,
    ) {
        for family in FAMILIES {
            let hasher = hasher(family, minima);
            let of = |members: &[u64]| hasher.of(&Shingles::from_hashes(members.to_vec()));
            let union = of(&one).union(&of(&two)).unwrap();
            let all = of(&[&one[..], &two].concat());
            prop_assert_eq!(union.minima(), all.minima());
            prop_assert!(union.size() >= of(&one).size().max(of(&two).size()));
        }
    }

    #[test]
    fn order_and_repetition_do_not_matter(
        mut members in prop::collection::vec(any::<u64>(), 0..60),
    ) {
        for family in FAMILIES {
            let hasher = hasher(family, 50);
            let minhash = hasher.of_members(&members, 7);
            members.reverse();
            members.extend_from_within(..);
            prop_assert_eq!(hasher.of_members(&members, 7), minhash);
        }
    }
}

proptest! {
    #[test]
    fn a_minhash_that_grows_by_parts_is_that_of_the_whole_set(
        parts in prop::collection::vec(prop::collection::vec(any::<u16>(), 0..90), 0..5),
        minima in 1_usize..70,
    ) {
        for family in FAMILIES {
            let hasher = hasher(family, minima);
            let mut growing = hasher.of_members(&[], 0);
            let mut all = std::collections::BTreeSet::new();
            for part in &parts {
                let part: Vec<u64> = part.iter().map(|&member| u64::from(member)).collect();
                all.extend(part.iter().copied());
                growing.update(&part, all.len() as u64);
                let members: Vec<u64> = all.iter().copied().collect();
                prop_assert_eq!(&growing, &hasher.of_members(&members, all.len() as u64));
            }
        }
    }
}
