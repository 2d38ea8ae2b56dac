//! `--preset`: named groups of settings. A preset only changes defaults: the file and the flags
//! override it.
//!
//! The settings of a preset are listed here, in `--help` and in `config/default.toml`. A test
//! compares the three.

use std::fmt;
use std::str::FromStr;

/// A named list of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Only pages with the same bytes are not archived.
    Archive,
    /// Each text once, and only pages.
    Focused,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 2] = [Self::Archive, Self::Focused];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Focused => "focused",
        }
    }

    /// Returns the settings that the preset changes, in the form of a settings file.
    pub fn table(self) -> toml::Table {
        let (interstitials, links, body, duplicates, requisites) = match self {
            Self::Archive => ("on", "follow", "1GiB", "keep", "scope"),
            Self::Focused => ("off", "probe", "50MiB", "drop", "off"),
        };
        let settings = [
            ("archive-interstitials", interstitials),
            ("duplicate-links", links),
            ("max-body", body),
            ("on-duplicate", duplicates),
            ("page-requisites", requisites),
        ];
        let settings = settings.into_iter();
        settings
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect()
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|preset| preset.as_str() == word);
        found.ok_or_else(|| format!("{word:?} is not archive or focused"))
    }
}
