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
    let head = head_for(&frame[FRAME_HEAD_BYTES..]);
    frame[..FRAME_HEAD_BYTES].copy_from_slice(&head);
    frame
}

/// Appends to `frames` the frame of a record that postcard has encoded.
pub fn append_frame(frames: &mut Vec<u8>, payload: &[u8]) {
    frames.extend_from_slice(&head_for(payload));
    frames.extend_from_slice(payload);
}

fn head_for(payload: &[u8]) -> [u8; FRAME_HEAD_BYTES] {
    let length =
        u32::try_from(payload.len()).expect("a record is far below 4 GiB: its parts are capped");
    let mut head = [0; FRAME_HEAD_BYTES];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..8].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
    let head_checksum = crc32fast::hash(&head[..8]);
    head[8..].copy_from_slice(&head_checksum.to_le_bytes());
    head
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_record_gets_the_frame_of_its_record() {
        let records = [
            Record::Stopped,
            Record::Leased {
                sequences: vec![7; 300],
            },
        ];
        let (mut frames, mut expected) = (Vec::new(), Vec::new());
        for record in &records {
            append_frame(&mut frames, &postcard::to_allocvec(record).unwrap());
            expected.extend(encode(record));
        }
        assert_eq!(frames, expected);
        assert_eq!(whole_frame(&frames), Some(encode(&records[0]).len()));
    }
}
