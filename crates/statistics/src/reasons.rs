//! The names under which reasons are counted: their beginnings, without what differs from URL to
//! URL.

use std::net::IpAddr;

/// The name of URLs that redirect to a page of the crawl.
pub const REDIRECTED: &str = "redirects to pages of this crawl";

/// The beginning of the reason of a URL that redirects; the target, and a reason of its own, may
/// follow.
const REDIRECTS: &str = "redirects to ";

/// Returns the name under which a reason is counted.
///
/// | reason | name |
/// |---|---|
/// | `HTTP status 404` | `HTTP status 404` |
/// | `cannot connect: connection refused` | `cannot connect` |
/// | `10.0.0.1 is a private address` | `an address is a private address` |
/// | `robots.txt: Disallow: /x (line 2)` | `robots.txt` |
/// | `redirects to http://b.test/: robots.txt: Disallow: /x` | `redirects: robots.txt` |
/// | `redirects to http://b.test/, which …` | `redirects` |
pub(crate) fn name_of(reason: &str) -> String {
    if let Some(rest) = reason.strip_prefix(REDIRECTS) {
        return match rest.split_once(": ") {
            Some((_target, reason)) => format!("redirects: {}", name_of_simple(reason)),
            None => "redirects".to_owned(),
        };
    }
    name_of_simple(reason)
}

fn name_of_simple(reason: &str) -> String {
    let beginning = reason.split(": ").next().unwrap_or_default();
    let beginning = beginning.split(" (").next().unwrap_or_default();
    let (first, rest) = beginning.split_once(' ').unwrap_or((beginning, ""));
    match first.parse::<IpAddr>() {
        Ok(_) => format!("an address {rest}"),
        Err(_) if beginning.is_empty() => "without a reason".to_owned(),
        Err(_) => beginning.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_counted_under_its_beginning() {
        for (reason, name) in [
            ("HTTP status 404", "HTTP status 404"),
            ("cannot connect: connection refused", "cannot connect"),
            ("10.0.0.1 is private", "an address is private"),
            (
                "::1 is a loopback address",
                "an address is a loopback address",
            ),
            ("robots.txt: Disallow: /x (line 2)", "robots.txt"),
            (
                "robots.txt is unavailable (the request timed out), which forbids everything",
                "robots.txt is unavailable",
            ),
            (
                "redirects to http://b.test/: robots.txt: Disallow: /x",
                "redirects: robots.txt",
            ),
            (
                "redirects to http://b.test/, which this crawl visits for itself",
                "redirects",
            ),
            ("", "without a reason"),
        ] {
            assert_eq!(name_of(reason), name, "{reason}");
        }
    }
}
