//! Sort keys of archive indexes: SURT, "sort-friendly URI reordering transform".
//!
//! Replay tools must be able to look up the entries of an index, so a key is computed as in pywb,
//! warcio and the Internet Archive's tools (the `surt` package with its default canonicaliser). The
//! key loses more than [`crate::PageUrl`], in this order:
//!
//! - the host is reversed and joined by commas, without a leading `www.`, `www2.` and so on (pywb
//!   drops it: both names share captures); a port other than the default is kept;
//! - path and query are percent-decoded until no escapes remain, then encoded once; runs of slashes
//!   are folded; everything is in lower case;
//! - old session parameters are dropped, the other parameters sorted by their bytes; there is no
//!   trailing slash and no empty query.
//!
//! As in the `surt` package, the parts of an IPv4 address are reversed like labels, and port 0
//! counts as no port.

use std::sync::LazyLock;

use regex::Regex;
use url::{Host, Url};

use crate::url::canonical::{hex_pair, push_encoded};

/// Returns the key of a canonical URL.
pub(crate) fn key(url: &Url) -> String {
    let mut key = String::with_capacity(url.as_str().len());
    push_host(&mut key, url);
    if let Some(port) = url.port().filter(|port| *port != 0) {
        key.push_str(&format!(":{port}"));
    }
    key.push(')');
    key.push_str(&path_key(url.path()));
    let query = url.query().map(query_key).unwrap_or_default();
    if !query.is_empty() {
        key.push('?');
        key.push_str(&query);
    }
    key
}

fn push_host(key: &mut String, url: &Url) {
    let Some(host) = url.host_str() else {
        return;
    };
    if let Some(Host::Ipv6(_)) = url.host() {
        key.push_str(host.trim_matches(['[', ']']));
        return;
    }
    for (position, label) in without_www(host).rsplit('.').enumerate() {
        if position > 0 {
            key.push(',');
        }
        key.push_str(label);
    }
}

fn without_www(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("www") else {
        return name;
    };
    rest.trim_start_matches(|c: char| c.is_ascii_digit())
        .strip_prefix('.')
        .unwrap_or(name)
}

/// ASP.NET sessions between two slashes, `/(S(4hqa0555fwsecu455xqckv45))/page.aspx`.
static PATH_SESSIONS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    [
        r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$",
        r"^(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$",
    ]
    .map(|pattern| Regex::new(pattern).expect("a fixed pattern, tested below"))
});

/// Session parameters, in the order of removal in the `surt` package: each pattern is applied once,
/// to its last match.
static QUERY_SESSIONS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        r"^(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?$",
        r"^(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?$",
        r"^(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?$",
        r"^(.*)(?:aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?$",
        r"^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$",
    ]
    .map(|pattern| Regex::new(pattern).expect("a fixed pattern, tested below"))
});

fn path_key(path: &str) -> String {
    let decoded = fold_segments(&decode_fully(path));
    let mut key = encode_once(&decoded).to_ascii_lowercase();
    if key.contains(".aspx") {
        key = without_sessions(key, &*PATH_SESSIONS);
    }
    if key.len() > 1 && key.ends_with('/') {
        key.pop();
    }
    key
}

fn query_key(query: &str) -> String {
    let key = encode_once(&decode_fully(query)).to_ascii_lowercase();
    let key = if key.contains("id=") || key.contains("aspsessionid") {
        without_sessions(key, &*QUERY_SESSIONS)
    } else {
        key
    };
    let mut parameters: Vec<_> = key
        .split('&')
        .map(|parameter| split_value(parameter))
        .collect();
    parameters.sort_unstable();
    let parameters: Vec<String> = parameters
        .into_iter()
        .map(|(name, value)| {
            value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}"))
        })
        .collect();
    parameters.join("&")
}

/// Splits a parameter; a parameter without a value sorts before the same name with an empty value.
fn split_value(parameter: &str) -> (&str, Option<&str>) {
    parameter
        .split_once('=')
        .map_or((parameter, None), |(name, value)| (name, Some(value)))
}

fn without_sessions(text: String, sessions: &[Regex]) -> String {
    sessions
        .iter()
        .fold(text, |text, session| match session.captures(&text) {
            Some(parts) => {
                let part = |index| parts.get(index).map_or("", |part| part.as_str());
                format!("{}{}", part(1), part(2))
            }
            None => text,
        })
}

/// Decodes in one pass until no escapes remain: a completed escape always ends at the byte just
/// added.
fn decode_fully(text: &str) -> Vec<u8> {
    let mut decoded: Vec<u8> = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        decoded.push(byte);
        while let Some(escape) = decoded
            .len()
            .checked_sub(3)
            .filter(|&start| decoded[start] == b'%')
        {
            let Some(byte) = hex_pair(&decoded, escape + 1) else {
                break;
            };
            decoded.truncate(escape);
            decoded.push(byte);
        }
    }
    decoded
}

/// Removes `.`, `..` and empty segments that decoding revealed; a last empty segment is kept.
fn fold_segments(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            // Above the root it is kept, as in the `surt` package.
            b".." if kept.is_empty() => kept.push(segment),
            b".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut folded = vec![b'/'];
    let Some((last, others)) = kept.split_last() else {
        return folded;
    };
    for segment in others.iter().filter(|segment| !segment.is_empty()) {
        folded.extend_from_slice(segment);
        folded.push(b'/');
    }
    folded.extend_from_slice(last);
    folded
}

/// Encodes bytes that are not printable ASCII, and `#`, `%` and space.
fn encode_once(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%') {
            text.push(char::from(byte));
        } else {
            push_encoded(&mut text, byte);
        }
    }
    text
}
