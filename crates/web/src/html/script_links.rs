//! URLs in scripts, which Heritrix calls speculative links.
//!
//! Finds complete `http` and `https` URLs, and quoted paths from the root that look like pages.
//! Strings that a script concatenates are skipped: a piece beside a `+` or with `${` in it.

use crate::letter_case::{is_one_of, starts_with_ignore_case};

/// Maximum number of URLs of one script.
const MOST: usize = 1_000;

/// Maximum number of positions examined in one script; most are no URL.
const MOST_TRIES: usize = 50_000;

/// Maximum length of a URL in bytes.
const LONGEST: usize = 2_048;

/// Returns the URLs in a script in order, as they would be written in a page.
pub(crate) fn urls(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    let bytes = script.as_bytes();
    let mut at = 0;
    let mut tries = 0;
    while at < bytes.len() && found.len() < MOST && tries < MOST_TRIES {
        let Some(next) = bytes[at..]
            .iter()
            .position(|byte| matches!(byte, b'h' | b'H' | b'/'))
        else {
            break;
        };
        at += next;
        let begins = match bytes[at] {
            b'/' => is_quote(before(bytes, at)),
            _ => {
                !before(bytes, at).is_some_and(|byte| byte.is_ascii_alphanumeric())
                    && has_scheme(&bytes[at..])
            }
        };
        if !begins {
            at += 1;
            continue;
        }
        tries += 1;
        let (url, end) = read(script, at);
        if is_whole(bytes, at, end) && looks_like_a_page(&url) {
            found.push(url);
        }
        at = end.max(at + 1);
    }
    found
}

fn before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).map(|before| bytes[before])
}

fn is_quote(byte: Option<u8>) -> bool {
    matches!(byte, Some(b'"' | b'\'' | b'`'))
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

/// Returns the URL at a position without its escapes, and its end.
fn read(script: &str, start: usize) -> (String, usize) {
    let mut url = String::new();
    let mut at = start;
    let mut chars = script[start..].chars();
    while let Some(c) = chars.next() {
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
            '"' | '\'' | '`' | '<' | '>' | '{' | '}' | '|' | '^' | '(' | ')' | '[' | ']' | ','
            | ';' => break,
            c if c.is_whitespace() || c.is_control() => break,
            c => url.push(c),
        }
        at += c.len_utf8();
        if url.len() > LONGEST {
            break;
        }
    }
    (url, at)
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

/// Returns true if the string is not concatenated with others.
fn is_whole(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_joined = |byte: Option<&u8>| byte == Some(&b'+');
    let quote = before(bytes, start).filter(|&byte| is_quote(Some(byte)));
    let Some(quote) = quote else {
        // In running text: a comment, or the words of a string.
        return bytes[start] != b'/' && !matches!(bytes.get(end), Some(b'{' | b'$'));
    };
    // A URL that ends before the closing quote is only a part of the string.
    if bytes.get(end) != Some(&quote) {
        return false;
    }
    let left = bytes[..start - 1]
        .iter()
        .rev()
        .take(64)
        .find(|byte| !byte.is_ascii_whitespace());
    let right = bytes[end + 1..]
        .iter()
        .take(64)
        .find(|byte| !byte.is_ascii_whitespace());
    !is_joined(left) && !is_joined(right)
}

fn looks_like_a_page(url: &str) -> bool {
    if url.len() > LONGEST || url.ends_with('$') || url.contains("${") {
        return false;
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => {
            let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
            let is_host = host.starts_with(|c: char| c.is_alphanumeric()) && host.len() > 1;
            if !is_host {
                return false;
            }
            path
        }
        None => {
            let rest = &url[1..];
            // `//host/path` must name a host; `/path` must have letters to differ from an operator
            // or a separator.
            if let Some(host) = rest.strip_prefix('/') {
                if !host
                    .split('/')
                    .next()
                    .is_some_and(|host| host.contains('.') && !host.starts_with('.'))
                {
                    return false;
                }
            } else if rest.len() < 2
                || !rest.starts_with(|c: char| {
                    c.is_alphanumeric() || matches!(c, '_' | '-' | '~' | '%')
                })
            {
                return false;
            }
            rest
        }
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let extension = path
        .rsplit('/')
        .next()
        .and_then(|file| file.rsplit_once('.'));
    !extension.is_some_and(|(_, extension)| is_one_of(extension, NO_PAGES))
}

/// File extensions that are never pages.
const NO_PAGES: &[&str] = &[
    "js", "mjs", "css", "map", "json", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico",
    "bmp", "woff", "woff2", "ttf", "otf", "eot", "mp3", "mp4", "m4a", "webm", "ogg", "wav", "wasm",
    "swf", "xsd", "dtd",
];

#[cfg(test)]
mod tests {
    use super::urls;

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
            ("go('\\/next')", &[]),
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
            ("x = a / b; y = '/g'", &[]),
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
}
