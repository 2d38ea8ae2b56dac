//! The file behind `crawl.log`. If the disk is full, the log must neither end the crawl nor fill
//! the user's screen with warnings.
//!
//! A line that cannot be written is lost, and counted. When lines can be written again, the first
//! line reports the number of lost lines. A partly written line is ended first, so that every other
//! line is still one JSON object. Control characters are escaped, for readers on a terminal.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use web::{Clock, Escaping};

/// A writer of lines that always succeeds.
pub(crate) struct LogFile<W> {
    file: W,
    clock: Clock,
    /// Lines lost since the last written line.
    lost: u64,
    broken_off: bool,
    losses: LostLines,
}

/// The number of lines lost so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostLines(Arc<AtomicU64>);

impl LostLines {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl<W: Write> LogFile<W> {
    pub(crate) fn new(file: W, clock: Clock) -> Self {
        Self {
            file,
            clock,
            lost: 0,
            broken_off: false,
            losses: LostLines::default(),
        }
    }

    pub(crate) fn losses(&self) -> LostLines {
        self.losses.clone()
    }

    /// Returns the text before the next line: the count of lost lines, if there are any.
    fn catching_up(&self) -> Vec<u8> {
        if self.lost == 0 {
            return Vec::new();
        }
        let report = json!({
            "timestamp": self.clock.date().to_string(),
            "level": "WARN",
            "message": "lines of this log could not be written, and are lost",
            "lines": self.lost,
        });
        let end_of_line = if self.broken_off { "\n" } else { "" };
        format!("{end_of_line}{report}\n").into_bytes()
    }

    /// Writes as much as possible; returns the number of bytes written, and the error that stopped
    /// it.
    fn append(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let mut written = 0;
        while written < bytes.len() {
            match self.file.write(&bytes[written..]) {
                Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
                Ok(more) => written += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (written, Err(error)),
            }
        }
        (written, Ok(()))
    }
}

impl<W: Write> Write for LogFile<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let before = self.catching_up();
        let mut whole = before.clone();
        Escaping::new(&mut whole).write_all(line)?;
        let (written, ended) = self.append(&whole);
        match ended {
            Ok(()) => (self.lost, self.broken_off) = (0, false),
            Err(_no_line) => {
                self.losses.0.fetch_add(1, Ordering::Relaxed);
                let reported = !before.is_empty() && written >= before.len();
                self.lost = if reported { 1 } else { self.lost + 1 };
                // If nothing was written, the previous line may still be incomplete.
                if written > 0 {
                    self.broken_off = written != before.len();
                }
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use web::Timestamp;

    use super::*;

    /// A disk with space for `space` bytes.
    #[derive(Default)]
    struct Small {
        content: Vec<u8>,
        space: usize,
    }

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.space);
            if taken == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.content.extend_from_slice(&bytes[..taken]);
            self.space -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const LINE: &[u8] = b"{\"message\":\"visited\"}\n";

    #[test]
    fn with_any_room_every_whole_line_is_json_and_lost_ones_are_counted() {
        for space in 0..=3 * LINE.len() {
            let clock = Clock::fixed(Timestamp::from_millis(0));
            let mut log = LogFile::new(Small::default(), clock);
            log.file.space = space;
            for _ in 0..3 {
                log.write_all(LINE).unwrap();
            }
            // Too little space for a line, then any amount.
            log.file.space += 5;
            log.write_all(LINE).unwrap();
            log.file.space = usize::MAX;
            for _ in 0..2 {
                log.write_all(LINE).unwrap();
            }
            let (mut written, mut lost, mut broken) = (0, 0, 0);
            for line in log.file.content.split(|byte| *byte == b'\n') {
                match serde_json::from_slice::<Value>(line) {
                    Ok(report) if report["lines"].is_u64() => {
                        lost += report["lines"].as_u64().unwrap();
                    }
                    Ok(_visited) => written += 1,
                    Err(_) => broken += u64::from(!line.is_empty()),
                }
            }
            // A line that lacks only its line end counts as lost, and can still be read.
            let twice = written + lost - 6;
            assert!(
                twice <= broken.max(1) && written >= 2,
                "with space for {space} bytes"
            );
            assert!(broken <= 2, "{broken} with space for {space} bytes");
        }
    }

    #[test]
    fn lost_lines_are_counted_for_the_user() {
        let mut log = LogFile::new(Small::default(), Clock::fixed(Timestamp::from_millis(0)));
        let losses = log.losses();
        for _ in 0..9 {
            log.write_all(LINE).unwrap();
        }
        assert_eq!(losses.count(), 9);
    }
}
