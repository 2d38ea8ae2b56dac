//! `DIR/control.toml`: changes to a running crawl.
//!
//! The file is read before the first page is requested, and once a second from then on. Its content
//! takes effect when two reads in a row find the same, so that a half-written file is not applied.
//! An invalid file changes nothing. Each change and each mistake is reported once, in crawl.log and
//! on standard error. `DIR/state/control.json` records what is in force, for `status`, `why` and
//! `verify`. `config/control.toml` documents the keys; a test compares it with [`read`].

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crawl::{CrawlContext, RuntimeOverrides};
use disk::{Disk, SystemDisk};
use fetch::PacingRules;
use serde::{Deserialize, Serialize};
use tokio::time::MissedTickBehavior;
use toml::Spanned;
use web::{CanonicalForm, Exclusions, Host, PageUrl};

use crate::cli_error::{CliError, fault, usage};
use crate::crawl_directory;
use crate::settings::{check_concurrency, check_factor, one_line};
use crate::values::{Rate, Span, maybe_word};

/// The name of the file, below the directory of the crawl.
pub(crate) const CONTROL: &str = "control.toml";

/// The interval at which the file is read.
const READ_EVERY: Duration = Duration::from_secs(1);

/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The keys of the file. Each replaces the setting of the same name, except `exclude`, which adds
/// to it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Control {
    #[serde(with = "maybe_word")]
    delay: Option<Span>,
    delay_factor: Option<Spanned<f64>>,
    #[serde(with = "maybe_word")]
    max_delay: Option<Span>,
    concurrency: Option<Spanned<usize>>,
    #[serde(with = "maybe_word")]
    rate: Option<Rate>,
    exclude: Vec<Spanned<String>>,
    pause: bool,
    host: BTreeMap<Spanned<String>, HostControl>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct HostControl {
    #[serde(with = "maybe_word")]
    delay: Option<Span>,
}

/// Parses a control file.
///
/// # Errors
/// The first mistake, with its line.
pub(crate) fn read(text: &str) -> Result<RuntimeOverrides, String> {
    let control: Control = toml::from_str(text).map_err(|error| one_line(&error))?;
    let wrong = |place: Range<usize>, what: String| {
        let before = text.bytes().take(place.start);
        let line = 1 + before.filter(|byte| *byte == b'\n').count();
        format!("at line {line}: {what}")
    };
    let impossible = |key: &str, place: Range<usize>, value: &dyn Display, range: &str| {
        wrong(place, format!("{key} {value} is impossible: {range}"))
    };
    if let Some(factor) = &control.delay_factor {
        check_factor(*factor.get_ref())
            .map_err(|range| impossible("delay-factor", factor.span(), factor.get_ref(), range))?;
    }
    if let Some(pages) = &control.concurrency {
        check_concurrency(*pages.get_ref())
            .map_err(|range| impossible("concurrency", pages.span(), pages.get_ref(), range))?;
    }
    let mut patterns = Vec::with_capacity(control.exclude.len());
    for pattern in control.exclude {
        let alone = std::slice::from_ref(pattern.get_ref());
        Exclusions::new(alone).map_err(|error| wrong(pattern.span(), error.to_string()))?;
        patterns.push(pattern.into_inner());
    }
    let mut host_delays = BTreeMap::new();
    for (name, host) in control.host {
        let named = host_named(name.get_ref()).ok_or_else(|| {
            let what = format!("{:?} is no host, such as \"example.org\"", name.get_ref());
            wrong(name.span(), what)
        })?;
        if let Some(delay) = host.delay {
            host_delays.insert(named, delay.0);
        }
    }
    Ok(RuntimeOverrides {
        delay: control.delay.map(|span| span.0),
        delay_factor: control.delay_factor.map(Spanned::into_inner),
        max_delay: control.max_delay.map(|span| span.0),
        rate: control.rate.map(|rate| rate.0),
        concurrency: control.concurrency.map(Spanned::into_inner),
        exclude: Exclusions::new(&patterns).map_err(|error| error.to_string())?,
        host_delays,
        pause: control.pause,
    })
}

/// Returns the host of a name; none if it has other parts of a URL.
fn host_named(name: &str) -> Option<Host> {
    let url = PageUrl::parse(&format!("http://{name}/"), &CanonicalForm::keep_all()).ok()?;
    let is_bare = url.as_str() == format!("http://{}/", url.host());
    (is_bare && !name.contains('@')).then(|| url.host())
}

/// Describes the overrides in one line: `delay 2s, exclude "a" and "b", pause`.
pub(crate) fn in_words(overrides: &RuntimeOverrides) -> String {
    fn part<T: Display>(key: &str, value: Option<T>) -> Option<String> {
        value.map(|value| format!("{key} {value}"))
    }
    let patterns = overrides.exclude.patterns();
    let patterns: Vec<String> = patterns.map(|pattern| format!("{pattern:?}")).collect();
    let parts = [
        part("delay", overrides.delay.map(Span)),
        part("delay-factor", overrides.delay_factor),
        part("max-delay", overrides.max_delay.map(Span)),
        part("concurrency", overrides.concurrency),
        part("rate", overrides.rate.map(Rate)),
        (!patterns.is_empty()).then(|| format!("exclude {}", patterns.join(" and "))),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    for (host, delay) in &overrides.host_delays {
        parts.push(format!("delay {} for {host}", Span(*delay)));
    }
    if overrides.pause {
        parts.push("pause".to_owned());
    }
    if parts.is_empty() {
        parts.push("nothing: the settings hold".to_owned());
    }
    parts.join(", ")
}

/// The content of `DIR/state/control.json`, which other commands read.
#[derive(Debug, Default, Deserialize, Serialize)]
struct ControlRecord {
    /// The text of the file in force; none if there is no file.
    text: Option<String>,
    /// The shortest delay and the shortest ceiling of delays that were ever in force, in
    /// milliseconds. `crawler verify` accepts them.
    least_delay: Option<u64>,
    least_max_delay: Option<u64>,
}

impl ControlRecord {
    fn path(directory: &Path) -> PathBuf {
        crawl_directory::state(directory).join("control.json")
    }

    fn of(directory: &Path) -> io::Result<Self> {
        match std::fs::read(Self::path(directory)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Returns the record with this file in force.
    fn replace(self, text: Option<&str>, overrides: &RuntimeOverrides) -> Self {
        let shorter = |before: Option<u64>, ordered: Option<Duration>| {
            let ordered = ordered.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
            before.into_iter().chain(ordered).min()
        };
        Self {
            text: text.map(str::to_owned),
            least_delay: shorter(self.least_delay, overrides.delay),
            least_max_delay: shorter(self.least_max_delay, overrides.max_delay),
        }
    }
}

/// The control file in force in a crawl, or when it last ran.
pub(crate) struct ControlInForce {
    /// The keys of the file.
    pub(crate) table: toml::Table,
    /// The overrides that it stands for.
    pub(crate) overrides: RuntimeOverrides,
}

/// Returns the control file that was last in force in the crawl in `directory`, if there was one.
pub(crate) fn last_in_force(directory: &Path) -> Result<Option<ControlInForce>, CliError> {
    let record = ControlRecord::of(directory).map_err(|error| fault(&error))?;
    let Some(text) = record.text else {
        return Ok(None);
    };
    let wrong = |what: String| {
        let path = ControlRecord::path(directory);
        fault(&io::Error::other(format!("{}: {what}", path.display())))
    };
    let table = toml::from_str(&text).map_err(|error| wrong(one_line(&error)))?;
    let overrides = read(&text).map_err(wrong)?;
    Ok(Some(ControlInForce { table, overrides }))
}

/// Returns the shortest delay and the shortest ceiling of delays that were ever in force in the
/// crawl in `directory` by a control file.
pub(crate) fn shortest_delays(
    directory: &Path,
) -> Result<(Option<Duration>, Option<Duration>), CliError> {
    let record = ControlRecord::of(directory).map_err(|error| fault(&error))?;
    let span = |millis: Option<u64>| millis.map(Duration::from_millis);
    Ok((span(record.least_delay), span(record.least_max_delay)))
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
            Self::Text(text) => read(text),
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
        let described = in_words(&overrides);
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
        let path = ControlRecord::path(&self.directory);
        if text.is_none() && !path.exists() {
            return;
        }
        // An unreadable record is replaced by a new one.
        let record = ControlRecord::of(&self.directory)
            .unwrap_or_default()
            .replace(text, &context.overrides.current());
        let bytes = serde_json::to_vec(&record).map_err(io::Error::from);
        if let Err(error) = bytes.and_then(|bytes| SystemDisk.replace(&path, &bytes)) {
            tracing::warn!(%error, "what {CONTROL} has changed cannot be kept for other commands");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENTED: &str = include_str!("../../../config/control.toml");

    fn wrong(text: &str) -> String {
        read(text).unwrap_err()
    }

    /// Returns the documented file with all of its examples in effect.
    fn uncommented() -> String {
        let line = |line: &str| line.strip_prefix("#: ").unwrap_or(line).to_owned();
        DOCUMENTED.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_documented_example_changes_nothing_until_its_lines_are_uncommented() {
        assert_eq!(read(DOCUMENTED), Ok(RuntimeOverrides::default()));
        let overrides = read(&uncommented()).unwrap();
        assert_eq!(
            in_words(&overrides),
            "delay 5s, delay-factor 10, max-delay 2m, concurrency 8, rate 4/s, \
             exclude \"/calendar/\" and \"[?&]sort=\", delay 20s for slow.example.org, pause"
        );
    }

    #[test]
    fn every_key_is_documented() {
        let Err(keys) = toml::from_str::<Control>("no-such-key = 1")
            .map_err(|error| error.message().to_owned())
        else {
            panic!("any key will do");
        };
        let (_, keys) = keys.split_once("expected one of ").unwrap();
        for key in keys.split(", ").map(|key| key.trim_matches('`')) {
            let set = [format!("\n#: {key} = "), format!("\n#: [{key}.")];
            assert!(set.iter().any(|set| DOCUMENTED.contains(set)), "{key}");
        }
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        for (text, line, what) in [
            ("delay = \"2s\"\ndelya = \"3s\"", 2, "unknown field `delya`"),
            ("delay = 2s", 1, ""),
            ("\ndelay = \"soon\"", 2, "\"soon\" is not a time span"),
            ("pause = \"yes\"", 1, "invalid type"),
            ("pause = true\npause = false", 2, "duplicate key"),
            ("\n\nconcurrency = 0", 3, "concurrency 0 is impossible"),
            ("concurrency = -1", 1, "invalid value"),
            ("delay-factor = -0.5", 1, "delay-factor -0.5 is impossible"),
            ("delay-factor = nan", 1, "is impossible"),
            ("rate = \"0/s\"", 1, "is not a rate"),
            (
                "exclude = [\n  \"a\",\n  \"(\",\n]",
                3,
                "\"(\" is not a usable expression",
            ),
            ("exclude = \"a\"", 1, "invalid type"),
            (
                "[host.\"a.test\"]\ndelay = \"1s\"\n\n[host.\"http://b.test/\"]\n",
                4,
                "is no host",
            ),
            (
                "[host.\"a.test\"]\nrate = \"1/s\"",
                2,
                "unknown field `rate`",
            ),
        ] {
            let found = wrong(text);
            assert!(
                found.starts_with(&format!("at line {line}")) && found.contains(what),
                "{text}: {found}"
            );
        }
    }

    #[test]
    fn hosts_are_named_as_people_write_them() {
        for (name, host) in [
            ("Example.ORG", Some("example.org")),
            ("127.0.0.1", Some("127.0.0.1")),
            ("[::1]", Some("[::1]")),
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("example.org:8080", None),
            ("example.org/a", None),
            ("user@example.org", None),
            ("example.org?", None),
            ("", None),
        ] {
            assert_eq!(host_named(name).as_ref().map(Host::as_str), host, "{name}");
        }
    }
}
