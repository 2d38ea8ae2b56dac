//! The preference of an owner for each use of a page, with its source.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A use of a page by machines. The words are those of `--respect-preferences`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Usage {
    /// Training or fine-tuning of an AI model: `train-ai`, `ai-train`.
    Train,
    /// Input of an AI model that answers users: `ai-use`, `ai-input`.
    Input,
    /// An index that directs users to the page.
    Search,
}

/// The place of a statement. Stored as a number: new variants go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PreferenceSource {
    /// `Content-Usage` in robots.txt.
    RobotsUsage,
    /// `Content-Signal` in robots.txt.
    RobotsSignal,
    /// The header field `Content-Usage`.
    HeaderUsage,
    /// The header field `Content-Signal`.
    HeaderSignal,
    /// `/.well-known/tdmrep.json`.
    TdmFile,
    /// The header field `tdm-reservation`.
    TdmHeader,
    /// The `<meta>` element `tdm-reservation`.
    TdmMeta,
    /// `noai` or `noimageai`, in `X-Robots-Tag` or a robots `<meta>` element.
    NoAi,
    /// `/ai.txt`.
    AiTxt,
}

/// An owner's answer about one use of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preference {
    /// False if the owner refuses the use.
    pub is_allowed: bool,
    /// The place of the statement that decided.
    pub source: PreferenceSource,
}

/// The owner's preferences for a page: at most one for each [`Usage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preferences([Option<Preference>; Usage::ALL.len()]);

/// A set of uses that are only served if the owner of a page does not refuse them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usages([bool; Usage::ALL.len()]);

/// A word that is not a [`Usage`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be train, input, search or none, got {0:?}")]
pub struct UnknownUsage(String);

/// A text that is not a list of preferences.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a list of preferences such as \"train=n (content-usage header)\": {0:?}")]
pub struct BadPreferences(String);

impl Usage {
    /// All uses.
    pub const ALL: [Self; 3] = [Self::Train, Self::Input, Self::Search];

    /// Returns its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Input => "input",
            Self::Search => "search",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|usage| usage.as_str() == word)
    }
}

impl PreferenceSource {
    const ALL: [Self; 9] = [
        Self::RobotsUsage,
        Self::RobotsSignal,
        Self::HeaderUsage,
        Self::HeaderSignal,
        Self::TdmFile,
        Self::TdmHeader,
        Self::TdmMeta,
        Self::NoAi,
        Self::AiTxt,
    ];

    /// Returns its name in exports and archives.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RobotsUsage => "robots.txt content-usage",
            Self::RobotsSignal => "robots.txt content-signal",
            Self::HeaderUsage => "content-usage header",
            Self::HeaderSignal => "content-signal header",
            Self::TdmFile => "tdmrep.json",
            Self::TdmHeader => "tdm-reservation header",
            Self::TdmMeta => "tdm-reservation meta",
            Self::NoAi => "noai",
            Self::AiTxt => "ai.txt",
        }
    }
}

impl Preferences {
    /// Returns preferences with one answer.
    pub(crate) fn of(usage: Usage, is_allowed: bool, source: PreferenceSource) -> Self {
        let mut one = Self::default();
        one.0[usage as usize] = Some(Preference { is_allowed, source });
        one
    }

    /// Returns preferences that refuse every use.
    pub(crate) fn refusing_all(source: PreferenceSource) -> Self {
        let refusal = Preference {
            is_allowed: false,
            source,
        };
        Self([Some(refusal); Usage::ALL.len()])
    }

    /// Adds further statements. A refusal wins; of equal answers, the earlier keeps its source.
    pub(crate) fn add(&mut self, others: Self) {
        for (known, other) in self.0.iter_mut().zip(others.0) {
            let is_stricter = match (&known, other) {
                (None, _) => true,
                (Some(known), Some(other)) => known.is_allowed && !other.is_allowed,
                (Some(_), None) => false,
            };
            if is_stricter {
                *known = other;
            }
        }
    }

    /// Returns the preference for one use; `None` if the owner does not state it.
    #[must_use]
    pub const fn get(&self, usage: Usage) -> Option<Preference> {
        self.0[usage as usize]
    }

    /// Returns the first of these uses that the owner refuses, and the source.
    #[must_use]
    pub fn refused(&self, uses: Usages) -> Option<(Usage, PreferenceSource)> {
        uses.iter().find_map(|usage| {
            let preference = self.get(usage).filter(|stated| !stated.is_allowed)?;
            Some((usage, preference.source))
        })
    }

    /// Returns itself, or `None` if nothing is stated.
    #[must_use]
    pub fn stated(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Returns the source of the first refusal, or else of the first statement.
    #[must_use]
    pub fn source(&self) -> Option<PreferenceSource> {
        let refused = self.0.iter().flatten().find(|stated| !stated.is_allowed);
        let decisive = refused.or_else(|| self.0.iter().flatten().next());
        decisive.map(|stated| stated.source)
    }
}

/// Writes `train=n (robots.txt content-usage), search=y (content-signal header)`.
impl fmt::Display for Preferences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for usage in Usage::ALL {
            let Some(Preference { is_allowed, source }) = self.get(usage) else {
                continue;
            };
            let answer = if is_allowed { 'y' } else { 'n' };
            let (usage, source) = (usage.as_str(), source.as_str());
            write!(f, "{separator}{usage}={answer} ({source})")?;
            separator = ", ";
        }
        Ok(())
    }
}

impl FromStr for Preferences {
    type Err = BadPreferences;

    fn from_str(text: &str) -> Result<Self, BadPreferences> {
        let mut all = Self::default();
        for part in text.split(", ").filter(|part| !part.is_empty()) {
            all.add(read_part(part).ok_or_else(|| BadPreferences(text.to_owned()))?);
        }
        Ok(all)
    }
}

fn read_part(part: &str) -> Option<Preferences> {
    let (usage, rest) = part.split_once('=')?;
    let (answer, source) = rest.strip_suffix(')')?.split_once(" (")?;
    let is_allowed = match answer {
        "y" => true,
        "n" => false,
        _ => return None,
    };
    let mut sources = PreferenceSource::ALL.into_iter();
    let source = sources.find(|known| known.as_str() == source)?;
    Some(Preferences::of(Usage::of_word(usage)?, is_allowed, source))
}

impl Usages {
    /// Returns true if there is no use.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        matches!(self.0, [false, false, false])
    }

    /// Returns true for one of the uses.
    #[must_use]
    pub const fn contains(self, usage: Usage) -> bool {
        self.0[usage as usize]
    }

    fn iter(self) -> impl Iterator<Item = Usage> {
        let all = Usage::ALL.into_iter();
        all.filter(move |usage| self.contains(*usage))
    }
}

impl FromStr for Usages {
    type Err = UnknownUsage;

    /// Parses a comma-separated list of an option; `none` is the empty set.
    fn from_str(text: &str) -> Result<Self, UnknownUsage> {
        let mut uses = Self::default();
        if text.trim() == "none" {
            return Ok(uses);
        }
        for word in text.split(',').map(str::trim) {
            let usage = Usage::of_word(word).ok_or_else(|| UnknownUsage(word.to_owned()))?;
            uses.0[usage as usize] = true;
        }
        Ok(uses)
    }
}

impl fmt::Display for Usages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.iter().map(Usage::as_str).collect();
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
