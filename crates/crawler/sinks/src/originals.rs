//! Decides which record contains the content of a revisit. `unpack` and `rebuild` use this rule;
//! `wacz` looks for missing originals.
//!
//! The original of a revisit (WARC/1.1, sections 5.7 to 5.9, 5.13 to 5.15, and 6.7) is the first of
//! the following records that has content. If that record is itself a revisit, its own original
//! counts:
//!
//! | in the revisit | original |
//! |---|---|
//! | `WARC-Refers-To` | the record with this id |
//! | `WARC-Refers-To-Target-URI` | its capture nearest to `WARC-Refers-To-Date` |
//! | `WARC-Payload-Digest` | the nearest capture with this digest, if possible of the same URL |
//! | neither id, target nor digest, or "not modified" | the nearest capture of its URL |
//!
//! Invariant: content whose digest is known to differ from the revisit's is never its original, and
//! a lookup by target and date accepts a capture more than a minute away only if the digests agree.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use web::{Timestamp, surt_key};

use crate::captures::name;
use crate::digest::PayloadDigest;
use crate::warc::parsed::without_brackets;
use crate::warc::{Record, date};

/// Maximum time between the date in a revisit and its original, unless a digest confirms the
/// original.
const NEARBY: Duration = Duration::from_secs(60);

/// Maximum number of revisits that are followed from one revisit.
const MAX_STEPS: usize = 20;

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

/// The fields of a revisit that name its original.
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

/// A capture that revisits may refer to.
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

/// Captures that revisits may refer to, each with a value.
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

    /// Adds a revisit that other revisits may refer to.
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
        let of_target = self
            .by_key
            .get(&name(&surt_key(target)))
            .into_iter()
            .flatten();
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
            .map(|target| name(&surt_key(target)))
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
            let of_target = self.by_key.get(&name(&surt_key(target)))?;
            // A revisit is not its own original, directly or through other revisits.
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
            let own = name(&surt_key(&revisit.own_target));
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
