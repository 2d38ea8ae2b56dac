//! URLs in scripts, which Heritrix calls speculative links.
//!
//! Finds complete `http` and `https` URLs, quoted paths from the root that look like pages, and the
//! modules that a script imports. Quotation marks may be escaped, like the quotation marks of
//! markup in a string. Strings that a script concatenates are skipped: a piece next to a `+` or
//! with `${` in it.

use std::borrow::Cow;

use crate::html::link::LinkKind;
use crate::html::links::References;
use crate::letter_case::{is_one_of, starts_with_ignore_case};

/// Maximum number of URLs of one script.
const MOST: usize = 1_000;

/// Maximum number of positions to examine in one script; most are not URLs.
const MAX_TRIES: usize = 50_000;

/// Maximum length of a URL in bytes.
const LONGEST: usize = 2_048;

/// Collects the URLs of a script.
pub(crate) fn gather(script: &str, references: &mut References<'_>) {
    for url in urls(script) {
        references.add(Cow::Owned(url), LinkKind::Script, "");
    }
    for module in modules(script) {
        references.add(Cow::Owned(module), LinkKind::Requisite, "");
    }
}

/// Returns true for a URL that a script may write for a page: a complete one, or a path from the
/// root.
pub(crate) fn is_address_of_page(url: &str) -> bool {
    (url.starts_with('/') || has_scheme(url.as_bytes())) && is_address(url) && may_be_a_page(url)
}

/// Returns the URLs in a script whose extension allows a page, in document order, as a page would
/// write them.
fn urls(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    let bytes = script.as_bytes();
    let mut at = 0;
    let mut tries = 0;
    while at < bytes.len() && found.len() < MOST && tries < MAX_TRIES {
        let Some(next) = bytes[at..]
            .iter()
            .position(|byte| matches!(byte, b'h' | b'H' | b'/'))
        else {
            break;
        };
        at += next;
        // The first slash of a path may be escaped.
        let start = match (bytes[at], before(bytes, at)) {
            (b'/', Some(b'\\')) => at - 1,
            _ => at,
        };
        let quote = quote_before(bytes, start);
        let begins = match bytes[at] {
            b'/' => quote.is_some(),
            _ => {
                (quote.is_some() || !before(bytes, at).is_some_and(|c| c.is_ascii_alphanumeric()))
                    && has_scheme(&bytes[at..])
            }
        };
        if !begins {
            at += 1;
            continue;
        }
        tries += 1;
        let (url, end) = read(script, start, quote);
        if is_whole(bytes, start, end, quote) && is_address(&url) && may_be_a_page(&url) {
            found.push(url);
        }
        at = end.max(at + 1);
    }
    found
}

fn before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).map(|before| bytes[before])
}

/// Quotation marks as written in scripts and in the markup of their strings, escaped ones first.
const QUOTES: &[&str] = &[
    "\\\"", "\\'", "\\u0022", "\\u0027", "\\x22", "\\x27", "&quot;", "&#34;", "&#39;", "&apos;",
    "\"", "'", "`",
];

/// Returns the quotation mark that ends at a position.
fn quote_before(bytes: &[u8], at: usize) -> Option<&'static str> {
    let before = &bytes[..at];
    let may_end = matches!(before.last()?, b'"' | b'\'' | b'`' | b'2' | b'7' | b';');
    let mut quotes = QUOTES.iter();
    let found = quotes.find(|quote| may_end && before.ends_with(quote.as_bytes()));
    found.copied()
}

/// Returns true for `http://` and `https:\/\/`.
fn has_scheme(bytes: &[u8]) -> bool {
    if !starts_with_ignore_case(bytes, b"http") {
        return false;
    }
    let secure = usize::from(starts_with_ignore_case(&bytes[4..], b"s"));
    let rest = &bytes[4 + secure..];
    [
        &b"://"[..],
        b":\\/\\/",
        b":\\u002f\\u002f",
        b":\\u002F\\u002F",
    ]
    .iter()
    .any(|start| rest.starts_with(start))
}

/// Returns the URL at a position without its escapes, and its end. Inside quotation marks, the URL
/// is the whole string.
fn read(script: &str, start: usize, quote: Option<&str>) -> (String, usize) {
    let mut url = String::new();
    let mut at = start;
    let mut chars = script[start..].chars();
    while let Some(c) = chars.next() {
        if quote.is_some_and(|quote| script[at..].starts_with(quote)) {
            break;
        }
        match c {
            '\\' => match escape(&script[at..]) {
                Some((c, length)) => {
                    url.push(c);
                    at += length;
                    chars = script[at..].chars();
                    continue;
                }
                None => break,
            },
            '"' | '\'' | '`' | '<' | '>' | '{' | '}' => break,
            '|' | '^' | '(' | ')' | '[' | ']' | ',' | ';' if quote.is_none() => break,
            c if c.is_whitespace() || c.is_control() => break,
            c => url.push(c),
        }
        at += c.len_utf8();
        if url.len() > LONGEST {
            break;
        }
    }
    // Markup in a string.
    (url.replace("&amp;", "&"), at)
}

/// Resolves `\/`, `\u002f`, `\u0026` and `\x2f`.
fn escape(text: &str) -> Option<(char, usize)> {
    let digits = |from: usize, to: usize| {
        let code = u32::from_str_radix(text.get(from..to)?, 16).ok()?;
        let c = char::from_u32(code)
            .filter(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '<' | '>'))?;
        Some((c, to))
    };
    match text.as_bytes().get(1)? {
        b'/' => Some(('/', 2)),
        b'u' => digits(2, 6),
        b'x' => digits(2, 4),
        _ => None,
    }
}

/// Returns true if the string is not concatenated with other strings.
fn is_whole(bytes: &[u8], start: usize, end: usize, quote: Option<&str>) -> bool {
    let is_joined = |byte: Option<&u8>| byte == Some(&b'+');
    let Some(quote) = quote else {
        // In running text: a comment, or the words of a string.
        return bytes[start] != b'/' && !matches!(bytes.get(end), Some(b'{' | b'$'));
    };
    // A URL that ends before the closing quote is only a part of the string.
    if !bytes[end..].starts_with(quote.as_bytes()) {
        return false;
    }
    let left = bytes[..start - quote.len()]
        .iter()
        .rev()
        .take(64)
        .find(|byte| !byte.is_ascii_whitespace());
    let right = bytes[end + quote.len()..]
        .iter()
        .take(64)
        .find(|byte| !byte.is_ascii_whitespace());
    !is_joined(left) && !is_joined(right)
}

/// Returns true for a URL of the web, and for a path that is neither an operator nor a separator.
fn is_address(url: &str) -> bool {
    if url.len() > LONGEST || url.ends_with('$') || url.contains("${") {
        return false;
    }
    if let Some((_, rest)) = url.split_once("://").filter(|_| !url.starts_with('/')) {
        return is_host(rest);
    }
    match url[1..].strip_prefix('/') {
        Some(rest) => is_host(rest),
        None => url[1..]
            .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '~' | '%')),
    }
}

/// Returns true if a text begins with a web host, which has a dot inside: `http://www.` is a
/// fragment of a URL.
fn is_host(rest: &str) -> bool {
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let mut labels = host.strip_suffix('.').unwrap_or(host).split('.');
    let count = labels.clone().count();
    count > 1 && labels.all(|label| label.starts_with(char::is_alphanumeric))
}

/// Returns true for a URL whose extension allows a page.
pub(crate) fn may_be_a_page(url: &str) -> bool {
    !extension(url).is_some_and(|extension| is_one_of(extension, NO_PAGES))
}

/// Returns the file extension of a URL.
pub(crate) fn extension(url: &str) -> Option<&str> {
    let path = match url.split_once("://").filter(|_| !url.starts_with('/')) {
        Some((_, rest)) => rest
            .find(['/', '?', '#'])
            .map_or("", |start| &rest[start..]),
        None => url,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    Some(extension)
}

/// Returns the modules that a script imports by `import`, `export … from` and `import()`, in
/// document order.
fn modules(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    for keyword in ["import", "from"] {
        for (at, _) in script.match_indices(keyword).take(MAX_TRIES) {
            let is_word = !before(script.as_bytes(), at)
                .is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'.'));
            let rest = script[at + keyword.len()..].trim_start();
            let rest = match rest.strip_prefix('(') {
                Some(rest) if keyword == "import" => rest.trim_start(),
                _ => rest,
            };
            let Some(quote) = rest
                .chars()
                .next()
                .filter(|c| matches!(c, '"' | '\'' | '`'))
            else {
                continue;
            };
            let end = rest
                .bytes()
                .take(LONGEST)
                .skip(1)
                .position(|c| char::from(c) == quote);
            let Some(name) = end.map(|end| &rest[1..=end]) else {
                continue;
            };
            // A bare name refers to a package.
            let is_path = ["./", "../", "/", "http://", "https://"]
                .iter()
                .any(|start| name.starts_with(start));
            let is_plain = !name.contains(|c: char| c.is_whitespace() || matches!(c, '$' | '\\'));
            if is_word && is_path && is_plain && found.len() < MOST {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// File extensions that are never pages.
const NO_PAGES: &[&str] = &[
    "js", "mjs", "css", "map", "json", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico",
    "bmp", "woff", "woff2", "ttf", "otf", "eot", "mp3", "mp4", "m4a", "webm", "ogg", "wav", "wasm",
    "swf", "xsd", "dtd",
];

#[cfg(test)]
mod tests {
    use super::{modules, urls};

    #[test]
    fn whole_urls_and_quoted_paths_are_found_and_pieces_are_not() {
        for (script, expected) in [
            ("", &[][..]),
            (
                "var u = 'http://a.example/x?y=1&z#t';",
                &["http://a.example/x?y=1&z#t"],
            ),
            (
                "{\"u\":\"https:\\/\\/a.example\\/x\\u0026y\"}",
                &["https://a.example/x&y"],
            ),
            (
                "// see http://a.example/doc for more",
                &["http://a.example/doc"],
            ),
            ("location = \"/next/page\"", &["/next/page"]),
            // What PHP's json_encode writes was not found, nor were these strings.
            ("go('\\/next')", &["/next"]),
            ("{\"url\": \"\\/add\\/page\"}", &["/add/page"]),
            (
                "a = \"http://a.example/a,1.html\"",
                &["http://a.example/a,1.html"],
            ),
            ("a = '/a(1);[2]|x'", &["/a(1);[2]|x"]),
            (
                "write(\"<a href=\\\"http://a.example/b\\\">x</a>\")",
                &["http://a.example/b"],
            ),
            ("write(\"<a href='/b?c=1&amp;d'>x</a>\")", &["/b?c=1&d"]),
            ("a = \"<a href=\\u0022/c\\u0022>\"", &["/c"]),
            ("a = '<a href=&quot;/c&quot;>'", &["/c"]),
            ("a = \"<a href=\\\"/a/\" + id + \"\\\">\"", &[]),
            ("a = \"http://www.\"; b = 'https://ssl.'; c = '//www.'", &[]),
            ("a = 'http://localhost/x'", &[]),
            (
                "a = 'http://user@a.example:8080/x'",
                &["http://user@a.example:8080/x"],
            ),
            ("go('/next?a=1')", &["/next?a=1"]),
            ("go(`/items`)", &["/items"]),
            ("go('//b.example/x')", &["//b.example/x"]),
            ("go('//no comment')", &[]),
            ("go('/a/' + id)", &[]),
            ("go(base + '/next')", &[]),
            ("go('http://a.example/' + id)", &[]),
            ("go(`/a/${id}`)", &[]),
            ("go(`http://a.example/${id}`)", &[]),
            ("s.replace(/a\\/b/g, '/')", &[]),
            ("x = a / b; y = '/+'", &[]),
            ("import '/main.js'; img='/a.PNG?x'", &[]),
            ("x='http://'; y='https:// '; xhttp://a.example/", &[]),
            ("'/path with spaces'", &[]),
        ] {
            assert_eq!(urls(script), expected, "{script}");
        }
    }

    #[test]
    fn no_more_than_a_thousand_are_found() {
        assert_eq!(urls(&"'/path' ".repeat(5_000)).len(), super::MOST);
    }

    #[test]
    fn imported_modules_are_found() {
        for (script, expected) in [
            (
                "import a from './a.js'; import \"../b.js\"",
                &["./a.js", "../b.js"][..],
            ),
            (
                "export * from '/c.js'; x = import( `./d.js` )",
                &["/c.js", "./d.js"],
            ),
            (
                "import React from 'react'; important('./x'); a.from('./y')",
                &["./x"][..0],
            ),
            ("import(`./${name}.js`); import './unclosed", &[]),
        ] {
            let mut found = modules(script);
            found.sort_unstable();
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(found, expected, "{script}");
        }
    }
}
