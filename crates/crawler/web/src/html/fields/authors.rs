//! Names of authors, freed from the words around them.

use super::sources::{Field, Source};
use super::{Found, MAX_NAME_CHARS, folded};
use crate::html::page_date::PageDate;
use crate::url::page_url::PageUrl;

/// Maximum number of words of a name.
const MAX_WORDS: usize = 10;

/// Maximum number of words of a name in a line that only begins like a byline.
const MAX_WORDS_OF_LINE: usize = 5;

/// Returns the authors of a page. A page whose software states the site as its author often shows
/// another one, so the name of the site or its host counts only if there is no other.
pub(super) fn of(found: &Found, site: Option<&str>, page: &PageUrl) -> Option<String> {
    let host = page.as_url().host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let domain = host.rsplit_once('.').map_or(host, |(domain, _)| domain);
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let sites = [site.unwrap_or_default(), host, domain].map(letters);
    let others = found.list(Field::Author, |source, text| {
        let name = author(source, text);
        vec![name.filter(|name| !sites.contains(&letters(name)))]
    });
    others.or_else(|| found.list(Field::Author, |source, text| vec![author(source, text)]))
}

/// Returns the name in a value. Addresses of profiles are not names.
fn author(source: Source<'_>, text: &str) -> Option<String> {
    let text = folded(text, MAX_NAME_CHARS + 1)?;
    if text.chars().count() > MAX_NAME_CHARS {
        return None;
    }
    let name = match source {
        Source::Linked(..) | Source::Meta(_) => without_prefix(&text),
        _ => in_byline(&text)?,
    };
    let name = name.trim_matches([' ', ',', '|', '-', ':', '→']);
    let words = name.split(' ').count();
    let is_name = name.contains(char::is_alphabetic) && !name.contains("://") && words <= MAX_WORDS;
    let is_proper = || {
        let mut words = name.split(' ');
        words.all(|word| word.starts_with(char::is_uppercase)) && !name.ends_with(['!', '?'])
    };
    let is_sure =
        source != Source::WrittenBy || (2..=MAX_WORDS_OF_LINE).contains(&words) && is_proper();
    (is_name && is_sure).then(|| name.to_owned())
}

/// Returns a text without the words before a name: `By`, `View all posts by`, `Artikel von`.
fn without_prefix(text: &str) -> &str {
    const LAST: &str = "by von par por author autor autorin auteur";
    const OTHERS: &str = "written posted published post recipe view all posts erstellt beitrag \
                          artikel geschrieben veröffentlicht text zeige alle beiträge";
    let (mut at, mut name_at) = (0, 0);
    for word in text.split(' ') {
        let known = word.trim_end_matches(':').to_lowercase();
        at += word.len() + 1;
        if LAST.split(' ').any(|word| word == known) {
            name_at = at;
        } else if !OTHERS.split(' ').any(|word| word == known) {
            break;
        }
    }
    text.get(name_at..)
        .unwrap_or_default()
        .trim_start_matches([' ', ':'])
}

/// Returns the name in a byline such as `By Ada Lovelace | Updated May 4, 2026`.
fn in_byline(text: &str) -> Option<&str> {
    text.split(['|', '»', '·', '•', '●']).find_map(|part| {
        let part = part.trim();
        let by = part.to_ascii_lowercase().rfind(" by ");
        let part = without_prefix(by.map_or(part, |by| &part[by + " by ".len()..]));
        let name = &part[..end_of_name(part)];
        let has_letter = name.contains(char::is_alphabetic);
        (has_letter && !name.eq_ignore_ascii_case("by")).then_some(name)
    })
}

/// Returns the place of the first word that does not belong to a name: an event, or its date.
fn end_of_name(text: &str) -> usize {
    const ENDS: &str = "on am last updated published posted reviewed - – —";
    let mut at = 0;
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let has_day = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
        let is_date = PageDate::is_month(word) && words.peek().is_some_and(has_day)
            || at > 0 && has_day(&word);
        let mut ends = ENDS.split(' ');
        if is_date || word.starts_with('@') || ends.any(|end| word.eq_ignore_ascii_case(end)) {
            break;
        }
        at += word.len() + 1;
        if word.ends_with(',') {
            break;
        }
    }
    at.min(text.len())
}
