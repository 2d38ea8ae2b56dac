//! `control.toml` as text, and the button that pauses or resumes the crawl by it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use policy::control_file::{CONTROL, MAX_BYTES};

use super::form::{ControlForm, Values};
use super::lines::{self, Line};

/// Reads the file; `None` if it does not exist.
///
/// # Errors
/// It cannot be read or is too long, in words.
pub(crate) fn read(path: &Path) -> Result<Option<String>, String> {
    let unreadable = |reason: String| format!("cannot read {}: {reason}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let mut text = String::new();
    match file.take(MAX_BYTES + 1).read_to_string(&mut text) {
        Ok(length) if length as u64 > MAX_BYTES => {
            Err(unreadable(format!("it exceeds {MAX_BYTES} bytes")))
        }
        Ok(_) => Ok(Some(text)),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// The button that pauses or resumes the crawl at once.
#[derive(Clone, Debug)]
pub(crate) struct PauseButton {
    /// True if the file pauses the crawl, so that the button resumes it.
    pub(crate) is_paused: bool,
    /// The change of the file that it makes.
    pub(crate) lines: Vec<Line>,
}

impl PauseButton {
    /// Returns the button of a crawl with this directory; `None` if its file cannot be changed.
    pub(crate) fn of(directory: &Path) -> Option<Self> {
        let text = read(&directory.join(CONTROL)).ok()?.unwrap_or_default();
        let is_paused = Values::of(&text).pause;
        let after = ControlForm::of_pause(!is_paused).write_into(&text).ok()?;
        Some(Self {
            is_paused,
            lines: lines::between(&text, &after),
        })
    }
}
