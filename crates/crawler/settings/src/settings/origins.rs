//! Origins: where the value of each setting comes from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::preset::Preset;

/// The layer that a setting's value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// No layer sets it.
    Default,
    /// `--preset`, or a preset that a file names.
    Preset(Preset),
    /// The crawl's file, or `--config`.
    File(PathBuf),
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(preset) => write!(f, "preset {preset}"),
            Self::File(path) => path.display().fmt(f),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// The origin of each setting that a layer sets.
#[derive(Clone, Debug, Default)]
pub struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// Returns the origin of a setting's value.
    pub fn of(&self, key: &str) -> Origin {
        self.0.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// Records that this layer sets these keys, and overrides earlier layers.
    pub(super) fn set<'k>(&mut self, keys: impl IntoIterator<Item = &'k String>, by: &Origin) {
        for key in keys {
            self.0.insert(key.to_owned(), by.clone());
        }
    }

    /// Records that no layer sets these keys.
    pub(super) fn reset(&mut self, keys: &[&str]) {
        for key in keys {
            self.0.remove(*key);
        }
    }
}

impl Origin {
    /// Returns the origin of the settings in a file.
    pub(super) fn file(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}
