//! The verdict of a robots.txt on one URL, and its reason.

use std::fmt;

/// The verdict of the rules on one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsVerdict {
    /// True if fetching the URL is allowed.
    pub allowed: bool,
    /// Reason for the verdict.
    pub grounds: Grounds,
}

/// Reason for allowing or forbidding a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grounds {
    /// A rule matches.
    Rule(RobotsRule),
    /// The URL is the robots.txt itself.
    Itself,
    /// No applicable rule matches the URL.
    NoRule,
    /// No group applies to us.
    NoGroup,
    /// The site has no robots.txt.
    NoFile,
    /// The robots.txt is unreachable.
    Unreachable,
    /// The wildcard rules and the URL are too long to be compared at a bounded cost.
    TooCostly,
}

/// The rule behind a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRule {
    /// True for `Allow`, false for `Disallow`.
    pub allow: bool,
    /// Normalised path, in visible ASCII.
    pub pattern: String,
    /// Line number, from 1.
    pub line: u32,
    /// Name of its group: our product token, or `*`.
    pub group: String,
    /// Other names of the group, if an empty line or a `Crawl-delay` separates its names: the owner
    /// may have meant two groups.
    pub merged_with: Option<String>,
}

impl RobotsVerdict {
    pub(super) const fn new(allowed: bool, grounds: Grounds) -> Self {
        Self { allowed, grounds }
    }

    /// Returns the rule behind the verdict, if any.
    #[must_use]
    pub const fn rule(&self) -> Option<&RobotsRule> {
        match &self.grounds {
            Grounds::Rule(rule) => Some(rule),
            _ => None,
        }
    }
}

impl Grounds {
    /// Returns the section of RFC 9309 that applies.
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

/// Writes the reason in one clause.
impl fmt::Display for Grounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule(rule) => {
                rule.fmt(f)?;
                return match rule.merged_with.as_deref() {
                    Some(others) if !others.is_empty() => write!(
                        f,
                        " (line {}, in one group with {others}: RFC 9309 merges the lines)",
                        rule.line
                    ),
                    _ => Ok(()),
                };
            }
            Self::Itself => "robots.txt itself may always be asked for",
            Self::NoRule => "no rule matches",
            Self::NoGroup => "no group is for this crawler, nor for all",
            Self::NoFile => "there is no robots.txt",
            Self::Unreachable => "it could not be had, which forbids everything",
            Self::TooCostly => "its starred rules are too many to be compared with so long a URL",
        })
    }
}

/// Writes the rule as in a file: `Disallow: /private`.
impl fmt::Display for RobotsRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.allow { "Allow" } else { "Disallow" };
        write!(f, "{verb}: {}", self.pattern)
    }
}
