//! The instruction sets that a processor may have.
//!
//! Invariant: only [`Instructions::available`] creates values other than
//! [`Instructions::PORTABLE`], after detecting every feature of the set. This makes calls into the
//! variants compiled for a set sound.

use std::sync::OnceLock;

/// A set of instructions that this processor supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(pub(super) Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Portable,
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    Avx512,
}

impl Instructions {
    /// The instructions of every processor.
    pub const PORTABLE: Instructions = Instructions(Kind::Portable);

    /// Returns the best set that this processor supports, detected once.
    #[must_use]
    pub fn best() -> Self {
        static BEST: OnceLock<Instructions> = OnceLock::new();
        *BEST.get_or_init(|| *Self::available().last().unwrap_or(&Self::PORTABLE))
    }

    /// Returns all sets that this processor supports, the best last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        #[cfg_attr(
            not(all(target_arch = "x86_64", feature = "simd")),
            expect(unused_mut, reason = "there are no others")
        )]
        let mut available = vec![Self::PORTABLE];
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            if avx2 {
                available.push(Self(Kind::Avx2));
            }
            if avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2")
            {
                available.push(Self(Kind::Avx512));
            }
        }
        available
    }

    /// Returns the name: `portable`, `avx2` or `avx512`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            Kind::Avx2 => "avx2",
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            Kind::Avx512 => "avx512",
        }
    }
}
