//! Bit streams, the most significant bit of each byte first.

/// A writer of bits.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Number of used bits of the last byte; 0 for all or none.
    used: u32,
}

impl BitWriter {
    /// Creates a writer that appends to `bytes`.
    pub(super) fn behind(bytes: Vec<u8>) -> Self {
        Self { bytes, used: 0 }
    }

    /// Writes the lowest `count` bits of `value`, at most 64. The higher bits must be 0.
    pub(super) fn write(&mut self, value: u64, count: u32) {
        let mut left = count;
        while left > 0 {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let fits = left.min(8 - self.used);
            left -= fits;
            let part = (value >> left) as u8 & (u8::MAX >> (8 - fits));
            if let Some(last) = self.bytes.last_mut() {
                *last |= part << (8 - self.used - fits);
            }
            self.used = (self.used + fits) % 8;
        }
    }

    /// Returns the number of bits, including the bits written before.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() * 8 - (8 - self.used as usize) % 8
    }

    /// Returns the bytes; the last is padded with zeros.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// A reader of the output of a [`BitWriter`].
#[derive(Clone, Copy, Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits read.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of bits that are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() * 8 - self.at
    }

    /// Returns the next `count` bits, at most 56, with zeros beyond the end; they stay unread.
    #[inline]
    pub(super) fn peek(&self, count: u32) -> u64 {
        let rest = &self.bytes[self.at / 8..];
        let window = match rest.first_chunk() {
            Some(eight) => u64::from_be_bytes(*eight),
            None => {
                let mut eight = [0; 8];
                eight[..rest.len()].copy_from_slice(rest);
                u64::from_be_bytes(eight)
            }
        };
        (window << (self.at % 8))
            .checked_shr(64 - count)
            .unwrap_or(0)
    }

    /// Skips `count` bits; returns false, and skips nothing, if fewer are left.
    #[inline]
    pub(super) fn skip(&mut self, count: u32) -> bool {
        let is_there = count as usize <= self.left();
        if is_there {
            self.at += count as usize;
        }
        is_there
    }

    /// Returns the next `count` bits, at most 64; `None` if fewer are left.
    #[inline]
    pub(super) fn read(&mut self, count: u32) -> Option<u64> {
        let upper = count.saturating_sub(32);
        let lower = count - upper;
        let high = self.peek(upper);
        if !self.skip(upper) {
            return None;
        }
        let low = self.peek(lower);
        self.skip(lower).then_some(high << lower | low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_are_read_as_they_were_written(
            values in prop::collection::vec((any::<u64>(), 0..=64_u32), 0..50),
        ) {
            let mut writer = BitWriter::default();
            let cut = |value: u64, count: u32| value.checked_shr(64 - count).unwrap_or(0);
            let mut total = 0;
            for &(value, count) in &values {
                writer.write(cut(value, count), count);
                total += count as usize;
                prop_assert_eq!(writer.len(), total);
            }
            let bytes = writer.finish();
            let mut reader = BitReader::new(&bytes);
            for &(value, count) in &values {
                prop_assert_eq!(reader.read(count), Some(cut(value, count)));
            }
            prop_assert!(reader.left() < 8);
            prop_assert_eq!(reader.read(9), None);
        }
    }
}
