//! HSTS within a crawl (RFC 6797): hosts that ask to be requested over https.
//!
//! A browser protects its user, a crawler must lose no page, so this is narrower than the RFC in
//! three points:
//!
//! - `includeSubDomains` counts for a subdomain once that has answered over https itself: one that
//!   speaks http only is still requested.
//! - Only the standard ports count, so a server at another port is requested as its links say.
//! - Nothing is stored: the next run requests what the links say until the host asks again.
//!
//! Addresses, and hosts whose certificates are not verified, cannot ask (sections 8.1 and 8.1.1).

use std::iter::successors;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use http::header::STRICT_TRANSPORT_SECURITY;
use url::Host;
use web::{PageUrl, Timestamp};

use crate::client::tls::InsecureHost;
use crate::generational_cache::GenerationalCache;

/// Maximum number of hosts that are remembered.
const MAX_HOSTS: usize = 100_000;

/// The hosts that have asked for https.
#[derive(Debug)]
pub(crate) struct Hsts {
    hosts: Mutex<GenerationalCache<Wish>>,
    insecure: Vec<InsecureHost>,
}

/// The wish of a host.
#[derive(Clone, Copy, Debug)]
struct Wish {
    until: Timestamp,
    has_subdomains: bool,
}

impl Hsts {
    /// Returns an empty memory that ignores these hosts.
    pub(crate) fn new(insecure: Vec<InsecureHost>) -> Self {
        let hosts = Mutex::new(GenerationalCache::new(MAX_HOSTS, usize::MAX, |_wish| 0));
        Self { hosts, insecure }
    }

    /// Learns from a response to a request for `url`.
    pub(crate) fn learn(&self, url: &PageUrl, headers: &HeaderMap, now: Timestamp) {
        let parts = url.as_url();
        let (Some(Host::Domain(name)), "https", None) =
            (parts.host(), parts.scheme(), parts.port())
        else {
            return;
        };
        if self.insecure.iter().any(|insecure| insecure.host() == name) {
            return;
        }
        let field = headers.get(STRICT_TRANSPORT_SECURITY);
        let own = field.and_then(|field| Wish::read(field.to_str().ok()?, now));
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wish_of = |host: &str| hosts.get(host).copied().filter(|wish| wish.until > now);
        let wish = match (own, wish_of(name)) {
            (Some(own), _) => Some(own),
            (None, Some(_known)) => None,
            (None, None) => successors(parent(&name), parent).find_map(|domain| {
                let wish = wish_of(domain);
                wish.filter(|wish| wish.has_subdomains)
            }),
        };
        if let Some(wish) = wish {
            hosts.insert(name.to_owned(), wish);
        }
    }

    /// Returns the https URL to request in place of `url`, if its host has asked for that.
    pub(crate) fn over_https(&self, url: &PageUrl, now: Timestamp) -> Option<PageUrl> {
        let secure = url.over_https()?;
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let wish = hosts.get(url.as_url().host_str()?)?;
        (wish.until > now).then_some(secure)
    }
}

/// Returns the domain that a name is a subdomain of.
fn parent<'a>(name: &&'a str) -> Option<&'a str> {
    name.split_once('.').map(|(_, domain)| domain)
}

impl Wish {
    /// Reads a field (section 6.1). Zero seconds end an earlier wish.
    fn read(field: &str, now: Timestamp) -> Option<Self> {
        let (mut seconds, mut has_subdomains) = (None, false);
        for directive in field.split(';') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "max-age" => seconds = value.trim().trim_matches('"').parse().ok(),
                "includesubdomains" => has_subdomains = true,
                _ => {}
            }
        }
        Some(Self {
            until: now + Duration::from_secs(seconds?),
            has_subdomains,
        })
    }
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::keep_all()).unwrap()
    }

    /// Returns a memory after responses with these fields; an empty field is missing.
    fn after(responses: &[(&str, &str)]) -> Hsts {
        let hsts = Hsts::new(vec!["bad.test".parse().unwrap()]);
        for (from, field) in responses {
            let mut headers = HeaderMap::new();
            if !field.is_empty() {
                headers.insert(STRICT_TRANSPORT_SECURITY, field.parse().unwrap());
            }
            hsts.learn(&url(from), &headers, NOW);
        }
        hsts
    }

    fn is_upgraded(hsts: &Hsts, to: &str, after: u64) -> bool {
        let now = NOW + Duration::from_secs(after);
        hsts.over_https(&url(to), now).is_some()
    }

    #[test]
    fn a_host_that_asks_over_https_is_requested_over_https_until_its_time_is_over() {
        let asked = after(&[("https://a.test/x", "max-age=60")]);
        let secure = asked.over_https(&url("http://a.test/b?c"), NOW);
        assert_eq!(secure, Some(url("https://a.test/b?c")));
        assert!(is_upgraded(&asked, "http://a.test/", 59));
        assert!(!is_upgraded(&asked, "http://a.test/", 60));
        for other in [
            "https://a.test/",
            "http://a.test:8080/",
            "http://www.a.test/",
            "http://b.test/",
        ] {
            assert!(!is_upgraded(&asked, other, 0), "{other}");
        }
    }

    #[test]
    fn a_wish_that_does_not_count_is_ignored() {
        for (from, field) in [
            ("http://a.test/", "max-age=60"),
            ("https://a.test:8443/", "max-age=60"),
            ("https://a.test/", "includeSubDomains"),
            ("https://a.test/", "max-age=soon"),
            ("https://a.test/", "max-age=0"),
            ("https://a.test/", ""),
        ] {
            let asked = after(&[(from, field)]);
            assert!(!is_upgraded(&asked, "http://a.test/", 0), "{from} {field}");
        }
        let asked = after(&[
            ("https://bad.test/", "max-age=60"),
            ("https://192.0.2.1/", "max-age=60"),
        ]);
        assert!(!is_upgraded(&asked, "http://bad.test/", 0));
        assert!(!is_upgraded(&asked, "http://192.0.2.1/", 0));
    }

    #[test]
    fn directives_may_be_written_in_any_way_and_the_last_response_counts() {
        let loose = "preload ; MAX-AGE = \"60\";includesubdomains ; x=y";
        let asked = after(&[("https://a.test/", loose), ("https://a.test/", "")]);
        assert!(is_upgraded(&asked, "http://a.test/", 59));
        let ended = after(&[("https://a.test/", loose), ("https://a.test/", "max-age=0")]);
        assert!(!is_upgraded(&ended, "http://a.test/", 0));
        let long = after(&[("https://a.test/", "max-age=18446744073709551615")]);
        assert!(is_upgraded(&long, "http://a.test/", 1 << 40));
    }

    /// A parent may forget a subdomain that has no certificate: it must not be lost.
    #[test]
    fn a_subdomain_counts_once_it_has_answered_over_https() {
        let all = "max-age=60; includeSubDomains";
        let asked = after(&[("https://a.test/", all)]);
        assert!(!is_upgraded(&asked, "http://x.www.a.test/", 0));
        let answered = after(&[("https://a.test/", all), ("https://x.www.a.test/", "")]);
        assert!(is_upgraded(&answered, "http://x.www.a.test/", 0));
        assert!(!is_upgraded(&answered, "http://www.a.test/", 0));
        let alone = after(&[
            ("https://a.test/", "max-age=60"),
            ("https://www.a.test/", ""),
        ]);
        assert!(!is_upgraded(&alone, "http://www.a.test/", 0));
    }
}
