//! The rule which capture stands for a page. `index`, `wacz`, `unpack` and `rebuild` use it, and so
//! does `export` of a rebuilt crawl.
//!
//! An archive of a proxy or a browser has more under the URL of a page than the page: answers to
//! HEAD, POST, PUT and OPTIONS, pieces of files, failures, and revisits, whose content is in
//! another record.
//!
//! | capture | stands for the page |
//! |---|---|
//! | answer to GET, or to no request that is archived, with status 2xx | yes |
//! | answer to another method (`request` record of the pair) | no; it is counted |
//! | 206 of the whole (`Content-Range: bytes 0-99/100`) | yes |
//! | 206 of a piece, or of an unknown length | no; it is counted |
//! | redirect (300 to 303, 307, 308) | it leads to another page |
//! | other statuses | no: a failure takes nothing away |
//! | `resource` | yes |
//! | `revisit` | with the content of its original |
//!
//! A request and its answer name each other (`WARC-Concurrent-To`, in either direction), or are
//! neighbours with equal target and date, as pywb joins them. A pair is looked for among
//! [`WINDOW`] records, in which archivers write them.
//!
//! The original of a revisit (WARC/1.1, sections 5.7 to 5.9, 5.13 to 5.15, and 6.7) is the first of
//! these that leads to content; a revisit of a revisit leads on:
//!
//! | in the revisit | original |
//! |---|---|
//! | `WARC-Refers-To` | the record with this id |
//! | `WARC-Refers-To-Target-URI` | of its captures, the nearest to `WARC-Refers-To-Date` |
//! | `WARC-Payload-Digest` | of the captures with this digest, one of the same URL, the nearest |
//! | neither id, target nor digest, or "not modified" | of the captures of its URL, the nearest |
//!
//! Invariant: content whose digest is known to differ from the revisit's is never its original, and
//! a date that is given leads at most a minute away unless the digests agree.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::path::Path;
use std::time::Duration;

use web::Timestamp;

use crate::cdxj::capture::GLANCE;
use crate::cdxj::key::key;
use crate::digest::PayloadDigest;
use crate::warc::parsed::without_brackets;
use crate::warc::{ReadFault, Record, WarcStream, date};

/// Records between a request and its answer, at most.
pub const WINDOW: usize = 256;

/// Time between the date in a revisit and its original without a digest, at most.
const NEARBY: Duration = Duration::from_secs(60);

/// Revisits that are followed from one revisit, at most.
const MAX_STEPS: usize = 20;

/// The reason why a capture stands for its page or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its status decides.
    ByStatus,
    /// The request had a method other than GET.
    OtherMethod,
    /// The answer is a piece of the whole.
    Piece,
}

/// Items about records, which wait until the method of their request is known. Their order stays.
#[derive(Debug)]
pub struct Requests<T> {
    waiting: VecDeque<Waiting<T>>,
    /// Digests of the ids of requests with another method.
    others: HashSet<u128>,
    /// Digests of the ids that such requests name.
    answers: HashSet<u128>,
    /// The last request that no record has named: target, date, and its method.
    unpaired: Option<(String, String, Standing)>,
}

#[derive(Debug)]
struct Waiting<T> {
    item: T,
    ids: Ids,
    place: (String, String),
    /// `None` until it is known.
    standing: Option<Standing>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            others: HashSet::new(),
            answers: HashSet::new(),
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
        let is_answer = matches!(record.kind(), "response" | "revisit");
        let standing = match () {
            () if !is_answer => Some(Standing::ByStatus),
            () if is_piece(record) => Some(Standing::Piece),
            () if self.is_other(&ids) => Some(Standing::OtherMethod),
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
            standing,
        });
    }

    fn request(&mut self, record: &Record) {
        let method = record.block.split(|byte| byte.is_ascii_whitespace()).next();
        let method = method.unwrap_or_default();
        let standing = match method.is_empty() || method.eq_ignore_ascii_case(b"GET") {
            true => Standing::ByStatus,
            false => Standing::OtherMethod,
        };
        let ids = ids_of(record);
        let is_named = |waiting: &&mut Waiting<T>| waiting.ids.is_concurrent(&ids);
        let mut found = false;
        for waiting in self.waiting.iter_mut().filter(is_named) {
            waiting.standing.get_or_insert(standing);
            found = true;
        }
        if standing == Standing::OtherMethod {
            self.others.extend(ids.own);
            self.answers.extend(ids.concurrent);
        }
        self.unpaired = None;
        if found || record.field("WARC-Concurrent-To").is_some() {
            return;
        }
        let place = place_of(record);
        match self.waiting.back_mut() {
            Some(last) if last.standing.is_none() && last.place == place => {
                last.standing = Some(standing);
            }
            _ => self.unpaired = Some((place.0, place.1, standing)),
        }
    }

    fn is_other(&self, answer: &Ids) -> bool {
        let mut named = answer.concurrent.iter();
        answer.own.is_some_and(|id| self.answers.contains(&id))
            || named.any(|id| self.others.contains(id))
    }

    /// Returns the next item whose standing is known.
    pub fn pop(&mut self) -> Option<(T, Standing)> {
        let is_known = self.waiting.front()?.standing.is_some();
        if !is_known && self.waiting.len() < WINDOW {
            return None;
        }
        self.pop_last()
    }

    /// Returns the next item at the end of a file. An answer without a request is one to GET.
    pub fn pop_last(&mut self) -> Option<(T, Standing)> {
        let waiting = self.waiting.pop_front()?;
        Some((waiting.item, waiting.standing.unwrap_or(Standing::ByStatus)))
    }
}

/// Returns the target and the date of each capture of a file that stands for no page, unless a page
/// has both. Broken places are skipped.
///
/// # Errors
/// [`ReadFault::Io`] if the system refuses the read.
pub fn not_pages(path: &Path) -> Result<HashSet<(String, String)>, ReadFault> {
    let mut stream = WarcStream::open(path)?;
    let mut requests = Requests::default();
    let (mut pages, mut others) = (HashSet::new(), HashSet::new());
    let mut add = |(place, standing): ((String, String), Standing)| match standing {
        Standing::ByStatus => pages.insert(name(&format!("{} {}", place.0, place.1))),
        Standing::OtherMethod | Standing::Piece => others.insert(place),
    };
    loop {
        match stream.next_record(GLANCE) {
            Ok(Some(record)) => {
                let is_capture = matches!(record.kind(), "response" | "revisit" | "resource");
                requests.push(&record, is_capture.then(|| place_of(&record)));
                while let Some(next) = requests.pop() {
                    add(next);
                }
            }
            Ok(None) => break,
            Err(ReadFault::Broken { .. }) => {}
            Err(fault) => return Err(fault),
        }
    }
    while let Some(next) = requests.pop_last() {
        add(next);
    }
    others.retain(|place| !pages.contains(&name(&format!("{} {}", place.0, place.1))));
    Ok(others)
}

/// Digests of the id of a record, and of those that it names as concurrent.
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
    let answer = record.http().filter(|answer| answer.status == 206);
    answer.is_some_and(|answer| {
        let range = answer.headers.get(http::header::CONTENT_RANGE);
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
fn name(text: &str) -> u128 {
    let digest = PayloadDigest::of(without_brackets(text.trim()).as_bytes());
    let mut name = [0; 16];
    name.copy_from_slice(&digest.as_bytes()[..16]);
    u128::from_be_bytes(name)
}

/// A payload digest as archives write it, for comparison with others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DigestText {
    algorithm: String,
    text: String,
}

impl DigestText {
    /// Reads a digest; `None` if it is empty.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let text = match PayloadDigest::parse(text) {
            Some(digest) => digest.to_string(),
            None => text.trim().to_ascii_lowercase(),
        };
        let algorithm = text.split(':').next().unwrap_or_default().to_owned();
        (!text.is_empty()).then_some(Self { algorithm, text })
    }
}

impl DigestText {
    /// Returns false if two payloads are known to differ: by their digests of one algorithm.
    #[must_use]
    pub fn may_agree(one: Option<&Self>, other: Option<&Self>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => one.algorithm != other.algorithm || one.text == other.text,
            _ => true,
        }
    }
}

impl fmt::Display for DigestText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The fields by which a revisit names its original.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// `WARC-Refers-To`.
    id: Option<String>,
    /// `WARC-Refers-To-Target-URI` and `WARC-Refers-To-Date`.
    target: Option<String>,
    date: Option<Timestamp>,
    digest: Option<DigestText>,
    own_target: String,
    own_date: Option<Timestamp>,
    is_unmodified: bool,
}

impl Reference {
    /// Reads the fields of a `revisit` record.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let text = |name| record.field(name).filter(|value| !value.is_empty());
        let profile = text("WARC-Profile").unwrap_or_default();
        let target = text("WARC-Refers-To-Target-URI").map(without_brackets);
        Self {
            id: text("WARC-Refers-To").map(str::to_owned),
            target: target.map(str::to_owned),
            date: text("WARC-Refers-To-Date").and_then(date),
            digest: text("WARC-Payload-Digest").and_then(DigestText::of),
            own_target: record.target().unwrap_or_default().to_owned(),
            own_date: date(record.date()),
            // The end of the profile is the same in both versions of WARC.
            is_unmodified: profile.ends_with("/server-not-modified"),
        }
    }

    /// Returns true if it names a record by its id.
    #[must_use]
    pub const fn names_a_record(&self) -> bool {
        self.id.is_some()
    }

    /// Returns the URL that it names, which may be its own.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Returns the date that it names.
    #[must_use]
    pub const fn date(&self) -> Option<Timestamp> {
        self.date
    }

    /// Returns true if the server said that the page was not modified (304), false if the bytes
    /// were compared.
    #[must_use]
    pub const fn is_unmodified(&self) -> bool {
        self.is_unmodified
    }
}

/// A capture to which revisits may refer.
#[derive(Clone, Debug)]
pub struct OriginalCapture<'a> {
    /// Its URLs: as requested, and as redirected.
    pub targets: &'a [&'a str],
    /// The date of its record.
    pub at: Option<Timestamp>,
    /// Its payload digest.
    pub digest: Option<DigestText>,
    /// `WARC-Record-ID`, if it is known.
    pub id: Option<&'a str>,
}

/// The captures to which revisits may refer, with a value each.
#[derive(Debug)]
pub struct Originals<P> {
    captures: Vec<Known<P>>,
    by_id: HashMap<u128, usize>,
    by_key: HashMap<u128, Vec<usize>>,
    by_digest: HashMap<DigestText, Vec<usize>>,
}

#[derive(Debug)]
struct Known<P> {
    key: u128,
    at: Option<Timestamp>,
    digest: Option<DigestText>,
    content: Content<P>,
}

#[derive(Debug)]
enum Content<P> {
    Here(P),
    /// A revisit, whose content is elsewhere.
    Elsewhere(Reference),
}

impl<P> Default for Originals<P> {
    fn default() -> Self {
        Self {
            captures: Vec::new(),
            by_id: HashMap::new(),
            by_key: HashMap::new(),
            by_digest: HashMap::new(),
        }
    }
}

impl<P> Originals<P> {
    /// Adds a capture that has its content.
    pub fn add(&mut self, capture: &OriginalCapture<'_>, value: P) {
        if let Some(digest) = capture.digest.clone() {
            let number = self.captures.len();
            self.by_digest.entry(digest).or_default().push(number);
        }
        self.push(capture, Content::Here(value));
    }

    /// Adds a revisit, to which others may refer.
    pub fn add_revisit(&mut self, record: &Record) {
        let reference = Reference::of(record);
        let target = reference.own_target.clone();
        let capture = OriginalCapture {
            targets: &[&target],
            at: reference.own_date,
            digest: reference.digest.clone(),
            id: Some(record.id()),
        };
        self.push(&capture, Content::Elsewhere(reference));
    }

    /// Names a capture that was added with this URL and date by the id of its record.
    pub fn add_id(&mut self, target: &str, at: Option<Timestamp>, id: &str) {
        let at = at.map(Timestamp::digits);
        let of_target = self.by_key.get(&name(&key(target))).into_iter().flatten();
        let is_it = |number: &&usize| self.captures[**number].at.map(Timestamp::digits) == at;
        if let Some(number) = of_target.copied().find(|number| is_it(&number)) {
            self.by_id.entry(name(id)).or_insert(number);
        }
    }

    fn push(&mut self, capture: &OriginalCapture<'_>, content: Content<P>) {
        let number = self.captures.len();
        let keys: Vec<u128> = capture
            .targets
            .iter()
            .map(|target| name(&key(target)))
            .collect();
        for key in &keys {
            let of_key = self.by_key.entry(*key).or_default();
            if of_key.last() != Some(&number) {
                of_key.push(number);
            }
        }
        if let Some(id) = capture.id.filter(|id| !id.is_empty()) {
            self.by_id.entry(name(id)).or_insert(number);
        }
        self.captures.push(Known {
            key: keys.first().copied().unwrap_or_default(),
            at: capture.at,
            digest: capture.digest.clone(),
            content,
        });
    }

    /// Returns the value of the original of a revisit.
    #[must_use]
    pub fn find(&self, revisit: &Reference) -> Option<&P> {
        let is_fitting = |known: &Known<P>| {
            DigestText::may_agree(revisit.digest.as_ref(), known.digest.as_ref())
        };
        self.follow(revisit, &is_fitting, MAX_STEPS)
    }

    fn follow(
        &self,
        revisit: &Reference,
        is_fitting: &dyn Fn(&Known<P>) -> bool,
        steps: usize,
    ) -> Option<&P> {
        if steps == 0 {
            return None;
        }
        let content = |number: usize| {
            let known = self
                .captures
                .get(number)
                .filter(|known| is_fitting(known))?;
            match &known.content {
                Content::Here(value) => Some(value),
                Content::Elsewhere(next) => self.follow(next, is_fitting, steps - 1),
            }
        };
        let by_id = revisit.id.as_ref().and_then(|id| self.by_id.get(&name(id)));
        if let Some(found) = by_id.and_then(|number| content(*number)) {
            return Some(found);
        }
        let of_target = |target: &str, at: Option<Timestamp>| {
            let of_target = self.by_key.get(&name(&key(target)))?;
            // A revisit is no original of itself, and is not led back to.
            let others = of_target.iter().copied().filter(|number| {
                let known = &self.captures[*number];
                let is_revisit = matches!(known.content, Content::Elsewhere(_));
                let is_confirmed = known.digest.is_some() && known.digest == revisit.digest;
                let is_near = revisit.date.is_none_or(|date| {
                    let at = known.at.unwrap_or_default();
                    at.since(date).max(date.since(at)) <= NEARBY
                });
                (!is_revisit || known.at != revisit.own_date) && (is_confirmed || is_near)
            });
            self.nearest(others, at).into_iter().find_map(content)
        };
        if let Some(target) = &revisit.target
            && let Some(found) = of_target(target, revisit.date.or(revisit.own_date))
        {
            return Some(found);
        }
        if let Some(digest) = &revisit.digest {
            let own = name(&key(&revisit.own_target));
            let same = self.by_digest.get(digest).into_iter().flatten().copied();
            let nearest = self.nearest(same, revisit.own_date);
            let is_own = |number: &&usize| self.captures[**number].key == own;
            let first = nearest.iter().find(is_own).or(nearest.first());
            if let Some(found) = first.and_then(|number| content(*number)) {
                return Some(found);
            }
        }
        let names_nothing =
            revisit.id.is_none() && revisit.target.is_none() && revisit.digest.is_none();
        match names_nothing || revisit.is_unmodified {
            true => of_target(&revisit.own_target, revisit.own_date),
            false => None,
        }
    }

    /// Returns captures by their distance from a moment.
    fn nearest(&self, numbers: impl Iterator<Item = usize>, at: Option<Timestamp>) -> Vec<usize> {
        let at = at.unwrap_or(Timestamp::NEVER).as_millis();
        let mut numbers: Vec<usize> = numbers.collect();
        numbers.sort_by_key(|number| {
            let known = self.captures[*number].at.unwrap_or_default();
            known.as_millis().abs_diff(at)
        });
        numbers
    }
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

    fn capture<'a>(targets: &'a [&'a str], at: &str, digest: &str) -> OriginalCapture<'a> {
        OriginalCapture {
            targets,
            at: date(at),
            digest: DigestText::of(digest),
            id: None,
        }
    }

    /// A revisit by its digest, by an id or a second off had no content, and showed the old content
    /// of its URL instead.
    #[test]
    fn the_digest_decides_and_the_nearest_date_wins() {
        let mut originals = Originals::default();
        let old = capture(&["http://a.test/"], "2023", "md5:old");
        originals.add(&old, "old");
        for (at, digest, value) in [
            ("2024-01-01", "md5:one", "one"),
            ("2024-02-01", "md5:one", "again"),
            ("2024-03-01", "md5:two", "two"),
        ] {
            originals.add(&capture(&["http://b.test/"], at, digest), value);
        }
        let to = |target: Option<&str>, at: &str, digest: Option<&str>| Reference {
            target: target.map(str::to_owned),
            date: date(at),
            digest: digest.and_then(DigestText::of),
            own_target: "http://a.test/".to_owned(),
            own_date: date("2024-04-01"),
            ..Reference::default()
        };
        for (reference, found) in [
            (
                to(Some("http://b.test/"), "2024-01-01T00:00:07Z", None),
                Some("one"),
            ),
            (to(Some("http://b.test/"), "2024-01-02", None), None),
            (
                to(Some("http://b.test/"), "2024-02-02", Some("md5:one")),
                Some("again"),
            ),
            (to(Some("http://b.test/"), "", Some("md5:two")), Some("two")),
            (to(Some("http://c.test/"), "", Some("md5:two")), Some("two")),
            (to(Some("http://c.test/"), "", None), None),
            (to(None, "", Some("md5:three")), None),
            (to(Some("http://a.test/"), "2023", Some("md5:three")), None),
            (to(None, "", None), Some("old")),
        ] {
            assert_eq!(originals.find(&reference).copied(), found, "{reference:?}");
        }
    }
}
