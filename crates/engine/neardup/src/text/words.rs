//! A buffer of words, each followed by a space.

use super::NormalText;

pub(super) struct Words {
    /// The buffer; its first `filled` bytes are words.
    room: Vec<u8>,
    filled: usize,
    /// End of each word.
    ends: Vec<u32>,
}

/// Number of bytes that are written at once; the last bytes may not count.
const AT_ONCE: usize = 16;

/// A state of the buffer to return to.
#[derive(Clone, Copy)]
pub(super) struct Checkpoint {
    filled: usize,
    words: usize,
}

impl Words {
    pub(super) fn with_room_for(text: usize) -> Self {
        // An English word and its separator take six bytes on average.
        Self {
            room: vec![0; text + text / 4 + 2 * AT_ONCE],
            filled: 0,
            ends: Vec::with_capacity(text / 6 + 1),
        }
    }

    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// Returns the bytes written from `start` on.
    pub(super) fn written_from(&mut self, start: usize) -> &mut [u8] {
        &mut self.room[start..self.filled]
    }

    /// Appends the first `length` bytes.
    #[inline]
    pub(super) fn append_first<const N: usize>(&mut self, bytes: [u8; N], length: usize) {
        // Copying a fixed number of bytes and discarding some is faster than copying the few that
        // count.
        if let Some(place) = self.room[self.filled..].first_chunk_mut() {
            *place = bytes;
            self.filled += length;
        } else {
            self.append(&bytes[..length]);
        }
    }

    /// Appends any number of bytes.
    #[cold]
    pub(super) fn append(&mut self, bytes: &[u8]) {
        let end = self.filled + bytes.len();
        if self.room.len() < end + AT_ONCE {
            self.room.resize(2 * end + 4 * AT_ONCE, 0);
        }
        self.room[self.filled..end].copy_from_slice(bytes);
        self.filled = end;
    }

    #[inline]
    pub(super) fn end_word(&mut self) {
        self.ends.push(self.filled as u32);
        self.append_first([b' '], 1);
    }

    #[inline]
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            filled: self.filled,
            words: self.ends.len(),
        }
    }

    pub(super) fn back_to(&mut self, checkpoint: Checkpoint) {
        self.filled = checkpoint.filled;
        self.ends.truncate(checkpoint.words);
    }

    /// Discards the bytes from `start` on, which are not yet a word.
    pub(super) fn forget_from(&mut self, start: usize) {
        self.filled = start;
    }

    pub(super) fn into_text(self) -> NormalText {
        let mut joined = self.room;
        joined.truncate(self.filled.saturating_sub(1));
        NormalText {
            joined,
            ends: self.ends,
        }
    }
}
