//! Chunks of a file: the same work split over machines.
//!
//! (Manku, Jain and Das Sarma, WWW 2007, section 4: the repository is broken into chunks, and each
//! is searched for all queries.) Chunk 1 of n begins with the file and chunk n ends with it, so
//! that results in the order of the file are those of the whole when they are concatenated in the
//! order of the chunks. Invariant: every part belongs to exactly one of n chunks.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

/// The greatest number of chunks.
pub const MAX_CHUNKS: u32 = 1 << 20;

/// One of several chunks of a file, written `1/4` to `4/4`.
///
/// ```
/// use batch::Chunk;
///
/// let chunk: Chunk = "2/3".parse()?;
/// assert_eq!(chunk.range(10), 3..6);
/// assert_eq!(Chunk::WHOLE.range(10), 0..10);
/// # Ok::<(), batch::InvalidChunk>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    number: u32,
    of: u32,
}

impl Chunk {
    /// The only chunk of a file that is not split.
    pub const WHOLE: Chunk = Chunk { number: 1, of: 1 };

    /// Creates chunk `number` of `of`, counted from 1.
    ///
    /// # Errors
    /// [`InvalidChunk`] for a number of 0 or above `of`, and for more than [`MAX_CHUNKS`].
    pub fn new(number: u32, of: u32) -> Result<Self, InvalidChunk> {
        if (1..=of).contains(&number) && of <= MAX_CHUNKS {
            Ok(Self { number, of })
        } else {
            Err(InvalidChunk(format!("{number}/{of}")))
        }
    }

    /// Returns the chunk's share of `count` parts.
    #[must_use]
    pub fn range(self, count: u64) -> Range<u64> {
        let end = |chunks: u32| {
            let parts = u128::from(count) * u128::from(chunks) / u128::from(self.of);
            parts as u64
        };
        end(self.number - 1)..end(self.number)
    }
}

impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Chunk {
    type Err = InvalidChunk;

    fn from_str(written: &str) -> Result<Self, InvalidChunk> {
        let invalid = || InvalidChunk(written.chars().take(40).collect());
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

/// A chunk that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a chunk must be I/N with I from 1 to N and N up to {MAX_CHUNKS}, got {0}")]
pub struct InvalidChunk(String);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chunks_are_read_as_they_are_written_and_others_are_refused() {
        for written in ["1/1", "3/7", "1048576/1048576"] {
            assert_eq!(written.parse::<Chunk>().unwrap().to_string(), written);
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
            let refused = wrong.parse::<Chunk>().unwrap_err().to_string();
            assert_eq!(
                refused,
                format!("a chunk must be I/N with I from 1 to N and N up to 1048576, got {wrong}")
            );
        }
    }

    proptest! {
        #[test]
        fn chunks_cover_everything_once_in_order_and_are_of_about_equal_size(
            count in prop_oneof![0_u64..100, any::<u64>()],
            of in 1_u32..50,
        ) {
            let mut end = 0;
            for number in 1..=of {
                let range = Chunk::new(number, of).unwrap().range(count);
                prop_assert_eq!(range.start, end);
                let share = count / u64::from(of);
                prop_assert!((share..=share + 1).contains(&(range.end - range.start)));
                end = range.end;
            }
            prop_assert_eq!(end, count);
        }
    }
}
