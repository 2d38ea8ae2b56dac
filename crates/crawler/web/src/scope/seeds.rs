//! Seed lists: the URLs where a crawl begins.
//!
//! A list contains one URL per line. Blank lines and comments are ignored: whole lines that begin
//! with `#`, and the rest of a line from a `#` after white space (a `#` inside a URL starts its
//! fragment). A line without a scheme is read as http, as in wget: `example.org/path`,
//! `localhost:8080`.
//!
//! A URL contains no white space and no quotation marks (URL standard, section 4.3). A line with
//! several words, as in tables, yields the words that begin with `http://` or `https://`, with a
//! warning. Invariant: only a URL becomes a seed, because each seed becomes a request. User and
//! password of a URL are neither used nor quoted.

use std::fmt;

use url::Url;

use crate::url::canonical::CanonicalForm;
use crate::url::page_url::{PageUrl, UrlError};

/// Maximum length of a quoted line, in characters.
pub const MAX_QUOTED_CHARS: usize = 200;

/// The seeds of a line, with a warning if the line is not just a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeedLine {
    /// Seeds, in the order of the line.
    pub seeds: Vec<PageUrl>,
    /// Warning for the user.
    pub warning: Option<SeedWarning>,
}

/// A warning about a line. Its text follows the number of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedWarning {
    /// The line contains no seed.
    Skipped {
        /// Quoted line: at most [`MAX_QUOTED_CHARS`] characters, control characters escaped,
        /// without a possible login.
        text: String,
        /// Reason.
        error: SeedError,
    },
    /// The line contains more than a URL; the seeds in it were used.
    Several {
        /// Quoted line.
        text: String,
        /// First seeds.
        taken: Vec<String>,
        /// Number of seeds.
        count: usize,
    },
    /// The URL contained a user or a password; the seed does not.
    Login,
}

/// Reason why a line contains no seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// It is not the URL of a page.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// It has several words, and none is certainly a URL.
    #[error("a URL must not contain white space; write one URL per line")]
    WhiteSpace,
    /// It has no scheme, and does not begin with a host.
    #[error("{0:?} is not a host name; write a URL such as https://example.org/")]
    Host(String),
    /// The scheme is written twice, or without its colon.
    #[error("the scheme is malformed; write a URL such as https://example.org/")]
    Scheme,
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    Encoding,
}

/// Maximum number of seeds of a line that a warning names.
const NAMED: usize = 3;

impl fmt::Display for SeedWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped { text, error } => write!(f, "{text:?} is skipped: {error}"),
            Self::Several { text, taken, count } => {
                write!(
                    f,
                    "{text:?} contains more than a URL; read as {}",
                    taken.join(" ")
                )?;
                match count.saturating_sub(taken.len()) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::Login => f.write_str("user and password in a URL are ignored; use --http-user"),
        }
    }
}

impl SeedLine {
    /// Parses a line of a seed list, without its end of line.
    ///
    /// ```
    /// use web::SeedLine;
    ///
    /// let line = SeedLine::parse("example.org # a comment", &Default::default());
    /// assert_eq!(line.seeds[0].as_str(), "http://example.org/");
    /// let line = SeedLine::parse("not a url", &Default::default());
    /// assert!(line.seeds.is_empty() && line.warning.is_some());
    /// ```
    #[must_use]
    pub fn parse(line: &str, form: &CanonicalForm) -> Self {
        let text = without_comment(line).trim();
        if text.is_empty() {
            return Self::default();
        }
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return Self::skipped(text, SeedError::Encoding);
        }
        let words = words(text);
        if words != [text] {
            return Self::of_words(text, &words, form);
        }
        Self::of_url(text, form)
    }

    /// Parses a text that should be one URL, such as an argument.
    #[must_use]
    pub fn of_url(text: &str, form: &CanonicalForm) -> Self {
        match read_seed(text, form) {
            Ok((url, login)) => Self {
                seeds: vec![url],
                warning: login.then_some(SeedWarning::Login),
            },
            Err(error) => Self::skipped(text, error),
        }
    }

    fn skipped(text: &str, error: SeedError) -> Self {
        let text = quoted(text);
        Self {
            seeds: Vec::new(),
            warning: Some(SeedWarning::Skipped { text, error }),
        }
    }

    /// Takes the words that are certainly URLs.
    fn of_words(text: &str, words: &[&str], form: &CanonicalForm) -> Self {
        let urls = words.iter().filter(|word| begins_as_url(word));
        let mut seeds = Vec::new();
        for url in urls {
            // A URL may contain commas, so the end of the URL in a table without quotes is unknown.
            if url.contains([',', ';']) {
                return Self::skipped(text, SeedError::WhiteSpace);
            }
            if let Ok((seed, _)) = read_seed(url, form) {
                seeds.push(seed);
            }
        }
        if seeds.is_empty() {
            return Self::skipped(text, SeedError::WhiteSpace);
        }
        let taken = seeds.iter().take(NAMED).map(ToString::to_string);
        let warning = SeedWarning::Several {
            text: quoted(text),
            taken: taken.collect(),
            count: seeds.len(),
        };
        Self {
            seeds,
            warning: Some(warning),
        }
    }
}

/// Splits a line where a URL must end: at white space, quotation marks and angle brackets, and at a
/// comma or semicolon before another URL.
fn words(text: &str) -> Vec<&str> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
    let mut words = Vec::new();
    for piece in text.split(is_end) {
        let mut start = 0;
        for (at, _) in piece.match_indices([',', ';', '|']) {
            // A query may contain another URL.
            if begins_as_url(&piece[at + 1..]) && !piece[start..at].contains('?') {
                words.push(&piece[start..at]);
                start = at + 1;
            }
        }
        words.push(&piece[start..]);
    }
    let trimmed = words.into_iter().map(|word| word.trim_matches([',', ';']));
    trimmed.filter(|word| !word.is_empty()).collect()
}

fn begins_as_url(word: &str) -> bool {
    let begins = |scheme: &str| {
        let head = word.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    };
    begins("http://") || begins("https://")
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
fn read_seed(seed: &str, form: &CanonicalForm) -> Result<(PageUrl, bool), SeedError> {
    let text = if has_scheme(seed) {
        seed.to_owned()
    } else {
        let text = seed.trim_start_matches('/');
        require_host(text)?;
        format!("http://{text}")
    };
    let page = PageUrl::parse(&text, form)?;
    // `https//example.org` and `http://https://example.org` name the scheme as the host.
    if matches!(page.as_url().host_str(), Some("http" | "https")) {
        return Err(SeedError::Scheme);
    }
    // Most seeds have no login and are parsed once.
    let login = text.contains('@') && Url::parse(&text).is_ok_and(|url| has_login(&url));
    Ok((page, login))
}

/// Checks that a text without a scheme begins with a host: a name with a dot, `localhost`, or any
/// name with a port. The heading of a table is not a host.
fn require_host(text: &str) -> Result<(), SeedError> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let authority = &text[..end];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if matches!(host, "http" | "https") {
        return Err(SeedError::Scheme);
    }
    let is_name = |name: &str| {
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '。');
        !name.is_empty() && name.chars().all(is_of_name)
    };
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let is_host = host.starts_with('[')
        || is_name(name) && (name.contains(['.', '。']) || name == "localhost" || !port.is_empty());
    match is_host {
        true => Ok(()),
        false => Err(SeedError::Host(quoted(host))),
    }
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

    /// Reads lines, and returns the seeds and the numbers of the lines with a warning.
    fn read(text: &str) -> (Vec<String>, Vec<(usize, String)>) {
        let (mut seeds, mut warnings) = (Vec::new(), Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            let line = SeedLine::parse(line, &CanonicalForm::default());
            seeds.extend(line.seeds.iter().map(PageUrl::to_string));
            warnings.extend(line.warning.map(|warning| (number, warning.to_string())));
        }
        (seeds, warnings)
    }

    #[test]
    fn a_list_has_one_url_per_line_and_comments() {
        let (seeds, warnings) = read(
            "http://a.example/\r\n\r\n# a comment\n  # another\nhttp://b.example/x#part # why\n\
             https://c.example/?utm_source=x\t#y\n",
        );
        let expected = [
            "http://a.example/",
            "http://b.example/x",
            "https://c.example/",
        ];
        assert_eq!(seeds, expected);
        assert_eq!(warnings, []);
    }

    #[test]
    fn a_line_without_a_scheme_is_read_as_http() {
        for (line, url) in [
            ("example.org/path", "http://example.org/path"),
            ("localhost:8080", "http://localhost:8080/"),
            ("intranet:8080", "http://intranet:8080/"),
            ("127.0.0.1:8080/x:y", "http://127.0.0.1:8080/x:y"),
            ("[::1]:8080/", "http://[::1]:8080/"),
            ("//example.org/", "http://example.org/"),
            ("example.org?a=b:c", "http://example.org/?a=b:c"),
            ("HTTPS://example.org", "https://example.org/"),
            ("bücher.example/a", "http://xn--bcher-kva.example/a"),
        ] {
            assert_eq!(read(line).0, [url], "{line}");
        }
    }

    /// `http://h/a<TAB>Title of a` was requested as /aTitle%20of%20a, `https//example.org` as a
    /// path of the host `https`, and the heading of a table as a host: requests that nobody meant,
    /// and none for the page.
    #[test]
    fn no_line_becomes_a_url_that_is_not_in_it() {
        for (line, seeds) in [
            (
                "http://h.example/a\tTitle of a",
                &["http://h.example/a"][..],
            ),
            (
                "http://h.example/a http://h.example/b",
                &["http://h.example/a", "http://h.example/b"],
            ),
            (
                "http://h.example/a,http://h.example/b;HTTP://h.example/c",
                &[
                    "http://h.example/a",
                    "http://h.example/b",
                    "http://h.example/c",
                ],
            ),
            (
                "\"http://h.example/a\",\"Title of a\"",
                &["http://h.example/a"],
            ),
            ("1,https://h.example/", &["https://h.example/"]),
            ("1,https://h.example/,x", &[]),
            ("<http://h.example/a>", &["http://h.example/a"]),
            ("http://h.example/a,", &["http://h.example/a"]),
            ("http://h.example/a,Title of a", &[]),
            ("not a url", &[]),
            ("see http:", &[]),
            ("url", &[]),
            ("1,example.org", &[]),
            ("https//example.org/", &[]),
            ("http://https://example.org/", &[]),
            ("https;//example.org/", &[]),
            ("htps://example.org/", &[]),
            ("http://h.example/caf\u{fffd}", &[]),
        ] {
            let (read, warnings) = read(line);
            assert_eq!(read, seeds, "{line}");
            assert_eq!(warnings.len(), 1, "{line}");
        }
        for line in [
            "http://h.example/1,2,3.html",
            "http://h.example/?u=a,http://b.example/",
        ] {
            let (seeds, warnings) = read(line);
            assert_eq!((seeds.len(), warnings), (1, Vec::new()), "{line}");
        }
    }

    #[test]
    fn a_bad_line_is_reported_with_its_number_and_the_others_are_read() {
        let (seeds, warnings) =
            read("not a url\nhttp://a.example/\nmailto:x@y.example\nftp://y.example/\nhttp://\n");
        assert_eq!(seeds, ["http://a.example/"]);
        let lines: Vec<usize> = warnings.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 4, 5]);
    }

    #[test]
    fn a_login_in_a_url_is_dropped_reported_and_never_quoted() {
        let (seeds, warnings) = read(
            "http://a.example/@x\nhttp://u:SECRET@b.example/\nSECRET@c.example/x\n\
             https:\\\\u:SECRET@d.example\n\
             http://u:SEC/RET@e.example/\nu:SECRET@f.example\n\
             http://u:SECRET@[/?x=y@z\nmailto:someone@g.example\n\
             http://u:SECRET@h.example/ and a title\n",
        );
        let expected = [
            "http://a.example/@x",
            "http://b.example/",
            "http://c.example/x",
            "https://d.example/",
            "http://h.example/",
        ];
        assert_eq!(seeds, expected);
        let login = SeedWarning::Login.to_string();
        let of_logins = warnings.iter().filter(|(_, text)| *text == login);
        let of_logins: Vec<usize> = of_logins.map(|(line, _)| *line).collect();
        assert_eq!(of_logins, [2, 3, 4]);
        let text = format!("{warnings:?}");
        for quoted in [
            "http://…@e.example/",
            "…@f.example",
            "http://…@z",
            "mailto:someone@g",
        ] {
            assert!(text.contains(quoted), "{quoted}: {text}");
        }
        assert!(
            !text.contains("SECRET") && !text.contains("SEC/RET"),
            "{text}"
        );
    }

    #[test]
    fn a_bad_line_is_quoted_without_control_characters_and_not_at_length() {
        let long = format!("ftp:\u{1b}[31m{}", "x".repeat(500));
        assert_eq!(
            quoted(&long),
            format!("ftp:\\u{{1b}}[31m{}", "x".repeat(191))
        );
    }
}
