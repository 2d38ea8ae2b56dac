//! Brotli by hand (RFC 7932): no compressor in our language is well kept, and none makes bombs.

/// Brotli without compression: one stored meta-block for every 64 KiB (section 9.2).
#[must_use]
pub fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0, 1); // a window of 64 KiB
    for block in bytes.chunks(1 << 16) {
        bits.push(0, 1); // not the last
        bits.push(0, 2); // four nibbles of length
        bits.push(block.len() - 1, 16);
        bits.push(1, 1); // stored
        bits.align();
        bits.bytes.extend_from_slice(block);
    }
    bits.push(0b11, 2); // the last, empty
    bits.bytes
}

/// Brotli that writes one zero and copies it until there are 16 MiB, so often.
#[must_use]
pub fn bomb(blocks: usize) -> Vec<u8> {
    const LENGTH: usize = 16 << 20;
    let mut bits = Bits::default();
    bits.push(0, 1); // a window of 64 KiB
    for _ in 0..blocks {
        bits.push(0, 1); // not the last
        bits.push(2, 2); // six nibbles of length
        bits.push(LENGTH - 1, 24);
        bits.push(0, 1); // compressed
        bits.push(0, 3); // one type of block for each of literals, commands, distances
        bits.push(0, 2 + 4); // no postfix bits, no direct distances
        bits.push(0, 2); // a context mode
        bits.push(0, 2); // one tree for literals, one for distances
        for (symbol, width) in [(0, 8), (399, 10), (16, 6)] {
            bits.push(1, 2); // a simple code…
            bits.push(0, 2); // …of one symbol, which then costs no bits
            bits.push(symbol, width);
        }
        bits.push(LENGTH - 1 - 2118, 24); // command 399: insert 1, copy 2118 and so many more
        bits.push(0, 1); // distance code 16: 1 and so many more
    }
    bits.push(0b11, 2); // the last, empty
    bits.bytes
}

/// Bits into bytes, the least significant first.
#[derive(Debug, Default)]
pub struct Bits {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// Bits of the last byte that are taken; 0 where the next one begins a byte.
    used: usize,
}

impl Bits {
    /// Adds the `width` lowest bits of `value`.
    pub fn push(&mut self, value: usize, width: usize) {
        for bit in 0..width {
            if self.used == 0 {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= u8::from(value >> bit & 1 == 1) << self.used;
            }
            self.used = (self.used + 1) % 8;
        }
    }

    /// Begins a byte.
    pub fn align(&mut self) {
        self.used = 0;
    }
}
