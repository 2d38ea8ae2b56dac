//! robots.txt.

use std::borrow::Cow;

use web::{
    CanonicalForm, Grounds, MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, RobotsRules, robots_text,
    whole_lines,
};

/// Reads everything as the rules, and asks them about the last line as a path.
pub fn robots(bytes: &[u8]) {
    assert!(whole_lines(bytes).len() <= MAX_ROBOTS_BYTES);
    let rules = RobotsRules::parse(bytes, "crawler");
    let delay = rules.crawl_delay();
    assert!(delay.is_none_or(|delay| delay <= MAX_CRAWL_DELAY));
    let form = CanonicalForm::keep_all();
    for sitemap in rules.sitemaps(&crate::base::page(), &form) {
        crate::url::is_canonical(&sitemap, &form);
    }
    let last = bytes
        .rsplit(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    let last = format!("/{}", String::from_utf8_lossy(last));
    let paths = ["/robots.txt", "/", "/a/b.html?c=d*$", last.as_str()];
    // Other ends of lines change nothing (RFC 9309 section 2.2).
    let with_returns = bytes
        .split(|&byte| byte == b'\n')
        .collect::<Vec<_>>()
        .join(&b"\r\n"[..]);
    let same = RobotsRules::parse(&with_returns, "CRAWLER/2.1");
    // Two more bytes a line change which bytes of UTF-16 are the zeros.
    let is_decoded = |bytes| matches!(robots_text(bytes), Cow::Owned(_));
    let is_utf_16 = is_decoded(bytes) || is_decoded(&with_returns);
    let is_whole = with_returns.len() <= MAX_ROBOTS_BYTES && !is_utf_16;
    for path in paths {
        let Ok(url) = crate::base::page().join(path, &CanonicalForm::keep_all()) else {
            continue;
        };
        let verdict = rules.verdict(&url);
        assert!(
            !is_whole || same.verdict(&url).allowed == verdict.allowed,
            "{url}"
        );
        let forbids = verdict.rule().is_some() || verdict.grounds == Grounds::TooCostly;
        assert!(verdict.allowed || forbids, "{url}: a rule forbids");
        let is_the_file_itself = url.as_url().path() == "/robots.txt";
        assert!(
            verdict.allowed || !is_the_file_itself,
            "{url}: section 2.2.2"
        );
    }
}
