//! `DIR/control.toml`: changes to a running crawl, as text.
//!
//! [`read`] checks a whole text and returns its overrides, so that a text can be checked before it
//! is written. [`describe`] puts overrides into words. `record.rs` contains the record of the file
//! in force.
//!
//! A key of the file is a field of `Control` (of `HostControl` for one host). `read` checks it and
//! reports the line of a mistake; [`RuntimeOverrides`] contains its value. `config/control.toml`
//! documents the keys; a test compares it with `read`.

mod record;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;

use journal::PatternName;
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;
use web::{CanonicalForm, Exclusions, PageUrl};

pub use self::record::ControlRecord;
use crate::failed_pages::FailedPagesError;
use crate::runtime_overrides::{Actions, RuntimeOverrides};
use crate::values::{Rate, Span, check_concurrency, check_factor, host_named, maybe_word};

/// The name of the file, below the directory of the crawl.
pub const CONTROL: &str = "control.toml";

/// The longest file that is read, in bytes.
pub const MAX_BYTES: u64 = 1 << 20;

/// A mistake in a control file, with its place. The whole file is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ControlError {
    /// A value, a key or the syntax is wrong.
    #[error("at line {line}{}: {what}", in_column(*.column))]
    Wrong {
        /// The line, counted from 1.
        line: usize,
        /// The character in the line, counted from 1, if it is more precise than the line.
        column: Option<usize>,
        /// The rule and the value.
        what: String,
    },
    /// The expressions of `exclude` are wrong together.
    #[error("exclude: {0}")]
    Exclusions(String),
}

fn in_column(column: Option<usize>) -> String {
    column.map_or_else(String::new, |column| format!(", column {column}"))
}

/// The keys of the file. Each replaces the setting of the same name, except `exclude`, which adds
/// to it, and the actions `reopen`, `distinct` and `retry`.
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
    reopen: Vec<Spanned<String>>,
    distinct: Vec<Spanned<String>>,
    retry: Vec<Spanned<String>>,
    host: BTreeMap<Spanned<String>, HostControl>,
}

/// The keys of one host.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct HostControl {
    #[serde(with = "maybe_word")]
    delay: Option<Span>,
}

/// Parses and checks the text of a control file.
///
/// # Errors
/// The first mistake, with its line.
pub fn read(text: &str) -> Result<RuntimeOverrides, ControlError> {
    let control: Control = toml::from_str(text).map_err(|error| of_toml(text, &error))?;
    let wrong = |place: Range<usize>, what: String| ControlError::Wrong {
        line: place_of(text, place.start).0,
        column: None,
        what,
    };
    let impossible = |key: &str, place: Range<usize>, value: &dyn Display, range: &str| {
        wrong(place, format!("{key} {value} is not valid: {range}"))
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
            let what = format!(
                "{:?} is not a host, such as \"example.org\"",
                name.get_ref()
            );
            wrong(name.span(), what)
        })?;
        if let Some(delay) = host.delay {
            host_delays.insert(named, delay.0);
        }
    }
    let mut actions = Actions::default();
    for name in control.reopen {
        let pattern = PatternName::from_text(name.get_ref()).ok_or_else(|| {
            let what = format!(
                "{:?} is not a URL pattern, such as \"a.org/f/{{n}}?a\"",
                name.get_ref()
            );
            wrong(name.span(), what)
        })?;
        actions.reopen.push(pattern);
    }
    for text in control.distinct {
        let url = PageUrl::parse(text.get_ref(), &CanonicalForm::keep_all());
        actions.distinct.push(url.map_err(|error| {
            let what = format!("{:?} is not the URL of a page: {error}", text.get_ref());
            wrong(text.span(), what)
        })?);
    }
    for text in control.retry {
        let selection = text.get_ref().parse();
        let mistaken = |error: FailedPagesError| wrong(text.span(), format!("retry: {error}"));
        actions.retry.push(selection.map_err(mistaken)?);
    }
    let exclude = Exclusions::new(&patterns);
    Ok(RuntimeOverrides {
        delay: control.delay.map(|span| span.0),
        delay_factor: control.delay_factor.map(Spanned::into_inner),
        max_delay: control.max_delay.map(|span| span.0),
        rate: control.rate.map(|rate| rate.0),
        concurrency: control.concurrency.map(Spanned::into_inner),
        exclude: exclude.map_err(|error| ControlError::Exclusions(error.to_string()))?,
        host_delays,
        pause: control.pause,
        actions,
    })
}

/// Returns the line and the character of a place, both counted from 1.
fn place_of(text: &str, place: usize) -> (usize, usize) {
    let before = text.get(..place).unwrap_or(text);
    let begin = before.rfind('\n').map_or(0, |end| end + 1);
    let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
    (line, 1 + before[begin..].chars().count())
}

fn of_toml(text: &str, error: &toml::de::Error) -> ControlError {
    let (line, column) = place_of(text, error.span().map_or(0, |span| span.start));
    ControlError::Wrong {
        line,
        column: Some(column),
        what: error.message().replace('\n', "; "),
    }
}

/// Describes the overrides in one line: `delay 2s, exclude "a" and "b", pause`.
#[must_use]
pub fn describe(overrides: &RuntimeOverrides) -> String {
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
    parts.extend(overrides.actions.words());
    if parts.is_empty() {
        parts.push("no overrides".to_owned());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENTED: &str = include_str!("../../../../config/control.toml");

    fn wrong(text: &str) -> String {
        read(text).unwrap_err().to_string()
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
            describe(&overrides),
            "delay 5s, delay-factor 10, max-delay 2m, concurrency 8, rate 4/s, \
             exclude \"/calendar/\" and \"[?&]sort=\", delay 20s for slow.example.org, pause, \
             reopen example.org/news/{n}, distinct http://example.org/guide?v=2, \
             retry temporary, retry status=404,410 host=example.org"
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
            ("\n\nconcurrency = 0", 3, "concurrency 0 is not valid"),
            ("concurrency = -1", 1, "invalid value"),
            ("delay-factor = -0.5", 1, "delay-factor -0.5 is not valid"),
            ("delay-factor = nan", 1, "is not valid"),
            ("rate = \"0/s\"", 1, "is not a rate"),
            (
                "exclude = [\n  \"a\",\n  \"(\",\n]",
                3,
                "\"(\" is not a valid expression",
            ),
            ("exclude = \"a\"", 1, "invalid type"),
            (
                "\nreopen = [\"a.test\"]",
                2,
                "\"a.test\" is not a URL pattern",
            ),
            (
                "distinct = [\n  \"http://a.test/\",\n  \"/b\",\n]",
                3,
                "\"/b\" is not the URL of a page",
            ),
            (
                "[host.\"a.test\"]\ndelay = \"1s\"\n\n[host.\"http://b.test/\"]\n",
                4,
                "is not a host",
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
}
