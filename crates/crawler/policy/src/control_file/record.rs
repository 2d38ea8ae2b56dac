//! `DIR/state/control.json`: the control file in force, for the readers of a crawl.
//!
//! The crawl writes it after each change; if the crawl is not running, the record is the last one
//! written. It is small enough to be replaced as a whole.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disk::Disk;
use serde::{Deserialize, Serialize};

use super::ControlError;
use crate::runtime_overrides::RuntimeOverrides;

/// The record of the control file in force in a crawl, or when it last ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ControlRecord {
    /// The text of the file; `None` if the file does not exist.
    pub text: Option<String>,
    /// The shortest delay and the shortest ceiling of delays that were ever in force, in
    /// milliseconds. `crawler verify` accepts them.
    min_delay: Option<u64>,
    min_max_delay: Option<u64>,
    /// The actions in the file that were applied, in words.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub applied: BTreeSet<String>,
}

impl ControlRecord {
    /// Returns the path of the record in the directory of a crawl's state.
    #[must_use]
    pub fn path(state: &Path) -> PathBuf {
        state.join("control.json")
    }

    /// Reads the record in a crawl's state. Returns an empty record if the file does not exist.
    ///
    /// # Errors
    /// The file cannot be read, or is not a valid record.
    pub fn of(state: &Path) -> io::Result<Self> {
        match std::fs::read(Self::path(state)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Replaces the record in a crawl's state in one step.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, state: &Path, disk: &dyn Disk) -> io::Result<()> {
        let bytes = serde_json::to_vec(self)?;
        disk.replace(&Self::path(state), &bytes)
    }

    /// Returns the record with this file in force. Forgets actions that were removed from the file,
    /// so that they can be given again.
    #[must_use]
    pub fn replace(self, text: Option<&str>, overrides: &RuntimeOverrides) -> Self {
        let shorter = |before: Option<u64>, ordered: Option<Duration>| {
            let ordered = ordered.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
            before.into_iter().chain(ordered).min()
        };
        let mut applied = self.applied;
        let actions: BTreeSet<String> = overrides.actions.words().collect();
        applied.retain(|action| actions.contains(action));
        Self {
            text: text.map(str::to_owned),
            min_delay: shorter(self.min_delay, overrides.delay),
            min_max_delay: shorter(self.min_max_delay, overrides.max_delay),
            applied,
        }
    }

    /// Returns the overrides in force; `None` without a file.
    ///
    /// # Errors
    /// The recorded text has a mistake: another version of the crawler wrote it.
    pub fn overrides(&self) -> Result<Option<RuntimeOverrides>, ControlError> {
        self.text.as_deref().map(super::read).transpose()
    }

    /// Returns the shortest delay and the shortest ceiling of delays that were ever in force.
    #[must_use]
    pub fn shortest_delays(&self) -> (Option<Duration>, Option<Duration>) {
        let span = |millis: Option<u64>| millis.map(Duration::from_millis);
        (span(self.min_delay), span(self.min_max_delay))
    }
}
