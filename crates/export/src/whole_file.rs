//! A file that has its name only once it is whole.
//!
//! Until then it is called `NAME.part`; its bytes are on the disk before it is renamed. So whoever
//! finds `NAME` finds all of an export, and what a kill leaves is `NAME.part` and, of an earlier
//! export, the old `NAME`.
//!
//! An export can go on with what is there because it says the same in the same order: what is
//! written is compared with what is there, byte by byte, up to its end, and only what comes then is
//! written. Invariant: what is there in the end is what an export that began anew would have
//! written. What is not a beginning of that is refused, and left as it is. (Zeros at the end are
//! what a power cut makes of bytes that the disk did not have yet: they count as not there.)

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, DiskFile};

/// What is there already is not a beginning of what is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of it is not what this export says")]
pub struct Differs {
    /// Counted from 1.
    pub line: u64,
}

/// How a file begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Empty.
    Anew,
    /// With what is there, which is compared with what is written.
    Compared,
    /// With so many bytes of what is there, which are not written again.
    Behind(u64),
}

/// A file that is being written.
pub struct WholeFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    state: State,
    buffer: Vec<u8>,
}

enum State {
    /// What is there says the same so far.
    Comparing(Comparing),
    /// A draft that grows, and the lock that keeps others from it.
    Writing(DiskFile, File),
}

struct Comparing {
    there: BufReader<File>,
    is_draft: bool,
    agreed: u64,
    lines: u64,
}

/// Bytes that are collected before they are written.
const BUFFER: usize = 256 << 10;

/// What the file at `path` is called until it is whole.
#[must_use]
pub fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// What an export that goes on begins with, if there is anything: a draft, and whether it is one,
/// or a whole file.
pub(crate) fn begun(path: &Path) -> io::Result<Option<(File, bool)>> {
    for (place, is_draft) in [(draft_of(path), true), (path.to_owned(), false)] {
        match File::open(&place) {
            Ok(file) => return Ok(Some((file, is_draft))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl WholeFile {
    /// Begins the file that is to be at `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] where another export writes it, else what the system said.
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

    /// Has the disk keep the file, and gives it its name.
    ///
    /// # Errors
    /// [`Differs`] where more is there than was written, else what the system said.
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
            let directory = self
                .path
                .parent()
                .filter(|path| !path.as_os_str().is_empty());
            self.disk
                .sync_directory(directory.unwrap_or(Path::new(".")))?;
        }
        Ok(())
    }

    /// What is there has come to its end, and agrees: what follows is written.
    fn go_beyond(&mut self) -> io::Result<()> {
        if let State::Comparing(comparing) = &self.state {
            let whole = (!comparing.is_draft)
                .then(|| File::open(&self.path))
                .transpose()?;
            self.state = writing(&*self.disk, &self.path, whole, comparing.agreed)?;
        }
        Ok(())
    }
}

/// A draft that has the first bytes of what is there: of itself, or of the whole file.
fn writing(disk: &dyn Disk, path: &Path, whole: Option<File>, bytes: u64) -> io::Result<State> {
    let draft = draft_of(path);
    let file = match disk.create(&draft) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => disk.open(&draft)?,
        other => other?,
    };
    let lock = File::open(&draft)?;
    lock.try_lock().map_err(|_taken| {
        let told = format!("another export writes {}", draft.display());
        io::Error::new(io::ErrorKind::ResourceBusy, told)
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
    /// How many of these bytes are there, and are the same; fewer than all at the end of what is
    /// there.
    fn compare(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut same = 0;
        while same < bytes.len() {
            let there = self.there.fill_buf()?;
            if there.is_empty() {
                break;
            }
            let length = there.len().min(bytes.len() - same);
            let (there, ours) = (&there[..length], &bytes[same..same + length]);
            let agreeing = if there == ours {
                length
            } else {
                there
                    .iter()
                    .zip(ours)
                    .take_while(|(one, other)| one == other)
                    .count()
            };
            self.lines += ours[..agreeing]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count() as u64;
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

    /// That nothing more is there, but for zeros.
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
