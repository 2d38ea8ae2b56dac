//! What a site asks crawlers to leave alone (RFC 9309).
//!
//! `records.rs` reads lines, `pattern.rs` compares a rule with a URL, `verdict.rs` says what
//! follows and why. Here the rules are chosen that are meant for us: those of all groups that name
//! us, or else of all that name everybody (section 2.2.1). Every case of the standard is one in
//! `tests/robots/`; the `robotxt` crate is the oracle there. It is not the matcher, because it
//! tells no line of a rule, and because nothing bounds what 500 KiB of starred rules cost it.
//!
//! Invariant: a verdict costs at most some [`WORK`] steps, whatever the file and the URL. Where
//! they do not suffice, the answer is no.

mod pattern;
mod records;
mod verdict;

use std::cmp::Reverse;
use std::time::Duration;

use url::{Position, Url};

use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;
use pattern::{Pattern, Target};
pub use records::{MAX_ROBOTS_BYTES, product_token, whole_lines};
use records::{Record, records};
pub use verdict::{Grounds, RobotsRule, RobotsVerdict};

/// The longest `Crawl-delay` that is obeyed. Longer ones are mistakes or meant to keep crawlers
/// out, and there is `Disallow` for that.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(300);

/// What one verdict may cost, in octets that are looked at: 4 ms. A thousand starred rules against
/// a URL of 4,000 octets come to that.
const WORK: usize = 1 << 22;

/// The rules of one site for one crawler.
#[derive(Clone, Debug)]
pub struct RobotsRules {
    source: Source,
    /// The rule that wins comes first.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<PageUrl>,
}

/// Where rules come from.
#[derive(Clone, Debug)]
enum Source {
    /// A file, with a group for this name or with none for us.
    File {
        group: Option<Box<str>>,
    },
    Missing,
    Unreachable,
}

#[derive(Clone, Debug)]
struct Rule {
    allow: bool,
    pattern: Pattern,
    /// From 1.
    line: u32,
}

impl RobotsRules {
    /// Reads a robots.txt for the crawler with this product token.
    ///
    /// Never fails: lines that make no sense are passed over. Of a file longer than
    /// [`MAX_ROBOTS_BYTES`] the whole lines within are read.
    #[must_use]
    pub fn parse(body: &[u8], agent: &str) -> Self {
        let body = whole_lines(body);
        let agent = product_token(agent.as_bytes());
        let has_group = |name: &[u8]| {
            let is_named =
                |record| matches!(record, Record::Agent(token) if token.eq_ignore_ascii_case(name));
            !name.is_empty() && records(body).any(|(_, record)| is_named(record))
        };
        let group = [agent, b"*"].into_iter().find(|name| has_group(name));
        let mut rules = Self {
            source: Source::File {
                group: group.map(|name| String::from_utf8_lossy(name).into()),
            },
            rules: Vec::new(),
            crawl_delay: None,
            sitemaps: Vec::new(),
        };
        rules.collect(body, group);
        rules
    }

    /// Collects the rules of all groups of this name: a group is one or more names and what follows
    /// them, and ends at the first name after a rule. Rules before the first name are nobody's
    /// (section 2.1).
    fn collect(&mut self, body: &[u8], group: Option<&[u8]>) {
        let (mut is_for_us, mut in_rules) = (false, false);
        for (line, record) in records(body) {
            match record {
                Record::Agent(token) => {
                    is_for_us &= !in_rules;
                    in_rules = false;
                    is_for_us |= group.is_some_and(|name| token.eq_ignore_ascii_case(name));
                }
                Record::Rule { allow, path } => {
                    in_rules = true;
                    if is_for_us {
                        let rule = |pattern| Rule {
                            allow,
                            pattern,
                            line,
                        };
                        self.rules
                            .extend(Pattern::parse(path).into_iter().flatten().map(rule));
                    }
                }
                Record::CrawlDelay(value) if is_for_us => {
                    self.crawl_delay = self.crawl_delay.max(read_delay(value));
                }
                Record::Sitemap(value) => self.sitemaps.extend(read_sitemap(value)),
                Record::CrawlDelay(_) => {}
            }
        }
        // The most octets, and of equally many `Allow` (section 2.2.2). Of the same rule written
        // twice the first is quoted.
        self.rules
            .sort_by_key(|rule| (Reverse(rule.pattern.octets()), Reverse(rule.allow)));
    }

    /// There is no robots.txt (section 2.3.1.3).
    #[must_use]
    pub fn allow_all() -> Self {
        Self {
            source: Source::Missing,
            rules: Vec::new(),
            crawl_delay: None,
            sitemaps: Vec::new(),
        }
    }

    /// The robots.txt cannot be had now (section 2.3.1.4).
    #[must_use]
    pub fn disallow_all() -> Self {
        Self {
            source: Source::Unreachable,
            ..Self::allow_all()
        }
    }

    /// Whether a URL of this site may be asked for. `/robots.txt` always may (section 2.2.2).
    #[must_use]
    pub fn verdict(&self, url: &PageUrl) -> RobotsVerdict {
        let url = url.as_url();
        if url.path() == "/robots.txt" {
            return RobotsVerdict::new(true, Grounds::Itself);
        }
        match &self.source {
            Source::Missing => RobotsVerdict::new(true, Grounds::NoFile),
            Source::Unreachable => RobotsVerdict::new(false, Grounds::Unreachable),
            Source::File { group: None } => RobotsVerdict::new(true, Grounds::NoGroup),
            Source::File { group: Some(group) } => self.decide(url, group),
        }
    }

    fn decide(&self, url: &Url, group: &str) -> RobotsVerdict {
        let target = Target::new(&url[Position::BeforePath..Position::AfterQuery]);
        let mut work = WORK;
        for rule in &self.rules {
            let matches = rule.pattern.matches(&target, &mut work);
            if work == 0 {
                return RobotsVerdict::new(false, Grounds::TooCostly);
            }
            if matches {
                let rule_that_decided = RobotsRule {
                    allow: rule.allow,
                    pattern: rule.pattern.to_string(),
                    line: rule.line,
                    group: group.to_owned(),
                };
                return RobotsVerdict::new(rule.allow, Grounds::Rule(rule_that_decided));
            }
        }
        RobotsVerdict::new(true, Grounds::NoRule)
    }

    /// How long the site asks to wait between two requests, at most [`MAX_CRAWL_DELAY`].
    ///
    /// Not part of the standard but widely written. Of several values the longest.
    #[must_use]
    pub const fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps that the file names, whatever the crawler.
    #[must_use]
    pub fn sitemaps(&self) -> &[PageUrl] {
        &self.sitemaps
    }
}

/// Seconds, perhaps with a fraction. What is none, and what is less than none, is not obeyed.
fn read_delay(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    if seconds.is_nan() || seconds.is_sign_negative() {
        return None;
    }
    Some(
        Duration::try_from_secs_f64(seconds)
            .unwrap_or(MAX_CRAWL_DELAY)
            .min(MAX_CRAWL_DELAY),
    )
}

/// Sitemaps are named by whole URLs.
fn read_sitemap(value: &[u8]) -> Option<PageUrl> {
    PageUrl::parse(std::str::from_utf8(value).ok()?, &CanonicalForm::keep_all()).ok()
}
