//! Short texts that recur under the URLs of a host, or on many hosts.
//!
//! A firewall without a marker in the list sends one short text for all URLs, from some page of a
//! crawl on. Servers do the same for URLs that do not exist. But sites have such texts of their
//! own, too: empty lists, and pages that nobody has written yet. So a text here is only suspicious,
//! and `steps/interstitials/unmarked.rs` requests another URL to decide. A page with links to its
//! host is never suspicious: block pages rarely have any.
//!
//! Invariant: a host gets at most [`MAX_SUSPICIONS`] such requests in a session. The decision on a
//! text of a host holds until the session ends.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use neardup::{HashKey, NormalText, Shingles, Width};
use web::{Host, PageUrl};

/// Maximum length of a short text in bytes.
const MAX_TEXT: usize = 3_000;
/// Number of different words of a suspicious text.
const WORDS: RangeInclusive<usize> = 4..=60;
/// Minimum resemblance of two texts that count as the same.
const SAME_WORDS: f64 = 0.8;
/// Number of usual pages after which a short text is suspicious that comes twice in a row, and
/// number after which the first one of a host is.
const BEFORE_RECURRENCE: u32 = 5;
const BEFORE_FIRST: u32 = 20;
/// Maximum number of suspicions of a host.
const MAX_SUSPICIONS: u32 = 3;
/// Number of registrable domains with the same text that make it suspicious.
const MANY_DOMAINS: usize = 3;
/// Maximum number of hosts and of texts that are remembered.
const MAX_HOSTS: NonZeroUsize = NonZeroUsize::new(2_000).expect("it is not zero");
const MAX_TEXTS: NonZeroUsize = NonZeroUsize::new(10_000).expect("it is not zero");

/// The words of a short text, without numbers and the names in its host: block pages contain the
/// number of the request and the host.
#[derive(Clone, Debug)]
pub(crate) struct ShortText(Shingles);

impl ShortText {
    /// Returns the words of a text; `None` for a long one.
    pub(crate) fn of(text: &str, host: &Host) -> Option<Self> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let text = NormalText::of(text);
        let names: Vec<&str> = host.as_str().split('.').collect();
        let counts = |word: &&str| !word.contains(char::is_numeric) && !names.contains(word);
        let words = NormalText::of_tokens(text.words().filter(counts));
        Some(Self(Shingles::of(&words, Width::ONE, HashKey::ZERO)))
    }

    /// Returns true if two texts count as the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.0.resemblance(&other.0) >= SAME_WORDS
    }

    /// Returns a name for the set of words.
    fn name(&self) -> u64 {
        self.0.hashes().iter().fold(0, |name, word| name ^ word)
    }
}

/// The decision on a short text of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It is the text of pages.
    Page,
    /// A firewall sends it in place of pages.
    Block,
    /// The server sends it for URLs that do not exist.
    NotFound,
}

/// The view of a text, by the texts so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// It was decided, or is not suspicious.
    Decided(Finding),
    /// Another request has to decide.
    Suspicious(Suspicion),
}

/// The evidence about a suspicious text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suspicion {
    /// The last page of the host that had another text.
    pub(crate) other: Option<PageUrl>,
    /// True if several URLs had the text: it may be the text of missing pages.
    pub(crate) recurs: bool,
    /// True if several domains have the text.
    pub(crate) is_of_many_domains: bool,
}

/// The short texts of many hosts.
#[derive(Debug)]
pub struct RepeatedTexts(Mutex<Texts>);

#[derive(Debug)]
struct Texts {
    hosts: LruCache<Host, OfHost>,
    /// Registrable domains by the name of a text, at most [`MANY_DOMAINS`] each.
    domains: LruCache<u64, Vec<String>>,
}

/// The texts of a host.
#[derive(Debug, Default)]
struct OfHost {
    /// The last page, if its text is short.
    last: Option<(PageUrl, ShortText)>,
    /// The last page with another text than `last`.
    other: Option<PageUrl>,
    /// The number of usual pages, with more text or with links.
    usual_pages: u32,
    /// True if the host has sent a short text.
    has_short: bool,
    suspicions: u32,
    findings: Vec<(ShortText, Finding)>,
}

impl Default for RepeatedTexts {
    fn default() -> Self {
        Self(Mutex::new(Texts {
            hosts: LruCache::new(MAX_HOSTS),
            domains: LruCache::new(MAX_TEXTS),
        }))
    }
}

impl RepeatedTexts {
    /// Notes a page, and returns the view of its text; `text` is `None` for a usual page. A short
    /// text is suspicious if it is the first one after many usual pages, or comes twice in a row
    /// after some, or on many domains.
    pub(crate) fn see(&self, url: &PageUrl, text: Option<&ShortText>) -> View {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(text) = text.filter(|text| text.0.len() <= *WORDS.end()) else {
            texts.of_host(url.host()).see_usual(url);
            return View::Decided(Finding::Page);
        };
        if text.0.len() < *WORDS.start() {
            return View::Decided(Finding::Page);
        }
        let is_of_many_domains = texts.is_of_many_domains(url, text);
        texts
            .of_host(url.host())
            .see_short(url, text, is_of_many_domains)
    }

    /// Keeps the decision on a text.
    pub(crate) fn conclude(&self, host: Host, text: ShortText, finding: Finding) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.of_host(host).findings.push((text, finding));
    }
}

impl Texts {
    fn of_host(&mut self, host: Host) -> &mut OfHost {
        self.hosts.get_or_insert_mut(host, OfHost::default)
    }

    /// Notes the domain of a text. Returns true if several domains have the text.
    fn is_of_many_domains(&mut self, url: &PageUrl, text: &ShortText) -> bool {
        let domains = self.domains.get_or_insert_mut(text.name(), Vec::new);
        let domain = url.registrable_domain();
        if domains.len() < MANY_DOMAINS && !domains.iter().any(|known| known == domain) {
            domains.push(domain.to_owned());
        }
        domains.len() == MANY_DOMAINS
    }
}

impl OfHost {
    fn see_usual(&mut self, url: &PageUrl) {
        self.last = None;
        self.other = Some(url.clone());
        self.usual_pages = self.usual_pages.saturating_add(1);
    }

    fn see_short(&mut self, url: &PageUrl, text: &ShortText, is_of_many_domains: bool) -> View {
        let mut findings = self.findings.iter();
        if let Some((_, finding)) = findings.find(|(known, _)| known.is_like(text)) {
            return View::Decided(*finding);
        }
        if let Some((other, _)) = self.last.take_if(|(_, last)| !last.is_like(text)) {
            self.other = Some(other);
        }
        let is_first = !std::mem::replace(&mut self.has_short, true);
        let (first, _) = self.last.get_or_insert_with(|| (url.clone(), text.clone()));
        let is_sudden = is_first && self.usual_pages >= BEFORE_FIRST;
        let recurs = first != url && self.usual_pages >= BEFORE_RECURRENCE;
        let is_suspicious = is_sudden || recurs || is_of_many_domains;
        if self.suspicions == MAX_SUSPICIONS || !is_suspicious {
            return View::Decided(Finding::Page);
        }
        self.suspicions += 1;
        View::Suspicious(Suspicion {
            other: self.other.clone(),
            recurs,
            is_of_many_domains,
        })
    }
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    const USUAL: View = View::Decided(Finding::Page);

    fn url(url: &str) -> PageUrl {
        PageUrl::parse(url, &CanonicalForm::default()).unwrap()
    }

    /// Shows a page with this text.
    fn see(texts: &RepeatedTexts, page: &str, text: &str) -> View {
        let page = url(page);
        texts.see(&page, ShortText::of(text, &page.host()).as_ref())
    }

    fn suspicious(other: Option<&str>, recurs: bool) -> View {
        View::Suspicious(Suspicion {
            other: other.map(url),
            recurs,
            is_of_many_domains: false,
        })
    }

    fn denied(number: u32) -> String {
        format!("Access to a.test is denied. Your request has the number {number}.")
    }

    /// Shows pages with more text.
    fn see_usual_pages(texts: &RepeatedTexts, number: u32) {
        let long = "word ".repeat(MAX_TEXT);
        for page in 1..=number {
            assert_eq!(see(texts, &format!("http://a.test/{page}"), &long), USUAL);
        }
    }

    #[test]
    fn the_first_short_text_after_twenty_usual_pages_is_suspicious() {
        let texts = RepeatedTexts::default();
        see_usual_pages(&texts, BEFORE_FIRST);
        let first = see(&texts, "http://a.test/x", &denied(1));
        assert_eq!(first, suspicious(Some("http://a.test/20"), false));
        let texts = RepeatedTexts::default();
        see_usual_pages(&texts, BEFORE_FIRST - 1);
        assert_eq!(see(&texts, "http://a.test/x", &denied(1)), USUAL);
    }

    #[test]
    fn a_short_text_that_comes_twice_in_a_row_after_five_usual_pages_is_suspicious() {
        let texts = RepeatedTexts::default();
        see_usual_pages(&texts, BEFORE_RECURRENCE);
        let stub = "nobody has written this yet";
        assert_eq!(see(&texts, "http://a.test/y", stub), USUAL);
        assert_eq!(see(&texts, "http://a.test/y", stub), USUAL, "the same URL");
        let second = see(&texts, "http://a.test/z", stub);
        assert_eq!(second, suspicious(Some("http://a.test/5"), true));
        let elsewhere = see(&texts, "http://b.test/z", stub);
        assert_eq!(elsewhere, USUAL, "another host");
    }

    #[test]
    fn a_short_text_that_recurs_with_usual_pages_between_is_not_suspicious() {
        let texts = RepeatedTexts::default();
        for page in 0..9 {
            see_usual_pages(&texts, BEFORE_RECURRENCE);
            let view = see(&texts, &format!("http://a.test/s/{page}"), &denied(page));
            assert_eq!(view, USUAL, "{page}");
        }
    }

    #[test]
    fn a_site_of_short_pages_is_not_suspicious() {
        let texts = RepeatedTexts::default();
        for page in 0..40 {
            let view = see(&texts, &format!("http://a.test/{page}"), &denied(page));
            assert_eq!(view, USUAL, "{page}");
        }
    }

    #[test]
    fn a_decision_holds_for_the_host_whatever_the_numbers_and_suspicions_are_bounded() {
        let texts = RepeatedTexts::default();
        see_usual_pages(&texts, BEFORE_RECURRENCE);
        let host = url("http://a.test/").host();
        let text = ShortText::of(&denied(2), &host).unwrap();
        texts.conclude(host, text, Finding::Block);
        let decided = see(&texts, "http://a.test/x", &denied(3));
        assert_eq!(decided, View::Decided(Finding::Block));
        let texts = RepeatedTexts::default();
        see_usual_pages(&texts, BEFORE_RECURRENCE);
        let pages =
            (0..40).map(|page| see(&texts, &format!("http://a.test/s/{page}"), &denied(page)));
        let asked = pages.filter(|view| *view != USUAL).count();
        assert_eq!(asked, usize::try_from(MAX_SUSPICIONS).unwrap());
    }

    #[test]
    fn the_text_of_three_domains_is_suspicious_on_the_third() {
        let texts = RepeatedTexts::default();
        for page in [
            "http://www.one.test/",
            "http://blog.one.test/",
            "http://two.test/",
        ] {
            assert_eq!(
                see(&texts, page, "this domain has a new owner"),
                USUAL,
                "{page}"
            );
        }
        let third = see(&texts, "http://three.test/", "this domain has a new owner");
        let many = View::Suspicious(Suspicion {
            other: None,
            recurs: false,
            is_of_many_domains: true,
        });
        assert_eq!(third, many);
    }
}
