//! The robots.txt files that wait to be archived.
//!
//! A robots.txt takes a permit of its own, and the page waits for the next permit. So the file
//! stays in memory until the visit that requested it ends, and is archived with that visit. If a
//! process dies in between, no archive has the robots.txt that it read: the journal remembers its
//! rules, and it is not fetched again ([ADR
//! 9](../../../../../docs/adr/0009-what-the-archive-tells.md)).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use journal::Cut;
use sinks::Resource;
use web::{Exchange, MAX_ROBOTS_BYTES, Truncation, UrlKey, decode};

/// Maximum number of bytes that wait. Files beyond that are not archived.
const MAX_WAITING: usize = 16 << 20;

/// The files that wait for the end of the visit that requested them.
#[derive(Debug, Default)]
pub struct RobotsFiles(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    files: HashMap<UrlKey, Vec<Resource>>,
    bytes: usize,
    /// The limits that cost sitemaps which the files name.
    cuts: HashMap<UrlKey, Vec<Cut>>,
}

impl RobotsFiles {
    /// Keeps the response to a robots.txt request until the visit to `page` ends. Only a file is
    /// kept: the meaning of a redirect or a refusal is part of the page's reason.
    pub(crate) fn keep(&self, page: UrlKey, exchanges: &[Exchange]) {
        let Some(response) = exchanges
            .last()
            .filter(|response| (200..300).contains(&response.status))
        else {
            return;
        };
        let decoded = decode(&response.headers, &response.body, MAX_ROBOTS_BYTES as u64);
        let mut file = Resource::of(response, decoded.bytes);
        if decoded.truncated {
            file.truncated = Some(Truncation::Length);
        }
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.bytes + file.body.len() > MAX_WAITING {
            tracing::debug!(
                url = %file.url,
                "too many robots.txt files are waiting for their pages: this one is not archived"
            );
            return;
        }
        waiting.bytes += file.body.len();
        waiting.files.entry(page).or_default().push(file);
    }

    /// Keeps the limits that cost sitemaps of a robots.txt until the page's links are read.
    pub(crate) fn add_cuts(&self, page: UrlKey, cuts: &[Cut]) {
        if cuts.is_empty() {
            return;
        }
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = waiting.cuts.entry(page).or_default();
        cuts.iter().for_each(|cut| cut.add_to(known));
    }

    /// Returns the limits that cost sitemaps named by the files of a page.
    pub(crate) fn take_cuts(&self, page: UrlKey) -> Vec<Cut> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.cuts.remove(&page).unwrap_or_default()
    }

    /// Returns the files that were fetched for a page whose visit ends.
    pub(crate) fn take(&self, page: UrlKey) -> Vec<Resource> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.cuts.remove(&page);
        let files = waiting.files.remove(&page).unwrap_or_default();
        waiting.bytes -= files.iter().map(|file| file.body.len()).sum::<usize>();
        files
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use web::{CanonicalForm, PageUrl, Protocol, Timestamp};

    use super::*;

    fn response(status: u16, body: Vec<u8>) -> Exchange {
        Exchange {
            url: PageUrl::parse("http://a.test/robots.txt", &CanonicalForm::default()).unwrap(),
            request_head: Vec::new(),
            status,
            headers: http::HeaderMap::new(),
            body: body.into(),
            truncated: None,
            warnings: Vec::new(),
            address: None,
            protocol: Protocol::Http11,
            started: Timestamp::default(),
            elapsed: Duration::ZERO,
        }
    }

    fn page(path: &str) -> UrlKey {
        let url = format!("http://a.test/{path}");
        PageUrl::parse(&url, &CanonicalForm::default())
            .unwrap()
            .key()
    }

    #[test]
    fn a_robots_txt_waits_for_the_page_that_requested_it() {
        let files = RobotsFiles::default();
        files.keep(
            page("a"),
            &[
                response(301, vec![]),
                response(200, b"User-agent: *".to_vec()),
            ],
        );
        assert_eq!(files.take(page("b")).len(), 0);
        assert_eq!(files.take(page("a"))[0].body, "User-agent: *");
        assert_eq!(files.take(page("a")).len(), 0);
        for exchanges in [
            vec![],
            vec![response(404, vec![1])],
            vec![response(503, vec![1])],
        ] {
            files.keep(page("a"), &exchanges);
            assert_eq!(files.take(page("a")).len(), 0);
        }
    }

    #[test]
    fn waiting_files_are_bounded_and_long_ones_are_truncated() {
        let files = RobotsFiles::default();
        let many = MAX_WAITING / MAX_ROBOTS_BYTES + 5;
        for number in 0..many {
            files.keep(
                page(&number.to_string()),
                &[response(200, vec![b'#'; 600 << 10])],
            );
        }
        let taken: Vec<Resource> = (0..many)
            .flat_map(|number| files.take(page(&number.to_string())))
            .collect();
        assert_eq!(taken.len(), MAX_WAITING / MAX_ROBOTS_BYTES);
        assert!(
            taken
                .iter()
                .all(|file| file.truncated == Some(Truncation::Length))
        );
        files.keep(page("again"), &[response(200, vec![b'#'; 10])]);
        assert_eq!(files.take(page("again")).len(), 1, "there is room again");
    }
}
