//! Kinds of reasons for which a URL that a crawl has seen was not visited.
//!
//! | kind | the URL | whose choice |
//! |---|---|---|
//! | `duplicates-links` | is known from left-out pages only, whose links are not followed | ours |
//! | `pattern` | is of a URL pattern that was closed | ours |
//! | `trap` | has the shape of a trap as a link | ours |
//! | `scope` | is out of the scope, or excluded by an expression | the user's |
//! | `limit` | waits in the queue, or is behind a limit | the user's |
//! | `robots` | is forbidden by robots.txt | the site's |
//! | `page` | asks not to be archived, or its page asks not to follow it | the site's |
//! | `cut` | is a link that a page or sitemap has beyond a limit ([`Limit`](crate::Limit)) | ours |
//! | `other` | was left out for none of these reasons | ours |
//!
//! A crawl is complete where the crawler itself has left nothing unvisited by its own choice. Kinds
//! are recognised by the beginnings of reasons, which are constants of the modules that write them;
//! tests hold the two together.

use std::fmt;
use std::str::FromStr;

use crate::patterns::name::{CLOSED, OF_DUPLICATES, SPENT};
use crate::visit_record::{Fate, VisitRecord};

/// A kind of reasons for which a URL was seen and not visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkippedBy {
    /// It is known only from pages that were left out as duplicates.
    DuplicatesLinks,
    /// Its URL pattern is closed.
    Pattern,
    /// The scope, or an expression.
    Scope,
    /// A limit: it waits in the queue, or is too deep, or its pattern has had its pages.
    Limit,
    /// robots.txt.
    Robots,
    /// The shape of a trap.
    Trap,
    /// The directive of a page: noarchive, nofollow.
    Page,
    /// None of these.
    Other,
    /// A limit of the crawler cut it off the page that links to it. No visit record has this kind.
    Cut,
}

/// The beginning of a reason that robots.txt gives.
pub const ROBOTS_REASON: &str = "robots.txt: ";
/// The beginning of the reason of a page that asks not to be archived.
pub const PAGE_REASON: &str = "the page asks";
/// The beginning of the reason of a page that led elsewhere: the target and another reason may
/// follow.
const REDIRECT_REASON: &str = "redirects to ";

/// The end of the reason of a page whose redirect leads to a page that has a visit of its own.
pub const TARGET_HAS_VISIT: &str = ", which this crawl visits for itself";

/// The reason why a visit has the fate `excluded`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExcludedBy {
    /// A rule: the URL was not visited, or its page was not archived.
    Rule(SkippedBy),
    /// The URL redirects to a page of this crawl, which has a visit of its own: nothing is missing.
    Redirect,
    /// The URL was visited, and has no page to archive.
    Visited,
}

impl ExcludedBy {
    /// Returns the reason of an excluded visit.
    #[must_use]
    pub fn of(row: &VisitRecord) -> Self {
        let reason = row.reason.as_deref().unwrap_or_default();
        match SkippedBy::of_reason(reason) {
            _ if reason.ends_with(TARGET_HAS_VISIT) => Self::Redirect,
            SkippedBy::Other if row.status.is_some() => Self::Visited,
            kind => Self::Rule(kind),
        }
    }

    /// Returns a few words for people; `None` if only the reason itself says it.
    #[must_use]
    pub const fn words(self) -> Option<&'static str> {
        match self {
            Self::Redirect => Some("redirect to a page of this crawl"),
            Self::Rule(SkippedBy::DuplicatesLinks) => Some("links of duplicates"),
            Self::Rule(SkippedBy::Pattern) => Some("closed URL pattern"),
            Self::Rule(SkippedBy::Scope) => Some("out of scope"),
            Self::Rule(SkippedBy::Limit) => Some("beyond a limit"),
            Self::Rule(SkippedBy::Robots) => Some("robots.txt"),
            Self::Rule(SkippedBy::Trap) => Some("shape of a trap"),
            Self::Rule(SkippedBy::Page) => Some("the page asks not to be archived"),
            Self::Rule(SkippedBy::Other | SkippedBy::Cut) | Self::Visited => None,
        }
    }
}

// `visit_record.rs` does not import this module, which imports it.
impl VisitRecord {
    /// Returns true if the visit brought a page, false if it failed or a rule excluded it; `None`
    /// if it redirects to a page whose own visit decides.
    #[must_use]
    pub fn has_brought_page(&self) -> Option<bool> {
        let reason = self.reason.as_deref().unwrap_or_default();
        match self.fate {
            Fate::Failed => Some(false),
            Fate::Excluded if self.has_page_status() => Some(true),
            Fate::Excluded if reason.ends_with(TARGET_HAS_VISIT) => None,
            Fate::Excluded => Some(false),
            _ => Some(true),
        }
    }
}

impl SkippedBy {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::DuplicatesLinks,
        Self::Pattern,
        Self::Scope,
        Self::Limit,
        Self::Robots,
        Self::Trap,
        Self::Page,
        Self::Other,
        Self::Cut,
    ];

    /// Returns the word in options and outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DuplicatesLinks => "duplicates-links",
            Self::Pattern => "pattern",
            Self::Scope => "scope",
            Self::Limit => "limit",
            Self::Robots => "robots",
            Self::Trap => "trap",
            Self::Page => "page",
            Self::Other => "other",
            Self::Cut => "cut",
        }
    }

    /// Returns true if neither the user nor the site has chosen it.
    #[must_use]
    pub const fn is_ours(self) -> bool {
        matches!(
            self,
            Self::DuplicatesLinks | Self::Pattern | Self::Trap | Self::Other | Self::Cut
        )
    }

    /// Returns the kind of reason for which a row's page was not visited; none where it was, or
    /// where it is no page.
    #[must_use]
    pub fn of(row: &VisitRecord) -> Option<Self> {
        if row.fate != Fate::Excluded || row.requisite > 0 {
            return None;
        }
        let kind = Self::of_exclusion(row);
        match (row.status, kind) {
            // The URL was visited: it redirects in a circle, or to a URL with a visit of its own.
            (Some(_), Self::Other) => None,
            (_, kind) => Some(kind),
        }
    }

    /// Returns the kind of reason of an excluded visit, also of a requisite or a redirect.
    #[must_use]
    pub fn of_exclusion(row: &VisitRecord) -> Self {
        Self::of_reason(row.reason.as_deref().unwrap_or_default())
    }

    /// Returns the target of a redirect that a rule excluded, as the reason has it.
    #[must_use]
    pub fn redirect_target(row: &VisitRecord) -> Option<&str> {
        let rest = row.reason.as_deref()?.strip_prefix(REDIRECT_REASON)?;
        Some(rest.split_once(": ")?.0)
    }

    fn of_reason(reason: &str) -> Self {
        let rest = reason.strip_prefix(REDIRECT_REASON);
        let reason = rest
            .and_then(|rest| Some(rest.split_once(": ")?.1))
            .unwrap_or(reason);
        let kinds = [
            (OF_DUPLICATES, Self::DuplicatesLinks),
            (CLOSED, Self::Pattern),
            (SPENT, Self::Limit),
            (ROBOTS_REASON, Self::Robots),
            (PAGE_REASON, Self::Page),
        ];
        let kind = kinds
            .into_iter()
            .find(|(beginning, _)| reason.starts_with(beginning));
        match kind {
            Some((_, kind)) => kind,
            None if web::OutOfScope::has_said(reason) => Self::Scope,
            None => Self::Other,
        }
    }
}

impl fmt::Display for SkippedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not duplicates-links, pattern, scope, limit, robots, trap, page, other or cut")]
pub struct UnknownKind(String);

impl FromStr for SkippedBy {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == word);
        found.ok_or_else(|| UnknownKind(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use web::{CanonicalForm, OutOfScope, PageUrl, Timestamp};

    use super::*;
    use crate::discovered_url::DiscoveredUrl;

    fn row(fate: Fate, status: Option<u16>, reason: &str) -> VisitRecord {
        let url = PageUrl::parse("http://a.test/1", &CanonicalForm::default()).unwrap();
        let row = VisitRecord::new(DiscoveredUrl::new(url, 1, None), fate, Timestamp::default());
        VisitRecord {
            status,
            reason: Some(reason.to_owned()),
            ..row
        }
    }

    #[test]
    fn a_row_has_the_kind_of_its_reason() {
        let excluded = |expression: &str| OutOfScope::Excluded {
            pattern: expression.to_owned(),
        };
        let now = |expression: &str| OutOfScope::ExcludedNow {
            pattern: expression.to_owned(),
        };
        let scope = [
            OutOfScope::OtherHost,
            OutOfScope::OtherDomain,
            OutOfScope::OtherPrefix,
            OutOfScope::NotIncluded,
            excluded("robots.txt: x"),
            now("pattern closed: x"),
        ];
        for reason in scope {
            let text = reason.to_string();
            assert_eq!(
                SkippedBy::of(&row(Fate::Excluded, None, &text)),
                Some(SkippedBy::Scope),
                "{text}"
            );
            let moved = format!("redirects to http://b.test/: {text}");
            let moved = row(Fate::Excluded, Some(301), &moved);
            assert_eq!(SkippedBy::of(&moved), Some(SkippedBy::Scope), "{text}");
        }
        for (reason, status, kind) in [
            (
                "links of duplicates: a.test/x/{duplicates}: 160 in a row",
                None,
                Some(SkippedBy::DuplicatesLinks),
            ),
            (
                "pattern closed: a.test/{n}: 1 of 100 were new",
                None,
                Some(SkippedBy::Pattern),
            ),
            (
                "pattern budget: a.test/{n}: it had its 5 pages",
                None,
                Some(SkippedBy::Limit),
            ),
            (
                "robots.txt: Disallow: / (line 2)",
                None,
                Some(SkippedBy::Robots),
            ),
            (
                "redirects to http://b.test/: robots.txt: Disallow: /",
                Some(302),
                Some(SkippedBy::Robots),
            ),
            (
                "the page asks not to be archived (robots: noarchive)",
                Some(200),
                Some(SkippedBy::Page),
            ),
            ("something else", None, Some(SkippedBy::Other)),
            ("redirects in a circle", Some(301), None),
            (
                "redirects to itself after setting a cookie; --cookies session may help",
                Some(302),
                None,
            ),
            (
                "redirects to http://b.test/, which this crawl visits for itself",
                Some(301),
                None,
            ),
            (
                "redirects to http://b.test/a:%20b, which this crawl visits for itself",
                Some(301),
                None,
            ),
        ] {
            assert_eq!(
                SkippedBy::of(&row(Fate::Excluded, status, reason)),
                kind,
                "{reason}"
            );
            assert_eq!(
                SkippedBy::of(&row(Fate::Failed, status, reason)),
                None,
                "{reason}"
            );
            let part = VisitRecord {
                requisite: 1,
                ..row(Fate::Excluded, status, reason)
            };
            assert_eq!(SkippedBy::of(&part), None, "{reason}");
        }
    }

    #[test]
    fn a_kind_is_parsed_from_its_word() {
        for (number, kind) in SkippedBy::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert!("robot".parse::<SkippedBy>().is_err());
    }
}
