//! What a robots.txt says about one URL, and why.

use std::fmt;

/// What the rules say about one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsVerdict {
    /// Whether it may be asked for.
    pub allowed: bool,
    /// What decided.
    pub grounds: Grounds,
}

/// Why a URL may be asked for, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grounds {
    /// This rule.
    Rule(RobotsRule),
    /// The URL is that of the robots.txt.
    Itself,
    /// No rule for us matches it.
    NoRule,
    /// Nothing in the file is for us.
    NoGroup,
    /// There is no robots.txt.
    NoFile,
    /// The robots.txt cannot be had.
    Unreachable,
    /// The file has so many starred rules, and the URL is so long, that nobody can be expected to
    /// compare them.
    TooCostly,
}

/// A rule that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRule {
    /// Whether it allows.
    pub allow: bool,
    /// Its path, in the spelling in which paths are compared. Visible ASCII.
    pub pattern: String,
    /// The number of its line, from 1.
    pub line: u32,
    /// For whom its group is: our product token, or `*`.
    pub group: String,
}

impl RobotsVerdict {
    pub(super) const fn new(allowed: bool, grounds: Grounds) -> Self {
        Self { allowed, grounds }
    }

    /// The rule that decided, where one did.
    #[must_use]
    pub const fn rule(&self) -> Option<&RobotsRule> {
        match &self.grounds {
            Grounds::Rule(rule) => Some(rule),
            _ => None,
        }
    }
}

impl Grounds {
    /// The section of RFC 9309 that it follows from.
    #[must_use]
    pub const fn section(&self) -> &'static str {
        match self {
            Self::Rule(_) | Self::Itself | Self::NoRule => "2.2.2",
            Self::NoGroup => "2.2.1",
            Self::NoFile => "2.3.1.3",
            Self::Unreachable => "2.3.1.4",
            Self::TooCostly => "3",
        }
    }
}

/// In a clause.
impl fmt::Display for Grounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule(rule) => return rule.fmt(f),
            Self::Itself => "robots.txt itself may always be asked for",
            Self::NoRule => "no rule matches",
            Self::NoGroup => "no group is for this crawler, nor for all",
            Self::NoFile => "there is no robots.txt",
            Self::Unreachable => "it could not be had, which forbids everything",
            Self::TooCostly => "its starred rules are too many to be compared with so long a URL",
        })
    }
}

/// As it could stand in a file: `Disallow: /private`.
impl fmt::Display for RobotsRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.allow { "Allow" } else { "Disallow" };
        write!(f, "{verb}: {}", self.pattern)
    }
}
