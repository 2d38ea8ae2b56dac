//! Seed lists: the URLs at which a crawl begins.
//!
//! A list has one URL a line. Blank lines and comments are ignored: whole lines that begin with
//! `#`, and the rest of a line from a `#` after white space (a `#` inside a URL starts its
//! fragment). A byte order mark and carriage returns are accepted. A line without a scheme is read
//! as http, as in wget: `example.org/path`, `localhost:8080`.
//!
//! A bad line does not stop reading; it is returned as an error with its number. User and password
//! of a URL are neither used nor quoted.

use std::collections::HashSet;

use url::Url;

use crate::url::canonical::CanonicalForm;
use crate::url::page_url::{PageUrl, UrlError};

/// Maximum length of a quoted line, in characters.
pub const MAX_QUOTED_CHARS: usize = 200;

/// A seed list after reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeedList {
    /// The seeds in the order of their lines, each once.
    pub seeds: Vec<PageUrl>,
    /// The lines that are not the URL of a page.
    pub errors: Vec<BadSeed>,
    /// The numbers, from 1, of the lines whose URL had a user or a password; the seed has neither.
    pub with_login: Vec<usize>,
}

/// A line that is not the URL of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text}")]
pub struct BadSeed {
    /// The number of the line, from 1.
    pub line: usize,
    /// The quoted line: at most [`MAX_QUOTED_CHARS`] characters, control characters escaped,
    /// without a possible login.
    pub text: String,
    /// The reason.
    #[source]
    pub error: UrlError,
}

/// Parses a seed list.
///
/// ```
/// let list = web::read_seeds("example.org # a comment\nnot a url", &Default::default());
/// assert_eq!(list.seeds[0].as_str(), "http://example.org/");
/// assert_eq!(list.errors[0].line, 2);
/// ```
#[must_use]
pub fn read_seeds(text: &str, form: &CanonicalForm) -> SeedList {
    let mut list = SeedList::default();
    let mut seen = HashSet::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        let seed = without_comment(line).trim();
        if seed.is_empty() {
            continue;
        }
        match read_seed(seed, form) {
            Ok((url, login)) => {
                if login {
                    list.with_login.push(index + 1);
                }
                if seen.insert(url.key()) {
                    list.seeds.push(url);
                }
            }
            Err(error) => list.errors.push(BadSeed {
                line: index + 1,
                text: quoted(seed),
                error,
            }),
        }
    }
    list
}

fn without_comment(line: &str) -> &str {
    let mut after_space = true;
    for (at, c) in line.char_indices() {
        if c == '#' && after_space {
            return &line[..at];
        }
        after_space = c.is_whitespace();
    }
    line
}

/// Parses a seed; the second value is true if its URL had a user or a password.
fn read_seed(seed: &str, form: &CanonicalForm) -> Result<(PageUrl, bool), UrlError> {
    let text = if has_scheme(seed) {
        seed.to_owned()
    } else {
        format!("http://{}", seed.trim_start_matches('/'))
    };
    let page = PageUrl::parse(&text, form)?;
    // Most seeds have no login and are parsed once.
    let login = text.contains('@') && Url::parse(&text).is_ok_and(|url| has_login(&url));
    Ok((page, login))
}

fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Returns true if the part before the first slash is more than a host and port: true for
/// `mailto:x`, false for `localhost:8080`.
fn has_scheme(seed: &str) -> bool {
    let end = seed.find(['/', '?', '#']).unwrap_or(seed.len());
    if seed.starts_with('[') {
        return false;
    }
    seed[..end].split_once(':').is_some_and(|(_, port)| {
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        !is_port
    })
}

/// Hides a possible login. The text is not a URL, so the bounds of a login are unknown: nothing
/// between the scheme and the last `@` is kept.
fn without_login(seed: &str) -> String {
    let Some((before, after)) = seed.rsplit_once('@') else {
        return seed.to_owned();
    };
    if before.starts_with("mailto:") {
        return seed.to_owned();
    }
    let scheme = before.find("://").map_or("", |at| &before[..at + 3]);
    format!("{scheme}…@{after}")
}

fn quoted(seed: &str) -> String {
    let mut text = String::new();
    for c in without_login(seed).chars().take(MAX_QUOTED_CHARS) {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<(usize, String)>) {
        let list = read_seeds(text, &CanonicalForm::default());
        (
            list.seeds.iter().map(PageUrl::to_string).collect(),
            list.errors
                .into_iter()
                .map(|bad| (bad.line, bad.text))
                .collect(),
        )
    }

    #[test]
    fn a_list_has_one_url_a_line_and_comments() {
        let (seeds, errors) = read(
            "\u{feff}http://a.example/\r\n\r\n# a comment\n  # another\nhttp://b.example/x#part # \
             why\n\
             http://a.example\nhttps://c.example/?utm_source=x\t#y\n",
        );
        assert_eq!(
            seeds,
            [
                "http://a.example/",
                "http://b.example/x",
                "https://c.example/"
            ]
        );
        assert_eq!(errors, []);
    }

    #[test]
    fn a_line_without_a_scheme_is_read_as_http() {
        for (line, url) in [
            ("example.org/path", "http://example.org/path"),
            ("localhost:8080", "http://localhost:8080/"),
            ("127.0.0.1:8080/x:y", "http://127.0.0.1:8080/x:y"),
            ("[::1]:8080/", "http://[::1]:8080/"),
            ("//example.org/", "http://example.org/"),
            ("example.org?a=b:c", "http://example.org/?a=b:c"),
            ("HTTPS://example.org", "https://example.org/"),
        ] {
            assert_eq!(read(line).0, [url], "{line}");
        }
    }

    #[test]
    fn a_bad_line_is_reported_with_its_number_and_the_others_are_read() {
        let (seeds, errors) =
            read("not a url\nhttp://a.example/\nmailto:x@y.example\nftp://y.example/\nhttp://\n");
        assert_eq!(seeds, ["http://a.example/"]);
        let lines: Vec<usize> = errors.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 4, 5]);
    }

    #[test]
    fn a_login_in_a_url_is_dropped_reported_and_never_quoted() {
        let list = read_seeds(
            "http://a.example/@x\nhttp://u:SECRET@b.example/\nSECRET@c.example/x\n\
             https:\\\\u:SECRET@d.example\n\
             http://u:SEC/RET@e.example/\nu:SECRET@f.example\n\
             http://u:SECRET@[/?x=y@z\nmailto:someone@g.example\n",
            &CanonicalForm::default(),
        );
        assert_eq!(list.with_login, [2, 3, 4]);
        let seeds: Vec<&str> = list.seeds.iter().map(PageUrl::as_str).collect();
        assert_eq!(
            seeds,
            [
                "http://a.example/@x",
                "http://b.example/",
                "http://c.example/x",
                "https://d.example/"
            ]
        );
        let quoted: Vec<&str> = list.errors.iter().map(|bad| bad.text.as_str()).collect();
        assert_eq!(
            quoted,
            [
                "http://…@e.example/",
                "…@f.example",
                "http://…@z",
                "mailto:someone@g.example"
            ]
        );
        assert!(!format!("{list:?}").contains("SECRET"));
    }

    #[test]
    fn a_bad_line_is_quoted_without_control_characters_and_not_at_length() {
        let (_, errors) = read(&format!("ftp:\u{1b}[31m{}", "x".repeat(500)));
        assert_eq!(errors[0].1, format!("ftp:\\u{{1b}}[31m{}", "x".repeat(191)));
    }
}
