//! A block of the queue: pages of one host and one priority, in the order of discovery.
//!
//! URLs of one host begin with the same text, and the links of a page share the page that they were
//! found on, so both are front-coded. This stores the number of bytes shared with the previous
//! text, and the rest (Witten, Moffat and Bell, "Managing Gigabytes", section 4.1).
//!
//! ```text
//! block  version u8 · count u32 little-endian · pages
//! page   sequence minus the one before · via 0 (none), 1 (as before) or 2 + text · text of the URL
//! text   bytes shared with the one before · bytes that follow · those bytes (numbers are LEB128)
//! ```
//! The text of a URL includes the request for it, if that differs (`PageUrl::to_stored`).
//!
//! Invariant: the layout is on disk; another layout needs another version. `golden/queue-block.hex`
//! pins it. Checksums are added by `parts.rs`.

use std::sync::Arc;

use super::place::Body;

const VERSION: u8 = 2;
const HEADER_BYTES: usize = 5;
/// Size that a block does not exceed, so that it fits into one value of the database.
pub(super) const FULL_BYTES: usize = 6 << 10;
/// Maximum size of the numbers of an entry.
const NUMBERS_BYTES: usize = 40;

/// The reason why a block cannot be read.
pub(super) type Malformed = &'static str;

/// Writes a block.
struct Writer {
    bytes: Vec<u8>,
    count: u32,
    sequence: u64,
    url: Vec<u8>,
    via: Option<Arc<str>>,
    via_text: Vec<u8>,
}

/// Packs entries, in ascending order of sequence, into blocks. Returns each block's first sequence
/// number and bytes.
pub(super) fn pack<'a>(pages: impl Iterator<Item = (u64, &'a Body)>) -> Vec<(u64, Vec<u8>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(u64, Writer)> = None;
    for (sequence, body) in pages {
        if let Some((first, writer)) = open.take_if(|(_, writer)| !writer.has_room(body)) {
            blocks.push((first, writer.finish()));
        }
        let (_, writer) = open.get_or_insert_with(|| (sequence, Writer::new()));
        writer.push(sequence, body);
    }
    blocks.extend(open.map(|(first, writer)| (first, writer.finish())));
    blocks
}

impl Writer {
    fn new() -> Self {
        let mut bytes = Vec::with_capacity(FULL_BYTES);
        bytes.push(VERSION);
        bytes.extend([0; 4]);
        Self {
            bytes,
            count: 0,
            sequence: 0,
            url: Vec::new(),
            via: None,
            via_text: Vec::new(),
        }
    }

    fn has_room(&self, body: &Body) -> bool {
        let texts = body.url.len() + body.via.as_ref().map_or(0, |via| via.len());
        self.bytes.len() + texts + NUMBERS_BYTES <= FULL_BYTES
    }

    fn push(&mut self, sequence: u64, body: &Body) {
        put_number(&mut self.bytes, sequence.wrapping_sub(self.sequence));
        self.sequence = sequence;
        match &body.via {
            None => self.bytes.push(0),
            via if *via == self.via => self.bytes.push(1),
            Some(via) => {
                self.bytes.push(2);
                put_text(&mut self.bytes, &mut self.via_text, via.as_bytes());
            }
        }
        if body.via.is_some() {
            self.via.clone_from(&body.via);
        }
        put_text(&mut self.bytes, &mut self.url, body.url.as_bytes());
        self.count += 1;
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes[1..HEADER_BYTES].copy_from_slice(&self.count.to_le_bytes());
        self.bytes
    }
}

/// Reads a block from the front.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    left: u32,
    sequence: u64,
    url: Vec<u8>,
    via_text: Vec<u8>,
    via: Option<Arc<str>>,
    has_via: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(block: &'a [u8]) -> Result<Self, Malformed> {
        let (header, rest) = block
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or("a block is short")?;
        let [version, count @ ..] = *header;
        if version != VERSION {
            return Err("a block has another version");
        }
        Ok(Self {
            rest,
            left: u32::from_le_bytes(count),
            sequence: 0,
            url: Vec::new(),
            via_text: Vec::new(),
            via: None,
            has_via: false,
        })
    }

    /// Advances to the next entry and returns its sequence number.
    pub(super) fn next(&mut self) -> Result<Option<u64>, Malformed> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.sequence = self.sequence.wrapping_add(take_number(&mut self.rest)?);
        let (kind, rest) = self.rest.split_first().ok_or("a block ends early")?;
        self.rest = rest;
        self.has_via = *kind != 0;
        match kind {
            0 | 1 => {}
            2 => {
                take_text(&mut self.rest, &mut self.via_text)?;
                self.via = None;
            }
            _ => return Err("a page has a via of an unknown kind"),
        }
        take_text(&mut self.rest, &mut self.url)?;
        Ok(Some(self.sequence))
    }

    /// Returns the entry that [`Reader::next`] advanced to.
    pub(super) fn body(&mut self) -> Result<Body, Malformed> {
        let text = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).map(str::to_owned);
            text.map_err(|_invalid| "a page's text is not UTF-8")
        };
        if self.has_via && self.via.is_none() {
            self.via = Some(text(&self.via_text)?.into());
        }
        let via = self.via.clone().filter(|_| self.has_via);
        Ok(Body {
            url: text(&self.url)?.into(),
            via,
        })
    }
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or("a number ends early")?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err("a number is too long")
}

fn put_text(bytes: &mut Vec<u8>, before: &mut Vec<u8>, text: &[u8]) {
    let same = before.iter().zip(text).take_while(|(old, new)| old == new);
    let shared = same.count();
    put_number(bytes, shared as u64);
    put_number(bytes, (text.len() - shared) as u64);
    bytes.extend_from_slice(&text[shared..]);
    before.truncate(shared);
    before.extend_from_slice(&text[shared..]);
}

fn take_text(bytes: &mut &[u8], text: &mut Vec<u8>) -> Result<(), Malformed> {
    let small = |number: u64| usize::try_from(number).map_err(|_large| "a text is too long");
    let (shared, more) = (small(take_number(bytes)?)?, small(take_number(bytes)?)?);
    let (suffix, rest) = bytes.split_at_checked(more).ok_or("a text ends early")?;
    if shared > text.len() {
        return Err("a text shares more than there is");
    }
    *bytes = rest;
    text.truncate(shared);
    text.extend_from_slice(suffix);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(url: &str, via: Option<&str>) -> Body {
        Body {
            url: url.into(),
            via: via.map(Into::into),
        }
    }

    fn read(block: &[u8]) -> Result<Vec<(u64, Body)>, Malformed> {
        let mut reader = Reader::new(block)?;
        let mut pages = Vec::new();
        while let Some(sequence) = reader.next()? {
            pages.push((sequence, reader.body()?));
        }
        Ok(pages)
    }

    #[test]
    fn a_queue_block_is_pinned_to_the_byte() {
        let pages = [
            (7, body("http://a.test/one", None)),
            (9, body("http://a.test/two", Some("http://b.test/"))),
            (300, body("http://a.test/two/three", Some("http://b.test/"))),
            (
                301,
                body("http://a.test/two?a&b\n/two?b&a", Some("http://b.test/")),
            ),
        ];
        let blocks = pack(pages.iter().map(|(sequence, body)| (*sequence, body)));
        let hex: String = blocks[0]
            .1
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hex, include_str!("../../../golden/queue-block.hex").trim());
    }

    proptest! {
        #[test]
        fn packed_pages_are_read_as_they_were_packed(
            gaps in proptest::collection::vec((0..1000_u64, "[a-c/]{0,40}", 0..4_usize), 1..400),
        ) {
            let vias = [None, Some("http://b.test/"), Some("http://b.test/other"), Some("")];
            let mut sequence = 0;
            let mut pages = Vec::new();
            for (gap, path, via) in gaps {
                sequence += gap + 1;
                pages.push((sequence, body(&format!("http://a.test/{path}"), vias[via])));
            }
            let blocks = pack(pages.iter().map(|(sequence, body)| (*sequence, body)));
            let mut again = Vec::new();
            for (first, block) in blocks {
                prop_assert!(block.len() <= FULL_BYTES);
                let pages = read(&block).unwrap();
                prop_assert_eq!(pages[0].0, first);
                again.extend(pages);
            }
            prop_assert_eq!(again, pages);
        }

        #[test]
        fn any_bytes_are_pages_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            version in any::<bool>(),
        ) {
            let mut bytes = bytes;
            if version && bytes.len() >= HEADER_BYTES {
                bytes[..HEADER_BYTES].copy_from_slice(&[VERSION, 9, 0, 0, 0]);
            }
            let _read = read(&bytes);
        }
    }
}
