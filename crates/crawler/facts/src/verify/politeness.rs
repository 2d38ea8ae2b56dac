//! Checks that requests to hosts were polite, using the records in archive and journal.
//!
//! The archive contains a `request` record with its send time for each request whose response was
//! kept. It does not contain the end time of a response. For each visit that ended, the journal
//! contains the earliest time of the host's next request, as the pacer computed it (delay, response
//! time, Crawl-delay, requests to slow down). So four rules are checked:
//! - Between two requests to a host, the delay passed (the shortest of the delays in the archive
//!   file's settings, in the last session and in control.toml), and the Crawl-delay of its
//!   robots.txt, up to the limit in the settings.
//! - No visit sent a request to its host before the earliest time that the previous visit recorded.
//! - After a session died, no visit sent a request to its host before the host's last known wait
//!   (including the response time) had passed since the restart, because the dead session may have
//!   sent a request just before it died ([`Pace::after_restart`]).
//! - If hosts share their pace (`--group-by`), the delay also passed between two requests to a
//!   group.
//!
//! Requests that are not archived are not checked: requests for robots.txt and for unarchived
//! pages, and attempts without a response. If concurrent requests to a host were allowed, the check
//! is skipped. If the machine's clock was set during the crawl, dates are shifted by the offset in
//! the journal, and requests that may have been in flight at that time are not checked.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use journal::{Record, VisitRecord};
use serde::Serialize;
use settings::Settings;
use web::{Group, Host, Pace, PageUrl, RestartRule, RobotsRules, Timestamp};

use super::Findings;

/// Tolerance of comparisons: times are stored in milliseconds, and clocks are occasionally
/// corrected.
const TOLERANCE: Duration = Duration::from_millis(10);

/// Number of requests per host that are not checked after the machine's clock was set: they may
/// have been in flight, or dated, at that time.
const SKIPPED_AFTER_CLOCK_CHANGE: u8 = 2;

/// The counts of requests.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Counts {
    /// Requests in the archive.
    pub requests: u64,
    pub hosts: u64,
    /// Requests that were compared with an earlier request to the same host.
    pub compared: u64,
    /// Compared requests that came too soon.
    pub too_soon: u64,
}

/// A check of requests in the order of the archive.
pub(super) struct Politeness {
    /// The settings of the last session.
    settings: Settings,
    /// Shortest delay and shortest delay ceiling set by control.toml.
    ordered: (Option<Duration>, Option<Duration>),
    /// The settings when the current archive file was begun.
    of_file: Option<Settings>,
    hosts: HashMap<Host, RequestedHost>,
    /// The time of the last request to each group.
    groups: HashMap<Group, Timestamp>,
    /// Offsets of archive dates from the clock used for waits: ahead, behind.
    dates: (Duration, Duration),
    counts: Counts,
}

/// A request in the archive.
pub(super) struct Request<'a> {
    pub(super) url: &'a PageUrl,
    pub(super) at: Timestamp,
    /// True if its visit began with it.
    pub(super) first: bool,
    /// Address whose pace its host shared, if the request was sent to this address.
    pub(super) address: Option<IpAddr>,
}

#[derive(Default)]
struct RequestedHost {
    last: Option<Timestamp>,
    /// Earliest time of the next request, as recorded by the last visit that ended.
    ready: Timestamp,
    /// Recorded pace of the host, including visits that are not archived (yet).
    known: Pace,
    /// Number of its next requests that are not compared because the machine's clock was set.
    unsure: u8,
    /// Crawl-delay of its robots.txt, and the number of requests since the file was read.
    crawl_delay: Option<(Duration, u32)>,
}

impl Politeness {
    /// Begins a check. `ordered` contains the shortest delay and the shortest delay ceiling that
    /// control.toml set while the crawl ran.
    pub(super) fn new(settings: &Settings, ordered: (Option<Duration>, Option<Duration>)) -> Self {
        Self {
            settings: settings.clone(),
            ordered,
            of_file: None,
            hosts: HashMap::new(),
            groups: HashMap::new(),
            dates: (Duration::ZERO, Duration::ZERO),
            counts: Counts::default(),
        }
    }

    /// Starts an archive file whose `warcinfo` record has this block.
    pub(super) fn begin_file(&mut self, warcinfo: &[u8]) {
        let text = String::from_utf8_lossy(warcinfo);
        let settings: String = text
            .lines()
            .filter_map(|line| line.strip_prefix("setting: "))
            .flat_map(|line| [line, "\n"])
            .collect();
        // The settings of another version may contain unknown options. In that case only the last
        // session's settings count.
        self.of_file = toml::from_str(&settings).ok();
    }

    /// Applies a journal record. A settled visit is applied after its requests were checked.
    pub(super) fn apply(&mut self, record: &Record) {
        match record {
            Record::RobotsRead { origin, robots } => {
                self.apply_robots(origin, robots.text.as_deref().unwrap_or_default());
            }
            Record::Settled(settled) => {
                let host = settled.visit.record.url.host();
                if settled.visit.archived.is_some() {
                    self.apply_visit_end(&host, settled.pace);
                }
                self.apply_pace(&host, settled.pace);
            }
            Record::Paced { host, pace } | Record::Returned { host, pace, .. } => {
                self.apply_pace(host, *pace);
            }
            Record::Postponed { entry, pace, .. } => {
                self.apply_pace(&entry.discovered.url.host(), *pace);
            }
            Record::Restarted { at, rule } => {
                self.apply_restart(*at, rule.min_wait, rule.factor);
            }
            Record::Stopped => self.apply_session_end(),
            Record::ClockSetBack { to, min_wait } => self.apply_set_back(*to, *min_wait),
            Record::ClockSet { ahead, behind, .. } => self.apply_clock_set(*ahead, *behind),
            _ => {}
        }
    }

    /// Applies a robots.txt.
    fn apply_robots(&mut self, origin: &str, text: &[u8]) {
        let form = self.settings.canonical_form();
        let Ok(url) = PageUrl::parse(origin, &form) else {
            return;
        };
        let rules = RobotsRules::parse(text, &self.settings.agent_token());
        let host = self.hosts.entry(url.host()).or_default();
        host.crawl_delay = rules.crawl_delay().map(|delay| (delay, 0));
    }

    /// Checks a request of the visit in `record`.
    pub(super) fn check_request(
        &mut self,
        record: &VisitRecord,
        request: &Request<'_>,
        findings: &mut Findings,
    ) {
        let Request { url, at, first, .. } = *request;
        self.counts.requests += 1;
        let name = url.host();
        let one_at_a_time = self
            .all_settings()
            .all(|settings| settings.per_host_of(&name) == 1);
        let delays = self.all_settings().map(|settings| settings.delay_of(&name));
        let least = delays.chain(self.ordered.0).min().unwrap_or_default();
        let longest = self.longest();
        let (ahead, behind) = self.dates;
        let in_group = self.group_distance(request).filter(|_| one_at_a_time);

        let host = self.hosts.entry(name).or_default();
        let last = host.last.replace(host.last.unwrap_or_default().max(at));
        let mut wanted = least;
        if let Some((delay, since)) = &mut host.crawl_delay {
            *since += 1;
            // The first request after robots.txt was read may have been sent before.
            if *since > 1 && !self.settings.ignore_robots {
                wanted = wanted.max((*delay).min(longest));
            }
        }
        if let Some((group, passed)) = in_group.filter(|(_, passed)| *passed + TOLERANCE < least) {
            self.counts.too_soon += 1;
            findings.add(format!(
                "politeness: {url} was requested {passed:?} after another request to {group}, \
                 instead of {least:?}, in the visit to {}",
                record.url
            ));
            return;
        }
        if host.unsure > 0 {
            host.unsure -= 1;
            return;
        }
        let Some(last) = last.filter(|_| one_at_a_time) else {
            return;
        };
        let ready = (host.ready + ahead).before(behind);
        self.counts.compared += 1;
        // Redirects cause requests to a host between its own visits, and may be archived after a
        // later request.
        let passed = at.since(last).max(last.since(at));
        if passed + TOLERANCE < wanted {
            self.counts.too_soon += 1;
            findings.add(format!(
                "politeness: {url} was requested {passed:?} after the previous request, instead of \
                 {wanted:?}, in the visit to {}",
                record.url
            ));
        } else if first && at + TOLERANCE < ready {
            self.counts.too_soon += 1;
            findings.add(format!(
                "politeness: {url} was requested at {at}, but not allowed before {ready}"
            ));
        }
    }

    /// Returns the group of a request, and the time since the latest other request to the group.
    /// Returns `None` for the first request, and if the grouping changed between sessions.
    fn group_distance(&mut self, request: &Request<'_>) -> Option<(Group, Duration)> {
        let group_by = self.settings.group_by();
        if self
            .all_settings()
            .any(|settings| settings.group_by() != group_by)
        {
            return None;
        }
        let group = group_by.group(&request.url.host(), request.address)?;
        let at = request.at;
        let Some(latest) = self.groups.get_mut(&group) else {
            self.groups.insert(group, at);
            return None;
        };
        let last = std::mem::replace(latest, at.max(*latest));
        Some((group, at.since(last).max(last.since(at))))
    }

    /// Applies the end of a visit to a host.
    fn apply_visit_end(&mut self, host: &Host, pace: Pace) {
        self.hosts.entry(host.clone()).or_default().ready = pace.ready;
    }

    /// Applies a pace from a visit that is not archived, or from before its end.
    fn apply_pace(&mut self, host: &Host, pace: Pace) {
        let host = self.hosts.entry(host.clone()).or_default();
        host.known = host.known.then(pace);
    }

    /// Applies the start of a session after a session that died. The waits of hosts are computed
    /// from their known paces and the settings, regardless of the rule that the dead session used.
    fn apply_restart(&mut self, at: Timestamp, min_wait: Duration, factor: u32) {
        self.apply_session_end();
        let rule = RestartRule {
            min_wait,
            max_wait: self.longest(),
            factor,
        };
        for host in self.hosts.values_mut() {
            host.known = host.known.after_restart(at, rule);
            host.ready = host.known.ready;
        }
    }

    /// Applies the start or end of a session: its dates start without an offset.
    fn apply_session_end(&mut self) {
        self.dates = (Duration::ZERO, Duration::ZERO);
    }

    /// Applies the start of a session whose clock is behind.
    fn apply_set_back(&mut self, now: Timestamp, min_wait: Duration) {
        self.apply_session_end();
        for host in self.hosts.values_mut() {
            (host.known, _) = host.known.set_back(now, min_wait);
            host.ready = host.ready.min(host.known.ready);
            host.last = host.last.filter(|last| *last <= now);
        }
        self.groups.retain(|_, last| *last <= now);
    }

    /// Applies a change of the machine's clock during a session. Dates follow the change.
    fn apply_clock_set(&mut self, ahead: Duration, behind: Duration) {
        self.dates = (ahead, behind);
        for host in self.hosts.values_mut() {
            host.unsure = SKIPPED_AFTER_CLOCK_CHANGE;
        }
        self.groups.clear();
    }

    /// Returns the settings of the last session and, if known, of the archive file.
    fn all_settings(&self) -> impl Iterator<Item = &Settings> {
        std::iter::once(&self.settings).chain(&self.of_file)
    }

    /// Returns the shortest delay ceiling in effect.
    fn longest(&self) -> Duration {
        let ceilings = self.all_settings().map(|settings| settings.max_delay.0);
        ceilings.chain(self.ordered.1).min().unwrap_or_default()
    }

    pub(super) fn counts(&self) -> Counts {
        let hosts = self.hosts.values().filter(|host| host.last.is_some());
        Counts {
            hosts: hosts.count() as u64,
            ..self.counts
        }
    }
}

#[cfg(test)]
mod tests {
    use web::GroupBy;

    use super::*;
    use settings::values::Span;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &web::CanonicalForm::default()).unwrap()
    }

    fn visit(url: &PageUrl) -> VisitRecord {
        VisitRecord {
            status: Some(200),
            kept: true,
            ..VisitRecord::new(
                journal::DiscoveredUrl::new(url.clone(), 0, None),
                journal::Fate::Unique,
                Timestamp::default(),
            )
        }
    }

    fn request(url: &PageUrl, at: Timestamp) -> Request<'_> {
        Request {
            url,
            at,
            first: true,
            address: None,
        }
    }

    #[test]
    fn hosts_that_share_a_pace_are_compared_with_each_other() {
        let address = |number: u8| Some(IpAddr::from([192, 0, 2, number]));
        // Host, address, time
        let asked = [
            ("a.site.test", address(1), 1_000),
            ("b.site.test", address(2), 1_500),
            ("other.test", address(1), 1_700),
            ("c.site.test", None, 1_900),
            // Archived after a later request.
            ("d.site.test", address(3), 500),
        ];
        for (group_by, too_soon) in [
            (GroupBy::Host, 0),
            (GroupBy::Domain, 2),
            (GroupBy::Address, 1),
        ] {
            let settings = Settings {
                group_by: Some(group_by),
                ..Settings::default()
            };
            for (of_file, expected) in [(group_by, too_soon), (GroupBy::Host, 0)] {
                let mut politeness = Politeness::new(&settings, (None, None));
                let mut findings = Findings::default();
                politeness.begin_file(format!("setting: group-by = \"{of_file}\"\r\n").as_bytes());
                for (host, address, at) in asked {
                    let url = url(&format!("http://{host}/"));
                    let request = Request {
                        address,
                        ..request(&url, Timestamp::from_millis(at))
                    };
                    politeness.check_request(&visit(&url), &request, &mut findings);
                }
                assert_eq!(
                    findings.count, expected,
                    "{group_by} {of_file}: {:?}",
                    findings.texts
                );
                assert_eq!(politeness.counts().too_soon, expected);
            }
        }
    }

    /// Returns the number of findings about a host that is asked at these times, where each visit
    /// names the time from which it may be asked again.
    fn check(settings: &Settings, asked: &[(u64, u64)], robots: Option<&str>) -> u64 {
        let mut politeness = Politeness::new(settings, (None, None));
        let mut findings = Findings::default();
        if let Some(text) = robots {
            politeness.apply_robots("http://a.test", text.as_bytes());
        }
        let url = url("http://a.test/");
        for (at, ready) in asked {
            let at = Timestamp::from_millis(*at);
            politeness.check_request(&visit(&url), &request(&url, at), &mut findings);
            politeness.apply_visit_end(&url.host(), Timestamp::from_millis(*ready).into());
        }
        assert_eq!(politeness.counts().too_soon, findings.count);
        findings.count
    }

    #[test]
    fn a_request_within_the_delay_or_before_the_host_is_ready_is_too_soon() {
        let settings = Settings {
            delay: Span(Duration::from_secs(1)),
            ..Settings::default()
        };
        for (asked, too_soon) in [
            (&[(1_000, 2_000), (2_000, 3_000)][..], 0),
            // Times are stored in milliseconds.
            (&[(1_000, 2_001), (2_000, 3_000)], 0),
            (&[(1_000, 0), (1_500, 0), (3_000, 0)], 1),
            // The response took two seconds.
            (&[(1_000, 4_000), (2_500, 0)], 1),
            (&[(1_000, 4_000), (4_000, 0)], 0),
        ] {
            assert_eq!(check(&settings, asked, None), too_soon, "{asked:?}");
        }
    }

    /// A host that answered in 400 ms was asked 0.8 to 1.8 s after a kill where 2 s were due, and
    /// the check missed it.
    #[test]
    fn a_request_too_soon_after_a_death_is_found_by_the_host_s_response_time() {
        let settings = Settings {
            delay: Span(Duration::from_millis(500)),
            ..Settings::default()
        };
        let seconds = |seconds: u64| Timestamp::from_millis(1000 * seconds);
        let url = url("http://a.test/");
        let slow = Pace {
            wait: Duration::from_secs(2),
            why: web::WaitReason::Slowness,
            answered: seconds(10),
            ..seconds(12).into()
        };
        // Restart, next request → findings
        for (restart, at, too_soon) in [
            (20_000, 21_800, 1),
            (20_000, 20_500, 1),
            (20_000, 22_000, 0),
            // Restarted at once.
            (10_100, 12_000, 1),
            (10_100, 12_100, 0),
        ] {
            let mut politeness = Politeness::new(&settings, (None, None));
            let mut findings = Findings::default();
            politeness.check_request(&visit(&url), &request(&url, seconds(9)), &mut findings);
            politeness.apply_pace(&url.host(), slow);
            politeness.apply_visit_end(&url.host(), slow);
            let least = Duration::from_millis(500);
            politeness.apply_restart(Timestamp::from_millis(restart), least, 5000);
            let next = request(&url, Timestamp::from_millis(at));
            politeness.check_request(&visit(&url), &next, &mut findings);
            assert_eq!(
                findings.count, too_soon,
                "{restart} {at}: {:?}",
                findings.texts
            );
            assert_eq!(politeness.counts().too_soon, too_soon);
        }
    }

    #[test]
    fn a_change_of_the_clock_makes_no_request_too_early_and_hides_few_that_are() {
        let settings = Settings {
            delay: Span(Duration::from_secs(1)),
            ..Settings::default()
        };
        let url = url("http://a.test/");
        let (day, millis) = (Duration::from_secs(24 * 3600), Timestamp::from_millis);
        let noon = millis(100 * 24 * 3600 * 1000);
        let mut politeness = Politeness::new(&settings, (None, None));
        let mut findings = Findings::default();
        // Times by the clock of the waits; from the third request on, dates are a day behind.
        for (number, (waited, expected)) in [
            (0, 0),
            (1000, 0),
            (2000, 0),
            (3000, 0),
            (4000, 0),
            (4500, 1),
        ]
        .into_iter()
        .enumerate()
        {
            let now = noon + Duration::from_millis(waited);
            if number == 2 {
                politeness.apply_clock_set(Duration::ZERO, day);
            }
            let date = if number < 2 { now } else { now.before(day) };
            politeness.check_request(&visit(&url), &request(&url, date), &mut findings);
            let ready = now + Duration::from_secs(1);
            politeness.apply_visit_end(&url.host(), ready.into());
            assert_eq!(findings.count, expected, "{number}: {:?}", findings.texts);
        }
        // The next session uses the clock as it was set.
        politeness.apply_set_back(noon.before(day), Duration::from_secs(1));
        let next = request(&url, noon.before(day) + Duration::from_secs(9));
        politeness.check_request(&visit(&url), &next, &mut findings);
        assert_eq!(findings.count, 1, "{:?}", findings.texts);
    }

    #[test]
    fn the_crawl_delay_counts_as_far_as_the_settings_obey_it() {
        let robots = Some("User-agent: *\nCrawl-delay: 60\n");
        let asked = [(1_000, 0), (11_000, 0), (42_000, 0)];
        assert_eq!(check(&Settings::default(), &asked, None), 0);
        // At most 30 s by default.
        assert_eq!(check(&Settings::default(), &asked, robots), 1);
        let ignoring = Settings {
            ignore_robots: true,
            ..Settings::default()
        };
        assert_eq!(check(&ignoring, &asked, robots), 0);
    }

    #[test]
    fn the_shorter_delay_of_the_file_and_of_the_last_session_counts() {
        let mut politeness = Politeness::new(&Settings::default(), (None, None));
        let mut findings = Findings::default();
        politeness.begin_file(b"software: crawler\r\nsetting: delay = \"100ms\"\r\n");
        let url = url("http://a.test/");
        for at in [1_000, 1_100] {
            let request = request(&url, Timestamp::from_millis(at));
            politeness.check_request(&visit(&url), &request, &mut findings);
        }
        assert_eq!(findings.texts, Vec::<String>::new());
    }
}
