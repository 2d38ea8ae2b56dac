//! Words as they are collected: a space stands behind each.

use super::NormalText;

pub(super) struct Words {
    /// Room for what comes; the first `filled` bytes of it are words.
    room: Vec<u8>,
    filled: usize,
    /// Where each word ends.
    ends: Vec<u32>,
}

/// So many bytes are written at once, of which the last may not count.
const AT_ONCE: usize = 16;

/// A place to go back to.
#[derive(Clone, Copy)]
pub(super) struct Checkpoint {
    filled: usize,
    words: usize,
}

impl Words {
    pub(super) fn with_room_for(text: usize) -> Self {
        // A word and what separates it from the next take six bytes in English prose.
        Self {
            room: vec![0; text + text / 4 + 2 * AT_ONCE],
            filled: 0,
            ends: Vec::with_capacity(text / 6 + 1),
        }
    }

    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// What was written from `start` on.
    pub(super) fn written_from(&mut self, start: usize) -> &mut [u8] {
        &mut self.room[start..self.filled]
    }

    /// Appends the first `length` of these bytes.
    #[inline]
    pub(super) fn append_first<const N: usize>(&mut self, bytes: [u8; N], length: usize) {
        // Copying a fixed number of bytes and taking some back is faster than copying the few that
        // count.
        if let Some(place) = self.room[self.filled..].first_chunk_mut() {
            *place = bytes;
            self.filled += length;
        } else {
            self.append(&bytes[..length]);
        }
    }

    /// Appends whatever number of bytes.
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

    /// Forgets what was written from `start` on, which is no word yet.
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
