//! Watches `DIR/control.toml`, which changes a running crawl.
//!
//! The file is read before the first page is requested, and then once per second. Its content takes
//! effect after two identical reads in a row, so that a half-written file is not applied. A node of
//! a shared crawl applies the file in its directory, or, if the file does not exist, the text that
//! `crawler control` wrote to the store. An invalid file changes nothing. Each change and each
//! mistake is reported once, in crawl.log and on standard error. `DIR/state/control.json` records
//! the control file in effect, for `status`, `why` and `verify`. [`policy::control_file`] defines
//! the keys; `actions.rs` applies the actions.

pub mod actions;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crawl::CrawlContext;
use disk::SystemDisk;
use journal::StoreFault;
use messages::{CommandError, usage};
use policy::control_file::{self, CONTROL, ControlRecord, MAX_BYTES};
use policy::{Actions, RuntimeOverrides};
use requests::PacingRules;
use settings::crawl_directory;
use tokio::time::MissedTickBehavior;

use self::actions::ActionStore;

/// Target of log records: files of the crawl's log name the program.
const LOG_TARGET: &str = "crawler::control";

/// Interval between reads of the file.
const READ_EVERY: Duration = Duration::from_secs(1);

/// The state of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileState {
    Missing,
    Text(String),
    /// The file cannot be read, for this reason.
    Unreadable(String),
}

impl FileState {
    fn of(path: &Path) -> Self {
        if std::fs::metadata(path).is_ok_and(|file| file.len() > MAX_BYTES) {
            return Self::Unreadable(format!("it exceeds {MAX_BYTES} bytes"));
        }
        match std::fs::read_to_string(path) {
            Ok(text) => Self::Text(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }

    /// Returns the control file of a node: its own file, or the text in the crawl's store.
    fn or_of(self, store: &ActionStore) -> Self {
        let ActionStore::Shared(shared) = store else {
            return self;
        };
        let shared = || shared.upgrade().and_then(|shared| shared.control());
        match self {
            Self::Missing => shared().map_or(Self::Missing, Self::Text),
            own => own,
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
pub struct ControlWatch {
    directory: PathBuf,
    settings: PacingRules,
    /// State of the file at the last read.
    seen: FileState,
    /// State of the file that was last applied or refused, and true if it was refused.
    acted_on: FileState,
    refused: bool,
}

impl ControlWatch {
    /// Reads the file for the first time. `settings` are the pacing rules without it.
    ///
    /// # Errors
    /// The file is invalid, so it is unclear which overrides should be in effect.
    pub fn open(directory: &Path, settings: PacingRules) -> Result<Self, CommandError> {
        let path = directory.join(CONTROL);
        let found = FileState::of(&path);
        found.overrides().map_err(|what| {
            let remedy = "correct or remove it; its keys are documented in config/control.toml";
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

    /// Applies the file, and applies its actions, before the first page is requested.
    ///
    /// # Errors
    /// [`StoreFault`] if an action cannot be applied.
    pub async fn begin(
        &mut self,
        context: &CrawlContext,
        store: &ActionStore,
    ) -> Result<(), StoreFault> {
        self.seen = self.seen.clone().or_of(store);
        self.acted_on = self.seen.clone();
        // `open` refuses an invalid file, and `crawler control` does not write invalid text to the
        // store.
        let overrides = self.seen.overrides().unwrap_or_default();
        self.apply(context, overrides);
        self.apply_actions(context, store).await
    }

    /// Watches the file while the crawl runs.
    pub async fn go_on(mut self, context: Arc<CrawlContext>, store: ActionStore) {
        let mut ticks = tokio::time::interval(READ_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let path = self.directory.join(CONTROL);
            let Ok(found) = tokio::task::spawn_blocking(move || FileState::of(&path)).await else {
                return;
            };
            if !self.follow(found.or_of(&store), &context) {
                continue;
            }
            if let Err(error) = self.apply_actions(&context, &store).await {
                tracing::error!(
                    target: LOG_TARGET,
                    %error,
                    "cannot apply the one-time actions of {CONTROL}"
                );
            }
        }
    }

    /// Applies the actions in the file that are not applied yet.
    async fn apply_actions(
        &self,
        context: &CrawlContext,
        store: &ActionStore,
    ) -> Result<(), StoreFault> {
        let overrides = context.overrides.current();
        let actions = actions::pending(&self.directory, &overrides.actions);
        if actions == Actions::default() {
            return Ok(());
        }
        let applied = actions::apply(store.clone(), actions).await?;
        for effect in &applied.effects {
            tracing::warn!(target: LOG_TARGET, "{CONTROL}: {effect}");
        }
        self.keep(context, applied.done);
        // The queue may have been empty; this makes the leasing loop check it again.
        context.apply((*overrides).clone(), &self.settings);
        Ok(())
    }

    /// Applies the file if it differs from the file that was last acted on, and two reads were
    /// identical. Returns true if it was applied.
    fn follow(&mut self, found: FileState, context: &CrawlContext) -> bool {
        let is_settled = found == self.seen;
        self.seen = found;
        if !is_settled || self.seen == self.acted_on {
            return false;
        }
        self.acted_on = self.seen.clone();
        let overrides = self.seen.overrides();
        let is_right = overrides.is_ok();
        match overrides {
            Ok(overrides) => self.apply(context, overrides),
            Err(wrong) => {
                self.refused = true;
                tracing::warn!(
                    target: LOG_TARGET,
                    "{CONTROL} is invalid and was not applied; the previous settings stay in \
                     effect: {wrong}"
                );
            }
        }
        is_right
    }

    fn apply(&mut self, context: &CrawlContext, overrides: RuntimeOverrides) {
        let is_new = self.refused || *context.overrides.current() != overrides;
        self.refused = false;
        let described = control_file::describe(&overrides);
        context.apply(overrides, &self.settings);
        self.keep(context, BTreeSet::new());
        if is_new {
            // Logged after the change, so that readers of the line can rely on it.
            tracing::warn!(target: LOG_TARGET, "{CONTROL} applied: {described}");
        }
    }

    /// Records the control file in effect for other commands, and the actions that were just
    /// carried out. If the record cannot be written, the crawl continues.
    fn keep(&self, context: &CrawlContext, applied: BTreeSet<String>) {
        let text = match &self.seen {
            FileState::Text(text) => Some(text.as_str()),
            FileState::Missing | FileState::Unreadable(_) => None,
        };
        let state = crawl_directory::state(&self.directory);
        if text.is_none() && !ControlRecord::path(&state).exists() {
            return;
        }
        // A new record replaces an unreadable one.
        let mut record = ControlRecord::of(&state)
            .unwrap_or_default()
            .replace(text, &context.overrides.current());
        record.applied.extend(applied);
        if let Err(error) = record.keep(&state, &SystemDisk) {
            tracing::warn!(
                target: LOG_TARGET,
                %error,
                "cannot record the changes of {CONTROL} for other commands"
            );
        }
    }
}
