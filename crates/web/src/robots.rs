//! What a site asks crawlers to leave alone (RFC 9309).
//!
//! `robotxt` reads groups and matches paths. Around it stands what it leaves to its caller, or does otherwise
//! than the standard; each is a case in `tests/robots.rs`:
//!
//! - `User-agent: Foo/2.1 (x)` names the crawler `Foo`: the value is cut to its product token (2.2.1);
//! - `Crawl-delay` ended a list of `User-agent` lines, so that the next one began a new group and the first
//!   lost its rules; other records must not interfere (2.2.4): it is read here and kept from `robotxt`;
//! - `%2A` and `%24` in a rule did not match `*` and `$` in a URL (2.2.3).

use std::time::Duration;

use robotxt::{Robots, Rule};
use url::Position;

use crate::{CanonicalForm, PageUrl};

/// How much of a robots.txt is read, in bytes (RFC 9309 section 2.5: at least 500 KiB).
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;

/// The longest `Crawl-delay` that is obeyed. Longer ones are mistakes or meant to keep crawlers out, and
/// there is `Disallow` for that.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(300);

/// The rules of one site for one crawler.
#[derive(Clone, Debug)]
pub struct RobotsRules {
    robots: Robots,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<PageUrl>,
    /// Whether somebody wrote the rules, so that one of them can be quoted.
    written: bool,
}

/// What the rules say about one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsVerdict {
    /// Whether it may be asked for.
    pub allowed: bool,
    /// The rule that decided, as it would stand in the file: `Disallow: /private`.
    pub rule: Option<String>,
}

impl RobotsRules {
    /// Reads a robots.txt for the crawler with this product token.
    ///
    /// Never fails: lines that make no sense are passed over. Of a file longer than [`MAX_ROBOTS_BYTES`] the
    /// whole lines within are read.
    #[must_use]
    pub fn parse(body: &[u8], agent: &str) -> Self {
        let agent = product_token(agent.as_bytes());
        let prepared = prepare(whole_lines(body), agent);
        let robots = Robots::parse(&prepared.text, &*String::from_utf8_lossy(agent));
        let form = CanonicalForm::keep_all();
        let sitemaps = robots
            .sitemaps()
            .iter()
            .filter_map(|url| PageUrl::parse(url.as_str(), &form).ok())
            .collect();
        Self {
            robots,
            crawl_delay: prepared.crawl_delay,
            sitemaps,
            written: true,
        }
    }

    /// There is no robots.txt (section 2.3.1.3).
    #[must_use]
    pub fn allow_all() -> Self {
        Self {
            robots: Robots::allow_all(),
            crawl_delay: None,
            sitemaps: Vec::new(),
            written: false,
        }
    }

    /// The robots.txt cannot be had now (section 2.3.1.4).
    #[must_use]
    pub fn disallow_all() -> Self {
        Self {
            robots: Robots::disallow_all(),
            ..Self::allow_all()
        }
    }

    /// Whether a URL of this site may be asked for. `/robots.txt` always may (section 2.2.2).
    #[must_use]
    pub fn verdict(&self, url: &PageUrl) -> RobotsVerdict {
        let url = url.as_url();
        if url.path() == "/robots.txt" {
            return RobotsVerdict {
                allowed: true,
                rule: None,
            };
        }
        let rule = self.deciding_rule(&url[Position::BeforePath..Position::AfterQuery]);
        RobotsVerdict {
            allowed: rule.is_none_or(Rule::is_allow),
            rule: rule.filter(|_| self.written).map(|rule| {
                let verb = if rule.is_allow() { "Allow" } else { "Disallow" };
                format!("{verb}: {}", rule.pattern())
            }),
        }
    }

    fn deciding_rule(&self, path: &str) -> Option<&Rule> {
        let as_written = self.robots.matching_rule(path);
        if !path.contains(['*', '$']) {
            return as_written;
        }
        let encoded = path.replace('*', "%2A").replace('$', "%24");
        let as_encoded = self.robots.matching_rule(&encoded);
        // The longest rule, and of equally long ones `Allow` (section 2.2.2).
        as_written
            .into_iter()
            .chain(as_encoded)
            .max_by_key(|rule| (rule.pattern().len(), rule.is_allow()))
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

/// What is read here of a file, and what is left for `robotxt`.
struct Prepared {
    text: Vec<u8>,
    crawl_delay: Option<Duration>,
}

fn prepare(body: &[u8], agent: &[u8]) -> Prepared {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut text = Vec::with_capacity(body.len());
    let mut groups = Groups::new(agent);
    for line in body.split(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
        if let Some(value) = value_of(line, &[b"user-agent", b"user agent", b"useragent"]) {
            let token = product_token(value);
            groups.name(token);
            text.extend_from_slice(b"User-agent: ");
            text.extend_from_slice(token);
        } else if let Some(value) = value_of(line, &[b"crawl-delay", b"crawl delay", b"crawldelay"]) {
            groups.delay(value);
        } else {
            if is_rule(line) {
                groups.rule();
            }
            text.extend_from_slice(line);
        }
        text.push(b'\n');
    }
    Prepared {
        text,
        crawl_delay: groups.crawl_delay(),
    }
}

/// Follows which crawlers the lines being read are for.
struct Groups<'a> {
    agent: &'a [u8],
    /// Whether the group being read names us, and whether it names everybody.
    for_us: bool,
    for_all: bool,
    /// Whether a rule was read, so that the next name begins a group.
    in_rules: bool,
    named: bool,
    ours: Option<Duration>,
    everybodys: Option<Duration>,
}

impl<'a> Groups<'a> {
    const fn new(agent: &'a [u8]) -> Self {
        Self {
            agent,
            for_us: false,
            for_all: false,
            in_rules: false,
            named: false,
            ours: None,
            everybodys: None,
        }
    }

    fn name(&mut self, token: &[u8]) {
        if self.in_rules {
            (self.for_us, self.for_all, self.in_rules) = (false, false, false);
        }
        self.for_us |= token.eq_ignore_ascii_case(self.agent);
        self.for_all |= token == b"*";
        self.named |= self.for_us;
    }

    const fn rule(&mut self) {
        self.in_rules = true;
    }

    fn delay(&mut self, value: &[u8]) {
        let Some(delay) = read_delay(value) else { return };
        if self.for_us {
            self.ours = self.ours.max(Some(delay));
        }
        if self.for_all {
            self.everybodys = self.everybodys.max(Some(delay));
        }
    }

    /// Everybody's delay is ours only if no group names us (section 2.2.1).
    const fn crawl_delay(&self) -> Option<Duration> {
        if self.named { self.ours } else { self.everybodys }
    }
}

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

/// The lines that lie wholly within the limit.
fn whole_lines(body: &[u8]) -> &[u8] {
    let Some(window) = body.get(..=MAX_ROBOTS_BYTES) else {
        return body;
    };
    let end = window.iter().rposition(|byte| matches!(byte, b'\n' | b'\r' | 0));
    &body[..end.unwrap_or(0)]
}

/// The value of a line whose key is one of these (in lower case), without its comment.
fn value_of<'line>(line: &'line [u8], keys: &[&[u8]]) -> Option<&'line [u8]> {
    let line = line.trim_ascii_start();
    let key = keys.iter().find(|key| {
        line.get(..key.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(key))
    })?;
    let rest = &line[key.len()..];
    let value = match rest.trim_ascii_start().strip_prefix(b":") {
        Some(value) => value,
        // `User-agent foo`, as it happens.
        None if rest.first().is_some_and(u8::is_ascii_whitespace) => rest,
        None => return None,
    };
    let end = value.iter().position(|&byte| byte == b'#').unwrap_or(value.len());
    Some(value[..end].trim_ascii())
}

/// Whether a line is a rule, in one of the spellings that `robotxt` takes for one.
fn is_rule(line: &[u8]) -> bool {
    const VERBS: &[&[u8]] = &[b"allow", b"alow", b"allaw", b"dis", b"dia"];
    let line = line.trim_ascii_start();
    VERBS.iter().any(|verb| {
        line.get(..verb.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(verb))
    })
}

/// The name at the start of a `User-Agent` value: `Foo` of `Foo/2.1 (+https://foo.example)`.
///
/// Digits are let through beside what section 2.2.1 allows: `MJ12bot` is a name.
fn product_token(value: &[u8]) -> &[u8] {
    let value = value.trim_ascii();
    if value.starts_with(b"*") {
        return b"*";
    }
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let end = value
        .iter()
        .position(|byte| !is_token(byte))
        .unwrap_or(value.len());
    &value[..end]
}
