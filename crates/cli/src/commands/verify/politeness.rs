//! Checks that hosts were asked politely, as far as archive and journal record it.
//!
//! The archive has a `request` record, with the moment at which it was sent, for each request that
//! was answered and kept. The end of an answer it does not have; the journal has, with each visit
//! that ended, the moment before which the host was not to be asked again, which the pacer made
//! from it (delay, response time, Crawl-delay, pleas to slow down). So two things are checked:
//! - from one request to a host to the next, no less than the delay passed (that of the settings in
//!   the archive file, or those of the last session, or what control.toml ordered, whichever is
//!   shorter), nor less than its robots.txt asked for, as far as settings let it;
//! - no visit asked its host before the moment that the visit before it had named;
//! - after a session that died, no visit asked its host before the last wait that is known of it
//!   had passed since the restart (the response time counts), because the host may have been asked
//!   just before the death ([`Pace::after_restart`]);
//! - where the settings have hosts share their pace (`--group-by`), the delay passed from one
//!   request to a group to the next, too.
//!
//! What is not archived is not checked: requests for robots.txt, pages that were left out, tries
//! that brought no answer. Where several requests to a host were allowed at a time, nothing is
//! checked. Where the machine's clock was set while the crawl ran, dates are moved by what the
//! journal says of it, and the requests that may have been under way then are not checked.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;
use store::VisitRecord;
use web::{Group, Host, Pace, PageUrl, RestartRule, RobotsRules, Timestamp};

use super::Complaints;
use crate::settings::Settings;

/// Moments are good to a millisecond, and the clock they are told by is set right now and then.
const TOLERANCE: Duration = Duration::from_millis(10);

/// Requests of a host that may have been under way, or dated, when the machine's clock was set.
const UNSURE: u8 = 2;

/// The counts of requests.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Counts {
    /// Requests that the archive tells of.
    pub(super) requests: u64,
    pub(super) hosts: u64,
    /// Requests that another to the same host came before, and that were compared with it.
    compared: u64,
    /// Of those, how many came sooner than was allowed.
    too_soon: u64,
}

/// A check of requests in the order of the archive.
pub(super) struct Politeness {
    /// As run last.
    settings: Settings,
    /// The shortest delay, and the shortest ceiling of delays, that somebody ordered while it ran
    /// (control.toml).
    ordered: (Option<Duration>, Option<Duration>),
    /// As run when the current archive file was begun.
    of_file: Option<Settings>,
    hosts: HashMap<Host, RequestedHost>,
    /// The time of the last request to each group.
    groups: HashMap<Group, Timestamp>,
    /// By how much dates are ahead of the clock by which hosts wait, and by how much behind it.
    dates: (Duration, Duration),
    counts: Counts,
}

/// A request that the archive tells of.
pub(super) struct Request<'a> {
    pub(super) url: &'a PageUrl,
    pub(super) at: Timestamp,
    /// Its visit began with it.
    pub(super) first: bool,
    /// The address whose pace its host shared, and where it was asked.
    pub(super) address: Option<IpAddr>,
}

#[derive(Default)]
struct RequestedHost {
    last: Option<Timestamp>,
    /// Not to be asked before then, as the last visit that ended said.
    ready: Timestamp,
    /// The host's pace as recorded, including visits that are not archived (yet).
    known: Pace,
    /// The number of its next requests that are not compared, because the machine's clock was set.
    unsure: u8,
    /// The Crawl-delay of its robots.txt, and the number of requests since that was read.
    crawl_delay: Option<(Duration, u32)>,
}

impl Politeness {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            ordered: (None, None),
            of_file: None,
            hosts: HashMap::new(),
            groups: HashMap::new(),
            dates: (Duration::ZERO, Duration::ZERO),
            counts: Counts::default(),
        }
    }

    /// Sets the shortest delay, and the shortest ceiling of delays, that was in force while the
    /// crawl ran.
    pub(super) fn set_shortest_delays(
        &mut self,
        delay: Option<Duration>,
        max_delay: Option<Duration>,
    ) {
        self.ordered = (delay, max_delay);
    }

    /// Starts an archive file, whose `warcinfo` record has this block.
    pub(super) fn begin_file(&mut self, warcinfo: &[u8]) {
        let text = String::from_utf8_lossy(warcinfo);
        let settings: String = text
            .lines()
            .filter_map(|line| line.strip_prefix("setting: "))
            .flat_map(|line| [line, "\n"])
            .collect();
        // Those of another version may have options that we do not know: then the last ones have to
        // do.
        self.of_file = toml::from_str(&settings).ok();
    }

    /// Applies a robots.txt.
    pub(super) fn apply_robots(&mut self, origin: &str, text: &[u8]) {
        let form = self.settings.canonical_form();
        let Ok(url) = PageUrl::parse(origin, &form) else {
            return;
        };
        let rules = RobotsRules::parse(text, &self.settings.agent_token());
        let asked = self.hosts.entry(url.host()).or_default();
        asked.crawl_delay = rules.crawl_delay().map(|delay| (delay, 0));
    }

    /// Checks a request of the visit in `row`.
    pub(super) fn check_request(
        &mut self,
        row: &VisitRecord,
        request: &Request<'_>,
        complaints: &mut Complaints,
    ) {
        let Request { url, at, first, .. } = *request;
        self.counts.requests += 1;
        let settings = [Some(&self.settings), self.of_file.as_ref()];
        let settings = settings.into_iter().flatten();
        let one_at_a_time = settings.clone().all(|settings| settings.per_host() == 1);
        let least = settings
            .map(|settings| settings.delay.0)
            .chain(self.ordered.0)
            .min()
            .unwrap_or_default();
        let longest = self.longest();
        let (ahead, behind) = self.dates;
        let obeys = !self.settings.ignore_robots;
        let in_group = self.group_distance(request).filter(|_| one_at_a_time);

        let asked = self.hosts.entry(url.host()).or_default();
        let last = asked.last.replace(asked.last.unwrap_or_default().max(at));
        let mut wanted = least;
        if let Some((delay, since)) = &mut asked.crawl_delay {
            *since += 1;
            // The first request after it was read may have been on its way before.
            if *since > 1 && obeys {
                wanted = wanted.max((*delay).min(longest));
            }
        }
        if let Some((group, passed)) = in_group.filter(|(_, passed)| *passed + TOLERANCE < least) {
            self.counts.too_soon += 1;
            complaints.add(format!(
                "politeness: {url} was asked for {passed:?} after another request to {group}, not \
                 {least:?}, in the visit to {}",
                row.url
            ));
            return;
        }
        if asked.unsure > 0 {
            asked.unsure -= 1;
            return;
        }
        let Some(last) = last.filter(|_| one_at_a_time) else {
            return;
        };
        let ready = (asked.ready + ahead).before(behind);
        self.counts.compared += 1;
        // Redirects lead to a host between its own visits, and may be archived after one that came
        // later.
        let passed = at.since(last).max(last.since(at));
        let too_soon = passed + TOLERANCE < wanted;
        let too_early = first && at + TOLERANCE < ready;
        if too_soon || too_early {
            self.counts.too_soon += 1;
        }
        if too_soon {
            complaints.add(format!(
                "politeness: {url} was asked for {passed:?} after the request before it, not \
                 {wanted:?}, in the visit to {}",
                row.url
            ));
        } else if too_early {
            complaints.add(format!(
                "politeness: {url} was requested at {at}, but its host was not to be asked before \
                 {ready}"
            ));
        }
    }

    /// Returns the group of a request, and its distance from the latest other one to it. The first
    /// request has none, and none has one if the settings changed.
    fn group_distance(&mut self, request: &Request<'_>) -> Option<(Group, Duration)> {
        let group_by = self.settings.group_by;
        let changed = self
            .of_file
            .as_ref()
            .is_some_and(|file| file.group_by != group_by);
        let group = group_by
            .group(&request.url.host(), request.address)
            .filter(|_| !changed)?;
        let at = request.at;
        let Some(latest) = self.groups.get_mut(&group) else {
            self.groups.insert(group, at);
            return None;
        };
        let last = std::mem::replace(latest, at.max(*latest));
        Some((group, at.since(last).max(last.since(at))))
    }

    /// Applies the end of a visit to a host.
    pub(super) fn apply_visit_end(&mut self, host: &Host, pace: Pace) {
        self.hosts.entry(host.clone()).or_default().ready = pace.ready;
    }

    /// Applies a pace from a visit that is not archived, or from before its end.
    pub(super) fn apply_pace(&mut self, host: &Host, pace: Pace) {
        let asked = self.hosts.entry(host.clone()).or_default();
        asked.known = asked.known.then(pace);
    }

    /// Applies the start of a session after one that died. The waits of hosts follow from their
    /// known paces and from the settings, whatever rule that session used.
    pub(super) fn apply_restart(&mut self, at: Timestamp, least_wait: Duration, factor: u32) {
        self.apply_session_end();
        let rule = RestartRule {
            least_wait,
            most_wait: self.longest(),
            factor,
        };
        for asked in self.hosts.values_mut() {
            asked.known = asked.known.after_restart(at, rule);
            asked.ready = asked.known.ready;
        }
    }

    /// Applies the start or end of a session: dates are those of its own clock.
    pub(super) fn apply_session_end(&mut self) {
        self.dates = (Duration::ZERO, Duration::ZERO);
    }

    /// Applies the start of a session whose clock is behind.
    pub(super) fn apply_set_back(&mut self, now: Timestamp, least_wait: Duration) {
        self.apply_session_end();
        for asked in self.hosts.values_mut() {
            (asked.known, _) = asked.known.set_back(now, least_wait);
            asked.ready = asked.ready.min(asked.known.ready);
            asked.last = asked.last.filter(|last| *last <= now);
        }
        self.groups.retain(|_, last| *last <= now);
    }

    /// Applies a change of the machine's clock during a session, which dates follow.
    pub(super) fn apply_clock_set(&mut self, ahead: Duration, behind: Duration) {
        self.dates = (ahead, behind);
        for asked in self.hosts.values_mut() {
            asked.unsure = UNSURE;
        }
        self.groups.clear();
    }

    /// Returns the shortest ceiling of delays that was in force.
    fn longest(&self) -> Duration {
        let settings = [Some(&self.settings), self.of_file.as_ref()];
        let ceilings = settings
            .into_iter()
            .flatten()
            .map(|settings| settings.max_delay.0);
        ceilings.chain(self.ordered.1).min().unwrap_or_default()
    }

    pub(super) fn counts(&self) -> Counts {
        let hosts = self.hosts.values().filter(|asked| asked.last.is_some());
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
    use crate::values::Span;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &web::CanonicalForm::default()).unwrap()
    }

    fn row(url: &PageUrl) -> VisitRecord {
        VisitRecord {
            status: Some(200),
            kept: true,
            ..VisitRecord::new(
                store::DiscoveredUrl::new(url.clone(), 0, None),
                store::Fate::Unique,
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
        // Host, address, moment
        let asked = [
            ("a.site.test", address(1), 1_000),
            ("b.site.test", address(2), 1_500),
            ("other.test", address(1), 1_700),
            ("c.site.test", None, 1_900),
            // Archived after one that came later.
            ("d.site.test", address(3), 500),
        ];
        for (group_by, too_soon) in [
            (GroupBy::Host, 0),
            (GroupBy::Domain, 2),
            (GroupBy::Address, 1),
        ] {
            let settings = Settings {
                group_by,
                ..Settings::default()
            };
            for (of_file, expected) in [(group_by, too_soon), (GroupBy::Host, 0)] {
                let mut politeness = Politeness::new(&settings);
                let mut complaints = Complaints::default();
                politeness.begin_file(format!("setting: group-by = \"{of_file}\"\r\n").as_bytes());
                for (host, address, at) in asked {
                    let url = url(&format!("http://{host}/"));
                    let request = Request {
                        address,
                        ..request(&url, Timestamp::from_millis(at))
                    };
                    politeness.check_request(&row(&url), &request, &mut complaints);
                }
                assert_eq!(
                    complaints.count, expected,
                    "{group_by} {of_file}: {:?}",
                    complaints.told
                );
                assert_eq!(politeness.counts().too_soon, expected);
            }
        }
    }

    /// Returns the complaints about a host asked at these moments, each visit saying when it may
    /// be asked again.
    fn check(settings: &Settings, asked: &[(u64, u64)], robots: Option<&str>) -> u64 {
        let mut politeness = Politeness::new(settings);
        let mut complaints = Complaints::default();
        if let Some(text) = robots {
            politeness.apply_robots("http://a.test", text.as_bytes());
        }
        let url = url("http://a.test/");
        for (at, ready) in asked {
            let at = Timestamp::from_millis(*at);
            politeness.check_request(&row(&url), &request(&url, at), &mut complaints);
            politeness.apply_visit_end(&url.host(), Timestamp::from_millis(*ready).into());
        }
        assert_eq!(politeness.counts().too_soon, complaints.count);
        complaints.count
    }

    #[test]
    fn a_request_within_the_delay_or_before_the_host_is_ready_is_too_soon() {
        let settings = Settings {
            delay: Span(Duration::from_secs(1)),
            ..Settings::default()
        };
        for (asked, too_soon) in [
            (&[(1_000, 2_000), (2_000, 3_000)][..], 0),
            // A millisecond is as near as moments are told.
            (&[(1_000, 2_001), (2_000, 3_000)], 0),
            (&[(1_000, 0), (1_500, 0), (3_000, 0)], 1),
            // Its answer took two seconds.
            (&[(1_000, 4_000), (2_500, 0)], 1),
            (&[(1_000, 4_000), (4_000, 0)], 0),
        ] {
            assert_eq!(check(&settings, asked, None), too_soon, "{asked:?}");
        }
    }

    /// A host that answered in 400 ms was asked 0.8 to 1.8 s after a kill where 2 s were due, and
    /// nothing was said of it.
    #[test]
    fn a_request_too_soon_after_a_death_is_found_by_what_the_host_s_response_time_asked_for() {
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
        // Restart, next request → complaints
        for (restart, at, too_soon) in [
            (20_000, 21_800, 1),
            (20_000, 20_500, 1),
            (20_000, 22_000, 0),
            // Restarted at once.
            (10_100, 12_000, 1),
            (10_100, 12_100, 0),
        ] {
            let mut politeness = Politeness::new(&settings);
            let mut complaints = Complaints::default();
            politeness.check_request(&row(&url), &request(&url, seconds(9)), &mut complaints);
            politeness.apply_pace(&url.host(), slow);
            politeness.apply_visit_end(&url.host(), slow);
            let least = Duration::from_millis(500);
            politeness.apply_restart(Timestamp::from_millis(restart), least, 5000);
            let next = request(&url, Timestamp::from_millis(at));
            politeness.check_request(&row(&url), &next, &mut complaints);
            assert_eq!(
                complaints.count, too_soon,
                "{restart} {at}: {:?}",
                complaints.told
            );
            assert_eq!(politeness.counts().too_soon, too_soon);
        }
    }

    #[test]
    fn a_clock_that_is_set_makes_no_request_early_and_hides_none_for_long() {
        let settings = Settings {
            delay: Span(Duration::from_secs(1)),
            ..Settings::default()
        };
        let url = url("http://a.test/");
        let (day, millis) = (Duration::from_secs(24 * 3600), Timestamp::from_millis);
        let noon = millis(100 * 24 * 3600 * 1000);
        let mut politeness = Politeness::new(&settings);
        let mut complaints = Complaints::default();
        // By the clock of the waits; dates are a day behind from the third on.
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
            politeness.check_request(&row(&url), &request(&url, date), &mut complaints);
            let ready = now + Duration::from_secs(1);
            politeness.apply_visit_end(&url.host(), ready.into());
            assert_eq!(
                complaints.count, expected,
                "{number}: {:?}",
                complaints.told
            );
        }
        // The next session goes by the clock as it was set.
        politeness.apply_set_back(noon.before(day), Duration::from_secs(1));
        let next = request(&url, noon.before(day) + Duration::from_secs(9));
        politeness.check_request(&row(&url), &next, &mut complaints);
        assert_eq!(complaints.count, 1, "{:?}", complaints.told);
    }

    #[test]
    fn what_robots_txt_asks_for_counts_as_far_as_the_settings_let_it() {
        let robots = Some("User-agent: *\nCrawl-delay: 60\n");
        let asked = [(1_000, 0), (11_000, 0), (42_000, 0)];
        assert_eq!(check(&Settings::default(), &asked, None), 0);
        // At most 30 s, unless told otherwise.
        assert_eq!(check(&Settings::default(), &asked, robots), 1);
        let deaf = Settings {
            ignore_robots: true,
            ..Settings::default()
        };
        assert_eq!(check(&deaf, &asked, robots), 0);
    }

    #[test]
    fn the_shorter_delay_of_the_file_and_of_the_last_session_counts() {
        let mut politeness = Politeness::new(&Settings::default());
        let mut complaints = Complaints::default();
        politeness.begin_file(b"software: crawler\r\nsetting: delay = \"100ms\"\r\n");
        let url = url("http://a.test/");
        for at in [1_000, 1_100] {
            let request = request(&url, Timestamp::from_millis(at));
            politeness.check_request(&row(&url), &request, &mut complaints);
        }
        assert_eq!(complaints.told, Vec::<String>::new());
    }
}
