//! robots.txt by RFC 9309 section 2.3, over a web in memory.

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use fetch::{
    Fetch, FetchFailure, Pacer, Refusal, RobotsCache, RobotsResponse, RobotsSource, RobotsText,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue};
use requests::{PacedResponse, PacingRules, ResponseKind};
use tokio::time::Instant;
use web::{
    Clock, Directives, Exchange, MAX_ROBOTS_BYTES, PageUrl, Protocol, Timestamp, Validators,
    Warning,
};

use crate::server::page;

const DAY: u64 = 24 * 3600 * 1000;

type Scripted = Result<(u16, Bytes), FetchFailure>;

/// Answers by URL: a status and a body, or a `Location` where the status is a redirect. A body
/// behind `gzip:` has that `Content-Encoding`, one behind `location:` and a line that field, or
/// none if it says `none`; one behind `incomplete:` breaks off.
#[derive(Default)]
struct Script {
    responses: Mutex<HashMap<String, Scripted>>,
    asked: Mutex<Vec<String>>,
}

impl Script {
    fn say(&self, url: &str, status: u16, text: impl Into<Bytes>) {
        self.responses
            .lock()
            .expect("no test panics in here")
            .insert(url.to_owned(), Ok((status, text.into())));
    }

    fn fail(&self, url: &str, failure: FetchFailure) {
        self.responses
            .lock()
            .expect("no test panics in here")
            .insert(url.to_owned(), Err(failure));
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().expect("no test panics in here"))
    }
}

#[async_trait]
impl Fetch for Script {
    async fn request(&self, url: &PageUrl, _known: &Validators) -> Result<Exchange, FetchFailure> {
        self.asked
            .lock()
            .expect("no test panics in here")
            .push(url.to_string());
        // Long enough for other tasks to ask for the same.
        tokio::task::yield_now().await;
        let response = self
            .responses
            .lock()
            .expect("no test panics in here")
            .get(url.as_str())
            .cloned();
        let (status, text) = response.unwrap_or(Ok((404, Bytes::new())))?;
        let mut headers = HeaderMap::new();
        let mut warnings = Vec::new();
        let text = if let Some(body) = text.strip_prefix(b"incomplete:") {
            warnings.push(Warning::BrokenConnection);
            text.slice_ref(body)
        } else if let Some(said) = text.strip_prefix(b"location:") {
            let end = said.iter().position(|&byte| byte == b'\n');
            let (location, body) = said.split_at(end.expect("a line"));
            if location != b"none" {
                let location = HeaderValue::from_bytes(location).expect("a field");
                headers.insert("location", location);
            }
            text.slice_ref(body)
        } else if (301..400).contains(&status)
            && let Ok(location) = text.as_ref().try_into()
        {
            headers.insert("location", location);
            text
        } else {
            text
        };
        let text = match text.strip_prefix(b"gzip:") {
            Some(body) => {
                headers.insert("content-encoding", HeaderValue::from_static("gzip"));
                text.slice_ref(body)
            }
            None => text,
        };
        Ok(Exchange {
            url: url.clone(),
            status,
            headers,
            body: text.into(),
            warnings,
            ..empty_page()
        })
    }
}

fn empty_page() -> Exchange {
    Exchange {
        url: page("http://a.test/"),
        request_head: Vec::new(),
        status: 200,
        headers: HeaderMap::new(),
        body: Bytes::new().into(),
        truncated: None,
        warnings: Vec::new(),
        address: None,
        protocol: Protocol::Http11,
        started: Timestamp::from_millis(0),
        elapsed: Duration::ZERO,
    }
}

struct Robots {
    web: Arc<Script>,
    pacer: Arc<Pacer>,
    cache: RobotsCache,
    /// Milliseconds; moved by the test.
    now: Arc<AtomicU64>,
}

fn robots(delay: u64, capacity: usize) -> Robots {
    let now = Arc::new(AtomicU64::new(0));
    let read = Arc::clone(&now);
    let clock = Clock::new(move || Timestamp::from_millis(read.load(Ordering::SeqCst)));
    let rules = PacingRules {
        delay: Duration::from_millis(delay),
        factor: 0.0,
        ..PacingRules::default()
    };
    let pacer = Arc::new(Pacer::new(rules, clock.clone()));
    let web = Arc::new(Script::default());
    let fetch = Arc::clone(&web) as Arc<dyn Fetch>;
    let cache = RobotsCache::new(fetch, Arc::clone(&pacer), "crawler".into(), clock, capacity);
    Robots {
        web,
        pacer,
        cache,
        now,
    }
}

impl Robots {
    async fn of(&self, url: &str) -> RobotsResponse {
        self.cache.rules(&page(url)).await
    }

    async fn allowed(&self, url: &str) -> bool {
        self.of(url).await.rules.verdict(&page(url)).allowed
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_decides_what_is_allowed() {
    use RobotsSource::{Given, Missing, Unreachable};
    let no_entry = "User-agent: *\nDisallow: /private";
    // status → source, is /private allowed, is / allowed
    let cases = [
        (200, Given, false, true),
        (206, Given, false, true),
        (304, Missing, true, true),
        (400, Missing, true, true),
        (401, Missing, true, true),
        (403, Missing, true, true),
        (404, Missing, true, true),
        (410, Missing, true, true),
        (429, Unreachable, false, false),
        (500, Unreachable, false, false),
        (503, Unreachable, false, false),
    ];
    for (status, standing, private, root) in cases {
        let robots = robots(0, 100);
        robots.web.say("http://a.test/robots.txt", status, no_entry);
        let response = robots.of("http://a.test/private").await;
        assert_eq!(response.source, standing, "{status}");
        assert_eq!(response.exchanges.len(), 1);
        assert_eq!(
            robots.allowed("http://a.test/private").await,
            private,
            "{status}"
        );
        assert_eq!(robots.allowed("http://a.test/").await, root, "{status}");
        assert_eq!(
            robots.web.asked(),
            ["http://a.test/robots.txt"],
            "one request"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_host_allows_nothing_for_half_a_minute() {
    let failures = [
        FetchFailure::Dns,
        FetchFailure::Timeout,
        FetchFailure::PrivateAddress {
            address: [127, 0, 0, 1].into(),
            refusal: Refusal::Loopback,
        },
    ];
    for failure in failures {
        let robots = robots(0, 100);
        robots.web.fail("http://a.test/robots.txt", failure.clone());
        let response = robots.of("http://a.test/").await;
        assert!(
            !response.rules.verdict(&page("http://a.test/")).allowed,
            "{failure:?}"
        );
        assert_eq!(response.until, Timestamp::from_millis(30_000));

        robots.web.say("http://a.test/robots.txt", 404, "");
        robots.now.store(29_999, Ordering::SeqCst);
        assert!(!robots.allowed("http://a.test/").await, "{failure:?}");
        robots.now.store(30_000, Ordering::SeqCst);
        assert!(robots.allowed("http://a.test/").await, "{failure:?}");
    }
}

/// One connection of thousands was reset, at a robots.txt, and a crawl of two seconds took thirty.
#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_forgotten_after_a_second_and_a_second_one_is_not() {
    for failure in [
        FetchFailure::Disconnected,
        FetchFailure::Connect(std::io::ErrorKind::ConnectionRefused),
    ] {
        let robots = robots(0, 100);
        robots.web.fail("http://a.test/robots.txt", failure);
        for (now, until) in [
            (0, 1_000),
            (1_000, 41_000),
            (40_999, 41_000),
            (41_000, 81_000),
        ] {
            robots.now.store(now, Ordering::SeqCst);
            let response = robots.of("http://a.test/").await;
            assert_eq!(response.until, Timestamp::from_millis(until), "at {now}");
        }
        robots.web.say("http://a.test/robots.txt", 404, "");
        robots.now.store(81_000, Ordering::SeqCst);
        assert!(robots.allowed("http://a.test/").await);
    }
}

#[tokio::test(start_paused = true)]
async fn rules_are_fetched_again_after_a_day() {
    let robots = robots(0, 100);
    robots.web.say(
        "http://a.test/robots.txt",
        200,
        "User-agent: *\nDisallow: /",
    );
    assert!(!robots.allowed("http://a.test/").await);
    robots.web.say("http://a.test/robots.txt", 200, "");

    robots.now.store(DAY - 1, Ordering::SeqCst);
    assert!(!robots.allowed("http://a.test/").await);
    assert!(robots.cache.cached(&page("http://a.test/")).is_some());
    robots.now.store(DAY, Ordering::SeqCst);
    assert!(robots.cache.cached(&page("http://a.test/")).is_none());
    assert!(robots.allowed("http://a.test/").await);
}

#[tokio::test(start_paused = true)]
async fn five_redirects_are_followed_and_the_sixth_is_not() {
    for (hops, allowed) in [(1, false), (5, false), (6, true)] {
        let robots = robots(0, 100);
        robots
            .web
            .say("http://a.test/robots.txt", 301, "http://h1.test/r");
        for hop in 1..hops {
            robots.web.say(
                &format!("http://h{hop}.test/r"),
                302,
                format!("http://h{}.test/r", hop + 1),
            );
        }
        robots.web.say(
            &format!("http://h{hops}.test/r"),
            200,
            "User-agent: *\nDisallow: /",
        );
        let response = robots.of("http://a.test/").await;
        assert_eq!(
            response.rules.verdict(&page("http://a.test/")).allowed,
            allowed,
            "{hops}"
        );
        assert_eq!(
            response.exchanges.len(),
            6.min(hops + 1),
            "{hops}: every hop is handed on"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn redirects_in_a_circle_or_to_no_page_are_no_rules() {
    for target in ["/robots.txt", "ftp://a.test/robots.txt", "mailto:a@b.test"] {
        let robots = robots(0, 100);
        robots.web.say("http://a.test/robots.txt", 301, target);
        let response = robots.of("http://a.test/").await;
        assert_eq!(response.source, RobotsSource::Missing, "{target}");
    }
}

/// Its body was thrown away, and pages were fetched that it forbids.
#[tokio::test(start_paused = true)]
async fn a_redirect_without_a_target_is_the_file() {
    let rules = "User-agent: *\nDisallow: /private";
    for status in [300, 301, 302, 303, 305, 307, 308] {
        for location in ["none", "", " ", "http://["] {
            let robots = robots(0, 100);
            let said = format!("location:{location}\n{rules}");
            robots.web.say("http://a.test/robots.txt", status, said);
            let response = robots.of("http://a.test/").await;
            assert_eq!(
                response.source,
                RobotsSource::Given,
                "{status} {location:?}"
            );
            assert!(!robots.allowed("http://a.test/private").await, "{status}");
            assert!(robots.allowed("http://a.test/open").await, "{status}");
            let asked = robots.web.asked();
            assert_eq!(asked, ["http://a.test/robots.txt"], "{status}");
        }
    }
    let robots = robots(0, 100);
    robots
        .web
        .say("http://a.test/robots.txt", 302, "incomplete:");
    let response = robots.of("http://a.test/").await;
    assert_eq!(response.source, RobotsSource::Unreachable);
}

#[tokio::test(start_paused = true)]
async fn scheme_and_port_have_rules_of_their_own() {
    let robots = robots(0, 100);
    robots.web.say(
        "http://a.test/robots.txt",
        200,
        "User-agent: *\nDisallow: /",
    );
    assert!(!robots.allowed("http://a.test/").await);
    assert!(robots.allowed("http://a.test:8080/").await);
    assert!(robots.allowed("https://a.test/").await);
    let asked = robots.web.asked();
    assert_eq!(
        asked,
        [
            "http://a.test/robots.txt",
            "http://a.test:8080/robots.txt",
            "https://a.test/robots.txt"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn of_concurrent_requests_for_the_same_rules_one_fetches() {
    let robots = robots(1000, 100);
    robots.web.say(
        "http://a.test/robots.txt",
        200,
        "User-agent: *\nDisallow: /x",
    );
    let url = page("http://a.test/x");
    let ask = || async { robots.cache.rules(&url).await.exchanges.len() };
    let fetched = tokio::join!(ask(), ask(), ask(), ask());
    assert_eq!(fetched.0 + fetched.1 + fetched.2 + fetched.3, 1);
    assert_eq!(robots.web.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_fetch_is_left_to_the_next_task() {
    let robots = robots(0, 100);
    robots.web.say("http://a.test/robots.txt", 200, "");
    let busy = robots.pacer.permit(&page("http://a.test/").host()).await;
    let given_up = tokio::time::timeout(Duration::from_secs(1), robots.of("http://a.test/")).await;
    assert!(given_up.is_err(), "the host is busy");
    busy.finish(PacedResponse {
        elapsed: Duration::ZERO,
        kind: ResponseKind::Fine,
    });
    assert_eq!(robots.of("http://a.test/").await.exchanges.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn robots_txt_takes_its_turn_like_a_page_and_so_does_every_hop() {
    let robots = robots(1000, 100);
    robots
        .web
        .say("http://a.test/robots.txt", 301, "http://b.test/r");
    robots.web.say("http://b.test/r", 301, "http://b.test/s");
    let began = Instant::now();
    robots.of("http://a.test/").await;
    assert_eq!(
        began.elapsed(),
        Duration::from_secs(1),
        "two requests to b, one to a"
    );
    assert_eq!(
        robots.pacer.pace(&page("http://b.test/").host()).ready,
        Timestamp::from_millis(1000)
    );
}

#[tokio::test(start_paused = true)]
async fn a_cached_crawl_delay_reaches_the_pacer() {
    let robots = robots(0, 100);
    robots.web.say(
        "http://a.test/robots.txt",
        200,
        "User-agent: *\nCrawl-delay: 7",
    );
    let host = page("http://a.test/").host();
    let fine = PacedResponse {
        elapsed: Duration::ZERO,
        kind: ResponseKind::Fine,
    };

    robots.of("http://a.test/").await;
    // The delay was known only after robots.txt, and the page followed at once.
    let seven_seconds_on = Timestamp::from_millis(7000);
    assert_eq!(
        robots.pacer.pace(&host).ready,
        seven_seconds_on,
        "it counts from robots.txt itself"
    );
    robots.pacer.set_crawl_delay(&host, None);
    robots.of("http://a.test/").await;
    let began = Instant::now();
    let permit = robots.pacer.permit(&host).await;
    assert_eq!(began.elapsed(), Duration::from_secs(7));
    // The clock of timestamps stands still in this test.
    assert_eq!(permit.finish(fine), seven_seconds_on);
}

#[tokio::test(start_paused = true)]
async fn only_the_first_500_kibibytes_are_read() {
    let padding = "#".repeat(500 * 1024 - 26);
    for (space, allowed) in [("", false), (" ", true)] {
        let robots = robots(0, 100);
        let text = format!("{padding}{space}\nUser-agent: *\nDisallow: /");
        let text = if allowed {
            text
        } else {
            text.chars().take(500 * 1024).collect()
        };
        robots.web.say("http://a.test/robots.txt", 200, text);
        assert_eq!(robots.allowed("http://a.test/").await, allowed, "{space:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_cache_drops_the_oldest_and_keeps_used_entries() {
    let robots = robots(0, 10);
    robots.of("http://used.test/").await;
    for number in 0..100 {
        robots.of(&format!("http://h{number}.test/")).await;
        robots.of("http://used.test/").await;
    }
    robots.web.asked();
    assert!(robots.cache.cached(&page("http://used.test/")).is_some());
    assert!(robots.cache.cached(&page("http://h99.test/")).is_some());
    assert!(robots.cache.cached(&page("http://h0.test/")).is_none());
    let kept = (0..100)
        .filter(|n| {
            robots
                .cache
                .cached(&page(&format!("http://h{n}.test/")))
                .is_some()
        })
        .count();
    assert!(kept <= 10, "{kept}");
}

fn text(lines: Option<&'static str>, until: u64) -> RobotsText {
    RobotsText {
        lines: lines.map(Into::into),
        until: Timestamp::from_millis(until),
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_text_is_returned_once_and_that_of_a_host_in_trouble_never() {
    let rules = "User-agent: *\nDisallow: /private";
    for (status, read) in [
        (200, Some(text(Some(rules), DAY))),
        (404, Some(text(None, DAY))),
        (503, None),
    ] {
        let robots = robots(0, 100);
        robots.web.say("http://a.test/robots.txt", status, rules);
        let response = robots.of("http://a.test/").await;
        assert_eq!(response.read, read, "{status}");
        assert_eq!(response.requested, [page("http://a.test/").host()]);
        let again = robots.of("http://a.test/").await;
        assert_eq!(
            (again.read, again.requested),
            (None, Vec::new()),
            "{status}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_stored_text_of_a_too_long_robots_txt_is_the_part_that_is_parsed() {
    let robots = robots(0, 100);
    let line = "Disallow: /private/0123456789\n";
    let long = format!(
        "User-agent: *\n{}",
        line.repeat(MAX_ROBOTS_BYTES / line.len() + 1)
    );
    robots
        .web
        .say("http://a.test/robots.txt", 200, long.clone());
    let read = robots
        .of("http://a.test/")
        .await
        .read
        .unwrap()
        .lines
        .unwrap();
    assert!(read.len() <= MAX_ROBOTS_BYTES && read.len() > MAX_ROBOTS_BYTES - line.len());
    assert!(long.as_bytes().starts_with(&read) && !read.ends_with(b"\n"));
}

#[tokio::test(start_paused = true)]
async fn the_stored_text_of_an_earlier_session_is_obeyed_while_it_holds() {
    for (lines, allowed) in [
        (
            Some("User-agent: *\nCrawl-delay: 3\nDisallow: /private"),
            false,
        ),
        (None, true),
    ] {
        let robots = robots(0, 100);
        let url = page("http://a.test/private");
        assert!(robots.cache.cached(&url).is_none());
        robots.cache.recall(&url, text(lines, 1000)).await;
        assert!(robots.cache.cached(&url).is_some());
        robots.now.store(999, Ordering::SeqCst);
        assert_eq!(robots.allowed(url.as_str()).await, allowed);
        let delay = lines.map(|_lines| Duration::from_secs(3));
        assert_eq!(robots.pacer.pace(&url.host()).crawl_delay, delay);
        assert_eq!(robots.web.asked(), [""; 0]);
        robots.now.store(1000, Ordering::SeqCst);
        assert!(robots.allowed(url.as_str()).await);
        assert_eq!(robots.web.asked(), ["http://a.test/robots.txt"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_recalled_text_holds_a_day_at_most_and_never_replaces_cached_rules() {
    let robots = robots(0, 100);
    let url = page("http://a.test/private");
    let never = Some("User-agent: *\nDisallow: /");
    robots.cache.recall(&url, text(never, u64::MAX)).await;
    robots.now.store(DAY - 1, Ordering::SeqCst);
    assert!(!robots.allowed(url.as_str()).await);
    robots.now.store(DAY, Ordering::SeqCst);
    assert!(
        robots.allowed(url.as_str()).await,
        "no rule forbids it any more"
    );
    robots.cache.recall(&url, text(never, u64::MAX)).await;
    assert!(robots.allowed(url.as_str()).await);
}

/// Returns the owner's preferences for a page of the site that has them only in its files.
fn preferences(response: &RobotsResponse, url: &PageUrl) -> String {
    let page = Exchange {
        url: url.clone(),
        ..empty_page()
    };
    web::page_preferences(Some(&response.rules), &page, Directives::default()).to_string()
}

#[tokio::test(start_paused = true)]
async fn statements_of_other_files_outlast_the_session_without_changing_the_rules() {
    let rules = "User-agent: *\nDisallow: /private\n";
    let tdm = r#"[{"location": "/", "tdm-reservation": 1}]"#;
    for robots_txt in [Some(rules), None] {
        let first = robots(0, 100);
        if let Some(rules) = robots_txt {
            first.web.say("http://a.test/robots.txt", 200, rules);
        }
        first
            .web
            .say("http://a.test/.well-known/tdmrep.json", 200, tdm);
        let cache = first.cache.with_site_files();
        let (open, private) = (page("http://a.test/a"), page("http://a.test/private"));
        let fetched = cache.rules(&open).await;
        assert_eq!(preferences(&fetched, &open), "train=n (tdmrep.json)");
        let files = ["robots.txt", ".well-known/tdmrep.json", "ai.txt"];
        assert_eq!(
            first.web.asked(),
            files.map(|file| format!("http://a.test/{file}"))
        );

        let second = robots(0, 100);
        second.cache.recall(&open, fetched.read.unwrap()).await;
        let recalled = second.of(open.as_str()).await;
        assert_eq!(preferences(&recalled, &open), "train=n (tdmrep.json)");
        assert_eq!(recalled.source, fetched.source);
        assert_eq!(
            recalled.rules.verdict(&private).allowed,
            robots_txt.is_none()
        );
        assert_eq!(second.web.asked(), [""; 0]);
    }
}

/// Rules in UTF-16 or in gzip without a header were not seen, and forbidden pages were fetched.
#[tokio::test(start_paused = true)]
async fn a_file_is_decoded_by_its_bytes_before_it_is_remembered() {
    let rules = "User-agent: *\nDisallow: /private\n";
    let marked = format!("\u{feff}{rules}");
    let utf_16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed
        .write_all(rules.as_bytes())
        .expect("memory does not fail");
    let packed = packed.finish().expect("memory does not fail");
    for file in [utf_16, packed] {
        let robots = robots(0, 100);
        robots.web.say("http://a.test/robots.txt", 200, file);
        let response = robots.of("http://a.test/").await;
        let lines = response.read.and_then(|text| text.lines);
        assert_eq!(lines.as_deref(), Some(rules.as_bytes()));
        assert!(!robots.allowed("http://a.test/private").await);
    }
}

/// The beginning of a file whose gzip broke off counted as its rules, and pages were fetched that
/// the rest forbids.
#[tokio::test(start_paused = true)]
async fn a_file_whose_coding_breaks_off_or_is_damaged_is_unreachable() {
    let rules = b"User-agent: *\nDisallow: /private\nDisallow: /more\n";
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(rules).expect("memory does not fail");
    let whole = packed.finish().expect("memory does not fail");
    let cut = |length: usize| whole[..whole.len() - length].to_vec();
    let mut damaged = whole.clone();
    damaged[whole.len() - 6] ^= 1;
    let commented = [&whole[..], b"<!-- cached -->"].concat();
    for header in ["", "gzip:"] {
        for (file, source) in [
            (whole.clone(), RobotsSource::Given),
            (commented.clone(), RobotsSource::Given),
            (cut(1), RobotsSource::Unreachable),
            (cut(8), RobotsSource::Unreachable),
            (cut(20), RobotsSource::Unreachable),
            (damaged.clone(), RobotsSource::Unreachable),
        ] {
            let robots = robots(0, 100);
            let said = [header.as_bytes(), &file].concat();
            robots.web.say("http://a.test/robots.txt", 200, said);
            let response = robots.of("http://a.test/").await;
            assert_eq!(response.source, source, "{header} {file:x?}");
            assert!(!robots.allowed("http://a.test/more").await);
        }
    }
    let robots = robots(0, 100);
    let never_packed = [&b"gzip:"[..], rules].concat();
    robots
        .web
        .say("http://a.test/robots.txt", 200, never_packed);
    let response = robots.of("http://a.test/").await;
    assert_eq!(response.source, RobotsSource::Given);
    assert!(!robots.allowed("http://a.test/more").await);
}
