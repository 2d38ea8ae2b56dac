//! The lines of a seeds file, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use corpus::is_standard_input;

/// Maximum length of a line, in bytes. URLs are shorter.
const MAX_LINE: usize = 64 << 10;

/// The lines of a text file in UTF-8, or in UTF-16 if it starts with a byte order mark (as written
/// by Notepad).
pub(super) struct Lines {
    bytes: Box<dyn BufRead + Send>,
    encoding: Encoding,
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Encoding {
    Utf8,
    Utf16(fn([u8; 2]) -> u16),
}

impl Lines {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        match is_standard_input(path) {
            true => Self::of(io::stdin()),
            false => Self::of(File::open(path)?),
        }
    }

    fn of(mut bytes: impl Read + Send + 'static) -> io::Result<Self> {
        let mut mark = Vec::new();
        bytes.by_ref().take(3).read_to_end(&mut mark)?;
        let (encoding, length) = match mark[..] {
            [0xef, 0xbb, 0xbf] => (Encoding::Utf8, 3),
            [0xff, 0xfe, ..] => (Encoding::Utf16(u16::from_le_bytes), 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16(u16::from_be_bytes), 2),
            _ => (Encoding::Utf8, 0),
        };
        let first = Cursor::new(mark.split_off(length));
        Ok(Self {
            bytes: Box::new(first.chain(BufReader::with_capacity(1 << 18, bytes))),
            encoding,
            line: Vec::new(),
        })
    }

    /// Returns the next line without its end; `None` at the end of the file. Invalid bytes become
    /// U+FFFD, and a line that is too long ends with U+FFFD.
    pub(super) fn next_line(&mut self) -> io::Result<Option<String>> {
        self.line.clear();
        let is_whole = match self.encoding {
            Encoding::Utf8 => self.read_bytes()?,
            Encoding::Utf16(unit) => self.read_units(unit)?,
        };
        let Some(is_whole) = is_whole else {
            return Ok(None);
        };
        let mut line = match self.encoding {
            Encoding::Utf8 => String::from_utf8_lossy(&self.line).into_owned(),
            Encoding::Utf16(unit) => {
                let units = self.line.chunks_exact(2).map(|two| unit([two[0], two[1]]));
                let units: Vec<u16> = units.collect();
                String::from_utf16_lossy(&units)
            }
        };
        if !is_whole {
            line.push(char::REPLACEMENT_CHARACTER);
        }
        Ok(Some(line))
    }

    /// Reads the bytes of a line. Returns false if the line is too long, `None` at the end.
    fn read_bytes(&mut self) -> io::Result<Option<bool>> {
        let mut read = 0;
        loop {
            let available = self.bytes.fill_buf()?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let (length, is_end) = (part.len(), end.is_some() || available.is_empty());
            let ending = usize::from(end.is_some());
            self.bytes.consume(length + ending);
            read += length + ending;
            if is_end {
                return Ok((read > 0).then_some(read <= MAX_LINE));
            }
        }
    }

    /// Reads the bytes of a line of UTF-16. Returns false if the line is too long, `None` at the
    /// end.
    fn read_units(&mut self, unit: fn([u8; 2]) -> u16) -> io::Result<Option<bool>> {
        let mut read = 0;
        loop {
            let mut two = [0; 2];
            match self.bytes.read_exact(&mut two) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok((read > 0).then_some(read <= MAX_LINE));
                }
                done => done?,
            }
            read += 2;
            if unit(two) == u16::from(b'\n') {
                return Ok(Some(read <= MAX_LINE));
            }
            if self.line.len() < MAX_LINE {
                self.line.extend(two);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: Vec<u8>) -> Vec<String> {
        let mut lines = Lines::of(Cursor::new(bytes)).unwrap();
        std::iter::from_fn(|| lines.next_line().unwrap()).collect()
    }

    /// Notepad writes UTF-16 as "Unicode", and every line was skipped.
    #[test]
    fn the_mark_says_the_encoding() {
        let text = "http://a.test/é\r\n\nx";
        let expected = ["http://a.test/é\r", "", "x"];
        let utf16 = |unit: fn(u16) -> [u8; 2]| {
            let marked = format!("\u{feff}{text}");
            marked.encode_utf16().flat_map(unit).collect::<Vec<u8>>()
        };
        assert_eq!(lines(text.into()), expected);
        assert_eq!(lines(format!("\u{feff}{text}").into()), expected);
        assert_eq!(lines(utf16(u16::to_le_bytes)), expected);
        assert_eq!(lines(utf16(u16::to_be_bytes)), expected);
        assert!(lines(Vec::new()).is_empty());
        assert_eq!(lines(b"a".to_vec()), ["a"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_marked_and_the_next_one_is_read() {
        let mut text = "x".repeat(MAX_LINE + 1);
        text.push_str("\ny");
        let cut = lines(text.into());
        assert_eq!((cut.len(), cut[1].as_str()), (2, "y"));
        assert!(cut[0].ends_with(char::REPLACEMENT_CHARACTER));
        assert_eq!(lines(b"\xff\xffa\n".to_vec())[0], "\u{fffd}\u{fffd}a");
    }
}
