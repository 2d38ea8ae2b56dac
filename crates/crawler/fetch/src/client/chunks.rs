//! The lines of a chunked body: read as browsers, curl and wget read them, written as RFC 9112 has
//! them (section 7.1).
//!
//! Pure. A line that ends in LF alone, or in more than one CR, gets CR LF: the engine refuses the
//! first, or cuts the body there. All other bytes pass unchanged, for the engine to judge, and so
//! does the rest of a body from the first misplaced byte. No bytes are held back, so the engine's
//! limits on lines hold here too. Invariants: packets make no difference, and a well-formed body
//! passes unchanged, without a copy.

use std::borrow::Cow;

/// A place in a chunked body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChunkLines {
    place: Place,
    /// True if the last byte was a CR in a line.
    is_behind_cr: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// The digits of a size, so far; `None` before the first.
    Size(Option<u64>),
    /// The rest of a line after this size.
    Extension(u64),
    /// Data with this many bytes left.
    Data(u64),
    /// The line end after data.
    DataEnd,
    Trailer {
        is_empty: bool,
    },
    /// The end of the body, or misplaced bytes.
    Unread,
}

/// Treatment of a byte.
#[derive(PartialEq, Eq)]
enum Edit {
    Keep,
    InsertCr,
    Remove,
}

impl ChunkLines {
    /// Returns the beginning of a body.
    pub(crate) const fn new() -> Self {
        Self {
            place: Place::Size(None),
            is_behind_cr: false,
        }
    }

    /// Reads the next bytes of the body and returns them with the line ends of the standard.
    pub(crate) fn mend<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut mended = Vec::new();
        let (mut copied, mut at) = (0, 0);
        while at < bytes.len() {
            let edit = match &mut self.place {
                Place::Unread => break,
                Place::Data(left) => {
                    let length = usize::try_from(*left).unwrap_or(usize::MAX);
                    let length = length.min(bytes.len() - at);
                    *left -= length as u64;
                    if *left == 0 {
                        self.place = Place::DataEnd;
                    }
                    at += length;
                    continue;
                }
                _line => self.read(bytes[at]),
            };
            if edit != Edit::Keep {
                mended.extend_from_slice(&bytes[copied..at]);
                copied = at;
            }
            match edit {
                Edit::Keep => {}
                Edit::InsertCr => mended.push(b'\r'),
                Edit::Remove => copied += 1,
            }
            at += 1;
        }
        if copied == 0 && mended.is_empty() {
            return bytes.into();
        }
        mended.extend_from_slice(&bytes[copied..]);
        mended.into()
    }

    /// Reads a byte of a line.
    fn read(&mut self, byte: u8) -> Edit {
        let is_behind_cr = std::mem::replace(&mut self.is_behind_cr, byte == b'\r');
        match byte {
            b'\r' if is_behind_cr => Edit::Remove,
            b'\r' => Edit::Keep,
            b'\n' => {
                self.end_line();
                if is_behind_cr {
                    Edit::Keep
                } else {
                    Edit::InsertCr
                }
            }
            _ => {
                self.place = match self.place {
                    _ if is_behind_cr => Place::Unread,
                    Place::Size(size) => size_with(size, byte),
                    Place::Extension(size) => Place::Extension(size),
                    Place::Trailer { .. } => Place::Trailer { is_empty: false },
                    Place::Data(_) | Place::DataEnd | Place::Unread => Place::Unread,
                };
                Edit::Keep
            }
        }
    }

    fn end_line(&mut self) {
        self.place = match self.place {
            Place::Size(Some(0)) | Place::Extension(0) => Place::Trailer { is_empty: true },
            Place::Size(Some(size)) | Place::Extension(size) => Place::Data(size),
            Place::DataEnd => Place::Size(None),
            Place::Trailer { is_empty: false } => Place::Trailer { is_empty: true },
            Place::Trailer { is_empty: true }
            | Place::Size(None)
            | Place::Data(_)
            | Place::Unread => Place::Unread,
        };
    }
}

/// Returns the place after another byte of a size.
fn size_with(size: Option<u64>, byte: u8) -> Place {
    if let Some(digit) = char::from(byte).to_digit(16) {
        let size = size.unwrap_or_default().checked_mul(16);
        return size.map_or(Place::Unread, |size| {
            Place::Size(Some(size + u64::from(digit)))
        });
    }
    match size {
        Some(size) if matches!(byte, b';' | b' ' | b'\t') => Place::Extension(size),
        _ => Place::Unread,
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Mends a body that comes in packets of these lengths, in turn.
    fn mended(body: &[u8], packets: &[usize]) -> Vec<u8> {
        let (mut lines, mut rest, mut all) = (ChunkLines::new(), body, Vec::new());
        for packet in packets.iter().cycle() {
            let (bytes, more) = rest.split_at(rest.len().min(*packet));
            all.extend_from_slice(&lines.mend(bytes));
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
        all
    }

    #[test]
    fn line_ends_are_those_of_the_standard() {
        for (body, expected) in [
            ("5\nhello\n0\n\n", "5\r\nhello\r\n0\r\n\r\n"),
            ("5\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
            ("5\r\nhello\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
            ("5\r\r\nhello\r\r\n0\r\r\n\r\r\n", "5\r\nhello\r\n0\r\n\r\n"),
            (
                "5;a=b \nhello\n0 \nX: y\n\n",
                "5;a=b \r\nhello\r\n0 \r\nX: y\r\n\r\n",
            ),
            (
                "09\nhe\nl\r\nlo\n\n0\n\n",
                "09\r\nhe\nl\r\nlo\n\r\n0\r\n\r\n",
            ),
            ("2\n\n\n\n0\n\n", "2\r\n\n\n\r\n0\r\n\r\n"),
            (
                "5\nhello\n0\n\nrest\nrest",
                "5\r\nhello\r\n0\r\n\r\nrest\nrest",
            ),
            ("", ""),
        ] {
            assert_eq!(
                mended(body.as_bytes(), &[99]),
                expected.as_bytes(),
                "{body:?}"
            );
        }
    }

    #[test]
    fn from_the_first_byte_that_does_not_belong_bytes_pass_unchanged() {
        for (body, expected) in [
            ("zz\na\n", "zz\na\n"),
            ("-5\nhello\n", "-5\nhello\n"),
            ("5\rx\nhello\n", "5\rx\nhello\n"),
            ("5\nhello!\n0\n\n", "5\r\nhello!\n0\n\n"),
            ("5\nhello\nzz\n", "5\r\nhello\r\nzz\n"),
            ("10000000000000000\n\n", "10000000000000000\n\n"),
            ("ffffffffffffffff\na\n", "ffffffffffffffff\r\na\n"),
            ("00000000000000000005\na", "00000000000000000005\r\na"),
        ] {
            assert_eq!(
                mended(body.as_bytes(), &[99]),
                expected.as_bytes(),
                "{body:?}"
            );
        }
    }

    /// Returns a body with these chunks and the line ends in turn.
    fn body(chunks: &[Vec<u8>], ends: &[&str]) -> Vec<u8> {
        let mut ends = ends.iter().cycle();
        let mut end = || ends.next().expect("there is one").as_bytes().to_vec();
        let mut body = Vec::new();
        for chunk in chunks {
            body.extend(format!("{:x}", chunk.len()).into_bytes());
            body.extend(end());
            body.extend(chunk);
            body.extend(end());
        }
        body.push(b'0');
        body.extend(end());
        body.extend(end());
        body
    }

    proptest! {
        #[test]
        fn any_line_ends_in_any_packets_give_the_same_bytes(
            chunks in vec(vec(any::<u8>(), 1..40), 0..6),
            ends in vec(prop::sample::select(vec!["\n", "\r\n", "\r\r\n"]), 1..9),
            packets in vec(1..20_usize, 1..9),
            rest in vec(any::<u8>(), 0..9),
        ) {
            let expected = [body(&chunks, &["\r\n"]), rest.clone()].concat();
            let odd = [body(&chunks, &ends), rest].concat();
            prop_assert_eq!(mended(&odd, &packets), &expected[..]);
            prop_assert_eq!(mended(&expected, &packets), &expected[..]);
            let borrowed = matches!(ChunkLines::new().mend(&expected), Cow::Borrowed(_));
            prop_assert!(borrowed);
        }

        #[test]
        fn the_packets_of_any_bytes_make_no_difference(
            words in vec(prop::sample::select(vec!["\n", "\r", "1", "0", "a", ";", "x"]), 0..40),
            packets in vec(1..6_usize, 1..9),
        ) {
            let bytes = words.concat().into_bytes();
            prop_assert_eq!(mended(&bytes, &packets), mended(&bytes, &[99]));
        }
    }
}
