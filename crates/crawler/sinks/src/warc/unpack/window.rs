//! A buffer of a stream that keeps the last bytes, so that a reader can go back.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::errors::torn;

/// A part of a stream: kept consumed bytes, then unconsumed bytes.
pub(super) struct Window {
    bytes: Vec<u8>,
    /// The position of `bytes` in the stream.
    start: u64,
    at: usize,
    /// The minimum number of consumed bytes that are kept.
    keep: usize,
}

impl Window {
    pub(super) fn new(keep: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            at: 0,
            keep,
        }
    }

    /// Returns the position in the stream, in bytes.
    pub(super) fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// Returns the unconsumed bytes.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    pub(super) fn consume(&mut self, length: usize) {
        self.at = (self.at + length).min(self.bytes.len());
    }

    /// Goes back to `offset`, or to the first kept byte after it; never forward.
    pub(super) fn back_to(&mut self, offset: u64) {
        let place = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        self.at = place.min(self.at);
    }

    /// Returns true if it can go back to `offset`.
    pub(super) fn keeps(&self, offset: u64) -> bool {
        (self.start..=self.offset()).contains(&offset)
    }

    /// Drops all bytes; the stream continues at `offset`.
    pub(super) fn move_to(&mut self, offset: u64) {
        self.bytes.clear();
        (self.start, self.at) = (offset, 0);
    }

    /// Returns the buffer to append to, and drops bytes that need not be kept.
    pub(super) fn end(&mut self) -> &mut Vec<u8> {
        let old = self.at.saturating_sub(self.keep);
        // The bytes moved to the front are never more than those dropped, so that each byte is
        // moved about once.
        if old > 0 && old >= self.bytes.len() - old {
            self.bytes.drain(..old);
            self.start += old as u64;
            self.at -= old;
        }
        &mut self.bytes
    }
}

/// A file, or a stream that can only be read forward.
pub(in crate::warc) enum Source<R> {
    File(File),
    Stream(R),
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(into),
            Self::Stream(stream) => stream.read(into),
        }
    }
}

/// The packed bytes of a source.
pub(super) struct Input<R> {
    source: Source<R>,
    window: Window,
    chunk: usize,
    ended: bool,
    again: Again,
}

/// Number of bytes that may always be read again, in addition to the number of bytes that were read
/// for the first time.
const AGAIN: u64 = 64 << 20;

/// The budget of repeated reads: even a completely damaged file takes time in proportion to its
/// length.
#[derive(Default)]
pub(super) struct Again {
    furthest: u64,
    bytes: u64,
}

impl Again {
    /// Returns true if going back from `now` to `offset` is within the budget.
    pub(super) fn allows(&mut self, now: u64, offset: u64) -> bool {
        self.furthest = self.furthest.max(now);
        let back = now.saturating_sub(offset);
        self.bytes.saturating_add(back) <= self.furthest.saturating_add(AGAIN)
    }

    /// Counts going back from `now` to `offset`.
    pub(super) fn note(&mut self, now: u64, offset: u64) {
        self.bytes = self.bytes.saturating_add(now.saturating_sub(offset));
    }
}

impl<R: Read> Input<R> {
    /// Reads `chunk` bytes at a time from `source`, which is at `offset`, and keeps the last
    /// `keep`.
    pub(super) fn new(source: Source<R>, offset: u64, keep: usize, chunk: usize) -> Self {
        let mut window = Window::new(keep);
        window.move_to(offset);
        Self {
            source,
            window,
            chunk,
            ended: false,
            again: Again::default(),
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.window.offset()
    }

    pub(super) fn rest(&self) -> &[u8] {
        self.window.rest()
    }

    pub(super) fn consume(&mut self, length: usize) {
        self.window.consume(length);
    }

    /// Reads more bytes; returns false at the end.
    pub(super) fn more(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let read = (&mut self.source)
            .take(self.chunk as u64)
            .read_to_end(self.window.end());
        self.ended = read? == 0;
        Ok(!self.ended)
    }

    /// Returns at least one of the next bytes, unless the end is reached.
    pub(super) fn fill(&mut self) -> io::Result<&[u8]> {
        self.at_least(1)
    }

    /// Returns at least `length` of the next bytes, unless the end is reached.
    pub(super) fn at_least(&mut self, length: usize) -> io::Result<&[u8]> {
        while self.rest().len() < length && self.more()? {}
        Ok(self.window.rest())
    }

    /// Returns the length of the whole input, if it is known.
    pub(super) fn length(&self) -> Option<u64> {
        match &self.source {
            Source::File(file) => {
                let about = file.metadata().ok()?;
                about.is_file().then_some(about.len())
            }
            Source::Stream(_) => None,
        }
    }

    /// Goes back to `offset`, or, if that byte was dropped or the budget is spent, as near after it
    /// as possible.
    pub(super) fn back_to(&mut self, offset: u64) -> io::Result<()> {
        let now = self.offset();
        if !self.again.allows(now, offset) {
            return Ok(());
        }
        match self.is_file() && !self.window.keeps(offset) {
            true => self.go_to(offset)?,
            false => self.window.back_to(offset),
        }
        self.again.note(now, self.offset());
        Ok(())
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.source, Source::File(_))
    }

    /// Continues at `offset`, which only a file can.
    pub(super) fn go_to(&mut self, offset: u64) -> io::Result<()> {
        let Source::File(file) = &mut self.source else {
            return Err(io::ErrorKind::NotSeekable.into());
        };
        file.seek(SeekFrom::Start(offset))?;
        self.window.move_to(offset);
        self.ended = false;
        Ok(())
    }
}

/// Calls `step` until it appends bytes to `out` or the member ends; returns a flag for each. `step`
/// unpacks some of the packed bytes; it returns the number of bytes that it consumed, and true at
/// the end of the member.
pub(super) fn unpack<R: Read>(
    input: &mut Input<R>,
    out: &mut Window,
    chunk: usize,
    mut step: impl FnMut(&[u8], &mut Vec<u8>) -> io::Result<(usize, bool)>,
) -> io::Result<(bool, bool)> {
    loop {
        let packed = input.fill()?;
        let into = out.end();
        into.reserve(chunk);
        let before = into.len();
        let (read, has_ended) = step(packed, into)?;
        let (nothing_left, has_grown) = (packed.is_empty(), into.len() > before);
        input.consume(read);
        if has_grown || has_ended {
            return Ok((has_grown, has_ended));
        }
        if nothing_left {
            return Err(torn());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_goes_back_as_far_as_it_keeps_and_no_further() {
        let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let mut input = Input::new(Source::Stream(&bytes[..]), 0, 100, 64);
        let mut passed = 0;
        while !input.fill().unwrap().is_empty() {
            let length = input.rest().len().min(7);
            input.consume(length);
            passed += length as u64;
            if passed.is_multiple_of(70) {
                let back = passed.saturating_sub(100);
                input.back_to(back).unwrap();
                assert_eq!(input.offset(), back);
                assert_eq!(input.rest()[0], bytes[usize::try_from(back).unwrap()]);
                input.consume(usize::try_from(passed - back).unwrap());
            }
            assert!(
                input.window.bytes.len() < 1_000,
                "{}",
                input.window.bytes.len()
            );
        }
        assert_eq!(passed, 10_000);
        input.back_to(0).unwrap();
        assert!(input.offset() > 9_000, "too long ago");
        input.back_to(20_000).unwrap();
        assert!(input.offset() <= 10_000, "never forward");
    }

    #[test]
    fn repeated_reads_are_bounded() {
        let zeros = io::repeat(0).take(1 << 30);
        let mut input = Input::new(Source::Stream(zeros), 0, 1 << 20, 1 << 20);
        let mut read = 0_u64;
        while !input.fill().unwrap().is_empty() {
            let (length, at) = (input.rest().len(), input.offset());
            read += length as u64;
            input.consume(length);
            // A reader that goes back all but one byte each time, for ever.
            input.back_to(at + 1).unwrap();
        }
        assert!(read <= (2 << 30) + (2 * AGAIN), "{read}");
    }
}
