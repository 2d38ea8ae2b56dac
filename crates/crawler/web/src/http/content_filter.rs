//! Filters of pages by media type and by language.
//!
//! An empty filter admits everything. A filter is written as a comma-separated list.

use std::fmt;
use std::str::FromStr;

/// Maximum number of entries in a list.
const MOST: usize = 100;

/// Media types as patterns: `text/html`, `image/*`, `application/*+xml`; `!image/*` excludes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeFilter {
    wanted: Vec<TypePattern>,
    unwanted: Vec<TypePattern>,
}

/// A media type in which `*` matches any characters, at most once before the slash and once after
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TypePattern(String);

/// Languages by their primary subtags: `en`, `de`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanguageFilter(Vec<String>);

/// A text that is not a filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadContentFilter {
    /// Neither a media type nor a pattern of media types.
    #[error("{0:?} is not a media type: text/html, image/*, or !image/* to exclude")]
    Type(String),
    /// Not a primary subtag (RFC 5646, section 2.2.1).
    #[error("{0:?} is not a language: two or three letters, such as en or de")]
    Language(String),
    /// More entries than a list may have.
    #[error("a list must have at most {MOST} entries")]
    TooMany,
}

impl TypeFilter {
    /// Returns true if pages of a media type are wanted: no excluding pattern matches it, and an
    /// including pattern does, unless there is none.
    #[must_use]
    pub fn admits(&self, essence: &str) -> bool {
        let matches = |patterns: &[TypePattern]| patterns.iter().any(|one| one.matches(essence));
        !matches(&self.unwanted) && (self.wanted.is_empty() || matches(&self.wanted))
    }
}

impl TypePattern {
    fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (kind, subtype) = text.split_once('/')?;
        // Tokens of RFC 6838, section 4.2, with at most one star per part.
        let is_part = |part: &str| {
            let is_ours = |c: u8| c.is_ascii_alphanumeric() || b"!#$&-^_.+*".contains(&c);
            !part.is_empty() && part.bytes().all(is_ours) && part.matches('*').count() <= 1
        };
        (is_part(kind) && is_part(subtype)).then_some(Self(text))
    }

    fn matches(&self, essence: &str) -> bool {
        let both = self.0.split_once('/').zip(essence.split_once('/'));
        both.is_some_and(|((kind, subtype), (of_kind, of_subtype))| {
            matches_part(kind, of_kind) && matches_part(subtype, of_subtype)
        })
    }
}

fn matches_part(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, end)) => text
            .strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end)),
    }
}

impl LanguageFilter {
    /// Returns true if pages of a language are wanted, given by its primary subtag.
    #[must_use]
    pub fn admits(&self, language: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|wanted| wanted == language)
    }
}

fn entries(text: &str) -> Result<Vec<&str>, BadContentFilter> {
    let entries: Vec<_> = text.split(',').map(str::trim).collect();
    match entries.len() <= MOST {
        true => Ok(entries),
        false => Err(BadContentFilter::TooMany),
    }
}

impl FromStr for TypeFilter {
    type Err = BadContentFilter;

    fn from_str(text: &str) -> Result<Self, BadContentFilter> {
        let mut filter = Self::default();
        for entry in entries(text)? {
            let (list, pattern) = match entry.strip_prefix('!') {
                Some(pattern) => (&mut filter.unwanted, pattern.trim_start()),
                None => (&mut filter.wanted, entry),
            };
            let parsed = TypePattern::parse(pattern);
            list.push(parsed.ok_or_else(|| BadContentFilter::Type(entry.to_owned()))?);
        }
        Ok(filter)
    }
}

impl fmt::Display for TypeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.wanted.iter().map(|pattern| pattern.0.clone());
        let unwanted = self
            .unwanted
            .iter()
            .map(|pattern| format!("!{}", pattern.0));
        let all: Vec<_> = wanted.chain(unwanted).collect();
        f.write_str(&all.join(","))
    }
}

impl FromStr for LanguageFilter {
    type Err = BadContentFilter;

    fn from_str(text: &str) -> Result<Self, BadContentFilter> {
        let parse = |entry: &str| {
            let is_tag = (2..=3).contains(&entry.len())
                && entry.bytes().all(|letter| letter.is_ascii_alphabetic());
            let bad = || BadContentFilter::Language(entry.to_owned());
            is_tag.then(|| entry.to_ascii_lowercase()).ok_or_else(bad)
        };
        let languages = entries(text)?.into_iter().map(parse);
        Ok(Self(languages.collect::<Result<_, _>>()?))
    }
}

impl fmt::Display for LanguageFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_wanted_if_a_pattern_matches_it_and_none_excludes_it() {
        for (filter, essence, expected) in [
            ("text/html", "text/html", true),
            ("text/html", "text/plain", false),
            ("TEXT/HTML, application/pdf", "application/pdf", true),
            ("image/*", "image/png", true),
            ("image/*", "text/html", false),
            ("application/*+xml", "application/xhtml+xml", true),
            ("application/*+xml", "application/xml", false),
            ("!image/*", "image/png", false),
            ("!image/*", "text/html", true),
            ("*/*,!image/*", "image/png", false),
            ("image/*,!image/svg+xml", "image/svg+xml", false),
            ("image/*,!image/svg+xml", "image/png", true),
            ("*/*", "no type", false),
        ] {
            let filter: TypeFilter = filter.parse().unwrap();
            assert_eq!(filter.admits(essence), expected, "{filter} and {essence}");
        }
        assert!(TypeFilter::default().admits("no type"));
    }

    #[test]
    fn filters_are_written_as_they_are_read_and_others_are_refused() {
        for text in ["text/html,image/*,!image/svg+xml", "*/*", "!video/*"] {
            assert_eq!(text.parse::<TypeFilter>().unwrap().to_string(), text);
        }
        for bad in [
            "",
            "html",
            "text/",
            "/html",
            "text/html,",
            "a b/c",
            "t**/x",
            "!",
            "text/*;q",
        ] {
            assert!(bad.parse::<TypeFilter>().is_err(), "{bad:?}");
        }
        assert_eq!(
            "EN, de".parse::<LanguageFilter>().unwrap().to_string(),
            "en,de"
        );
        for bad in ["", "e", "en-GB", "english", "en,", "1a"] {
            assert!(bad.parse::<LanguageFilter>().is_err(), "{bad:?}");
        }
        let many = vec!["en"; MOST + 1].join(",");
        assert_eq!(
            many.parse::<LanguageFilter>(),
            Err(BadContentFilter::TooMany)
        );
    }
}
