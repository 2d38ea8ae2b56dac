//! Archives, ours and foreign ones.

use std::io::Cursor;
use std::path::Path;

use sinks::warc::{ReadFault, Record, WarcReader, WarcStream};

/// The maximum number of kept bytes of a block.
const KEEP: usize = 1 << 10;
const NAME: &str = "any.warc.gz";

/// Reads any bytes as an archive of ours and as a foreign one, in the packing that they seem to
/// have: records in order, then an end or a fault; in a foreign one, also behind a fault.
pub fn warc(bytes: &[u8]) {
    let mut ours = WarcReader::new(Path::new(NAME), bytes);
    let mut at = 0;
    while let Ok(Some(record)) = ours.next_record(KEEP) {
        assert!(record.offset >= at, "records follow each other");
        assert!(record.length > 0);
        at = record.offset + record.length;
        is_sound(&record);
    }
    assert!(at <= bytes.len() as u64);

    let mut others = WarcStream::new(Path::new(NAME), Cursor::new(bytes.to_vec()));
    let (mut records, mut broken, mut end) = (0_u64, 0_u64, 0);
    loop {
        match others.next_record(KEEP) {
            Ok(Some(record)) => {
                records += 1;
                is_sound(&record);
                if record.addressable {
                    assert!(record.offset >= end, "records do not overlap");
                    end = record.offset + record.length;
                    assert!(end <= bytes.len() as u64);
                }
            }
            Ok(None) => break,
            Err(ReadFault::Broken { .. }) => broken += 1,
            Err(fault) => panic!("bytes in memory can always be read: {fault}"),
        }
    }
    assert_eq!((others.records(), others.broken()), (records, broken));
}

fn is_sound(record: &Record) {
    assert!(record.block.len() <= KEEP);
    assert!(record.block.len() as u64 <= record.block_length);
    assert!(!record.kind().is_empty());
    let payload = record.payload_length;
    assert!(payload.is_none_or(|length| length <= record.block_length));
    if let Some((head, payload)) = record.head_and_payload() {
        assert_eq!(head.len() + payload.len(), record.block.len());
    }
    if let Some(response) = record.http() {
        assert!(response.body().len() <= record.block.len());
    }
}
