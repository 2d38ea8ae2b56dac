//! SURT, "sort-friendly URI reordering transform": sort keys of archive indexes, byte-identical to
//! the keys of cdxj-indexer and pywb.
//!
//! Both call the `surt` package (0.3.1, its default canonicaliser, a port of the Internet Archive's
//! `WaybackURLKeyMaker`), and replay tools do not find a capture under another key, so its warnings
//! are reproduced. In this order:
//!
//! - white space around the URL and line breaks in it are removed; `http://` is prepended if the
//!   scheme is missing; of several schemes (`http://https://`), the last one counts; user, password
//!   and fragment are removed;
//! - the host is decoded, lower-cased, converted to punycode, and stripped of dots at its ends and
//!   of a leading `www.`, `www2.`, …; what `inet_aton` accepts as an IPv4 address becomes one. It
//!   is reversed and joined by commas, addresses too;
//! - path and query are percent-decoded until no escape is left, then encoded once and lower-cased;
//! - segments of the path are resolved, runs of slashes folded, and a trailing slash removed;
//! - old session parameters are removed, and the remaining parameters sorted by their bytes.
//!
//! One difference remains: for a non-ASCII host with characters that are invalid in host names,
//! Python produces punycode and this module does not.
//!
//! The package itself made `golden/surt.tsv` (`golden/keys.py`).

mod sessions;

use self::sessions::{split_at, without_path_sessions, without_query_sessions};
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// Returns the sort key of a URL as written in an archive, `org,example)/path?query`. Several URLs
/// may share a key. A URL that the `surt` package refuses (a
/// port that is not a number) is its own key, as in cdxj-indexer.
#[must_use]
pub fn surt_key(url: &str) -> String {
    if url.is_empty() {
        return "-".to_owned();
    }
    if url.starts_with("filedesc") {
        return url.to_owned();
    }
    let Some(key) = parse(url).map(canonical) else {
        return url.to_owned();
    };
    String::from_utf8(key).unwrap_or_else(|_| url.to_owned())
}

/// The parts of a URL, split as by `surt`: by the expression in appendix B of RFC 2396.
#[derive(Default)]
struct Parts {
    scheme: Vec<u8>,
    host: Option<Vec<u8>>,
    port: Option<u16>,
    path: Option<Vec<u8>>,
    query: Option<Vec<u8>>,
}

/// Splits a URL; `None` if `surt` raises an exception.
fn parse(url: &str) -> Option<Parts> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let bytes = url.as_bytes();
    let start = bytes.iter().position(|byte| !is_space(byte))?;
    let end = bytes.iter().rposition(|byte| !is_space(byte))? + 1;
    let mut text: Vec<u8> = bytes[start..end].to_vec();
    text.retain(|byte| !matches!(byte, b'\n' | b'\r' | b'\t'));
    if scheme_end(&text).is_none() {
        text.splice(..0, *b"http://");
    }
    let mut rest = last_protocol(&text);
    let scheme_end = scheme_end(rest)?;
    let mut parts = Parts {
        scheme: rest[..scheme_end].to_vec(),
        ..Parts::default()
    };
    rest = &rest[scheme_end + 1..];
    rest = split_at(rest, b"#").0;
    let (hierarchy, query) = split_at(rest, b"?");
    parts.query = query.filter(|query| !query.is_empty()).map(<[u8]>::to_vec);
    let mut path = hierarchy;
    if let Some(authority) = hierarchy.strip_prefix(b"//") {
        let end = authority.iter().position(|&byte| byte == b'/');
        let (authority, behind) = authority.split_at(end.unwrap_or(authority.len()));
        path = behind;
        (parts.host, parts.port) = host_and_port(authority)?;
    }
    parts.path = (!path.is_empty()).then(|| path.to_vec());
    if parts.scheme.starts_with(b"http")
        && parts.host.is_none()
        && let Some(path) = &parts.path
    {
        // http:////example.org/
        let slashes = path.iter().take_while(|&&byte| byte == b'/').count();
        let (host, behind) = split_at(&path[slashes..], b"/");
        let path = [b"/", behind.unwrap_or_default()].concat();
        parts.host = Some(host.to_vec());
        parts.path = Some(path);
    }
    Some(parts)
}

/// Returns the position of the colon after a scheme.
fn scheme_end(text: &[u8]) -> Option<usize> {
    let end = text
        .iter()
        .position(|&byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(&byte))?;
    (text[end] == b':' && text[0].is_ascii_alphabetic()).then_some(end)
}

/// Returns the text from the last of several `http://` and `https://` on.
fn last_protocol(text: &[u8]) -> &[u8] {
    let protocol = |text: &[u8]| {
        [b"http://".as_slice(), b"https://"]
            .iter()
            .find(|known| text.starts_with(known))
            .map(|known| known.len())
    };
    let mut from = 0;
    let mut last = 0;
    while let Some(length) = protocol(&text[from..]) {
        last = from;
        from += length;
    }
    &text[last..]
}

/// Splits an authority like Python's `urllib.parse`; `None` if that refuses the port.
fn host_and_port(authority: &[u8]) -> Option<(Option<Vec<u8>>, Option<u16>)> {
    let mut authority = authority;
    while let Some(shorter) = authority.strip_suffix(b":") {
        authority = shorter;
    }
    if let Some(at) = authority.iter().rposition(|&byte| byte == b'@') {
        authority = &authority[at + 1..];
    }
    let (host, port) = match split_at(authority, b"[") {
        (_, Some(bracketed)) => {
            let (host, behind) = split_at(bracketed, b"]");
            (host, split_at(behind.unwrap_or_default(), b":").1)
        }
        (_, None) => split_at(authority, b":"),
    };
    let port = match port {
        None | Some(b"") => None,
        Some(digits) if digits.iter().all(u8::is_ascii_digit) => Some(number(digits)?),
        Some(_) => return None,
    };
    let host = (!host.is_empty()).then(|| host.to_ascii_lowercase());
    Some((host, port.filter(|&port| port != 0)))
}

/// Parses a port in any number of decimal digits.
fn number(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0_u16, |number, digit| {
        number.checked_mul(10)?.checked_add(u16::from(digit - b'0'))
    })
}

fn canonical(parts: Parts) -> Vec<u8> {
    let Parts {
        scheme,
        host,
        port,
        path,
        query,
    } = parts;
    let host = host
        .filter(|host| !host.is_empty())
        .map(|host| canonical_host(&host));
    let is_hosted = host.as_ref().is_some_and(|host| !host.is_empty());
    let path = match path {
        _ if is_hosted => normal_path(&decoded(&path.unwrap_or_default())),
        Some(path) => decoded(&path),
        None => Vec::new(),
    };
    let query = query
        .map(|query| canonical_query(&decoded(&query)))
        .unwrap_or_default();

    let mut key = Vec::with_capacity(path.len() + query.len() + 64);
    match host.filter(|_| is_hosted) {
        Some(host) => {
            let host = if scheme == b"dns" {
                &host[..]
            } else {
                without_www(&host)
            };
            for (place, label) in host.rsplit(|&byte| byte == b'.').enumerate() {
                if place > 0 {
                    key.push(b',');
                }
                key.extend_from_slice(label);
            }
            let default = match scheme.to_ascii_lowercase().as_slice() {
                b"http" => 80,
                b"https" => 443,
                _ => 0,
            };
            if let Some(port) = port.filter(|&port| port != default) {
                key.extend_from_slice(format!(":{port}").as_bytes());
            }
            key.push(b')');
        }
        None => {
            key.extend_from_slice(&scheme);
            key.push(b':');
        }
    }
    let mut path = encoded(&path);
    path.make_ascii_lowercase();
    let mut path = without_path_sessions(path);
    if path.len() > 1 && path.ends_with(b"/") {
        path.pop();
    }
    key.extend_from_slice(&path);
    if !query.is_empty() {
        if path.is_empty() {
            key.push(b'/');
        }
        key.push(b'?');
        key.extend_from_slice(&query);
    }
    key
}

/// Returns the host, lower-cased and escaped once, or its address.
fn canonical_host(host: &[u8]) -> Vec<u8> {
    let mut host = decoded(host);
    if !host.is_ascii()
        && let Some(ascii) = punycode(&host)
    {
        host = ascii;
    }
    let mut single = Vec::with_capacity(host.len());
    let mut bytes = host.iter().peekable();
    while let Some(&byte) = bytes.next() {
        single.push(byte);
        if byte == b'.' && bytes.peek() == Some(&&b'.') {
            bytes.next();
        }
    }
    let trimmed = trim_dots(&single);
    match address(trimmed) {
        Some(address) => address.into_bytes(),
        None => {
            let mut host = encoded(&trimmed.to_ascii_lowercase());
            host.make_ascii_lowercase();
            host
        }
    }
}

fn trim_dots(mut host: &[u8]) -> &[u8] {
    while let Some(shorter) = host.strip_prefix(b".").or_else(|| host.strip_suffix(b".")) {
        host = shorter;
    }
    host
}

/// Converts a host to punycode, if possible. Python maps as IDNA 2003 does: characters that today's
/// rules treat differently are replaced first.
fn punycode(host: &[u8]) -> Option<Vec<u8>> {
    let text: String = String::from_utf8_lossy(host)
        .chars()
        .filter(|letter| !matches!(letter, '\u{fffd}' | '\u{200c}' | '\u{200d}'))
        .collect();
    if text.starts_with('.') || text.contains("..") {
        return None;
    }
    let text = text.replace('ß', "ss").replace('ς', "σ");
    let url = PageUrl::parse(&format!("http://{text}/"), &CanonicalForm::keep_all()).ok()?;
    let host = url.as_str().strip_prefix("http://")?.strip_suffix('/')?;
    Some(host.as_bytes().to_vec())
}

/// Returns a host that is an IPv4 address in any form of `inet_aton`, or a mere number, as four
/// decimal parts.
fn address(host: &[u8]) -> Option<String> {
    if host.is_empty() || !host[0].is_ascii_digit() {
        return None;
    }
    let address = if host.iter().all(u8::is_ascii_digit) {
        // Only the lower four bytes count.
        host.iter().fold(0_u32, |number, digit| {
            number
                .wrapping_mul(10)
                .wrapping_add(u32::from(digit - b'0'))
        })
    } else {
        inet_aton(host)?
    };
    let [a, b, c, d] = address.to_be_bytes();
    Some(format!("{a}.{b}.{c}.{d}"))
}

/// Parses two to four numbers between dots, decimal or with a leading zero octal; the last one
/// fills the remaining bytes.
fn inet_aton(host: &[u8]) -> Option<u32> {
    let parts: Vec<&[u8]> = host.split(|&byte| byte == b'.').collect();
    let (last, bytes) = parts.split_last()?;
    if bytes.len() > 3 {
        return None;
    }
    // For names with an octal first part, surt tries only those whose other parts could be octal,
    // too.
    if parts[0].starts_with(b"0") && !host.iter().all(|byte| matches!(byte, b'0'..=b'7' | b'.')) {
        return None;
    }
    let part = |digits: &[u8]| {
        let radix = if digits.starts_with(b"0") { 8 } else { 10 };
        let text = std::str::from_utf8(digits).ok()?;
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| u32::from_str_radix(text, radix).ok())?
    };
    let mut address = 0;
    for (place, digits) in bytes.iter().enumerate() {
        let byte = part(digits).filter(|&byte| byte < 256)?;
        address |= byte << (24 - 8 * place);
    }
    let room = 32 - 8 * bytes.len();
    let last = part(last).filter(|&last| room == 32 || last >> room == 0)?;
    Some(address | last)
}

fn without_www(host: &[u8]) -> &[u8] {
    let Some(rest) = host.strip_prefix(b"www") else {
        return host;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest[digits..].strip_prefix(b".").unwrap_or(host)
}

/// Resolves `.` and `..` and folds runs of slashes.
fn normal_path(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut normal = vec![b'/'];
    let Some((last, folders)) = kept.split_last() else {
        return normal;
    };
    for folder in folders.iter().filter(|folder| !folder.is_empty()) {
        normal.extend_from_slice(folder);
        normal.push(b'/');
    }
    normal.extend_from_slice(last);
    normal
}

fn canonical_query(decoded: &[u8]) -> Vec<u8> {
    let query = without_query_sessions(encoded(decoded)).to_ascii_lowercase();
    // A parameter without a value sorts before the same one with an empty value.
    let mut parameters: Vec<_> = query
        .split(|&byte| byte == b'&')
        .map(|parameter| split_at(parameter, b"="))
        .collect();
    parameters.sort_unstable();
    let mut sorted = Vec::with_capacity(query.len());
    for (place, (name, value)) in parameters.into_iter().enumerate() {
        if place > 0 {
            sorted.push(b'&');
        }
        sorted.extend_from_slice(name);
        if let Some(value) = value {
            sorted.push(b'=');
            sorted.extend_from_slice(value);
        }
    }
    sorted
}

/// Decodes until no escape is left, in one pass: two escapes never overlap, so their order does not
/// matter.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut decoded: Vec<u8> = Vec::with_capacity(text.len());
    for &byte in text {
        decoded.push(byte);
        while let [.., b'%', high, low] = decoded[..]
            && let (Some(high), Some(low)) =
                ((high as char).to_digit(16), (low as char).to_digit(16))
        {
            decoded.truncate(decoded.len() - 3);
            decoded.push(u8::try_from(high << 4 | low).expect("two hexadecimal digits are a byte"));
        }
    }
    decoded
}

/// Escapes `%`, `#` and everything but printable ASCII.
fn encoded(text: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = Vec::with_capacity(text.len());
    for &byte in text {
        if byte.is_ascii_graphic() && !matches!(byte, b'%' | b'#') {
            encoded.push(byte);
        } else {
            let nibbles = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            encoded.extend_from_slice(&[b'%', nibbles[0], nibbles[1]]);
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_one_that_cdxj_indexer_computes() {
        let golden = include_str!("golden/surt.tsv");
        let mut checked = 0;
        for line in golden.lines().filter(|line| !line.starts_with("# ")) {
            let (url, expected) = line.split_once('\t').unwrap();
            assert_eq!(surt_key(url), expected, "{url}");
            checked += 1;
        }
        assert!(checked > 600);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_key(url in ".{0,60}|https?://[ -~]{0,60}") {
            let key = surt_key(&url);
            proptest::prop_assert!(!key.is_empty());
        }
    }
}
