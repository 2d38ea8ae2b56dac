//! MinHash: a set as a few hundred minima, which estimate resemblance, containment and the size of
//! unions.
//!
//! (Broder, "On the resemblance and containment of documents", 1997; Broder, Charikar, Frieze and
//! Mitzenmacher, "Min-wise independent permutations", STOC 1998.) Under a random permutation, the
//! least members of two sets are equal with a probability that is the resemblance of the sets. The
//! share of n such minima that agrees estimates it with a standard error of √(J(1-J)/n). The
//! [`Family`] determines how the n minima are made.
//!
//! The sizes of the sets are kept with the minima and give containment: |A∩B| = J(|A|+|B|)/(1+J).
//! Invariant: the minima, and the layout of [`MinHash::to_bytes`], are stable for ever
//! (`golden/minhashes.txt`).

mod b_bit;
mod containment_index;
mod stored;
mod super_shingles;

use std::fmt;

use neardup::permutations::Permutations;
use neardup::{Shingles, similarity};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use b_bit::{BBitMinHash, BitsKept};
pub use containment_index::{Contained, ContainmentIndex};
pub use stored::NotAMinHash;
pub use super_shingles::{Grouping, InvalidGrouping, SuperShingles};

/// Maximum number of minima of a [`MinHash`]; the error is then 0.8 % at worst.
pub const MAX_MINIMA: usize = similarity::MAX_BINS;
/// Default number of minima of a [`MinHash`]; the error is then 3.5 % at worst.
pub const DEFAULT_MINIMA: usize = 200;

/// The method of making minima. Minima of different families must not be compared.
///
/// Invariant: the numbers of the families are stable for ever, because they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Family {
    /// One hash per member for all minima, among which the members are distributed; a few more if
    /// the set is small ("fast similarity sketching", Dahlgaard, Knudsen and Thorup, FOCS 2017).
    /// The error never exceeds the error of [`Permutations`](Self::Permutations): a small set is
    /// sampled nearly without replacement.
    #[default]
    Fast = 0,
    /// A separate permutation for each minimum, as in the definition: n times the work.
    Permutations = 1,
}

/// A hasher that makes [`MinHash`]es of one family and one number of minima.
///
/// ```
/// use classics::minhash::MinHasher;
///
/// let hasher = MinHasher::default();
/// let of = |members: &[u64]| hasher.of_members(members, members.len() as u64);
/// let (one, other) = (of(&[1, 2, 3]), of(&[3, 2, 1]));
/// assert_eq!(one.resemblance(&other), Ok(1.0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinHasher {
    family: Family,
    minima: usize,
    /// Empty for the fast family.
    permutations: Permutations,
}

impl MinHasher {
    /// Creates a hasher of `minima` minima of this family.
    ///
    /// # Errors
    /// [`InvalidMinHash`] for 0 minima and for more than [`MAX_MINIMA`].
    pub fn new(family: Family, minima: usize) -> Result<Self, InvalidMinHash> {
        if !(1..=MAX_MINIMA).contains(&minima) {
            return Err(InvalidMinHash(minima));
        }
        Ok(Self::possible(family, minima))
    }

    fn possible(family: Family, minima: usize) -> Self {
        let permutations = match family {
            Family::Fast => 0,
            Family::Permutations => minima,
        };
        Self {
            family,
            minima,
            permutations: Permutations::first(permutations),
        }
    }

    /// Returns the MinHash of `shingles`.
    #[must_use]
    pub fn of(&self, shingles: &Shingles) -> MinHash {
        self.of_members(shingles.hashes(), shingles.len() as u64)
    }

    /// Returns the MinHash of a set whose `members` are given in any order, repeated or not; `size`
    /// is the number of distinct members. Members may be any numbers, even consecutive ones.
    ///
    /// Sorting the members into [`Shingles`] takes several times as long as this. It suits callers
    /// that know the size, or that do not need containment.
    #[must_use]
    pub fn of_members(&self, members: &[u64], size: u64) -> MinHash {
        let minima = match self.family {
            Family::Fast => {
                let mut minima = vec![0; self.minima];
                similarity::sample(members, &mut minima);
                minima
            }
            Family::Permutations => self.permutations.minima(members),
        };
        MinHash {
            family: self.family,
            size,
            minima: minima.into_boxed_slice(),
        }
    }
}

/// A hasher of [`DEFAULT_MINIMA`] of the fast family.
impl Default for MinHasher {
    fn default() -> Self {
        Self::possible(Family::Fast, DEFAULT_MINIMA)
    }
}

/// The MinHash of a set: its size and its minima.
///
/// ```
/// use classics::minhash::{MinHash, MinHasher};
///
/// let hasher = MinHasher::default();
/// let (one, other) = (hasher.of_members(&[1, 2], 2), hasher.of_members(&[3], 1));
/// let union = one.union(&other).expect("both are made by one hasher");
/// assert_eq!(union.minima(), hasher.of_members(&[1, 2, 3], 3).minima());
/// assert_eq!(MinHash::from_bytes(&union.to_bytes()), Ok(union));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct MinHash {
    family: Family,
    /// Exact, or an estimate for a union.
    size: u64,
    /// All [`similarity::NOTHING`] for the empty set.
    minima: Box<[u64]>,
}

impl MinHash {
    /// Returns the family of the minima.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// Returns the minima; equal minima at the same position indicate resemblance. For the empty
    /// set, all are 2⁶⁴ - 1.
    #[must_use]
    pub fn minima(&self) -> &[u64] {
        &self.minima
    }

    /// Returns the number of members of the set; an estimate for a [`union`](Self::union).
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns true if the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.minima.first() == Some(&similarity::NOTHING)
    }

    /// Estimates |A∩B| / |A∪B|, 0 to 1, without bias, with a standard error of √(J(1-J)/n). Two
    /// empty sets are equal: 1.
    ///
    /// # Errors
    /// [`Incomparable`] if the two have different families or numbers of minima.
    pub fn resemblance(&self, other: &MinHash) -> Result<f64, Incomparable> {
        self.scheme().check(other.scheme())?;
        let pairs = self.minima.iter().zip(&other.minima);
        let agreeing = pairs.filter(|(mine, theirs)| mine == theirs).count();
        Ok(agreeing as f64 / self.minima.len() as f64)
    }

    /// Estimates |A∩B| / |A|, 0 to 1, from resemblance and sizes. For sets of similar size, the
    /// estimate is as good as the estimate of the resemblance. It is poor for a small set in a
    /// large one; there, a [`ModM`](crate::samples::ModM) is better. The empty set is contained in
    /// every set: 1.
    ///
    /// # Errors
    /// [`Incomparable`] if the two have different families or numbers of minima.
    pub fn containment_in(&self, other: &MinHash) -> Result<f64, Incomparable> {
        let resemblance = self.resemblance(other)?;
        if self.is_empty() {
            return Ok(1.0);
        }
        let shared = resemblance * (self.size as f64 + other.size as f64) / (1.0 + resemblance);
        Ok((shared / (self.size as f64).max(1.0)).min(1.0))
    }

    /// Returns the MinHash of A∪B: its minima are exactly the minima of the union; its size is
    /// estimated from the two sizes and the resemblance.
    ///
    /// # Errors
    /// [`Incomparable`] if the two have different families or numbers of minima.
    pub fn union(&self, other: &MinHash) -> Result<MinHash, Incomparable> {
        let resemblance = self.resemblance(other)?;
        let estimate = (self.size as f64 + other.size as f64) / (1.0 + resemblance);
        let minima = self.minima.iter().zip(&other.minima);
        Ok(MinHash {
            family: self.family,
            // A union is at least as large as its parts.
            size: (estimate.round() as u64).max(self.size).max(other.size),
            minima: minima.map(|(mine, theirs)| *mine.min(theirs)).collect(),
        })
    }

    /// Adds `members`, in any order, repeated or already present; `size` is the number of distinct
    /// members that the set then has. The result is exactly the MinHash of the whole set, no matter
    /// how it is split into parts.
    ///
    /// A caller that does not need containment may give any size. Large parts cost less per member:
    /// [`Family::Fast`] fills all its minima in each call.
    ///
    /// ```
    /// use classics::minhash::MinHasher;
    ///
    /// let hasher = MinHasher::default();
    /// let mut minhash = hasher.of_members(&[1, 2], 2);
    /// minhash.update(&[2, 3], 3);
    /// assert_eq!(minhash, hasher.of_members(&[1, 2, 3], 3));
    /// ```
    pub fn update(&mut self, members: &[u64], size: u64) {
        let added = MinHasher::possible(self.family, self.minima.len()).of_members(members, size);
        for (mine, new) in self.minima.iter_mut().zip(added.minima) {
            *mine = new.min(*mine);
        }
        self.size = size;
    }

    /// Returns the standard error of [`resemblance`](Self::resemblance) for a true resemblance of
    /// `resemblance`, 0 to 1: √(J(1-J)/n). Small sets of [`Family::Fast`] err less.
    #[must_use]
    pub fn standard_error(&self, resemblance: f64) -> f64 {
        (resemblance * (1.0 - resemblance) / self.minima.len() as f64).sqrt()
    }

    fn scheme(&self) -> Scheme {
        Scheme {
            family: self.family,
            minima: self.minima.len(),
            retained: Retained::Whole,
        }
    }
}

/// The way a value was made from minima: only values of the same scheme are comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scheme {
    family: Family,
    minima: usize,
    retained: Retained,
}

/// The part of the minima that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retained {
    Whole,
    /// A number of bits of each minimum.
    Bits(usize),
    /// The hashes of groups of minima.
    Groups {
        groups: usize,
        minima: usize,
    },
}

impl Scheme {
    fn retaining(self, retained: Retained) -> Self {
        Self { retained, ..self }
    }

    fn check(self, other: Self) -> Result<(), Incomparable> {
        if self == other {
            return Ok(());
        }
        Err(Incomparable(self, other))
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let family = match self.family {
            Family::Fast => "fast",
            Family::Permutations => "permuted",
        };
        match self.retained {
            Retained::Whole => {}
            Retained::Bits(bits) => write!(f, "{bits} bits each of ")?,
            Retained::Groups { groups, minima } => write!(f, "{groups} groups of {minima} of ")?,
        }
        write!(f, "{} {family} minima", self.minima)
    }
}

/// A number of minima outside 1 to [`MAX_MINIMA`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a MinHash must have 1 to {MAX_MINIMA} minima, got {0}")]
pub struct InvalidMinHash(usize);

/// Two values of different schemes, which cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} cannot be compared with {1}")]
pub struct Incomparable(Scheme, Scheme);

#[cfg(test)]
mod tests;
