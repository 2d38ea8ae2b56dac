//! Shards: the same work split over machines.
//!
//! A file of fingerprints is cut into ranges, and each range is searched for all queries (Manku,
//! Jain and Das Sarma, WWW 2007, section 4): shard 1 of n begins with the file and shard n ends
//! with it, so that results in the order of the file, concatenated in the order of the shards,
//! equal the results of the whole file. Documents are dealt out in turn, because their number is
//! unknown before they are read. Invariant: every part belongs to exactly one of n shards.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

/// The greatest number of shards.
pub const MAX_SHARDS: u32 = 1 << 20;

/// One of several shards, written `1/4` to `4/4`.
///
/// ```
/// use batch::Shard;
///
/// let shard: Shard = "2/3".parse()?;
/// assert_eq!(shard.range(10), 3..6);
/// assert_eq!(Shard::WHOLE.range(10), 0..10);
/// # Ok::<(), batch::InvalidShard>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Shard {
    /// The only shard of unsplit work.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Creates shard `number` of `of`, counted from 1.
    ///
    /// # Errors
    /// [`InvalidShard`] for a number of 0 or above `of`, and for more than [`MAX_SHARDS`].
    pub fn new(number: u32, of: u32) -> Result<Self, InvalidShard> {
        if (1..=of).contains(&number) && of <= MAX_SHARDS {
            Ok(Self { number, of })
        } else {
            Err(InvalidShard(format!("{number}/{of}")))
        }
    }

    /// Returns the number of the shard, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns the number of shards.
    #[must_use]
    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns true if the shard has the part with this number, from 0, where parts are dealt out
    /// in turn.
    #[must_use]
    pub fn has(self, part: u64) -> bool {
        part % u64::from(self.of) == u64::from(self.number - 1)
    }

    /// Returns the shard's share of `count` parts, which is a range.
    #[must_use]
    pub fn range(self, count: u64) -> Range<u64> {
        let end = |shards: u32| {
            let parts = u128::from(count) * u128::from(shards) / u128::from(self.of);
            parts as u64
        };
        end(self.number - 1)..end(self.number)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(written: &str) -> Result<Self, InvalidShard> {
        let invalid = || InvalidShard(written.chars().take(40).collect());
        let (number, of) = written.split_once('/').ok_or_else(invalid)?;
        let parsed = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true => digits.parse().ok(),
            false => None,
        };
        let both = parsed(number).zip(parsed(of));
        both.and_then(|(number, of)| Self::new(number, of).ok())
            .ok_or_else(invalid)
    }
}

/// A shard that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a shard must be I/N with I from 1 to N and N up to {MAX_SHARDS}, got {0}")]
pub struct InvalidShard(String);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shards_are_read_as_they_are_written_and_others_are_refused() {
        for written in ["1/1", "3/7", "1048576/1048576"] {
            assert_eq!(written.parse::<Shard>().unwrap().to_string(), written);
        }
        for wrong in [
            "",
            "1",
            "/",
            "0/3",
            "4/3",
            "-1/3",
            "+1/3",
            "1/0",
            "1/1048577",
            "1/2/3",
            " 1/2",
            "99999999999/99999999999",
        ] {
            let refused = wrong.parse::<Shard>().unwrap_err().to_string();
            assert_eq!(
                refused,
                format!("a shard must be I/N with I from 1 to N and N up to 1048576, got {wrong}")
            );
        }
    }

    proptest! {
        #[test]
        fn shards_cover_everything_once_in_order_and_are_of_about_equal_size(
            count in prop_oneof![0_u64..100, any::<u64>()],
            of in 1_u32..50,
        ) {
            let mut end = 0;
            for number in 1..=of {
                let range = Shard::new(number, of).unwrap().range(count);
                prop_assert_eq!(range.start, end);
                let share = count / u64::from(of);
                prop_assert!((share..=share + 1).contains(&(range.end - range.start)));
                end = range.end;
            }
            prop_assert_eq!(end, count);
        }
    }
}
