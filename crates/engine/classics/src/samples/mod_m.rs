//! MOD_m: a sample of the shingles whose hashes are divisible by m.
//!
//! (Broder, "On the resemblance and containment of documents", 1997, section 3; with shingles of
//! ten words and m = 25 it clustered 30 million pages: Broder, Glassman, Manasse and Zweig,
//! "Syntactic clustering of the web", WWW 1997.) Both sets are sampled by the same rule, so the
//! samples estimate resemblance and containment without bias; the sample of a contained set is
//! contained in the other sample. Unlike a MinHash, it grows with the set: about |A|/m hashes.
//!
//! A sample that exceeds its maximum size doubles its modulus, as Broder proposes for sets of very
//! different sizes. It then equals the sample of the doubled modulus. Two samples are compared at
//! the greater of their moduli.

use neardup::Shingles;
use thiserror::Error;

/// Maximum number of hashes of a [`ModM`], which take 512 KiB.
pub const MAX_MOD_SAMPLE: usize = 1 << 16;

/// The hashes of a set that are divisible by a modulus.
///
/// ```
/// use classics::samples::{InvalidModulus, ModM};
/// use neardup::Shingles;
///
/// let part = ModM::of(&Shingles::from_hashes(vec![25, 26, 50]), ModM::MODULUS_1997)?;
/// let whole = ModM::of(&Shingles::from_hashes(vec![25, 26, 50, 75]), ModM::MODULUS_1997)?;
/// assert_eq!(part.hashes(), [25, 50]);
/// assert_eq!(part.containment_in(&whole), Ok(Some(1.0)));
/// # Ok::<(), InvalidModulus>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModM {
    /// Modulus given by the caller.
    first_modulus: u64,
    /// Current modulus, doubled until the sample is small enough.
    modulus: u64,
    /// Number of members of the set.
    size: usize,
    /// Ascending, each once.
    chosen: Vec<u64>,
}

impl ModM {
    /// The modulus of the system of 1997, which had shingles of
    /// [`Width::CLUSTERING_1997`](neardup::Width).
    pub const MODULUS_1997: u64 = 25;

    /// Samples `shingles` by `modulus`.
    ///
    /// # Errors
    /// [`InvalidModulus`] for 0, because no hash is divisible by 0.
    pub fn of(shingles: &Shingles, modulus: u64) -> Result<Self, InvalidModulus> {
        Self::of_at_most(MAX_MOD_SAMPLE, shingles, modulus)
    }

    fn of_at_most(most: usize, shingles: &Shingles, modulus: u64) -> Result<Self, InvalidModulus> {
        if modulus == 0 {
            return Err(InvalidModulus);
        }
        let hashes = shingles.hashes().iter().copied();
        let mut sample = Self {
            first_modulus: modulus,
            modulus,
            size: shingles.len(),
            chosen: hashes.filter(|hash| hash.is_multiple_of(modulus)).collect(),
        };
        while sample.chosen.len() > most {
            let Some(doubled) = sample.modulus.checked_mul(2) else {
                // Only zero is divisible by such a large number, and it occurs once.
                sample.chosen.truncate(1);
                break;
            };
            sample.modulus = doubled;
            sample.chosen.retain(|hash| hash.is_multiple_of(doubled));
        }
        Ok(sample)
    }

    /// Returns the sample of a set of `size` members with these hashes, sampled by `first_modulus`;
    /// `None` if the hashes cannot be such a sample.
    pub(crate) fn from_parts(
        first_modulus: u64,
        modulus: u64,
        size: usize,
        chosen: Vec<u64>,
    ) -> Option<Self> {
        let doubled = modulus.checked_div(first_modulus)?;
        let is_sample = doubled.is_power_of_two()
            && doubled.checked_mul(first_modulus) == Some(modulus)
            && chosen.len() <= size.min(MAX_MOD_SAMPLE)
            && chosen.is_sorted_by(|one, two| one < two)
            && chosen.iter().all(|hash| hash.is_multiple_of(modulus));
        is_sample.then_some(Self {
            first_modulus,
            modulus,
            size,
            chosen,
        })
    }

    /// Returns the sampled hashes, ascending.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.chosen
    }

    /// Returns the modulus: the given one, or a doubled one if there were too many hashes.
    #[must_use]
    pub fn modulus(&self) -> u64 {
        self.modulus
    }

    /// Returns the number of members of the set.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Estimates |A∩B| / |A∪B|, 0 to 1, without bias; its standard error is about √(J(1-J)m/|A∪B|).
    /// Two empty sets are equal: 1. The result is `Ok(None)` if a set has members but its sample is
    /// empty.
    ///
    /// # Errors
    /// [`DifferentModuli`] if the two were sampled by different moduli.
    pub fn resemblance(&self, other: &ModM) -> Result<Option<f64>, DifferentModuli> {
        let (mine, theirs) = self.at_one_modulus(other)?;
        let is_known = !(mine.is_empty() && theirs.is_empty()) || self.size + other.size == 0;
        Ok(is_known.then(|| mine.resemblance(&theirs)))
    }

    /// Estimates |A∩B| / |A|, 0 to 1, without bias; its standard error is about √(C(1-C)m/|A|). The
    /// empty set is contained in every set: 1. The result is `Ok(None)` if there are members but
    /// the sample is empty.
    ///
    /// # Errors
    /// [`DifferentModuli`] if the two were sampled by different moduli.
    pub fn containment_in(&self, other: &ModM) -> Result<Option<f64>, DifferentModuli> {
        let (mine, theirs) = self.at_one_modulus(other)?;
        let is_known = !mine.is_empty() || self.size == 0;
        Ok(is_known.then(|| mine.containment_in(&theirs)))
    }

    /// Returns the standard error of [`resemblance`](Self::resemblance) for a true resemblance of
    /// `resemblance`, 0 to 1: √(J(1-J)m/|A∪B|) at the greater modulus m of the two.
    #[must_use]
    pub fn standard_error(&self, other: &ModM, resemblance: f64) -> f64 {
        let either = (self.size + other.size) as f64 / (1.0 + resemblance);
        self.error(other, resemblance, either)
    }

    /// Returns the standard error of [`containment_in`](Self::containment_in) for a true
    /// containment of `containment`, 0 to 1: √(C(1-C)m/|A|).
    #[must_use]
    pub fn containment_error(&self, other: &ModM, containment: f64) -> f64 {
        self.error(other, containment, self.size as f64)
    }

    fn error(&self, other: &ModM, share: f64, of: f64) -> f64 {
        let modulus = self.modulus.max(other.modulus) as f64;
        (share * (1.0 - share) * modulus / of.max(1.0)).sqrt()
    }

    /// Returns both samples at the greater modulus, each a set of shingles by itself.
    fn at_one_modulus(&self, other: &ModM) -> Result<(Shingles, Shingles), DifferentModuli> {
        if self.first_modulus != other.first_modulus {
            return Err(DifferentModuli(self.first_modulus, other.first_modulus));
        }
        let modulus = self.modulus.max(other.modulus);
        let at = |sample: &ModM| {
            let chosen = sample.chosen.iter().copied();
            Shingles::from_hashes(chosen.filter(|hash| hash.is_multiple_of(modulus)).collect())
        };
        Ok((at(self), at(other)))
    }
}

/// A modulus of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("modulus must be at least 1, got 0")]
pub struct InvalidModulus;

/// Two samples that were made by different moduli.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a sample modulo {0} cannot be compared with one modulo {1}")]
pub struct DifferentModuli(u64, u64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;
    use neardup::{HashKey, NormalText, Width};
    use proptest::prelude::*;

    fn set(members: std::ops::Range<u64>, seed: u64) -> Shingles {
        Shingles::from_hashes(members.map(|n| mix(seed << 32 | n)).collect())
    }

    #[test]
    fn everything_is_chosen_modulo_one_and_estimates_are_exact() {
        let (one, two) = (set(0..30, 1), set(10..50, 1));
        let (a, b) = (ModM::of(&one, 1).unwrap(), ModM::of(&two, 1).unwrap());
        assert_eq!(a.hashes(), one.hashes());
        assert_eq!(a.resemblance(&b), Ok(Some(one.resemblance(&two))));
        assert_eq!(a.containment_in(&b), Ok(Some(one.containment_in(&two))));
    }

    #[test]
    fn the_empty_set_is_contained_in_everything_and_an_empty_sample_gives_no_estimate() {
        let (nothing, something) = (Shingles::default(), Shingles::from_hashes(vec![26]));
        let of = |set| ModM::of(set, 25).unwrap();
        assert_eq!(of(&nothing).resemblance(&of(&nothing)), Ok(Some(1.0)));
        assert_eq!(of(&nothing).containment_in(&of(&something)), Ok(Some(1.0)));
        assert_eq!(of(&something).containment_in(&of(&something)), Ok(None));
        assert_eq!(of(&something).resemblance(&of(&nothing)), Ok(None));
    }

    /// As in 1997, with the text of the whole around that of the part.
    #[test]
    fn a_passage_is_contained_in_the_text_that_quotes_it() {
        let words = |numbers: std::ops::Range<u32>| {
            numbers.map(|n| format!("word{n} ")).collect::<String>()
        };
        let sample = |text: &str| {
            let text = NormalText::of(text);
            let shingles = Shingles::of(&text, Width::CLUSTERING_1997, HashKey::ZERO);
            ModM::of(&shingles, ModM::MODULUS_1997).unwrap()
        };
        let (part, whole) = (sample(&words(500..1_500)), sample(&words(0..4_000)));
        assert_eq!(part.size(), 991);
        assert!(
            (20..80).contains(&part.hashes().len()),
            "{}",
            part.hashes().len()
        );
        assert_eq!(part.containment_in(&whole), Ok(Some(1.0)));
        let inverse = whole.containment_in(&part).unwrap().unwrap();
        assert!((inverse - 991.0 / 3_991.0).abs() < 0.1, "{inverse}");
    }

    #[test]
    fn a_modulus_of_zero_and_different_moduli_are_refused() {
        let one = set(0..30, 1);
        assert_eq!(ModM::of(&one, 0), Err(InvalidModulus));
        let refused = ModM::of(&one, 25)
            .unwrap()
            .resemblance(&ModM::of(&one, 26).unwrap())
            .unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a sample modulo 25 cannot be compared with one modulo 26"
        );
        assert!(ModM::of(&one, u64::MAX).unwrap().hashes().is_empty());
    }

    /// Over 500 pairs, of which one set is five times as large.
    #[test]
    fn estimates_are_unbiased_and_spread_as_theory_says() {
        let (part, whole, in_both) = (1_000_u64, 5_000_u64, 700_u64);
        let contained = in_both as f64 / part as f64;
        let errors: Vec<f64> = (0..500)
            .map(|seed| {
                let a = ModM::of(&set(0..part, seed), 25).unwrap();
                let b = ModM::of(&set(part - in_both..part - in_both + whole, seed), 25).unwrap();
                a.containment_in(&b).unwrap().unwrap() - contained
            })
            .collect();
        let theory = (contained * (1.0 - contained) * 25.0 / part as f64).sqrt();
        let mean = errors.iter().sum::<f64>() / 500.0;
        let spread = (errors.iter().map(|error| error * error).sum::<f64>() / 500.0).sqrt();
        assert!(mean.abs() < 4.0 * theory / 500_f64.sqrt(), "bias {mean}");
        assert!(
            (spread / theory - 1.0).abs() < 0.15,
            "spread {spread}, theory {theory}"
        );
    }

    proptest! {
        #[test]
        fn a_part_is_contained_in_the_whole(
            whole in prop::collection::vec(any::<u64>(), 0..400),
            keep: u64,
            modulus in 1_u64..40,
            most in 1_usize..50,
        ) {
            let kept = |hash: &u64| mix(*hash ^ keep).is_multiple_of(3);
            let part = Shingles::from_hashes(whole.iter().copied().filter(kept).collect());
            let whole = Shingles::from_hashes(whole);
            let part = ModM::of_at_most(most, &part, modulus).unwrap();
            let whole = ModM::of_at_most(most, &whole, modulus).unwrap();
            prop_assert!(
                part.containment_in(&whole).unwrap().is_none_or(|contained| contained == 1.0),
            );
            prop_assert!(
                whole.resemblance(&whole).unwrap().is_none_or(|resemblance| resemblance == 1.0),
            );
        }

        #[test]
        fn a_capped_sample_is_that_of_its_modulus(
            hashes in prop::collection::vec(any::<u64>(), 0..400),
            most in 1_usize..50,
        ) {
            let set = Shingles::from_hashes(hashes);
            let capped = ModM::of_at_most(most, &set, 3).unwrap();
            prop_assert!(capped.hashes().len() <= most);
            let coarse = ModM::of(&set, capped.modulus()).unwrap();
            prop_assert_eq!(capped.hashes(), coarse.hashes());
            let all = ModM::of(&set, 3).unwrap();
            let judged = all.resemblance(&capped).unwrap();
            prop_assert!(judged.is_none_or(|resemblance| resemblance == 1.0));
        }
    }
}
