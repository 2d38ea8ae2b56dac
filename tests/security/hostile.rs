//! Hostile servers: the crawl continues, ends, and reports the result of each visit.
//!
//! Deadlines matter only for modes that cannot end otherwise: modes that end by themselves are
//! crawled with the default deadline of a minute, the others with a short one, and no page is
//! demanded of those that a busy machine could miss.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use testkit::hostile::{End, Expect, HostileServer, Mode, POISON};
use testkit::{Server, Site};

use crate::support::pages::{number_of, tree};
use crate::support::peak_memory::Peak;
use crate::support::{CommandOutput, Crawl};

const HONEST: &str = "honest.test";
const HONEST_PAGES: u64 = 40;
/// The memory that the crawler may use for the modes beyond that for the honest host alone, at the
/// memory budget of two processors: twice the goal, because allocators keep different amounts on
/// different machines. Unbounded use takes gibibytes here. The figure is printed.
const MORE_MEMORY: u64 = 128 << 20;

/// A crawl of hostile hosts and an honest one, when it has ended.
struct Crawled {
    crawl: Crawl,
    run: CommandOutput,
    hostile: HostileServer,
    honest: Server,
    /// The most memory that the process held, in bytes.
    peak: u64,
}

impl Crawled {
    fn of(modes: Vec<Mode>, arguments: &[&str]) -> Self {
        let peak = Peak::default();
        let looking = peak.clone();
        let honest = Server::spawn_thread(Site::new(move |request| {
            looking.look();
            tree(number_of(&request.target), HONEST_PAGES)
        }));
        let hostile = HostileServer::spawn(modes);

        let mut seeds = vec![honest.url(HONEST, "/0")];
        let mut rules = Vec::new();
        for mode in hostile.modes() {
            seeds.push(hostile.url(mode));
            rules.extend(["--resolve".to_owned(), hostile.resolve(mode)]);
        }
        let crawl = Crawl::of(&honest, &[HONEST])
            .seeds(&seeds)
            .with(&rules)
            .with(&["--tries", "1", "--max-delay", "0s"])
            .with(&["--max-body", "4MiB", "--max-pages-per-host", "40"])
            .with(&["--memory", "64MiB"])
            .with(&["--ca-certificate", "ca.pem"])
            .with(arguments);
        crawl.write("ca.pem", hostile.authority());
        let (run, peak) = peak.of(crawl.start(), &hostile);
        Self {
            crawl,
            run,
            hostile,
            honest,
            peak,
        }
    }

    /// Asserts that the crawl is sound, and that it closed every connection.
    fn is_sound(&self) {
        assert_eq!(self.run.code, Some(0), "{:?}", self.run);
        assert_eq!(
            self.run.summary()["finished"],
            "exhausted",
            "{:?}",
            self.run
        );
        self.hostile.wait_until_all_left();
        self.crawl.is_sound();
        let poison = POISON.as_bytes();
        let unasked: Vec<String> = self
            .hostile
            .modes()
            .iter()
            .filter(|mode| mode.answers_unasked())
            .map(|mode| self.hostile.url(mode))
            .collect();
        for record in self.crawl.records() {
            let target = record.target().unwrap_or_default();
            let poisoned = record
                .block
                .windows(poison.len())
                .any(|window| window == poison);
            let its_own = unasked.iter().any(|url| target.starts_with(url));
            assert!(!poisoned || its_own, "{target} has an unrequested answer");
        }
    }

    /// Asserts that the honest host is complete.
    fn has_all_of_the_honest_host(&self) {
        let verdicts = self.crawl.verdicts();
        for page in 0..HONEST_PAGES {
            assert_eq!(
                verdicts[&self.honest.url(HONEST, &format!("/{page}"))],
                "unique"
            );
        }
    }

    /// Asserts that every mode has an allowed result, with a readable reason. Returns a line for
    /// each.
    fn has_a_fate_for_every_mode(&self, tolerant: bool) -> String {
        let fates = Fates::of(&self.crawl);
        let (mut faults, mut table) = (Vec::new(), String::new());
        for mode in self.hostile.modes() {
            let url = self.hostile.url(mode);
            let (end, reason) = (fates.end(&url), fates.reason(&url));
            table += &format!("{}: {end:?} {reason}\n", mode.name);
            let late = tolerant && mode.expect == Expect::Page && reason.contains("too long");
            let fits = late || end.is_some_and(|end| mode.expect.allows(end));
            let explained =
                matches!(end, Some(End::Page | End::Truncated)) || is_for_people(reason);
            if !fits || !explained {
                faults.push(format!(
                    "{}: {:?}, but {end:?}: {reason:?}",
                    mode.name, mode.expect
                ));
            }
        }
        assert_eq!(faults, Vec::<String>::new());
        table
    }
}

/// The result of each seed.
struct Fates {
    visits: BTreeMap<String, Value>,
    /// The addresses whose records are marked as cut.
    cut: BTreeSet<String>,
}

impl Fates {
    fn of(crawl: &Crawl) -> Self {
        let url = |visit: &Value| visit["url"].as_str().unwrap().to_owned();
        let visits = crawl.visits().into_iter().map(|visit| (url(&visit), visit));
        let records = crawl.records();
        // A revisit record is marked as truncated because it leaves out bytes that the archive has.
        let responses = records.iter().filter(|record| record.kind() == "response");
        let cut = responses.filter(|record| record.truncated().is_some());
        Self {
            visits: visits.collect(),
            cut: cut
                .filter_map(|record| record.target().map(str::to_owned))
                .collect(),
        }
    }

    fn end(&self, url: &str) -> Option<End> {
        let visit = self.visits.get(url)?;
        Some(match visit["verdict"].as_str()? {
            "failed" => End::Failed,
            "excluded" => End::Excluded,
            _ if self.cut.contains(url) => End::Truncated,
            _ => End::Page,
        })
    }

    fn reason(&self, url: &str) -> &str {
        let visit = self.visits.get(url);
        visit
            .and_then(|visit| visit["reason"].as_str())
            .unwrap_or_default()
    }
}

/// Returns true if `reason` is a clause, and neither a type's name nor debug output.
fn is_for_people(reason: &str) -> bool {
    let foreign = ["::", "Some(", "Err(", "Error", " { ", "\u{1b}", "\n", "\r"];
    reason.contains(' ') && !foreign.iter().any(|word| reason.contains(word))
}

#[test]
fn a_crawl_survives_every_mode_of_a_hostile_web_and_records_each_fate() {
    let (endless, others): (Vec<Mode>, Vec<Mode>) =
        Mode::all().into_iter().partition(Mode::needs_a_deadline);
    assert!(endless.len() > 30 && others.len() > 120);

    let alone = Crawled::of(Vec::new(), &[]);
    alone.is_sound();
    for (modes, arguments, tolerant) in [
        (others, &[][..], false),
        // A busy machine may miss such a deadline with any page.
        (endless, &["--timeout", "2s"], true),
    ] {
        let crawled = Crawled::of(modes, arguments);
        let more = crawled.peak.saturating_sub(alone.peak);
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!(
            "{} modes: {:.1} MiB, {:.1} more than the honest host alone",
            crawled.hostile.modes().len(),
            mebibytes(crawled.peak),
            mebibytes(more)
        );
        crawled.is_sound();
        println!("{}", crawled.has_a_fate_for_every_mode(tolerant));
        if !tolerant {
            crawled.has_all_of_the_honest_host();
        }
        assert!(more < MORE_MEMORY, "{more} bytes more");
    }
}

/// Both counted as violations of HTTP: the pages were visited twice and then lost with their
/// answers (RFC 9112 section 5.2; linkedin.com answers crawlers with status 999).
#[test]
fn a_folded_field_is_one_line_and_a_status_beyond_599_is_a_status() {
    let names = ["field-folded", "status-600", "status-999"];
    let modes = Mode::all().into_iter();
    let modes: Vec<Mode> = modes.filter(|mode| names.contains(&&*mode.name)).collect();
    let crawled = Crawled::of(modes, &[]);
    crawled.is_sound();
    crawled.has_a_fate_for_every_mode(false);
    crawled.crawl.read_by_another();
    let fates = Fates::of(&crawled.crawl);
    let records = crawled.crawl.records();
    for mode in crawled.hostile.modes() {
        let url = crawled.hostile.url(mode);
        let about = records
            .iter()
            .filter(|record| record.target() == Some(&url));
        let mut answers = about.filter(|record| record.kind() == "response");
        let head = answers.next().unwrap().head_and_payload().unwrap().0;
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        if let Some(status) = mode.name.strip_prefix("status-") {
            assert!(head.starts_with(&format!("http/1.1 {status} ")), "{head}");
            assert_eq!(fates.reason(&url), format!("HTTP status {status}"));
            assert_eq!(fates.visits[&url]["status"].to_string(), status);
        } else {
            assert!(head.contains("\r\nx-field: one two three\r\n"), "{head}");
        }
        assert!(answers.next().is_none(), "{url} was requested again");
    }
}

/// Frames that are cheap to send: the deadline ends them if the HTTP library does not.
#[test]
fn a_flood_of_http_2_frames_ends_at_the_deadline() {
    let crawled = Crawled::of(Mode::floods(), &["--timeout", "2s"]);
    crawled.is_sound();
    crawled.has_a_fate_for_every_mode(true);
}

#[test]
fn an_answer_that_breaks_off_before_any_of_its_bytes_is_a_page_or_a_failure_and_nothing_else() {
    let crawled = Crawled::of(Mode::breaks_at_every_byte(), &[]);
    crawled.is_sound();
    crawled.has_all_of_the_honest_host();
    crawled.has_a_fate_for_every_mode(false);
}
