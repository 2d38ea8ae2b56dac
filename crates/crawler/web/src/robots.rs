//! The robots exclusion protocol (RFC 9309).
//!
//! `records.rs` parses lines, `group_names.rs` notices merged groups, `pattern.rs` matches a rule
//! with a URL, `sitemap.rs` reads the names of sitemaps, `verdict.rs` defines result and reason.
//! This file selects the rules that apply to us: the rules of all groups that name us, or else of
//! all groups for `*` (section 2.2.1). Every case of the standard is tested in `tests/robots/`,
//! with the `robotxt` crate as oracle. It is not used as the matcher, because it does not report
//! the line of a rule and does not bound the cost of 500 KiB of wildcard rules.
//!
//! Invariant: a verdict costs at most about [`WORK`] steps, for any file and URL. If they do not
//! suffice, the URL is disallowed.

mod group_names;
pub(crate) mod pattern;
mod records;
mod sitemap;
mod verdict;

use std::cmp::Reverse;
use std::time::Duration;

use crate::preferences::preference::Preferences;
use crate::preferences::site_rules::SiteRules;
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;
use group_names::GroupNames;
use pattern::{Pattern, Target};
pub use records::{MAX_ROBOTS_BYTES, product_token, robots_text, whole_lines};
use records::{Record, records};
pub use verdict::{Grounds, RobotsRule, RobotsVerdict};

/// Maximum `Crawl-delay` that is obeyed. Longer delays are mistakes, or meant to exclude crawlers,
/// which is the purpose of `Disallow`.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(300);

/// Maximum cost of a verdict, in octets examined: 4 ms. A thousand wildcard rules against a URL of
/// 4,000 octets cost that much.
const WORK: usize = 1 << 22;

/// The rules of one site for one crawler.
#[derive(Clone, Debug)]
pub struct RobotsRules {
    source: Source,
    /// Sorted by precedence, the winning rule first.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    /// References as written.
    sitemaps: Vec<String>,
    /// The other names of groups that may have been merged by mistake.
    merged: Vec<Box<str>>,
    /// Statements about the use of pages.
    usage: SiteRules,
}

/// The origin of the rules.
#[derive(Clone, Debug)]
enum Source {
    /// A file; `group` is the matching group's name, or `None` if no group applies.
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
    /// Line number, from 1.
    line: u32,
    /// Index of its group's names in `merged`.
    merged: Option<u32>,
}

impl RobotsRules {
    /// Parses a robots.txt for the crawler with this product token.
    ///
    /// Never fails: meaningless lines are skipped. Of a file longer than [`MAX_ROBOTS_BYTES`], the
    /// whole lines within that limit are read.
    ///
    /// ```
    /// use web::{CanonicalForm, PageUrl, RobotsRules};
    ///
    /// let rules = RobotsRules::parse(b"User-agent: *\nDisallow: /private", "examplebot");
    /// let url = PageUrl::parse("https://example.org/private/a", &CanonicalForm::default())?;
    /// assert!(!rules.verdict(&url).allowed);
    /// # Ok::<(), web::UrlError>(())
    /// ```
    #[must_use]
    pub fn parse(body: &[u8], agent: &str) -> Self {
        let text = robots_text(body);
        let body = whole_lines(&text);
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
            merged: Vec::new(),
            usage: SiteRules::default(),
        };
        rules.collect(body, group);
        rules
    }

    /// Collects the rules of all groups with this name. A group consists of one or more names and
    /// the rules after them; it ends at the first name after a rule. Rules before the first name
    /// apply to nobody (section 2.1).
    fn collect(&mut self, body: &[u8], group: Option<&[u8]>) {
        let (mut is_for_us, mut in_rules) = (false, false);
        let (mut names, mut merged) = (GroupNames::default(), None);
        for (line, record) in records(body) {
            match record {
                Record::Agent(token) => {
                    is_for_us &= !in_rules;
                    if in_rules {
                        (names, merged) = (GroupNames::default(), None);
                    }
                    names.add(token, line);
                    in_rules = false;
                    is_for_us |= group.is_some_and(|name| token.eq_ignore_ascii_case(name));
                }
                Record::Rule { allow, path } => {
                    in_rules = true;
                    if is_for_us {
                        if merged.is_none() && names.is_merged {
                            merged = u32::try_from(self.merged.len()).ok();
                            self.merged.push(names.others(group));
                        }
                        let rule = |pattern| Rule {
                            allow,
                            pattern,
                            line,
                            merged,
                        };
                        self.rules
                            .extend(Pattern::parse(path).into_iter().flatten().map(rule));
                    }
                }
                Record::CrawlDelay(value) if is_for_us => {
                    self.crawl_delay = self.crawl_delay.max(read_delay(value));
                }
                Record::Sitemap(value) => self.sitemaps.extend(sitemap::references(value)),
                // Other parsers ignore the line, so it does not end the names of a group.
                Record::Usage { source, value } if is_for_us => {
                    self.usage.add_line(value, source);
                }
                Record::CrawlDelay(_) | Record::Usage { .. } => {}
            }
        }
        // The longest rule wins, and `Allow` wins a tie (section 2.2.2). Of equal rules, the
        // verdict quotes the first.
        self.rules
            .sort_by_key(|rule| (Reverse(rule.pattern.octets()), Reverse(rule.allow)));
    }

    /// Returns the rules of a site without robots.txt (section 2.3.1.3).
    #[must_use]
    pub fn allow_all() -> Self {
        Self {
            source: Source::Missing,
            rules: Vec::new(),
            crawl_delay: None,
            sitemaps: Vec::new(),
            merged: Vec::new(),
            usage: SiteRules::default(),
        }
    }

    /// Returns the rules of a site whose robots.txt is unreachable (section 2.3.1.4).
    #[must_use]
    pub fn disallow_all() -> Self {
        Self {
            source: Source::Unreachable,
            ..Self::allow_all()
        }
    }

    /// Returns the verdict on the request for a URL of this site. `/robots.txt` is always allowed
    /// (section 2.2.2).
    #[must_use]
    pub fn verdict(&self, url: &PageUrl) -> RobotsVerdict {
        if url.as_url().path() == "/robots.txt" {
            return RobotsVerdict::new(true, Grounds::Itself);
        }
        match &self.source {
            Source::Missing => RobotsVerdict::new(true, Grounds::NoFile),
            Source::Unreachable => RobotsVerdict::new(false, Grounds::Unreachable),
            Source::File { group: None } => RobotsVerdict::new(true, Grounds::NoGroup),
            Source::File { group: Some(group) } => {
                let target = url.request_target();
                let verdict = self.decide(target, group);
                // An empty query evades no rule that ends before it.
                match target.strip_suffix('?') {
                    Some(path) if verdict.allowed => self.decide(path, group),
                    _ => verdict,
                }
            }
        }
    }

    fn decide(&self, target: &str, group: &str) -> RobotsVerdict {
        let target = Target::new(target);
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
                    merged_with: rule
                        .merged
                        .and_then(|at| self.merged.get(at as usize))
                        .map(ToString::to_string),
                };
                return RobotsVerdict::new(rule.allow, Grounds::Rule(rule_that_decided));
            }
        }
        RobotsVerdict::new(true, Grounds::NoRule)
    }

    /// Returns the requested delay between two requests, at most [`MAX_CRAWL_DELAY`].
    ///
    /// `Crawl-delay` is widely used but not part of the standard. The longest of several values
    /// counts.
    #[must_use]
    pub const fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Adds the statements of other files of the site, in lines of [`SiteFile::lines`].
    ///
    /// [`SiteFile::lines`]: crate::SiteFile::lines
    pub fn add_site_lines(&mut self, lines: &[u8]) {
        self.usage.add_site_lines(lines);
    }

    /// Returns the statements about the use of a page, at most one per source.
    pub(crate) fn preferences(&self, url: &PageUrl) -> Vec<Preferences> {
        self.usage.about(url.request_target(), WORK)
    }

    /// Returns the path of each rule, and true for `Allow`.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (String, bool)> {
        let rules = self.rules.iter();
        rules.map(|rule| (rule.pattern.to_string(), rule.allow))
    }

    /// Returns the sitemaps that the file at `robots` names, for any crawler. The protocol asks for
    /// whole URLs; relative ones are resolved against the file, as crawler-commons does.
    pub fn sitemaps(
        &self,
        robots: &PageUrl,
        form: &CanonicalForm,
    ) -> impl Iterator<Item = PageUrl> {
        let references = self.sitemaps.iter();
        references.filter_map(move |reference| sitemap::resolve(reference, robots, form))
    }
}

/// Parses seconds, with an optional fraction. Other text and negative values are ignored.
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
