//! Patterns of URLs: a host, a path template and the names of the query's parameters.
//!
//! Pages generated from one template have URLs of one shape, `/forum/{n}/{name}?page&sort`. What
//! some of them have in common (that they repeat each other, for example) is expected of the rest.
//! A path segment is kept, or replaced by its class:
//!
//! ```text
//! {n}     digits              {year}  1900 to 2099        {date}  2024-05-01
//! {id}    hexadecimal digits, UUIDs, random tokens        {slug}  words-with-hyphens
//! {name}  the last segment of any form, with its extension
//! {long}  more than 40 bytes
//! ```
//! A language is kept if it is named: `/{name}.de.html`, `/{name}?lang=de`. Untranslated pages
//! repeat one another in one language, and do not predict other languages.
//!
//! The last segment varies on every site and is never kept. Other segments vary on some sites: a
//! counter of patterns keeps a limited number of exact ones per host and then uses more general
//! ones ([`Generality`]).
//!
//! Invariant: a pattern depends only on the URL and the generality, and its text never contains a
//! space. Patterns are on disk: changed classes require a new format of the journal.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::url::page_url::PageUrl;

/// Maximum number of segments; further ones are written as `**`.
const MAX_SEGMENTS: usize = 12;
/// Maximum number of parameter names; with more, the query is `?**`.
const MAX_PARAMETERS: usize = 10;
/// Maximum length of a literal; a longer one is `{long}`.
const MAX_LITERAL_BYTES: usize = 40;
/// Maximum length of an extension, with its dot.
const MAX_EXTENSION_BYTES: usize = 6;

/// Generality of a pattern; each level includes the level before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generality {
    /// Folders and parameters by name.
    Exact,
    /// Folders by name, any query.
    AnyQuery,
    /// The first folder by name, then the same number of any folders; any query.
    AnyFolders,
    /// Anything below the first folder.
    Below,
    /// Anything on the host.
    Host,
}

impl Generality {
    /// All levels, the most exact first.
    pub const ALL: [Self; 5] = [
        Self::Exact,
        Self::AnyQuery,
        Self::AnyFolders,
        Self::Below,
        Self::Host,
    ];
}

/// Shape of URLs on one host: path template and query, without the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlPattern(Box<str>);

impl UrlPattern {
    /// Returns the pattern of a URL.
    #[must_use]
    pub fn of(url: &PageUrl, generality: Generality) -> Self {
        let url = url.as_url();
        let mut text = String::with_capacity(64);
        let path = url.path().strip_prefix('/').unwrap_or_default();
        match generality {
            Generality::Host => text.push_str("/**"),
            Generality::Below => push_below(&mut text, path),
            Generality::Exact | Generality::AnyQuery => push_path(&mut text, path, true),
            Generality::AnyFolders => push_path(&mut text, path, false),
        }
        match url.query() {
            Some(query) if generality == Generality::Exact => push_names(&mut text, query),
            Some(_) if generality < Generality::Below => text.push_str("?**"),
            _ => {}
        }
        Self(text.into())
    }

    /// Creates a pattern from its printed or stored text.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the text: `/forum/{n}/{name}?page&sort`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the names of the parameters; `**` matches any.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        let query = self.0.split_once('?').map(|(_, query)| query);
        query.into_iter().flat_map(|query| query.split('&'))
    }

    /// Returns the pattern of all queries with one of the parameters, `/forum/{n}?page&**`, for
    /// each parameter of an exact pattern.
    pub fn of_parameters(&self) -> impl Iterator<Item = Self> {
        let path = self.0.split('?').next().unwrap_or_default();
        let named = self.parameters().filter(|name| !matches!(*name, "" | "**"));
        named.map(move |name| Self(format!("{path}?{name}&**").into()))
    }
}

/// Appends the template of a path given without its first slash.
fn push_path(text: &mut String, path: &str, names: bool) {
    // `/a/b/` is the page b of the folder a, like `/a/b`.
    let (path, slash) = path
        .strip_suffix('/')
        .map_or((path, ""), |path| (path, "/"));
    let (folders, page) = path
        .rsplit_once('/')
        .map_or(("", path), |(folders, page)| (folders, page));
    let mut count = 0;
    for folder in folders.split('/').filter(|_| !folders.is_empty()) {
        count += 1;
        if count > MAX_SEGMENTS {
            text.push_str("/**");
            break;
        }
        text.push('/');
        match class_of(folder) {
            Some(class) => text.push_str(class),
            None if names || count == 1 => text.push_str(folder),
            None => text.push_str("{name}"),
        }
    }
    text.push('/');
    if !page.is_empty() {
        push_page(text, page);
    }
    text.push_str(slash);
}

fn push_page(text: &mut String, page: &str) {
    let (stem, extension) = match page.rfind('.') {
        Some(dot) if dot > 0 && is_extension(&page[dot..]) => page.split_at(dot),
        _ => (page, ""),
    };
    let (stem, language) = match stem.rfind('.') {
        Some(dot) if dot > 0 && is_language(&stem[dot + 1..]) => stem.split_at(dot),
        _ => (stem, ""),
    };
    text.push_str(match class_of(stem) {
        Some("{slug}" | "{long}") | None => "{name}",
        Some(class) => class,
    });
    text.push_str(language);
    text.push_str(extension);
}

/// Parameters whose values are languages.
const LANGUAGE_PARAMETERS: [&str; 4] = ["hl", "lang", "language", "locale"];

/// Returns true if the text looks like a language tag (RFC 5646): `de`, `zh-CN`, `pt_BR`,
/// `zh-Hant`.
fn is_language(text: &str) -> bool {
    let (language, region) = match text.find(['-', '_']) {
        Some(dash) => (&text[..dash], Some(&text[dash + 1..])),
        None => (text, None),
    };
    let letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_region = |region: &str| matches!(region.len(), 2 | 4) && letters(region);
    language.len() == 2 && letters(language) && region.is_none_or(is_region)
}

fn is_extension(text: &str) -> bool {
    let letters = text[1..].bytes().all(|byte| byte.is_ascii_alphanumeric());
    let named = text[1..].bytes().any(|byte| byte.is_ascii_alphabetic());
    letters && named && text.len() <= MAX_EXTENSION_BYTES
}

fn push_below(text: &mut String, path: &str) {
    let path = path.strip_suffix('/').unwrap_or(path);
    if let Some((first, _)) = path.split_once('/') {
        let _infallible = write!(text, "/{}", class_of(first).unwrap_or(first));
    }
    text.push_str("/**");
}

/// Appends the names of the parameters, sorted, each once; a language with its value.
fn push_names(text: &mut String, query: &str) {
    let mut names: [&str; MAX_PARAMETERS] = [""; MAX_PARAMETERS];
    let mut count = 0;
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = match LANGUAGE_PARAMETERS.contains(&name) && is_language(value) {
            true => parameter,
            false => class_of(name).unwrap_or(name),
        };
        let Err(place) = names[..count].binary_search(&name) else {
            continue;
        };
        if count == MAX_PARAMETERS {
            text.push_str("?**");
            return;
        }
        names[place..=count].rotate_right(1);
        names[place] = name;
        count += 1;
    }
    for (name, separator) in names[..count]
        .iter()
        .zip(std::iter::once('?').chain(std::iter::repeat('&')))
    {
        text.push(separator);
        text.push_str(name);
    }
}

/// Returns the class of a segment, or `None` if its text is kept.
fn class_of(segment: &str) -> Option<&'static str> {
    let count = |is: fn(&u8) -> bool| segment.bytes().filter(is).count();
    let length = segment.len();
    let digits = count(u8::is_ascii_digit);
    if digits == length {
        let is_year = length == 4 && (segment.starts_with("19") || segment.starts_with("20"));
        return match (length, is_year) {
            (0, _) => None,
            (_, true) => Some("{year}"),
            _ => Some("{n}"),
        };
    }
    let hyphens = count(|byte| matches!(byte, b'-' | b'_'));
    if digits + hyphens == length && digits >= 5 {
        return Some("{date}");
    }
    let hexadecimal = count(u8::is_ascii_hexdigit);
    let is_hexadecimal = hexadecimal + hyphens == length && hexadecimal >= 8 && digits >= 2;
    let letters = count(u8::is_ascii_alphabetic);
    let is_token = letters + digits + hyphens == length
        && length >= 16
        && digits >= 4
        && letters >= 4
        && hyphens <= 1;
    if is_hexadecimal || is_token {
        return Some("{id}");
    }
    if hyphens >= 2 && letters > 0 {
        return Some("{slug}");
    }
    (length > MAX_LITERAL_BYTES).then_some("{long}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::url::canonical::CanonicalForm;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.test{path}"), &CanonicalForm::default()).unwrap()
    }

    fn of(path: &str, generality: Generality) -> String {
        UrlPattern::of(&url(path), generality).as_str().to_owned()
    }

    #[test]
    fn a_pattern_keeps_the_folders_and_the_names_of_the_parameters() {
        for (path, pattern) in [
            ("/", "/"),
            ("/about", "/{name}"),
            ("/about/", "/{name}/"),
            ("/wiki/Web_crawler", "/wiki/{name}"),
            ("/docs/guide/install.html", "/docs/guide/{name}.html"),
            ("/docs/v1.2/x", "/docs/v1.2/{name}"),
            ("/item/123", "/item/{n}"),
            ("/2024/05/hello-big-world", "/{year}/{n}/{name}"),
            ("/day/2024-05-01/", "/day/{date}/"),
            (
                "/o/0f8fad5b-d9cb-469f-a165-70867728950e/x",
                "/o/{id}/{name}",
            ),
            ("/o/deadbeef01.pdf", "/o/{id}.pdf"),
            (
                "/product/blue-cotton-shirt/reviews",
                "/product/{slug}/{name}",
            ),
            ("/f?b=2&a=1&b=3", "/{name}?a&b"),
            ("/f?a", "/{name}?a"),
            ("/faq/index.de.html", "/faq/{name}.de.html"),
            ("/faq/index.zh-cn.html", "/faq/{name}.zh-cn.html"),
            ("/faq/index.v2.html", "/faq/{name}.html"),
            ("/faq/.de", "/faq/{name}"),
            ("/f?lang=de&a=1", "/{name}?a&lang=de"),
            ("/f?lang=1&a=1", "/{name}?a&lang"),
            ("/f?a&b&c&d&e&f&g&h&i&j&k", "/{name}?**"),
            (
                "/1/2/3/4/5/6/7/8/9/10/11/12/13/14",
                "/{n}/{n}/{n}/{n}/{n}/{n}/{n}/{n}/{n}/{n}/{n}/{n}/**/{n}",
            ),
        ] {
            assert_eq!(of(path, Generality::Exact), pattern, "{path}");
        }
    }

    #[test]
    fn more_general_patterns_match_more() {
        let path = "/shop/men/shirts/17?color=red&size=l";
        for (generality, pattern) in Generality::ALL.into_iter().zip([
            "/shop/men/shirts/{n}?color&size",
            "/shop/men/shirts/{n}?**",
            "/shop/{name}/{name}/{n}?**",
            "/shop/**",
            "/**",
        ]) {
            assert_eq!(of(path, generality), pattern);
        }
        assert_eq!(of("/page?x=1", Generality::Below), "/**");
    }

    #[test]
    fn each_parameter_has_a_pattern_of_all_queries_with_it() {
        for (path, patterns) in [
            ("/f", &[][..]),
            ("/f?", &[]),
            ("/a/f?b=2&a=1", &["/a/{name}?a&**", "/a/{name}?b&**"]),
            ("/f?a&b&c&d&e&f&g&h&i&j&k", &[]),
        ] {
            let exact = UrlPattern::of(&url(path), Generality::Exact);
            let found: Vec<UrlPattern> = exact.of_parameters().collect();
            let found: Vec<&str> = found.iter().map(UrlPattern::as_str).collect();
            assert_eq!(found, patterns, "{path}");
        }
    }

    proptest! {
        /// Varies the last segment, numbers, and the values and the order of parameters.
        #[test]
        fn addresses_of_one_shape_are_of_one_pattern(
            folders in proptest::collection::vec("[a-z]{1,8}", 0..4),
            names in proptest::collection::btree_set("[a-z]{1,5}", 0..6),
            pages in proptest::collection::vec("[a-z]{1,9}", 2),
            values in proptest::collection::vec(any::<u32>(), 2),
            number in any::<(u16, u16)>(),
        ) {
            let address = |which: usize, number: u16| {
                let mut names: Vec<&String> = names.iter().collect();
                if which == 1 {
                    names.reverse();
                }
                let query: Vec<String> = names
                    .iter()
                    .map(|name| format!("{name}={}", values[which]))
                    .collect();
                let path: String = folders.iter().map(|folder| format!("/{folder}")).collect();
                // Four digits may be a year, which is a class of its own.
                let number = 10_000 + u32::from(number);
                format!("{path}/{number}/{}?{}", pages[which], query.join("&"))
            };
            for generality in Generality::ALL {
                prop_assert_eq!(
                    of(&address(0, number.0), generality),
                    of(&address(1, number.1), generality)
                );
            }
        }

        #[test]
        fn a_url_of_one_pattern_is_of_the_more_general_one_too(
            one in "(/[ab1-]{1,3}){0,4}/?(\\?[ab]=1(&[abc]=1)?)?",
            other in "(/[ab1-]{1,3}){0,4}/?(\\?[ab]=1(&[abc]=1)?)?",
        ) {
            for pair in Generality::ALL.windows(2) {
                if of(&one, pair[0]) == of(&other, pair[0]) {
                    prop_assert_eq!(of(&one, pair[1]), of(&other, pair[1]));
                }
            }
        }

        #[test]
        fn any_url_has_a_pattern_without_a_space_and_of_bounded_length(text in "\\PC{0,300}") {
            if let Ok(url) = url("/").join(&text, &CanonicalForm::default()) {
                for generality in Generality::ALL {
                    let pattern = UrlPattern::of(&url, generality);
                    prop_assert!(!pattern.as_str().contains(' '));
                    prop_assert!(pattern.as_str().len() <= 1_100, "{}", pattern.as_str());
                    prop_assert_eq!(UrlPattern::of(&url, generality), pattern);
                }
            }
        }
    }
}
