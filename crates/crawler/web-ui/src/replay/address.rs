//! Addresses of captures: `/replay/KEY/20261130050606/http://site.test/page?a=b`.
//!
//! The captured URL comes last and unchanged, so its query is the query of the address. The key
//! stands in for the token: pages in a frame without an origin send no cookie. It belongs to one
//! token and grants captures only, and only our own pages know it.

use axum::http::uri::Uri;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use sinks::warc::date;
use web::Timestamp;

use crate::paging::encoded;

/// The beginning of the path of all captures.
const PREFIX: &str = "/replay/";
/// The view of the dashboard that shows a capture in a frame.
pub(crate) const VIEW: &str = "/replay";
/// Bytes of a key.
const KEY: usize = 16;

/// A capture in an address: the one of the URL that is nearest to the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplayAddress<'a> {
    pub(crate) at: Timestamp,
    pub(crate) url: &'a str,
}

impl<'a> ReplayAddress<'a> {
    /// Reads the target of a request; `None` if it is not the address of a capture.
    pub(crate) fn read(uri: &'a Uri) -> Option<Self> {
        let target = uri.path_and_query()?.as_str();
        let (_key, rest) = target.strip_prefix(PREFIX)?.split_once('/')?;
        let (at, url) = rest.split_once('/')?;
        let at = moment(at)?;
        Some(Self { at, url })
    }
}

/// Returns the key in the path of a request for a capture; `None` for any other request.
pub(crate) fn key_in(path: &str) -> Option<&str> {
    path.strip_prefix(PREFIX)?.split('/').next()
}

/// Returns the key of the captures for the secret of the server.
pub(crate) fn key_of(token: &str) -> String {
    let digest = Sha256::digest(format!("replay {token}"));
    HEXLOWER.encode(&digest[..KEY])
}

/// Reads fourteen digits.
pub(crate) fn moment(digits: &str) -> Option<Timestamp> {
    let is_moment = digits.len() == 14 && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_moment.then(|| date(digits)).flatten()
}

/// Returns the address of the capture of a URL nearest to `at`.
pub(crate) fn of(key: &str, at: Timestamp, url: &str) -> String {
    format!("{PREFIX}{key}/{}/{url}", at.digits())
}

/// Returns the address of the view of a URL, at a time or at its last visit.
pub(crate) fn view(url: &str, at: Option<Timestamp>) -> String {
    let at = at.map(|at| format!("&at={}", at.digits()));
    format!("{VIEW}?url={}{}", encoded(url), at.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_time_and_a_url_with_its_query() {
        let at = moment("20261130050606").unwrap();
        for url in [
            "http://site.test/",
            "https://site.test:8443/a//b?c=d/e&token=f?g%20h",
            "http://[::1]/%C3%A4?http://other.test/",
        ] {
            let address = of("k", at, url);
            let read = address.parse().unwrap();
            assert_eq!(ReplayAddress::read(&read), Some(ReplayAddress { at, url }));
            assert_eq!(key_in(read.path()), Some("k"), "{url}");
        }
        for wrong in [
            "/replay/k/2026/http://a.test/",
            "/replay/k",
            "/",
            "/replay/",
        ] {
            assert_eq!(
                ReplayAddress::read(&wrong.parse().unwrap()),
                None,
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_key_depends_on_the_token_and_does_not_contain_it() {
        assert_ne!(key_of("one"), key_of("two"));
        assert_eq!(key_of("one").len(), 2 * KEY);
    }
}
