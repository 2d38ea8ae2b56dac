//! A file that gets its name once it is complete, and that a later export can continue.
//!
//! Until then it is called `NAME.part`, and its bytes are synced before it is renamed. So `NAME` is
//! always a complete export, and a kill leaves `NAME.part` and possibly the `NAME` of an earlier
//! export.
//!
//! An export is deterministic, so it can continue an existing file: its output is compared with the
//! file byte by byte up to the file's end, and only the rest is written. Invariant: the result
//! equals a new export. A file that is not a beginning of the output is refused and left unchanged.
//! (Trailing zeros, which a power cut leaves for unwritten bytes, count as absent.)
//!
//! This is not a [`disk::OutputFile`], which an interrupt removes and which can seek: here the
//! draft stays to be continued, and every change goes through a [`Disk`].

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, DiskFile, clear_draft, draft_of, is_own_file};

/// The existing file is not a beginning of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its line {line} differs from this export")]
pub struct Differs {
    /// The first line that differs, from 1.
    pub line: u64,
}

/// The start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Empty.
    Anew,
    /// With the existing content, which the output is compared with.
    Compared,
    /// After this number of existing bytes, which are not written again.
    Behind(u64),
}

/// A file in progress.
pub struct WholeFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    state: State,
    buffer: Vec<u8>,
}

enum State {
    /// The existing content agrees so far.
    Comparing(Comparing),
    /// A growing draft, and the lock on it.
    Writing(DiskFile, File),
}

struct Comparing {
    there: BufReader<File>,
    is_draft: bool,
    agreed: u64,
    lines: u64,
}

/// Bytes buffered before a write.
const BUFFER: usize = 256 << 10;

/// Opens the file that an export continues: the draft, else the complete file; the flag is true for
/// a draft.
pub(crate) fn begun(path: &Path) -> io::Result<Option<(File, bool)>> {
    for (place, is_draft) in [(draft_of(path), true), (path.to_owned(), false)] {
        if is_draft && !is_own_file(&place)? {
            continue;
        }
        match File::open(&place) {
            Ok(file) => return Ok(Some((file, is_draft))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl WholeFile {
    /// Begins the file at `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if another export writes the file, otherwise the system's
    /// error.
    pub fn begin(disk: Arc<dyn Disk>, path: &Path, beginning: Beginning) -> io::Result<Self> {
        let state = match (beginning, begun(path)?) {
            (Beginning::Anew, _) | (_, None) => writing(&*disk, path, None, 0)?,
            (Beginning::Behind(bytes), Some((there, is_draft))) => {
                writing(&*disk, path, (!is_draft).then_some(there), bytes)?
            }
            (Beginning::Compared, Some((there, is_draft))) => State::Comparing(Comparing {
                there: BufReader::with_capacity(BUFFER, there),
                is_draft,
                agreed: 0,
                lines: 0,
            }),
        };
        Ok(Self {
            disk,
            path: path.to_owned(),
            state,
            buffer: Vec::with_capacity(BUFFER),
        })
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// [`Differs`] if the existing file is longer than the output, otherwise the system's error.
    pub fn complete(mut self) -> io::Result<()> {
        if let State::Comparing(comparing) = &mut self.state {
            comparing.is_at_end()?;
            if !comparing.is_draft {
                return Ok(());
            }
            self.go_beyond()?;
        }
        self.flush()?;
        if let State::Writing(file, _lock) = &self.state {
            self.disk.sync(file)?;
            self.disk.rename(&draft_of(&self.path), &self.path)?;
            let parent = self.path.parent();
            let named = parent.filter(|path| !path.as_os_str().is_empty());
            self.disk.sync_directory(named.unwrap_or(Path::new(".")))?;
        }
        Ok(())
    }

    /// Starts writing after the existing content, which agreed up to its end.
    fn go_beyond(&mut self) -> io::Result<()> {
        if let State::Comparing(comparing) = &self.state {
            let whole = match comparing.is_draft {
                true => None,
                false => Some(File::open(&self.path)?),
            };
            self.state = writing(&*self.disk, &self.path, whole, comparing.agreed)?;
        }
        Ok(())
    }
}

/// Opens a draft with the first `bytes` bytes of itself or of the complete file.
fn writing(disk: &dyn Disk, path: &Path, whole: Option<File>, bytes: u64) -> io::Result<State> {
    let draft = draft_of(path);
    if !is_own_file(&draft)? {
        clear_draft(&draft)?;
    }
    let file = match disk.create(&draft) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => disk.open(&draft)?,
        other => other?,
    };
    // Nobody replaced it by a link since.
    if !is_own_file(&draft)? {
        let reason = format!("{} is not a file", draft.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
    }
    let lock = File::open(&draft)?;
    lock.try_lock().map_err(|_taken| {
        let reason = format!("another export is writing {}", draft.display());
        io::Error::new(io::ErrorKind::ResourceBusy, reason)
    })?;
    match whole {
        None => disk.set_length(&file, bytes)?,
        Some(whole) => {
            disk.set_length(&file, 0)?;
            let mut whole = BufReader::with_capacity(BUFFER, whole.take(bytes));
            loop {
                let chunk = whole.fill_buf()?;
                if chunk.is_empty() {
                    break;
                }
                disk.append(&file, chunk)?;
                let length = chunk.len();
                whole.consume(length);
            }
        }
    }
    Ok(State::Writing(file, lock))
}

impl Comparing {
    /// Returns the number of bytes that agree with the existing content; fewer than all at its end.
    fn compare(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut same = 0;
        while same < bytes.len() {
            let there = self.there.fill_buf()?;
            if there.is_empty() {
                break;
            }
            let length = there.len().min(bytes.len() - same);
            let (there, ours) = (&there[..length], &bytes[same..same + length]);
            let mut pairs = there.iter().zip(ours);
            let agreeing = match there == ours {
                true => length,
                false => pairs
                    .position(|(one, other)| one != other)
                    .unwrap_or(length),
            };
            let line_ends = ours[..agreeing].iter().filter(|byte| **byte == b'\n');
            self.lines += line_ends.count() as u64;
            self.agreed += agreeing as u64;
            self.there.consume(agreeing);
            same += agreeing;
            if agreeing < length {
                self.is_at_end()?;
                break;
            }
        }
        Ok(same)
    }

    /// Checks that only zeros follow.
    fn is_at_end(&mut self) -> io::Result<()> {
        loop {
            let rest = self.there.fill_buf()?;
            if rest.is_empty() {
                return Ok(());
            }
            if rest.iter().any(|byte| *byte != 0) {
                let line = self.lines + 1;
                return Err(io::Error::other(Differs { line }));
            }
            let length = rest.len();
            self.there.consume(length);
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        if let State::Comparing(comparing) = &mut self.state {
            let same = comparing.compare(bytes)?;
            rest = &bytes[same..];
            if rest.is_empty() {
                return Ok(bytes.len());
            }
            self.go_beyond()?;
        }
        self.buffer.extend_from_slice(rest);
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let State::Writing(file, _lock) = &self.state {
            self.disk.append(file, &self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}
