//! robots.txt.

use web::{
    CanonicalForm, Grounds, MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, PageUrl, RobotsRules, whole_lines,
};

/// The last line as a path that is asked about, everything as the rules.
pub fn robots(bytes: &[u8]) {
    assert!(whole_lines(bytes).len() <= MAX_ROBOTS_BYTES);
    let rules = RobotsRules::parse(bytes, "crawler");
    assert!(
        rules
            .crawl_delay()
            .is_none_or(|delay| delay <= MAX_CRAWL_DELAY)
    );
    for sitemap in rules.sitemaps() {
        crate::url::is_canonical(sitemap, &CanonicalForm::keep_all());
    }
    let last = bytes
        .rsplit(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    let last = format!("/{}", String::from_utf8_lossy(last));
    let paths = ["/robots.txt", "/", "/a/b.html?c=d*$", last.as_str()];
    // Written again with other ends of lines it says the same (RFC 9309 section 2.2).
    let with_returns = bytes
        .split(|&byte| byte == b'\n')
        .collect::<Vec<_>>()
        .join(&b"\r\n"[..]);
    let same = RobotsRules::parse(&with_returns, "CRAWLER/2.1");
    let is_whole = with_returns.len() <= MAX_ROBOTS_BYTES;
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
        assert!(
            verdict.allowed || !is_the_file_itself(&url),
            "{url}: section 2.2.2"
        );
    }
}

fn is_the_file_itself(url: &PageUrl) -> bool {
    url.as_url().path() == "/robots.txt"
}
