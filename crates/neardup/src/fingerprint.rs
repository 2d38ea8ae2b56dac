//! Simhash fingerprints of 64 and of 32 bits, which differ in few places if the texts differ
//! little.

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

    /// Returns the Hamming distance: the number of the 64 bits in which the two differ.
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

    /// Returns the standard error of [`cosine`](Self::cosine) if the true cosine, -1 to 1, is this
    /// one: sin θ · √(θ(π-θ)/64), where θ is the angle.
    #[must_use]
    pub fn cosine_error(cosine: f64) -> f64 {
        cosine_error(cosine, u64::BITS)
    }

    /// Returns the 32-bit simhash of the same text: the lower half, since each bit is voted on
    /// independently.
    #[must_use]
    pub const fn halved(self) -> Fingerprint32 {
        Fingerprint32(self.0 as u32)
    }
}

/// A simhash of 32 bits, written as 8 hexadecimal digits. It has a type of its own because it has
/// no distance from 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint32(u32);

impl Fingerprint32 {
    /// Returns the fingerprint with these bits.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    #[must_use]
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// Returns the Hamming distance: the number of the 32 bits in which the two differ.
    #[must_use]
    #[doc(alias = "hamming_distance")]
    pub const fn distance(self, other: Fingerprint32) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

impl Fingerprint32 {
    /// Estimates the cosine as [`Fingerprint::cosine`] does, by 32 bits.
    #[must_use]
    pub fn cosine(self, other: Fingerprint32) -> f64 {
        cosine(self.distance(other), u32::BITS)
    }

    /// Returns the standard error of [`cosine`](Self::cosine) if the true cosine, -1 to 1, is this
    /// one.
    #[must_use]
    pub fn cosine_error(cosine: f64) -> f64 {
        cosine_error(cosine, u32::BITS)
    }
}

/// Returns the cosine of the angle of which `distance` of `bits` random planes tell two vectors
/// apart.
fn cosine(distance: u32, bits: u32) -> f64 {
    (std::f64::consts::PI * f64::from(distance) / f64::from(bits)).cos()
}

/// Returns the standard error of that estimate: the distance is binomial, with variance bits ·
/// θ/π(1-θ/π), and the slope of the cosine is sin θ.
fn cosine_error(cosine: f64, bits: u32) -> f64 {
    let angle = cosine.clamp(-1.0, 1.0).acos();
    angle.sin() * (angle * (std::f64::consts::PI - angle) / f64::from(bits)).sqrt()
}

impl fmt::Display for Fingerprint32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A string that is not a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{written}` is no fingerprint: {digits} hexadecimal digits are")]
pub struct NotAFingerprint {
    written: String,
    digits: usize,
}

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(written: &str) -> Result<Self, NotAFingerprint> {
        hexadecimal(written, 16).map(Self)
    }
}

impl FromStr for Fingerprint32 {
    type Err = NotAFingerprint;

    fn from_str(written: &str) -> Result<Self, NotAFingerprint> {
        hexadecimal(written, 8).map(|bits| Self(bits as u32))
    }
}

fn hexadecimal(written: &str, digits: usize) -> Result<u64, NotAFingerprint> {
    // `from_str_radix` alone would accept a sign.
    let well_formed =
        written.len() == digits && written.bytes().all(|byte| byte.is_ascii_hexdigit());
    match u64::from_str_radix(written, 16) {
        Ok(bits) if well_formed => Ok(bits),
        _ => Err(NotAFingerprint {
            written: written.chars().take(40).collect(),
            digits,
        }),
    }
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
            "`beef` is no fingerprint: 16 hexadecimal digits are"
        );
        let message = "00000000000000ff"
            .parse::<Fingerprint32>()
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "`00000000000000ff` is no fingerprint: 8 hexadecimal digits are"
        );
    }

    proptest! {
        #[test]
        fn a_fingerprint_is_read_as_it_was_written(bits: u64) {
            let fingerprint = Fingerprint::new(bits);
            prop_assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
            prop_assert_eq!(fingerprint.halved().to_string().parse(), Ok(fingerprint.halved()));
        }

        #[test]
        fn distance_counts_the_bits_that_were_flipped(bits: u64, flips: u64) {
            prop_assert_eq!(
                Fingerprint::new(bits).distance(Fingerprint::new(bits ^ flips)),
                flips.count_ones(),
            );
            let halved = Fingerprint::new(bits).halved();
            prop_assert_eq!(
                halved.distance(Fingerprint::new(bits ^ flips).halved()),
                (flips as u32).count_ones(),
            );
        }
    }
}
