//! Records of URLs that were seen but not visited, by the kinds of their reasons.

use crate::pattern_name::PatternName;
use crate::reason::Reason;
use crate::reason_kind::ReasonKind;
use crate::visit_record::{Fate, VisitRecord};

/// The reason why a visit has the fate `excluded`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExcludedBy {
    /// A rule: the URL was not visited, or its page was not archived.
    Rule(ReasonKind),
    /// The URL redirects to a page of this crawl, which has its own visit, so nothing is missing.
    Redirect,
    /// The URL was visited, but there was no page to archive.
    Visited,
}

impl ExcludedBy {
    /// Returns the reason of an excluded visit.
    #[must_use]
    pub fn of(visit: &VisitRecord) -> Self {
        match (&visit.reason, ReasonKind::of_exclusion(visit)) {
            (Some(Reason::VisitedForItself { .. }), _) => Self::Redirect,
            (_, ReasonKind::Other) if visit.status.is_some() => Self::Visited,
            (_, kind) => Self::Rule(kind),
        }
    }

    /// Returns a short description for people; `None` if only the reason itself can say it.
    #[must_use]
    pub const fn words(self) -> Option<&'static str> {
        match self {
            Self::Redirect => Some("redirect to a page of this crawl"),
            Self::Rule(ReasonKind::DuplicateLinks) => Some("links of duplicates"),
            Self::Rule(ReasonKind::Pattern) => Some("closed URL pattern"),
            Self::Rule(ReasonKind::Scope) => Some("out of scope"),
            Self::Rule(ReasonKind::Limit) => Some("beyond a limit"),
            Self::Rule(ReasonKind::Robots) => Some("robots.txt"),
            Self::Rule(ReasonKind::Trap) => Some("shape of a trap"),
            Self::Rule(ReasonKind::Page) => Some("the page asks not to be archived"),
            Self::Rule(ReasonKind::Other | ReasonKind::Cut) | Self::Visited => None,
        }
    }
}

// `visit_record.rs` does not import this module, which imports it.
impl VisitRecord {
    /// Returns the pattern that excluded the URL.
    #[must_use]
    pub fn excluding_pattern(&self) -> Option<&PatternName> {
        let reason = self.reason.as_ref();
        reason
            .filter(|_| self.fate == Fate::Excluded)
            .and_then(Reason::pattern)
    }

    /// Returns true if the visit brought a page, and false if it failed or a rule excluded it.
    /// Returns `None` if it redirects to a page whose own visit decides.
    #[must_use]
    pub fn has_brought_page(&self) -> Option<bool> {
        match (self.fate, &self.reason) {
            (Fate::Failed, _) => Some(false),
            (Fate::Excluded, _) if self.has_page_status() => Some(true),
            (Fate::Excluded, Some(Reason::VisitedForItself { .. })) => None,
            (Fate::Excluded, _) => Some(false),
            _ => Some(true),
        }
    }
}

impl ReasonKind {
    /// Returns the kind of reason why a visit's page was not visited; `None` if it was visited, or
    /// if the visit is not about a page.
    #[must_use]
    pub fn of(visit: &VisitRecord) -> Option<Self> {
        if visit.fate != Fate::Excluded || visit.requisite > 0 {
            return None;
        }
        let kind = Self::of_exclusion(visit);
        match (visit.status, kind) {
            // The URL was visited: it redirects in a circle, or to a URL that has its own visit.
            (Some(_), Self::Other) => None,
            (_, kind) => Some(kind),
        }
    }

    /// Returns the kind of reason of an excluded visit, even of a requisite or a redirect.
    #[must_use]
    pub fn of_exclusion(visit: &VisitRecord) -> Self {
        visit.reason.as_ref().map_or(Self::Other, Reason::kind)
    }
}

#[cfg(test)]
mod tests {
    use web::{CanonicalForm, OutOfScope, PageUrl, Timestamp};

    use super::*;
    use crate::discovered_url::DiscoveredUrl;

    fn settled(fate: Fate, status: Option<u16>, reason: Reason) -> VisitRecord {
        let url = PageUrl::parse("http://a.test/1", &CanonicalForm::default()).unwrap();
        let visit = VisitRecord::new(DiscoveredUrl::new(url, 1, None), fate, Timestamp::default());
        VisitRecord {
            status,
            reason: Some(reason),
            ..visit
        }
    }

    fn robots() -> Reason {
        let rule = "Disallow: / (line 2)".to_owned();
        Reason::Robots { rule }
    }

    #[test]
    fn a_record_has_the_kind_of_its_reason() {
        let name = || PatternName::from_text("a.test/x/{n}").unwrap();
        let because = || "1 of 100 were new".to_owned();
        let moved = |reason| Reason::of_redirect(&"http://b.test/", reason);
        let itself = Reason::VisitedForItself {
            to: "http://b.test/a:%20b".to_owned(),
        };
        for (reason, status, kind) in [
            (
                Reason::LinksOfDuplicates {
                    name: name(),
                    because: because(),
                },
                None,
                Some(ReasonKind::DuplicateLinks),
            ),
            (
                Reason::PatternClosed {
                    name: name(),
                    because: because(),
                },
                None,
                Some(ReasonKind::Pattern),
            ),
            (
                Reason::PatternSpent {
                    name: name(),
                    most: 5,
                },
                None,
                Some(ReasonKind::Limit),
            ),
            (
                Reason::OutOfScope(OutOfScope::OtherHost),
                None,
                Some(ReasonKind::Scope),
            ),
            (
                moved(Reason::OutOfScope(OutOfScope::NotIncluded)),
                Some(301),
                Some(ReasonKind::Scope),
            ),
            (robots(), None, Some(ReasonKind::Robots)),
            (moved(robots()), Some(302), Some(ReasonKind::Robots)),
            (Reason::NoArchive, Some(200), Some(ReasonKind::Page)),
            (
                Reason::said("something else"),
                None,
                Some(ReasonKind::Other),
            ),
            (Reason::said("redirects in a circle"), Some(301), None),
            (Reason::CookieCircle, Some(302), None),
            (itself, Some(301), None),
            // A text that says the same is no rule.
            (Reason::said(robots().to_string()), Some(200), None),
        ] {
            let of = |fate| settled(fate, status, reason.clone());
            assert_eq!(ReasonKind::of(&of(Fate::Excluded)), kind, "{reason}");
            assert_eq!(ReasonKind::of(&of(Fate::Failed)), None, "{reason}");
            let part = VisitRecord {
                requisite: 1,
                ..of(Fate::Excluded)
            };
            assert_eq!(ReasonKind::of(&part), None, "{reason}");
        }
    }

    #[test]
    fn a_kind_is_parsed_from_its_word() {
        for (number, kind) in ReasonKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert!("robot".parse::<ReasonKind>().is_err());
    }
}
