//! The watch over `DIR/control.toml`, which changes a running crawl.
//!
//! The file is read before the first page is requested, and once a second from then on. Its content
//! takes effect when two reads in a row find the same, so that a half-written file is not applied.
//! An invalid file changes nothing. Each change and each mistake is reported once, in crawl.log and
//! on standard error. `DIR/state/control.json` records what is in force, for `status`, `why` and
//! `verify`. [`crawl::control_file`] knows the keys.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crawl::control_file::{self, CONTROL, ControlRecord, MAX_BYTES};
use crawl::{CrawlContext, RuntimeOverrides};
use disk::SystemDisk;
use fetch::PacingRules;
use tokio::time::MissedTickBehavior;

use crate::cli_error::{CliError, fault, usage};
use crate::crawl_directory;
use crate::settings::one_line;

/// The interval at which the file is read.
const READ_EVERY: Duration = Duration::from_secs(1);

/// The control file in force in a crawl, or when it last ran.
pub(crate) struct ControlInForce {
    /// The keys of the file.
    pub(crate) table: toml::Table,
    /// The overrides that it stands for.
    pub(crate) overrides: RuntimeOverrides,
}

/// Returns the control file that was last in force in the crawl in `directory`, if there was one.
pub(crate) fn last_in_force(directory: &Path) -> Result<Option<ControlInForce>, CliError> {
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

/// Returns the shortest delay and the shortest ceiling of delays that were ever in force in the
/// crawl in `directory` by a control file.
pub(crate) fn shortest_delays(
    directory: &Path,
) -> Result<(Option<Duration>, Option<Duration>), CliError> {
    let record = ControlRecord::of(&crawl_directory::state(directory));
    Ok(record.map_err(|error| fault(&error))?.shortest_delays())
}

/// The state of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileState {
    Missing,
    Text(String),
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl FileState {
    fn of(path: &Path) -> Self {
        if std::fs::metadata(path).is_ok_and(|file| file.len() > MAX_BYTES) {
            return Self::Unreadable(format!("it has more than {MAX_BYTES} bytes"));
        }
        match std::fs::read_to_string(path) {
            Ok(text) => Self::Text(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }

    fn overrides(&self) -> Result<RuntimeOverrides, String> {
        match self {
            Self::Missing => Ok(RuntimeOverrides::default()),
            Self::Text(text) => control_file::read(text).map_err(|error| error.to_string()),
            Self::Unreadable(reason) => Err(reason.clone()),
        }
    }
}

/// The watcher of a crawl's control file.
pub(crate) struct ControlWatch {
    directory: PathBuf,
    settings: PacingRules,
    /// The state of the file at the last read.
    seen: FileState,
    /// The state of the file that was last applied or refused, and true if it was refused.
    acted_on: FileState,
    refused: bool,
}

impl ControlWatch {
    /// Reads the file for the first time. `settings` are the pacing rules without it.
    ///
    /// # Errors
    /// The file is invalid, so that it is unclear what should be in force.
    pub(crate) fn open(directory: &Path, settings: PacingRules) -> Result<Self, CliError> {
        let path = directory.join(CONTROL);
        let found = FileState::of(&path);
        found.overrides().map_err(|what| {
            let remedy = "correct or remove it; config/control.toml documents its keys";
            usage(format!("{}: {what}", path.display())).with_remedy(remedy)
        })?;
        Ok(Self {
            directory: directory.to_owned(),
            settings,
            seen: found.clone(),
            acted_on: found,
            refused: false,
        })
    }

    /// Applies the file before the first page is requested.
    pub(crate) fn begin(&mut self, context: &CrawlContext) {
        // `open` refuses an invalid file.
        let overrides = self.seen.overrides().unwrap_or_default();
        self.apply(context, overrides);
    }

    /// Watches the file while the crawl runs.
    pub(crate) async fn go_on(mut self, context: Arc<CrawlContext>) {
        let mut ticks = tokio::time::interval(READ_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let path = self.directory.join(CONTROL);
            let Ok(found) = tokio::task::spawn_blocking(move || FileState::of(&path)).await else {
                return;
            };
            self.follow(found, &context);
        }
    }

    /// Applies the file if it differs from what was acted on, and two reads found the same.
    fn follow(&mut self, found: FileState, context: &CrawlContext) {
        let is_settled = found == self.seen;
        self.seen = found;
        if !is_settled || self.seen == self.acted_on {
            return;
        }
        self.acted_on = self.seen.clone();
        match self.seen.overrides() {
            Ok(overrides) => self.apply(context, overrides),
            Err(wrong) => {
                self.refused = true;
                tracing::warn!("{CONTROL} is not obeyed, and what was in force stays so: {wrong}");
            }
        }
    }

    fn apply(&mut self, context: &CrawlContext, overrides: RuntimeOverrides) {
        let is_new = self.refused || *context.overrides.current() != overrides;
        self.refused = false;
        let described = control_file::describe(&overrides);
        context.apply(overrides, &self.settings);
        self.keep(context);
        if is_new {
            // Logged after the change, so that readers of the line can rely on it.
            tracing::warn!("{CONTROL} is obeyed: {described}");
        }
    }

    /// Stores what is in force, for other commands. If it cannot be written, the crawl continues.
    fn keep(&self, context: &CrawlContext) {
        let text = match &self.seen {
            FileState::Text(text) => Some(text.as_str()),
            FileState::Missing | FileState::Unreadable(_) => None,
        };
        let state = crawl_directory::state(&self.directory);
        if text.is_none() && !ControlRecord::path(&state).exists() {
            return;
        }
        // An unreadable record is replaced by a new one.
        let record = ControlRecord::of(&state)
            .unwrap_or_default()
            .replace(text, &context.overrides.current());
        if let Err(error) = record.keep(&state, &SystemDisk) {
            tracing::warn!(%error, "what {CONTROL} has changed cannot be kept for other commands");
        }
    }
}
