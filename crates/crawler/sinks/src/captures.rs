//! Decides which captures represent a page. `dedup`, `extract`, `index`, `wacz`, `unpack` and
//! `rebuild` use this rule, and so does `export` of a rebuilt crawl.
//!
//! An archive of a proxy or a browser contains more under the URL of a page than the page: answers
//! to HEAD, POST, PUT and OPTIONS, pieces of files, failures, and revisits, whose content is in
//! another record.
//!
//! | capture | represents the page |
//! |---|---|
//! | answer to GET, or to no request that is archived, with status 2xx | yes |
//! | answer to another method (`request` record of the pair) | no; it is counted |
//! | 206 of the whole (`Content-Range: bytes 0-99/100`) | yes |
//! | 206 of a piece, or of an unknown length | no; it is counted |
//! | redirect (300 to 303, 307, 308) | it points to another page |
//! | other statuses | no: a failure takes nothing away |
//! | `resource` | yes |
//! | `revisit` | with the content of its original |
//!
//! A request and its response name each other (`WARC-Concurrent-To`, in either direction), or are
//! neighbours with equal target and date, as pywb joins them. Archivers write a pair within
//! [`WINDOW`] records, so it is searched only there.

use std::collections::{HashSet, VecDeque};

use crate::digest::PayloadDigest;
use crate::warc::Record;
use crate::warc::parsed::without_brackets;

/// Maximum number of records between a request and its response.
pub const WINDOW: usize = 256;

/// The reason why a capture represents its page or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureKind {
    /// Its status decides.
    ByStatus,
    /// The request had a method other than GET.
    OtherMethod,
    /// The response is a piece of the whole.
    Piece,
}

/// Items about records that wait until the method of their request is known, in their original
/// order.
#[derive(Debug)]
pub struct Requests<T> {
    waiting: VecDeque<Waiting<T>>,
    /// Digests of the ids of requests with another method.
    others: HashSet<u128>,
    /// Digests of the ids named by requests with another method.
    responses: HashSet<u128>,
    /// The last request that no record has named: target, date, and its method.
    unpaired: Option<(String, String, CaptureKind)>,
}

#[derive(Debug)]
struct Waiting<T> {
    item: T,
    ids: Ids,
    place: (String, String),
    /// `None` until it is known.
    kind: Option<CaptureKind>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            others: HashSet::new(),
            responses: HashSet::new(),
            unpaired: None,
        }
    }
}

impl<T> Requests<T> {
    /// Adds the next record of a file, with the item about it, if there is one.
    pub fn push(&mut self, record: &Record, item: Option<T>) {
        if record.kind() == "request" {
            self.request(record);
        }
        let Some(item) = item else { return };
        let ids = ids_of(record);
        let place = place_of(record);
        let is_response = matches!(record.kind(), "response" | "revisit");
        let kind = match () {
            () if !is_response => Some(CaptureKind::ByStatus),
            () if is_piece(record) => Some(CaptureKind::Piece),
            () if self.is_other(&ids) => Some(CaptureKind::OtherMethod),
            () => {
                let is_next = |(target, at, _): &mut (String, String, _)| {
                    (&*target, &*at) == (&place.0, &place.1)
                };
                self.unpaired.take_if(is_next).map(|(_, _, method)| method)
            }
        };
        self.waiting.push_back(Waiting {
            item,
            ids,
            place,
            kind,
        });
    }

    fn request(&mut self, record: &Record) {
        let method = record.block.split(|byte| byte.is_ascii_whitespace()).next();
        let method = method.unwrap_or_default();
        let kind = match method.is_empty() || method.eq_ignore_ascii_case(b"GET") {
            true => CaptureKind::ByStatus,
            false => CaptureKind::OtherMethod,
        };
        let ids = ids_of(record);
        let is_named = |waiting: &&mut Waiting<T>| waiting.ids.is_concurrent(&ids);
        let mut found = false;
        for waiting in self.waiting.iter_mut().filter(is_named) {
            waiting.kind.get_or_insert(kind);
            found = true;
        }
        if kind == CaptureKind::OtherMethod {
            self.others.extend(ids.own);
            self.responses.extend(ids.concurrent);
        }
        self.unpaired = None;
        if found || record.field("WARC-Concurrent-To").is_some() {
            return;
        }
        let place = place_of(record);
        match self.waiting.back_mut() {
            Some(last) if last.kind.is_none() && last.place == place => {
                last.kind = Some(kind);
            }
            _ => self.unpaired = Some((place.0, place.1, kind)),
        }
    }

    fn is_other(&self, response: &Ids) -> bool {
        let mut named = response.concurrent.iter();
        response.own.is_some_and(|id| self.responses.contains(&id))
            || named.any(|id| self.others.contains(id))
    }

    /// Returns the next item whose kind is known.
    pub fn pop(&mut self) -> Option<(T, CaptureKind)> {
        let is_known = self.waiting.front()?.kind.is_some();
        if !is_known && self.waiting.len() < WINDOW {
            return None;
        }
        self.pop_last()
    }

    /// Returns the next item at the end of a file. A response without a request is one to GET.
    pub fn pop_last(&mut self) -> Option<(T, CaptureKind)> {
        let waiting = self.waiting.pop_front()?;
        Some((waiting.item, waiting.kind.unwrap_or(CaptureKind::ByStatus)))
    }
}

/// Digests of a record's id and of the ids that it names as concurrent.
#[derive(Debug)]
struct Ids {
    own: Option<u128>,
    concurrent: Vec<u128>,
}

impl Ids {
    fn is_concurrent(&self, other: &Self) -> bool {
        let names =
            |one: &Self, other: &Self| other.own.is_some_and(|id| one.concurrent.contains(&id));
        names(self, other) || names(other, self)
    }
}

fn ids_of(record: &Record) -> Ids {
    let concurrent = record.field_values("WARC-Concurrent-To");
    Ids {
        own: Some(record.id()).filter(|id| !id.is_empty()).map(name),
        concurrent: concurrent.filter(|id| !id.is_empty()).map(name).collect(),
    }
}

fn place_of(record: &Record) -> (String, String) {
    let target = record.target().unwrap_or_default().to_owned();
    (target, record.date().to_owned())
}

/// Returns true if a record has a part of a file only.
fn is_piece(record: &Record) -> bool {
    let response = record.http().filter(|response| response.status == 206);
    response.is_some_and(|response| {
        let range = response.headers.get(http::header::CONTENT_RANGE);
        let range = range.and_then(|range| range.to_str().ok());
        !range.is_some_and(is_whole)
    })
}

/// Returns true for a `Content-Range` of the whole (RFC 9110, section 14.4).
fn is_whole(range: &str) -> bool {
    let range = range.trim().strip_prefix("bytes").unwrap_or(range).trim();
    let parts = range.split_once('/').and_then(|(range, length)| {
        let (first, last) = range.split_once('-')?;
        let number = |text: &str| text.trim().parse::<u64>().ok();
        Some((number(first)?, number(last)?, number(length)?))
    });
    parts.is_some_and(|(first, last, length)| first == 0 && last.checked_add(1) == Some(length))
}

/// Returns a digest of an id or a key.
pub(crate) fn name(text: &str) -> u128 {
    let digest = PayloadDigest::of(without_brackets(text.trim()).as_bytes());
    let mut name = [0; 16];
    name.copy_from_slice(&digest.as_bytes()[..16]);
    u128::from_be_bytes(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_a_file_is_not_the_file() {
        for (range, whole) in [
            ("bytes 0-99/100", true),
            ("bytes  0-99/100 ", true),
            ("0-0/1", true),
            ("bytes 0-98/100", false),
            ("bytes 1-99/100", false),
            ("bytes 0-99/*", false),
            ("bytes */100", false),
            ("bytes 0-18446744073709551615/0", false),
            ("", false),
        ] {
            assert_eq!(is_whole(range), whole, "{range}");
        }
    }
}
