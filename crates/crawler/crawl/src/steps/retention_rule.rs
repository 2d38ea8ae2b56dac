//! Retention rules: when a page is kept although another page with its text was there first.
//!
//! A site that copies a page and answers faster is admitted first; keyed hashes do not help against
//! a copy. So the order of arrival decides only within a site. Across registrable domains, a page
//! is kept in addition to the earlier one if a rule applies:
//!
//! 1. it is a seed: the user named it;
//! 2. a seed is of its domain, and none is of the earlier page's domain;
//! 3. it names itself as its canonical page (RFC 6596), which a verbatim copy does not: the copy
//!    names the original.
//!
//! Both are archived then. If a seed decides, the later page counts as unique. If
//! only its own canonical link does, it is marked as a duplicate, so that a mirror that
//! claims to be the original is closed like any other. Its links are probed in any case. The number
//! of links to a page does not count: it is known too late.
//!
//! Within a site, one rule applies: the page is the edition in the language of its text, and the
//! earlier page is the edition in another one, not translated yet. Their URLs differ in one tag:
//! `/da-DK/foreword.html`, `/en-US/foreword.html`. It counts as unique, or the text would stand
//! under the title and the language of a translation.

use store::{Lease, Original};
use web::{Exchange, PageUrl};

use crate::context::CrawlContext;
use crate::steps::reading::Reading;

/// A reason to keep a page although it repeats the page of another site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetentionRule {
    /// The page is a seed.
    Seed,
    /// Its domain has a seed; the domain of the other page does not.
    SeedsDomain,
    /// It calls itself canonical.
    Canonical,
    /// It is the edition in the language of its text, and the other page is not.
    Edition,
}

impl RetentionRule {
    /// Returns true if it counts for more than the order of arrival.
    pub(crate) const fn outweighs_arrival(self) -> bool {
        matches!(self, Self::Seed | Self::SeedsDomain | Self::Edition)
    }

    /// Returns the words for reports and the archive.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Seed => "the page is a seed, and the other one is of another domain",
            Self::SeedsDomain => "a seed is of its domain, and none of the other page's domain",
            Self::Canonical => {
                "the page calls itself canonical, and the other one is of another domain"
            }
            Self::Edition => "the page is the edition in the language of its text",
        }
    }
}

/// Returns the retention rule of a page that repeats `original`; `None` if the order of arrival
/// decides.
pub(crate) fn of(
    context: &CrawlContext,
    lease: &Lease,
    exchange: &Exchange,
    reading: &Reading,
    original: &Original,
) -> Option<RetentionRule> {
    let (page, other) = (&exchange.url, &original.page.final_url);
    // The same bytes become a revisit record, and a requisite is kept in any case.
    let loses_nothing =
        original.earlier || original.bytes.is_some() || lease.discovered().requisite > 0;
    if loses_nothing {
        return None;
    }
    let document = reading.document.as_ref()?;
    if page.registrable_domain() == other.registrable_domain() {
        let language = document.language.as_deref()?;
        let is_edition = is_edition_in(language, page.as_str(), other.as_str());
        return is_edition.then_some(RetentionRule::Edition);
    }
    if lease.is_seed() {
        return Some(RetentionRule::Seed);
    }
    if has_the_only_seed(context, page, other) {
        return Some(RetentionRule::SeedsDomain);
    }
    (document.canonical.as_ref() == Some(page)).then_some(RetentionRule::Canonical)
}

/// Returns true if two URLs differ only in their language tags (RFC 5646 section 2.1: `da-DK`, also
/// `da_DK`), and the tag of `page` is in this language.
pub(crate) fn is_edition_in(language: &str, page: &str, other: &str) -> bool {
    let [ours, theirs] = [page, other].map(|url| url.split(['/', '.', '?', '&', '=', '#']));
    if ours.clone().count() != theirs.clone().count() {
        return false;
    }
    let mut differences = ours.zip(theirs).filter(|(ours, theirs)| ours != theirs);
    let (Some((ours, theirs)), None) = (differences.next(), differences.next()) else {
        return false;
    };
    let is_other = |tag: &str| tag != language;
    primary_subtag(ours) == Some(language) && primary_subtag(theirs).is_some_and(is_other)
}

/// Returns the first subtag of a language tag of two or three letters, with a script or region or
/// without.
fn primary_subtag(part: &str) -> Option<&str> {
    let (language, rest) = part.split_once(['-', '_']).unwrap_or((part, ""));
    let is_language = matches!(language.len(), 2 | 3)
        && language.bytes().all(|letter| letter.is_ascii_lowercase());
    let is_region = rest.len() <= 4 && rest.bytes().all(|letter| letter.is_ascii_alphanumeric());
    (is_language && is_region).then_some(language)
}

fn has_the_only_seed(context: &CrawlContext, page: &PageUrl, other: &PageUrl) -> bool {
    let scope = context.scope();
    scope.has_seed_on_domain_of(page) && !scope.has_seed_on_domain_of(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edition_has_the_tag_of_its_language_where_the_other_page_has_another_tag() {
        for (page, other, is_edition) in [
            (
                "http://a.test/en-US/x.html",
                "http://a.test/da-DK/x.html",
                true,
            ),
            ("http://a.test/en/x", "http://a.test/pt-BR/x", true),
            ("http://a.test/x.en.html", "http://a.test/x.de.html", true),
            ("http://en.a.test/x", "http://zh.a.test/x", true),
            (
                "http://a.test/x?hl=en_GB&y",
                "http://a.test/x?hl=fr&y",
                true,
            ),
            (
                "http://a.test/da-DK/x.html",
                "http://a.test/en-US/x.html",
                false,
            ),
            (
                "http://a.test/en-US/x.html",
                "http://a.test/en-GB/x.html",
                false,
            ),
            ("http://a.test/en/x", "http://a.test/de/y", false),
            ("http://a.test/en/x", "http://a.test/x", false),
            ("http://a.test/en/x", "http://a.test/v2/x", false),
            ("http://a.test/en/x", "http://a.test/print/x", false),
            ("http://a.test/en/x", "http://a.test/en/x", false),
        ] {
            assert_eq!(
                is_edition_in("en", page, other),
                is_edition,
                "{page} {other}"
            );
        }
    }
}
