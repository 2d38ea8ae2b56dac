//! The part of a large block that is kept outside memory.
//!
//! A record of a few kilobytes unpacks to a gigabyte, so a reader that wants whole blocks spools
//! what exceeds its memory, as a crawl does with the bodies that it receives. A spool is a file
//! without a name: nothing outlives the reader.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use disk::{Spool, Spooled};
use web::{Body, StoredBytes};

use super::chunks::{Chunking, unchunk};

/// The place and the limit for blocks that exceed the memory of a reader.
#[derive(Clone, Debug)]
pub(super) struct SpoolRules {
    pub(super) directory: PathBuf,
    /// Maximum number of bytes per block; a longer block is not kept whole.
    pub(super) most: u64,
}

/// The rest of a block, behind its first bytes.
#[derive(Debug)]
pub(super) struct BlockRest {
    spooled: Spooled,
    directory: PathBuf,
}

/// The rest of a block while it is read.
#[derive(Debug)]
pub(super) struct Spooling {
    rules: SpoolRules,
    spool: Option<Spool>,
}

impl Spooling {
    pub(super) const fn new(rules: SpoolRules) -> Self {
        Self { rules, spool: None }
    }

    /// Appends bytes up to the limit.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::in_directory(&self.rules.directory)?),
        };
        let room = self.rules.most.saturating_sub(spool.length());
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        spool.append(&bytes[..bytes.len().min(room)])
    }

    pub(super) fn finish(self) -> Option<Arc<BlockRest>> {
        let spooled = self.spool?.finish();
        let directory = self.rules.directory;
        Some(Arc::new(BlockRest { spooled, directory }))
    }
}

impl BlockRest {
    pub(super) fn length(&self) -> u64 {
        self.spooled.length()
    }
}

/// Bytes in memory, and the rest of their block behind them.
#[derive(Debug)]
struct Joined {
    first: Bytes,
    rest: Arc<BlockRest>,
}

impl StoredBytes for Joined {
    fn length(&self) -> u64 {
        self.first.len() as u64 + self.rest.length()
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let first = self.first.len() as u64;
        if offset >= first {
            return self.rest.spooled.read_at(into, offset - first);
        }
        let held = &self.first[usize::try_from(offset).map_err(io::Error::other)?..];
        let length = held.len().min(into.len());
        into[..length].copy_from_slice(&held[..length]);
        Ok(length)
    }
}

/// Returns `first` and the rest of the block as a body.
pub(super) fn joined(first: &[u8], rest: Option<&Arc<BlockRest>>) -> Body {
    let first = Bytes::copy_from_slice(first);
    match rest {
        None => first.into(),
        Some(rest) => Body::stored(Arc::new(Joined {
            first,
            rest: Arc::clone(rest),
        })),
    }
}

/// The bytes of a spool as a body.
#[derive(Debug)]
struct Whole(Spooled);

impl StoredBytes for Whole {
    fn length(&self) -> u64 {
        self.0.length()
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }
}

/// Decodes a chunked body into another spool; `None` if it is not chunked. A body that breaks off,
/// as one that `is_cut` may, is returned up to there.
pub(super) fn without_chunks(
    sent: &Body,
    rest: &BlockRest,
    is_cut: bool,
) -> io::Result<Option<Body>> {
    let mut spool = Spool::in_directory(&rest.directory)?;
    let chunking = unchunk(&mut sent.reader(), is_cut, &mut |chunk| spool.append(chunk))?;
    let is_chunked = chunking != Chunking::Absent;
    Ok(is_chunked.then(|| Body::stored(Arc::new(Whole(spool.finish())))))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::read::WarcReader;
    use super::super::stream::WarcStream;
    use super::*;

    fn record(block: &[u8]) -> Vec<u8> {
        let head = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n\
             WARC-Date: 2026-11-01T00:00:00Z\r\nWARC-Target-URI: http://x.test/\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n",
            block.len()
        );
        [head.as_bytes(), block, b"\r\n\r\n"].concat()
    }

    fn messages() -> [Vec<u8>; 3] {
        let body: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
        let plain = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &body].concat();
        let coded = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut chunked = coded.to_vec();
        for chunk in body.chunks(7_001) {
            chunked.extend(format!("{:x}\r\n", chunk.len()).bytes());
            chunked.extend(chunk);
            chunked.extend(b"\r\n");
        }
        chunked.extend(b"0\r\n\r\n");
        let cut = chunked[..chunked.len() - 3_000].to_vec();
        [plain, chunked, cut]
    }

    /// A record of a gigabyte was held in memory, and copied, by `unpack` and `rebuild`.
    #[test]
    fn a_spooled_block_has_the_payload_of_one_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let name = Path::new("x.warc");
        for message in messages() {
            let bytes = record(&message);
            let whole = WarcReader::new(name, &*bytes).next_record(1 << 20);
            let whole = whole.unwrap().unwrap();
            let expected = whole.http().unwrap().body().into_owned();
            for held in [60, 5_000] {
                let spooling =
                    WarcReader::new(name, &*bytes).spooling_in(directory.path(), 1 << 20);
                let mut spooling = spooling;
                let record = spooling.next_record(held).unwrap().unwrap();
                assert_eq!(record.block.len(), held);
                let payload = record.http().unwrap().payload().unwrap();
                assert_eq!(payload.to_bytes().unwrap(), expected);
                assert_eq!(record.whole_block().unwrap().to_bytes().unwrap(), message);
                assert_eq!(record.block_digest, whole.block_digest);
            }
            let stream = WarcStream::new(name, io::Cursor::new(bytes));
            let record = stream
                .spooling_in(directory.path(), 1 << 20)
                .next_record(60);
            let record = record.unwrap().unwrap();
            assert_eq!(
                record
                    .http()
                    .unwrap()
                    .payload()
                    .unwrap()
                    .to_bytes()
                    .unwrap(),
                expected
            );
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_block_beyond_the_limit_is_not_whole() {
        let directory = tempfile::tempdir().unwrap();
        let [message, ..] = messages();
        let bytes = record(&message);
        let reader = WarcReader::new(Path::new("x.warc"), &*bytes);
        let record = reader.spooling_in(directory.path(), 1_000).next_record(60);
        let record = record.unwrap().unwrap();
        assert!(record.whole_block().is_none());
        let response = record.http().unwrap();
        assert!(!response.is_whole());
        let head = b"HTTP/1.1 200 OK\r\n\r\n".len() as u64;
        assert_eq!(response.payload().unwrap().len(), 1_060 - head);
    }
}
