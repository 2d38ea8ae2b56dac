//! The control file in effect in a crawl, as its state directory records it.

use std::io;
use std::path::Path;
use std::time::Duration;

use messages::{CommandError, fault};
use policy::RuntimeOverrides;
use policy::control_file::ControlRecord;

use crate::crawl_directory;
use crate::settings::one_line;

/// The control file that is in effect in a crawl, or was when it last ran.
pub struct ControlInForce {
    /// Keys of the file.
    pub table: toml::Table,
    /// Overrides defined by the file.
    pub overrides: RuntimeOverrides,
}

/// Returns the last control file in effect in the crawl in `directory`, if any.
pub fn last_in_force(directory: &Path) -> Result<Option<ControlInForce>, CommandError> {
    let state = crawl_directory::state(directory);
    let record = ControlRecord::of(&state).map_err(|error| fault(&error))?;
    let wrong = |what: String| {
        let path = ControlRecord::path(&state);
        fault(&io::Error::other(format!("{}: {what}", path.display())))
    };
    let overrides = record.overrides();
    let overrides = overrides.map_err(|error| wrong(error.to_string()))?;
    let Some((text, overrides)) = record.text.zip(overrides) else {
        return Ok(None);
    };
    let table = toml::from_str(&text).map_err(|error| wrong(one_line(&error)))?;
    Ok(Some(ControlInForce { table, overrides }))
}

/// Returns the shortest delay and the shortest delay ceiling that a control file ever set in the
/// crawl in `directory`.
pub fn shortest_delays(
    directory: &Path,
) -> Result<(Option<Duration>, Option<Duration>), CommandError> {
    let record = ControlRecord::of(&crawl_directory::state(directory));
    Ok(record.map_err(|error| fault(&error))?.shortest_delays())
}
