//! `--preset`: lists of settings that belong together. A preset only changes defaults: whatever the
//! file or a flag says wins.
//!
//! The settings of a preset are told in three places that a test holds together: here, in `--help`
//! and in `config/default.toml`.

use std::fmt;
use std::str::FromStr;

/// A list of settings with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preset {
    /// Only the same bytes are left out.
    Archive,
    /// Each text once, and nothing but pages.
    Focused,
}

impl Preset {
    const ALL: [Self; 2] = [Self::Archive, Self::Focused];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Focused => "focused",
        }
    }

    /// The settings that it changes: key and value, as in the configuration file.
    const fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Archive => &[
                ("duplicate-links", "follow"),
                ("on-duplicate", "keep"),
                ("page-requisites", "scope"),
            ],
            Self::Focused => &[
                ("duplicate-links", "probe"),
                ("on-duplicate", "drop"),
                ("page-requisites", "off"),
            ],
        }
    }

    /// The same as a file of settings.
    pub(crate) fn table(self) -> toml::Table {
        let settings = self.settings().iter();
        settings
            .map(|(key, value)| ((*key).to_owned(), toml::Value::from(*value)))
            .collect()
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A preset that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not archive or focused")]
pub(crate) struct UnknownPreset(String);

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(word: &str) -> Result<Self, UnknownPreset> {
        let found = Self::ALL.into_iter().find(|preset| preset.as_str() == word);
        found.ok_or_else(|| UnknownPreset(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::settings::Settings;

    const DOCUMENTED: &str = include_str!("../../../config/default.toml");

    #[test]
    fn every_preset_is_a_list_of_settings_that_help_and_default_file_tell() {
        let command = crate::args::Arguments::command();
        let crawl = command.find_subcommand("crawl").unwrap();
        let option = crawl
            .get_arguments()
            .find(|argument| argument.get_long() == Some("preset"));
        let help = option
            .and_then(|option| option.get_help())
            .unwrap()
            .to_string();
        for preset in Preset::ALL {
            let table = preset.table();
            table.clone().try_into::<Settings>().unwrap();
            let list: Vec<String> = table
                .iter()
                .map(|(key, value)| format!("{key} {}", value.as_str().unwrap()))
                .collect();
            let told = format!("{preset} ({})", list.join(", "));
            assert!(help.contains(&told), "{told} is missing in --help");
            let documented = format!("#   {preset:<8} {}", list.join(", "));
            assert!(
                DOCUMENTED.contains(&documented),
                "{documented:?} is missing in config/default.toml"
            );
        }
    }
}
