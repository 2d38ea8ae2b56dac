//! Selections of visits: a kind, filters and an order, the same in a view and in its CSV.

use std::cmp::Ordering;

use journal::VisitRecord;
use serde::Deserialize;
use statistics::{Newest, RecentVisit};

use crate::format::natural;
use crate::live_statistics::Look;
use crate::paging::encoded;
use crate::report::gather::{is_gone, problem};

/// A kind of visits that can be listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Listing {
    #[default]
    Failures,
    BrokenLinks,
    Redirects,
    Truncated,
    NeedScripts,
    Duplicates,
    Exclusions,
    Pages,
}

impl Listing {
    /// The kinds that need work, in the order of the view.
    pub(crate) const PROBLEMS: [Self; 5] = [
        Self::BrokenLinks,
        Self::Failures,
        Self::Redirects,
        Self::Truncated,
        Self::NeedScripts,
    ];

    /// Returns the name in addresses.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::BrokenLinks => "broken-links",
            Self::Redirects => "redirects",
            Self::Truncated => "truncated",
            Self::NeedScripts => "need-scripts",
            Self::Duplicates => "duplicates",
            Self::Exclusions => "exclusions",
            Self::Pages => "pages",
        }
    }

    /// Returns the name for people.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Failures => "Failures",
            Self::BrokenLinks => "Broken links",
            Self::Redirects => "Redirects",
            Self::Truncated => "Truncated",
            Self::NeedScripts => "Need scripts",
            Self::Duplicates => "Duplicates",
            Self::Exclusions => "Exclusions",
            Self::Pages => "Pages",
        }
    }

    /// Returns the kind of visits that contains it.
    const fn newest(self) -> Newest {
        match self {
            Self::Failures | Self::BrokenLinks => Newest::Failures,
            Self::Redirects => Newest::Redirects,
            Self::Truncated => Newest::Truncated,
            Self::NeedScripts => Newest::NeedScripts,
            Self::Duplicates => Newest::Duplicates,
            Self::Exclusions => Newest::Exclusions,
            Self::Pages => Newest::Pages,
        }
    }

    /// Returns true for a visit of the kind that contains it, if it is one.
    fn has(self, visit: &RecentVisit) -> bool {
        match self {
            Self::Failures => !visit.is_requisite,
            Self::BrokenLinks => is_gone(visit.status),
            _ => true,
        }
    }

    /// Returns the number of its visits; `None` if only the whole journal knows it.
    pub(crate) fn total(self, look: &Look<'_>) -> Option<u64> {
        let statistics = look.statistics;
        let all = statistics.total_of(self.newest());
        let newest = || statistics.newest(self.newest());
        match self {
            Self::Failures => Some(statistics.totals().failed),
            Self::BrokenLinks if all > newest().count() as u64 => None,
            Self::BrokenLinks => {
                let visited = newest().filter(|visit| self.has(visit)).count() as u64;
                Some(visited + look.links.counts().broken)
            }
            _ => Some(all),
        }
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    #[default]
    Newest,
    Url,
    LinkedFrom,
    Reason,
}

impl Order {
    /// The orders, each with its name in addresses and its name for people.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Newest, "newest", "newest first"),
        (Self::Url, "url", "URL"),
        (Self::LinkedFrom, "linked-from", "linked from"),
        (Self::Reason, "reason", "reason"),
    ];

    fn compare(self, one: &RecentVisit, other: &RecentVisit) -> Ordering {
        let via = |visit: &RecentVisit| visit.via.clone().unwrap_or_default();
        let order = match self {
            // A list is already in this order.
            Self::Newest => return Ordering::Equal,
            Self::Url => Ordering::Equal,
            Self::LinkedFrom => natural(&via(one), &via(other)),
            Self::Reason => natural(&problem(one), &problem(other)),
        };
        order.then_with(|| natural(&one.url, &other.url))
    }
}

/// A question for visits: their kind, their filters and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Selection {
    pub(crate) kind: Listing,
    /// The beginning of the status code, such as `404`, `4` or `4xx`; `none` for no response.
    pub(crate) status: String,
    /// A part of the host.
    pub(crate) host: String,
    /// A part of the reason.
    pub(crate) reason: String,
    pub(crate) sort: Order,
}

impl Selection {
    /// Returns the newest matching visits, sorted. The statistics remember a limited number of each
    /// kind of visit ([`Selection::is_whole`]).
    pub(crate) fn listed<'a>(&self, look: &Look<'a>) -> Vec<&'a RecentVisit> {
        let newest = look.statistics.newest(self.kind.newest());
        let mut listed: Vec<_> = newest.filter(|visit| self.matches(visit)).collect();
        if self.kind == Listing::BrokenLinks {
            let broken = look.links.newest_broken();
            listed.extend(broken.filter(|link| self.has_parts(link)));
        }
        listed.sort_by(|one, other| self.sort.compare(one, other));
        listed
    }

    /// Returns true if all visits of its kind are remembered, so that its list is whole.
    pub(crate) fn is_whole(&self, look: &Look<'_>) -> bool {
        let (kind, links) = (self.kind.newest(), look.links);
        let has_links = self.kind != Listing::BrokenLinks
            || links.newest_broken().count() as u64 == links.counts().broken;
        has_links && look.statistics.newest(kind).count() as u64 == look.statistics.total_of(kind)
    }

    /// Returns true for a visit of its kind that its filters take.
    pub(crate) fn takes(&self, visit: &VisitRecord) -> bool {
        self.kind.newest().has(visit) && self.matches(&RecentVisit::of(visit))
    }

    fn matches(&self, visit: &RecentVisit) -> bool {
        self.kind.has(visit) && self.has_parts(visit)
    }

    /// Returns true if the filters take a visit or a broken link of the kind.
    fn has_parts(&self, visit: &RecentVisit) -> bool {
        let status = self.status.trim().trim_end_matches(['x', 'X']);
        let has_status = match visit.status {
            _ if status.is_empty() => true,
            None => status.eq_ignore_ascii_case("none"),
            Some(code) => code.to_string().starts_with(status),
        };
        let contains = |text: &str, part: &str| {
            let part = part.trim().to_lowercase();
            part.is_empty() || text.to_lowercase().contains(&part)
        };
        let behind_scheme = visit.url.split("://").nth(1).unwrap_or_default();
        let host = behind_scheme.split('/').next().unwrap_or_default();
        has_status
            && contains(host, &self.host)
            && (self.reason.trim().is_empty() || contains(&problem(visit), &self.reason))
    }

    /// Returns the address of its CSV.
    pub(crate) fn csv(&self) -> String {
        let mut address = format!("/visits.csv?kind={}", self.kind.as_str());
        for (name, value) in [
            ("status", &self.status),
            ("host", &self.host),
            ("reason", &self.reason),
        ] {
            if !value.is_empty() {
                address += &format!("&{name}={}", encoded(value));
            }
        }
        address
    }
}

#[cfg(test)]
mod tests {
    use journal::{DiscoveredUrl, Fate, Reason};
    use web::{CanonicalForm, PageUrl, Timestamp};

    use super::*;

    fn failed(url: &str, status: Option<u16>, reason: &str) -> VisitRecord {
        let url = PageUrl::parse(url, &CanonicalForm::default()).unwrap();
        let found = DiscoveredUrl::new(url, 0, None);
        let mut visit = VisitRecord::new(found, Fate::Failed, Timestamp::default());
        visit.status = status;
        visit.reason = Some(Reason::said(reason));
        visit
    }

    #[test]
    fn filters_take_visits_by_kind_status_host_and_reason() {
        let gone = failed("http://a.test/x", Some(404), "Not Found");
        let away = failed("http://b.test/a.test", None, "timed out");
        let take = |selection: Selection| [&gone, &away].map(|visit| selection.takes(visit));
        let with = |change: fn(&mut Selection)| {
            let mut selection = Selection::default();
            change(&mut selection);
            take(selection)
        };
        assert_eq!(with(|_| ()), [true, true]);
        assert_eq!(with(|one| one.status = "4xx".to_owned()), [true, false]);
        assert_eq!(with(|one| one.status = "404".to_owned()), [true, false]);
        assert_eq!(with(|one| one.status = "5".to_owned()), [false, false]);
        assert_eq!(with(|one| one.status = "none".to_owned()), [false, true]);
        assert_eq!(with(|one| one.host = "A.test".to_owned()), [true, false]);
        assert_eq!(with(|one| one.reason = "TIMED".to_owned()), [false, true]);
        assert_eq!(with(|one| one.kind = Listing::Redirects), [false, false]);
        assert_eq!(with(|one| one.kind = Listing::BrokenLinks), [true, true]);
    }
}
