//! Frames of the journal: one record each, with checksums. `segment.rs` has the format.

use crate::record::Record;

pub(crate) const FRAME_HEAD_BYTES: usize = 12;
/// Bytes of a frame that most records fit in.
const USUAL_BYTES: usize = 1 << 10;

/// A position in the journal: bytes from its beginning.
pub type Position = u64;

/// Returns a record as a frame.
#[must_use]
pub fn encode(record: &Record) -> Vec<u8> {
    let mut head = Vec::with_capacity(USUAL_BYTES);
    head.resize(FRAME_HEAD_BYTES, 0);
    let mut frame = postcard::to_extend(record, head).expect("encoding to memory cannot fail");
    let payload = &frame[FRAME_HEAD_BYTES..];
    let length =
        u32::try_from(payload.len()).expect("a record is far below 4 GiB: its parts are capped");
    let checksum = crc32fast::hash(payload);
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame[4..8].copy_from_slice(&checksum.to_le_bytes());
    let head_checksum = crc32fast::hash(&frame[..8]);
    frame[8..12].copy_from_slice(&head_checksum.to_le_bytes());
    frame
}

/// Returns the length of the complete frame at the start of `bytes`.
pub(crate) fn whole_frame(bytes: &[u8]) -> Option<usize> {
    let (head, rest) = bytes.split_first_chunk()?;
    let (length, checksum) = head_of(head)?;
    let payload = rest.get(..usize::try_from(length).ok()?)?;
    (crc32fast::hash(payload) == checksum).then_some(FRAME_HEAD_BYTES + payload.len())
}

/// Returns the length and the checksum of a frame's payload; `None` if the head's checksum is
/// wrong.
pub(crate) fn head_of(head: &[u8; FRAME_HEAD_BYTES]) -> Option<(u32, u32)> {
    let field = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
    (crc32fast::hash(&head[..8]) == field(8)).then(|| (field(0), field(4)))
}
