//! Parameters: the yield of all queries of a path that have one parameter, `/list?sort&**`.
//!
//! A shop shows each list in several orders, as a grid, by price, and in every combination. For
//! five parameters, there are 31 exact patterns, and each would be visited until it is closed. One
//! page in eight has something new, since it shows another selection of goods, but its links only
//! go to known goods. So a visit also counts for each parameter of its URL. A parameter is closed
//! in all its combinations after a hundred visits in a row that found no unknown URL (other than
//! one more view with this parameter), if fewer than one in five brought something new.
//!
//! A page that repeats another does not reveal which parameter is to blame: `?page&sort` repeats
//! because of `sort`. Therefore, a closed parameter does not exclude URLs of an exact pattern
//! that has had only a few visits, found unknown URLs, or brought something new on one page in
//! five. `?page` stays open on its own, and each combination is sampled before it is excluded. A
//! probe that finds unknown URLs reopens the parameter.
//!
//! A path with only one exact pattern has no parameters, because they would repeat that pattern.

use journal::{DiscoveredUrl, PatternName, Reason, VisitRecord};
use web::{Generality, Host, PageUrl, UrlPattern};

use super::Patterns;
use super::pattern::{PARAMETER, Pattern, PatternState, Visit};

/// Maximum number of parameters of a host.
const MAX_PARAMETERS: usize = 64;

impl Patterns {
    /// Counts a visit for each parameter of its URL, except for closed parameters that do not
    /// decide about the URL. Returns true if the visit found an unknown URL that is more than
    /// another view: a URL that lacks one of the parameters. Call it before the visit is counted
    /// for its pattern.
    pub(super) fn count_for_parameters(
        &mut self,
        visit: Visit,
        record: &VisitRecord,
        finds: &[DiscoveredUrl],
    ) -> bool {
        if visit == Visit::Excluded || record.url.as_url().query().is_none() {
            return false;
        }
        let exact = UrlPattern::of(&record.url, Generality::Exact);
        let (now, mut leads_anywhere) = (self.visits, false);
        let is_decided_alone = self.is_decided_alone(&record.url, &exact);
        let finds: Vec<(Host, UrlPattern)> = finds
            .iter()
            .filter(|found| found.requisite == 0)
            .map(|found| {
                (
                    found.url.host(),
                    UrlPattern::of(&found.url, Generality::Exact),
                )
            })
            .collect();
        for name in names(&record.url, &exact) {
            let is_view = |(host, found): &(Host, UrlPattern)| {
                *host == name.host && found.of_parameters().any(|other| other == name.pattern)
            };
            let leads_on = !finds.iter().all(is_view);
            leads_anywhere |= leads_on;
            if self.begin_parameter(&name, &exact) {
                self.change(&name, |parameter| {
                    if !is_decided_alone || parameter.state() != PatternState::Closed {
                        parameter.count(visit, leads_on, record, now);
                    }
                });
            }
        }
        leads_anywhere
    }

    /// Adds a parameter of this exact pattern. Returns false if there is not enough room, or if its
    /// path lacks other queries.
    fn begin_parameter(&mut self, name: &PatternName, exact: &UrlPattern) -> bool {
        let Some(of_host) = self.hosts.get_mut(name.host.as_str()) else {
            return false;
        };
        if of_host.patterns.contains_key(&name.pattern) {
            return true;
        }
        let parameters = of_host
            .patterns
            .values()
            .filter(|known| known.is_parameter());
        let has_room = parameters.count() < MAX_PARAMETERS
            && of_host.of_path(exact).any(|(pattern, _)| pattern != exact);
        if has_room {
            let begun = Pattern::new(PARAMETER);
            of_host.patterns.insert(name.pattern.clone(), begun);
            self.count += 1;
        }
        has_room
    }

    /// Returns true if parameters do not decide about a URL of this exact pattern.
    fn is_decided_alone(&self, url: &PageUrl, exact: &UrlPattern) -> bool {
        let of_host = url
            .as_url()
            .host_str()
            .and_then(|host| self.hosts.get(host));
        of_host.is_none_or(|of_host| match of_host.patterns.get(exact) {
            Some(pattern) => pattern.is_decided_alone(),
            None => of_host.has_room(exact, Generality::Exact),
        })
    }

    /// Uncounts the visit of a page as new for its parameters.
    pub(super) fn take_back_new_of_parameters(&mut self, page: &PageUrl) {
        let exact = UrlPattern::of(page, Generality::Exact);
        for name in names(page, &exact) {
            self.change(&name, Pattern::take_back_new);
        }
    }

    /// Returns the reason to exclude a URL that comes up for lease: one of its parameters is
    /// closed. From time to time, a URL is let through as a probe.
    pub(super) fn bar_by_parameter(&mut self, url: &PageUrl) -> Option<Reason> {
        let exact = UrlPattern::of(url, Generality::Exact);
        if self.is_decided_alone(url, &exact) {
            return None;
        }
        let is_closed = |name: &PatternName| {
            let parameter = self.get(name);
            parameter.is_some_and(|parameter| parameter.state() == PatternState::Closed)
        };
        let name = names(url, &exact).find(is_closed)?;
        let parameter = self.get_mut(&name)?;
        let because = parameter.why_closed();
        (!parameter.probe()).then_some(Reason::PatternClosed { name, because })
    }

    /// Returns the place of the record of a URL that a parameter excluded.
    pub(super) fn place_by_parameter(&self, url: &PageUrl) -> Option<u64> {
        let exact = UrlPattern::of(url, Generality::Exact);
        names(url, &exact).find_map(|name| self.get(&name)?.left().get(url.key()))
    }
}

/// Returns the names of the parameters of a URL with this exact pattern.
fn names(url: &PageUrl, exact: &UrlPattern) -> impl Iterator<Item = PatternName> {
    let host = url.host();
    exact.of_parameters().map(move |pattern| PatternName {
        host: host.clone(),
        pattern,
    })
}
