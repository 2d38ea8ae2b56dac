//! Reasons why a URL was not visited, or why a visit ended as it did.
//!
//! A reason is data with a kind, a pattern or a target that programs can query. Its text, written
//! by [`Display`](fmt::Display), is for people and is never parsed.

use std::fmt;

use serde::{Deserialize, Serialize};
use web::{Interstitial, OutOfScope, PreferenceSource, Usage};

use crate::pattern_name::PatternName;
use crate::reason_kind::ReasonKind;

/// The reason why a URL was not visited, or why a visit ended as it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The URL is of a pattern that is closed.
    PatternClosed {
        /// The pattern.
        name: PatternName,
        /// The counts that closed it, as a clause.
        because: String,
    },
    /// The URL is of a pattern that has reached its limit of pages (`--max-pages-per-pattern`).
    PatternSpent {
        /// The pattern.
        name: PatternName,
        /// Maximum number of its pages.
        most: u64,
    },
    /// The URL is known only from unarchived pages, whose links are not followed in its folder.
    LinksOfDuplicates {
        /// The folder.
        name: PatternName,
        /// The counts that closed it, as a clause.
        because: String,
    },
    /// The scope, or an expression.
    OutOfScope(OutOfScope),
    /// robots.txt forbids it.
    Robots {
        /// The rule, as a clause.
        rule: String,
    },
    /// The page asks not to be archived.
    NoArchive,
    /// The URL redirects to a URL that is not visited, or that failed.
    Redirect {
        /// The URL that it redirects to, as it was or would be requested.
        to: String,
        /// The target's reason.
        because: Box<Self>,
    },
    /// The URL redirects to a page of this crawl that has its own visit, so nothing is missing.
    VisitedForItself {
        /// The URL that it redirects to, as it would be requested.
        to: String,
    },
    /// The last response has this status.
    Status {
        /// The status code.
        status: u16,
        /// A clause about a login, if the response asks for one.
        login: String,
    },
    /// The address of the host is not on the public internet.
    Address {
        /// The address.
        address: String,
        /// The kind of address, such as `a private address`.
        kind: String,
    },
    /// The redirects were followed up to the limit.
    LongChain {
        /// The limit.
        most: u32,
    },
    /// The URL redirects to itself, perhaps because cookies are not sent back.
    CookieCircle,
    /// A filter excludes the media type.
    Type {
        /// The media type.
        essence: String,
        /// The filter.
        types: String,
    },
    /// A filter excludes the language.
    Language {
        /// The language, by ISO 639-1.
        language: String,
        /// The filter.
        languages: String,
    },
    /// Any other reason.
    Said {
        /// The name for counting: the beginning of its text.
        name: String,
        /// The rest of its text, which differs between URLs.
        detail: String,
    },
    /// The server sent an interstitial page in place of the page.
    Interstitial(Interstitial),
    /// The owner of the page refuses a use that the crawl respects (`--respect-preferences`).
    Preference {
        /// The use.
        usage: Usage,
        /// The place of the statement.
        source: PreferenceSource,
    },
}

impl Reason {
    /// Returns a reason whose whole text is its name.
    pub fn said(text: impl Into<String>) -> Self {
        Self::with_detail(text, "")
    }

    /// Returns a reason that is counted under `name`; `detail` follows the name in its text.
    pub fn with_detail(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Said {
            name: name.into(),
            detail: detail.into(),
        }
    }

    /// Returns the reason of a URL that redirects to a URL with the reason `because`.
    pub fn of_redirect(to: &impl ToString, because: Self) -> Self {
        Self::Redirect {
            to: to.to_string(),
            because: Box::new(because),
        }
    }

    /// Returns the kind of rule; [`ReasonKind::Other`] if the end of a visit decided, not a rule.
    #[must_use]
    pub fn kind(&self) -> ReasonKind {
        match self {
            Self::PatternClosed { .. } => ReasonKind::Pattern,
            Self::PatternSpent { .. } => ReasonKind::Limit,
            Self::LinksOfDuplicates { .. } => ReasonKind::DuplicateLinks,
            Self::OutOfScope(_) => ReasonKind::Scope,
            Self::Robots { .. } => ReasonKind::Robots,
            Self::NoArchive | Self::Preference { .. } => ReasonKind::Page,
            Self::Redirect { because, .. } => because.kind(),
            Self::VisitedForItself { .. }
            | Self::Status { .. }
            | Self::Address { .. }
            | Self::LongChain { .. }
            | Self::CookieCircle
            | Self::Type { .. }
            | Self::Language { .. }
            | Self::Interstitial(_)
            | Self::Said { .. } => ReasonKind::Other,
        }
    }

    /// Returns the pattern that excluded the URL; `None` if no pattern did.
    #[must_use]
    pub fn pattern(&self) -> Option<&PatternName> {
        match self {
            Self::PatternClosed { name, .. }
            | Self::PatternSpent { name, .. }
            | Self::LinksOfDuplicates { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Returns true if the pattern of the URL is closed: the URL comes back if the pattern is
    /// reopened.
    #[must_use]
    pub fn is_of_closed_pattern(&self) -> bool {
        self.kind() == ReasonKind::Pattern && self.pattern().is_some()
    }

    /// Returns the target of the redirect, if the redirect decided.
    #[must_use]
    pub fn redirects_to(&self) -> Option<&str> {
        match self {
            Self::Redirect { to, .. } | Self::VisitedForItself { to } => Some(to),
            _ => None,
        }
    }

    /// Returns the name for counting: its text without the parts that differ between URLs.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::PatternClosed { .. } => "pattern closed".to_owned(),
            Self::PatternSpent { .. } => "pattern budget".to_owned(),
            Self::LinksOfDuplicates { .. } => "links of duplicates".to_owned(),
            Self::OutOfScope(rule) => rule.name(),
            Self::Robots { .. } => "robots.txt".to_owned(),
            Self::NoArchive => "the page asks not to be archived".to_owned(),
            Self::Preference { usage, .. } => format!("its owner refuses the use {usage}"),
            Self::Interstitial(page) => page.kind.as_str().to_owned(),
            Self::Redirect { because, .. } => format!("redirects: {}", because.name()),
            Self::VisitedForItself { .. } => "redirects".to_owned(),
            Self::Status { status, .. } => format!("HTTP status {status}"),
            Self::Address { kind, .. } => format!("an address is {kind}"),
            Self::LongChain { .. }
            | Self::CookieCircle
            | Self::Type { .. }
            | Self::Language { .. } => self.to_string(),
            Self::Said { name, .. } => name.clone(),
        }
    }

    /// Appends a clause to the text.
    pub fn append(&mut self, clause: &str) {
        match self {
            Self::Said { detail, .. } => detail.push_str(clause),
            other => *other = Self::said(format!("{other}{clause}")),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PatternClosed { name, because } => write!(f, "pattern closed: {name}: {because}"),
            Self::PatternSpent { name, most } => write!(
                f,
                "pattern budget: {name}: it had its {most} pages (--max-pages-per-pattern)"
            ),
            Self::LinksOfDuplicates { name, because } => {
                write!(f, "links of duplicates: {name}: {because}")
            }
            Self::OutOfScope(rule) => rule.fmt(f),
            Self::Robots { rule } => write!(f, "robots.txt: {rule}"),
            Self::NoArchive => f.write_str("the page asks not to be archived (robots: noarchive)"),
            Self::Interstitial(page) => page.fmt(f),
            Self::Preference { usage, source } => {
                let source = source.as_str();
                write!(f, "its owner refuses the use {usage} ({source})")
            }
            Self::Redirect { to, because } => write!(f, "redirects to {to}: {because}"),
            Self::VisitedForItself { to } => {
                write!(f, "redirects to {to}, which this crawl visits for itself")
            }
            Self::Status { status, login } => write!(f, "HTTP status {status}{login}"),
            Self::Address { address, kind } => write!(f, "{address} is {kind}"),
            Self::LongChain { most } => write!(f, "more than {most} redirects in a row"),
            Self::CookieCircle => f.write_str(
                "redirects to itself after setting a cookie; --cookies session may help",
            ),
            Self::Type { essence, types } => {
                write!(f, "its type is {essence}, which --types {types} excludes")
            }
            Self::Language {
                language,
                languages,
            } => write!(
                f,
                "its language is {language}, which --languages {languages} excludes"
            ),
            Self::Said { name, detail } => write!(f, "{name}{detail}"),
        }
    }
}
