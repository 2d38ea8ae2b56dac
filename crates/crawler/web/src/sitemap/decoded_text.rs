//! The decoded text of a listing, piece by piece.
//!
//! A sitemap may have 50 MiB, which a few kilobytes of gzip can expand to, so its bytes and its
//! text are never held in memory as a whole. Its beginning determines the encoding.
//!
//! Invariant: the output is UTF-8, at most [`PIECE_BYTES`] of it between two calls of
//! [`DecodedText::begin_piece`]: a reader of an endless tag or comment collects no more than that.

use std::io::{self, BufRead, Cursor, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_16BE, UTF_16LE};

use crate::html::charset;

/// Maximum length of a tag, text or comment.
const PIECE_BYTES: usize = 1 << 20;

const BUFFER: usize = 16 << 10;

/// A body that is decoded as it is read. An error of the body is an error here.
pub(super) struct DecodedText<'a> {
    source: io::Chain<Cursor<Vec<u8>>, &'a mut dyn Read>,
    decoder: Decoder,
    /// Bytes to decode, and the start of the unread ones.
    bytes: Vec<u8>,
    begin: usize,
    /// Decoded text, and the start of the unread part.
    text: Vec<u8>,
    at: usize,
    /// True once all bytes are read, and once all are decoded.
    is_read: bool,
    is_decoded: bool,
    /// True if some bytes were invalid and became U+FFFD.
    pub(super) repaired: bool,
    /// Bytes taken since the piece began.
    taken: usize,
}

impl<'a> DecodedText<'a> {
    pub(super) fn of(source: &'a mut dyn Read, content_type: Option<&str>) -> Self {
        let mut head = Vec::new();
        // An error here occurs again after the head, and is handled there.
        let _broken = Read::take(&mut *source, charset::DETECT_BYTES as u64).read_to_end(&mut head);
        let (encoding, mark) = match utf_16(&head) {
            Some(encoding) => (
                encoding,
                Encoding::for_bom(&head).map_or(0, |(_, mark)| mark),
            ),
            None => charset::encoding_of(whole_characters(&head), content_type, None),
        };
        let mut head = Cursor::new(head);
        head.set_position(mark as u64);
        Self {
            source: head.chain(source),
            decoder: encoding.new_decoder_without_bom_handling(),
            bytes: Vec::with_capacity(BUFFER),
            begin: 0,
            text: Vec::with_capacity(BUFFER),
            at: 0,
            is_read: false,
            is_decoded: false,
            repaired: false,
            taken: 0,
        }
    }

    /// Begins the next tag or text.
    pub(super) fn begin_piece(&mut self) {
        self.taken = 0;
    }

    /// Returns up to `most` bytes of the next line, without its line end; `None` at the end.
    pub(super) fn line(&mut self, most: usize) -> io::Result<Option<String>> {
        let (mut line, mut is_there) = (Vec::new(), false);
        loop {
            self.begin_piece();
            let piece = self.fill_buf()?;
            let end = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = end.unwrap_or(piece.len());
            is_there |= !piece.is_empty();
            line.extend(&piece[..length.min(most - line.len())]);
            let ended = end.is_some() || piece.is_empty();
            self.consume(length + usize::from(end.is_some()));
            if ended {
                return Ok(is_there.then(|| String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }

    /// Decodes more, unless everything is decoded.
    fn decode(&mut self) -> io::Result<()> {
        if self.begin == self.bytes.len() && !self.is_read {
            self.bytes.resize(BUFFER, 0);
            let length = self.source.read(&mut self.bytes)?;
            self.bytes.truncate(length);
            self.begin = 0;
            self.is_read = length == 0;
        }
        self.text.resize(BUFFER, 0);
        let bytes = &self.bytes[self.begin..];
        let (result, read, written, repaired) =
            self.decoder
                .decode_to_utf8(bytes, &mut self.text, self.is_read);
        self.text.truncate(written);
        self.at = 0;
        self.begin += read;
        self.repaired |= repaired;
        self.is_decoded = self.is_read && result == CoderResult::InputEmpty;
        Ok(())
    }
}

/// Returns the head without a character cut at its end.
fn whole_characters(head: &[u8]) -> &[u8] {
    match std::str::from_utf8(head) {
        Err(error) if head.len() == charset::DETECT_BYTES && error.error_len().is_none() => {
            &head[..error.valid_up_to()]
        }
        _ => head,
    }
}

impl Read for DecodedText<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(into)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for DecodedText<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken > PIECE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        while self.at == self.text.len() && !self.is_decoded {
            self.decode()?;
        }
        Ok(&self.text[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
        self.taken += amount;
    }
}

/// Recognises UTF-16 by its byte order mark, or by the start of a tag (XML 1.0 appendix F).
pub(crate) fn utf_16(body: &[u8]) -> Option<&'static Encoding> {
    match body {
        [0xff, 0xfe, ..] | [b'<', 0, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] | [0, b'<', ..] => Some(UTF_16BE),
        _ => None,
    }
}
