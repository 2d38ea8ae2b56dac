//! Simhash fingerprints of 8 to 64 bits; if texts differ little, their fingerprints differ in few
//! bits.

use std::fmt;
use std::str::FromStr;

/// A simhash of 64 bits, written as 16 hexadecimal digits.
///
/// ```
/// use neardup::Fingerprint;
///
/// let fingerprint = Fingerprint::new(0xfeed);
/// assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
/// assert_eq!(fingerprint.distance(Fingerprint::new(0xfeec)), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[doc(alias = "simhash")]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the fingerprint with these bits.
    #[must_use]
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Returns the Hamming distance: the number of the 64 bits that differ.
    #[must_use]
    #[doc(alias = "hamming_distance")]
    pub const fn distance(self, other: Fingerprint) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// Estimates the cosine of the weighted features of two texts, -1 to 1, from the distance d:
    /// cos(πd/64) (Charikar, STOC 2002, section 3). See
    /// [`cosine_error`](Self::cosine_error) for its standard error, and
    /// [`WeightedFeatures`](crate::WeightedFeatures) for the exact cosine.
    #[must_use]
    pub fn cosine(self, other: Fingerprint) -> f64 {
        cosine(self.distance(other), u64::BITS)
    }

    /// Returns the standard error of [`cosine`](Self::cosine) for a true cosine of `cosine`, -1 to
    /// 1: sin θ · √(θ(π-θ)/64), where θ is the angle.
    #[must_use]
    pub fn cosine_error(cosine: f64) -> f64 {
        cosine_error(cosine, u64::BITS)
    }

    /// Returns the simhash of the same text with this number of bits: the lowest bits, since each
    /// bit is voted on independently. The other bits are 0.
    #[must_use]
    pub const fn lowest(self, bits: FingerprintBits) -> Self {
        Self(self.0 & u64::MAX >> (u64::BITS - bits.get()))
    }

    /// Returns the hexadecimal digits of a fingerprint of this number of bits.
    #[must_use]
    pub fn digits(self, bits: FingerprintBits) -> String {
        format!(
            "{:0width$x}",
            self.0,
            width = bits.get().div_ceil(4) as usize
        )
    }
}

/// Number of bits of a fingerprint: 8 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FingerprintBits(u8);

impl FingerprintBits {
    /// 64 bits, as in [`Fingerprint`].
    pub const ALL: Self = Self(64);

    /// Creates a number of bits.
    ///
    /// # Errors
    /// [`InvalidBits`] for fewer than 8 and more than 64.
    pub fn new(bits: u32) -> Result<Self, InvalidBits> {
        match bits {
            8..=64 => Ok(Self(bits as u8)),
            _ => Err(InvalidBits(bits.to_string())),
        }
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0 as u32
    }

    /// Estimates the cosine from a distance as [`Fingerprint::cosine`] does, for this number of
    /// bits.
    #[must_use]
    pub fn cosine(self, distance: u32) -> f64 {
        cosine(distance, self.get())
    }

    /// Returns the standard error of [`cosine`](Self::cosine) for a true cosine of `cosine`, -1 to
    /// 1.
    #[must_use]
    pub fn cosine_error(self, cosine: f64) -> f64 {
        cosine_error(cosine, self.get())
    }
}

/// An invalid number of bits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint must have 8 to 64 bits, got {0}")]
pub struct InvalidBits(String);

impl FromStr for FingerprintBits {
    type Err = InvalidBits;

    fn from_str(written: &str) -> Result<Self, InvalidBits> {
        let bits = written.parse().ok().and_then(|bits| Self::new(bits).ok());
        bits.ok_or_else(|| InvalidBits(quoted(written)))
    }
}

/// Returns the cosine of the angle between two vectors that are separated by `distance` of `bits`
/// random planes.
fn cosine(distance: u32, bits: u32) -> f64 {
    (std::f64::consts::PI * f64::from(distance) / f64::from(bits)).cos()
}

/// Returns the standard error of the estimated cosine: the distance is binomial, with variance bits
/// · θ/π(1-θ/π), and the slope of the cosine is sin θ.
fn cosine_error(cosine: f64, bits: u32) -> f64 {
    let angle = cosine.clamp(-1.0, 1.0).acos();
    angle.sin() * (angle * (std::f64::consts::PI - angle) / f64::from(bits)).sqrt()
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A string that is not a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a fingerprint: it must have 16 hexadecimal digits")]
pub struct NotAFingerprint(String);

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(written: &str) -> Result<Self, NotAFingerprint> {
        // `from_str_radix` alone would accept a sign.
        let is_well_formed =
            written.len() == 16 && written.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u64::from_str_radix(written, 16) {
            Ok(bits) if is_well_formed => Ok(Self(bits)),
            _ => Err(NotAFingerprint(quoted(written))),
        }
    }
}

/// Returns the beginning of a wrong argument, long enough to recognise it.
fn quoted(written: &str) -> String {
    written.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn anything_but_sixteen_hexadecimal_digits_is_refused() {
        for wrong in [
            "",
            "0",
            "+00000000000000a",
            "00000000000000000",
            "000000000000000g",
            "0x00000000000000",
        ] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
        let message = "beef".parse::<Fingerprint>().unwrap_err().to_string();
        assert_eq!(
            message,
            "`beef` is not a fingerprint: it must have 16 hexadecimal digits"
        );
        for wrong in ["7", "65", "", "-8", "0x10", "4294967304"] {
            let message = wrong.parse::<FingerprintBits>().unwrap_err().to_string();
            assert!(message.ends_with(wrong), "{message}");
        }
    }

    /// The example of the lecture notes.
    #[test]
    fn distances_of_nine_bits_are_five_four_and_one() {
        let [one, two, three] = [0b1_1110_0010, 0b1_0011_1110, 0b1_0011_1010].map(Fingerprint::new);
        let distances = (one.distance(two), one.distance(three), two.distance(three));
        assert_eq!(distances, (5, 4, 1));
        let nine = FingerprintBits::new(9).unwrap();
        assert_eq!(
            [one, two, three].map(|one| one.digits(nine)),
            ["1e2", "13e", "13a"]
        );
    }

    #[test]
    fn the_cosine_of_a_distance_is_that_of_its_angle() {
        let at = |distance: u32| {
            let flipped = u64::MAX.checked_shr(64 - distance).unwrap_or(0);
            Fingerprint::new(0).cosine(Fingerprint::new(flipped))
        };
        for (distance, cosine) in [(0, 1.0), (16, 0.5_f64.sqrt()), (32, 0.0), (64, -1.0)] {
            assert!((at(distance) - cosine).abs() < 1e-9, "{distance}");
        }
        assert_eq!(Fingerprint::cosine_error(1.0), 0.0);
        // θ = π/2: √(π²/4 / 64).
        let halfway = std::f64::consts::PI / 16.0;
        assert!((Fingerprint::cosine_error(0.0) - halfway).abs() < 1e-9);
        let half = FingerprintBits::new(32).unwrap();
        assert!(half.cosine_error(0.5) > Fingerprint::cosine_error(0.5));
        assert!(half.cosine(16).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn a_fingerprint_is_read_as_it_was_written(bits: u64) {
            let fingerprint = Fingerprint::new(bits);
            prop_assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
            prop_assert_eq!(fingerprint.digits(FingerprintBits::ALL), fingerprint.to_string());
        }

        #[test]
        fn distance_counts_the_bits_that_were_flipped(bits: u64, flips: u64) {
            prop_assert_eq!(
                Fingerprint::new(bits).distance(Fingerprint::new(bits ^ flips)),
                flips.count_ones(),
            );
        }

        #[test]
        fn the_lowest_bits_are_those_and_no_others(all: u64, bits in 8_u32..=64) {
            let width = FingerprintBits::new(bits).unwrap();
            let lowest = Fingerprint::new(all).lowest(width);
            for bit in 0..64 {
                let expected = if bit < bits { all >> bit & 1 } else { 0 };
                prop_assert_eq!(lowest.as_u64() >> bit & 1, expected);
            }
            let digits = lowest.digits(width);
            prop_assert_eq!(digits.len() as u32, bits.div_ceil(4));
            prop_assert_eq!(u64::from_str_radix(&digits, 16), Ok(lowest.as_u64()));
            prop_assert_eq!(bits.to_string().parse(), Ok(width));
        }
    }
}
