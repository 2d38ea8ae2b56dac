//! The key of a response to POST or PUT, which the request extends.
//!
//! Several such requests to one URL have several responses, so replay tools look them up by the URL
//! with `__wb_method=POST` and a query made from the body. The rules are those of cdxj-indexer 1.5
//! with `--post-append` (`postquery.py` and `bufferiter.py`). pywb writes `null` for `None`, 1 for
//! 1.0, and nothing for an empty body.
//!
//! | body | query |
//! |---|---|
//! | `application/x-www-form-urlencoded` | the body, decoded |
//! | `multipart/` | its parts as parameters |
//! | `application/json`; `text/plain` with JSON | its values as parameters, named by the last key |
//! | everything else | `__wb_post_data=` and the body in base 64 |
//!
//! A query has 4,096 characters at most. Request and response are neighbours, and the second names
//! the first. AMF is not decoded, and a request with a transfer coding extends no key.

mod flattened;

use data_encoding::BASE64;
use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode, utf8_percent_encode,
};

use super::warcio_head::WarcioHead;

/// Bytes of a request that are read: its head, and its body.
pub(super) const MAX_REQUEST: usize = 128 << 10;

/// Maximum length of a query, in characters.
const MAX_QUERY: usize = 4096;

/// Maximum length of a body without `Content-Length`, in bytes.
const UNDECLARED: usize = 8192;

/// Characters that Python's `urlencode` escapes, apart from the space.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'_')
    .remove(b'.')
    .remove(b'-')
    .remove(b'~');

/// An addition to the key of a response, made from its request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PostQuery {
    /// The method.
    pub(super) method: String,
    /// The body as a query.
    pub(super) body: String,
}

impl PostQuery {
    /// Returns the addition of a request with its body, of which [`MAX_REQUEST`] bytes are read;
    /// `None` for a method without a body.
    pub(crate) fn of(request: &[u8]) -> Option<Self> {
        let request = &request[..request.len().min(MAX_REQUEST)];
        let method = request.split(u8::is_ascii_whitespace).next()?;
        let method = String::from_utf8_lossy(method).to_ascii_uppercase();
        let head = WarcioHead::of_message(request);
        if !["POST", "PUT"].contains(&method.as_str()) || head.field("transfer-encoding").is_some()
        {
            return None;
        }
        let (_, body) = split(request, b"\r\n\r\n")?;
        let length = match head.field("content-length") {
            Some(length) => length.trim().parse().ok(),
            None => Some(UNDECLARED),
        };
        let media = head.field("content-type").unwrap_or_default();
        let query = length.map(|length| query(&media, &body[..body.len().min(length)]));
        let query = query.unwrap_or_default();
        let body = query.chars().take(MAX_QUERY).collect();
        Some(Self { method, body })
    }

    /// Returns the URL whose key the response has.
    pub(super) fn extended(&self, url: &str) -> String {
        let Self { method, body } = self;
        let joint = if url.contains('?') { '&' } else { '?' };
        let before_body = if body.is_empty() { "" } else { "&" };
        format!("{url}{joint}__wb_method={method}{before_body}{body}")
    }
}

fn query(media: &str, body: &[u8]) -> String {
    let in_base64 = || format!("__wb_post_data={}", BASE64.encode(body));
    if media.starts_with("application/x-www-form-urlencoded") {
        return unquoted(body).unwrap_or_else(in_base64);
    }
    if media.starts_with("multipart/") {
        return of_parts(media, body).unwrap_or_else(in_base64);
    }
    if media.starts_with("application/json") {
        return of_json(body).unwrap_or_default();
    }
    if media.starts_with("text/plain") {
        return of_json(body).unwrap_or_else(in_base64);
    }
    in_base64()
}

/// Decodes a form; `None` unless it is UTF-8.
fn unquoted(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.replace('+', " ");
    let decoded = percent_decode(text.as_bytes()).decode_utf8_lossy();
    Some(decoded.into_owned())
}

/// Returns the parts of a body as parameters; `None` unless all have names.
fn of_parts(media: &str, body: &[u8]) -> Option<String> {
    let (_, boundary) = media.split_once("boundary=")?;
    let delimiter = format!("--{boundary}");
    let (_, mut rest) = split(body, delimiter.as_bytes())?;
    let mut query = String::new();
    loop {
        if rest.starts_with(b"--") {
            return Some(query);
        }
        let (part, behind) = split(rest, format!("\r\n{delimiter}").as_bytes())?;
        let (head, value) = split(part.strip_prefix(b"\r\n")?, b"\r\n\r\n")?;
        let disposition = WarcioHead::of_fields(head).field("content-disposition")?;
        let (_, name) = disposition.split_once("; name=\"")?;
        let (name, _) = name.split_once('"')?;
        push(
            &mut query,
            name,
            &percent_encode(value, ESCAPED).to_string(),
        );
        rest = behind;
    }
}

/// Returns the values of JSON, or of lines of JSON, as parameters. An equal name has a number.
fn of_json(body: &[u8]) -> Option<String> {
    let values = match flattened::values(body) {
        Some(values) => values,
        None if body.contains(&b'\n') => {
            let lines = body.split(|byte| *byte == b'\n').map(flattened::values);
            lines.collect::<Option<Vec<_>>>()?.concat()
        }
        None => return None,
    };
    let mut counts = std::collections::HashMap::<&str, u32>::new();
    let mut query = String::new();
    for (name, value) in &values {
        let count = counts.entry(name).or_default();
        *count += 1;
        let numbered = match count {
            1 => name.clone(),
            count => format!("{name}.{count}_"),
        };
        let value = utf8_percent_encode(value, ESCAPED).to_string();
        push(&mut query, &numbered, &value);
    }
    Some(query)
}

/// Appends a parameter as Python's `urlencode` writes it.
fn push(query: &mut String, name: &str, value: &str) {
    if !query.is_empty() {
        query.push('&');
    }
    let name = utf8_percent_encode(name, ESCAPED).to_string();
    query.push_str(&format!("{name}={value}").replace("%20", "+"));
}

/// Splits bytes at the first place of others.
fn split<'a>(bytes: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let place = bytes.windows(at.len()).position(|window| window == at)?;
    Some((&bytes[..place], &bytes[place + at.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the URL with the addition of a request.
    fn extended(media: &str, length: &str, body: &[u8]) -> String {
        let head = format!("POST / HTTP/1.1\r\nContent-Type: {media}\r\n{length}\r\n\r\n");
        let post = PostQuery::of(&[head.as_bytes(), body].concat()).unwrap();
        post.extended("http://e.com/")
            .replace("http://e.com/?__wb_method=POST", "")
    }

    const FORM: &str = "application/x-www-form-urlencoded";

    /// The values are those of cdxj-indexer's own tests (`test_postappend.py`).
    #[test]
    fn bodies_are_queries_as_in_cdxj_indexer() {
        let parameters = b"foo=bar&dir=%2Fbaz";
        let binary = b"\x816l`L\xa04P\x0e\xe0r\x02\xb5\x89\x19\x00fP\xdb\x0e\xb0\x02,";
        let json = br#"{"a": "b", "c": {"a": 2}, "d": "e"}"#;
        let list = br#"[{"a": "b", "c": {"a": 2}}, {"d": "e"}, "ignored", false, null, 0]"#;
        let lines = b"{\"a\": \"b\"}\n{\"c\": {\"a\": 2}, \"d\": \"e\"}";
        let in_base64 = "&__wb_post_data=Zm9vPWJhciZkaXI9JTJGYmF6";
        for (media, body, expected) in [
            (FORM, &parameters[..], "&foo=bar&dir=/baz"),
            ("application/json", json, "&a=b&a.2_=2&d=e"),
            ("application/json", list, "&a=b&a.2_=2&d=e"),
            ("application/json", lines, "&a=b&a.2_=2&d=e"),
            ("application/octet-stream", parameters, in_base64),
            ("text/plain", parameters, in_base64),
            ("multipart/form-data", parameters, in_base64),
            (
                FORM,
                binary,
                "&__wb_post_data=gTZsYEygNFAO4HICtYkZAGZQ2w6wAiw=",
            ),
        ] {
            let length = format!("Content-Length: {}", body.len());
            assert_eq!(extended(media, &length, body), expected, "{media}");
        }
        for (length, expected) in [
            ("0", ""),
            ("abc", ""),
            ("14", "&foo=bar&dir=%2"),
            ("22", "&foo=bar&dir=/baz"),
        ] {
            let length = format!("Content-Length: {length}");
            assert_eq!(extended(FORM, &length, parameters), expected, "{length}");
        }
    }

    /// Each expected value is the output of cdxj-indexer 1.5.0 for the same request.
    #[test]
    fn odd_bodies_are_queries_as_in_cdxj_indexer() {
        let parts = "--XX\r\nContent-Disposition: form-data; name=\"a b\"\r\n\r\nsome data^\r\n\
                     --XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n\"\r\n\
                     Content-Type: text/x\r\n\r\n\u{e9}\r\n--XX--\r\n";
        for (media, body, expected) in [
            (
                "multipart/form-data; boundary=XX",
                parts,
                "&a+b=some+data%5E&f=%C3%A9",
            ),
            (
                "application/json",
                r#"{"b": [1, 1.0, 1e22, 1e-7, -2.50]}"#,
                "&b=1&b.2_=1.0&b.3_=1e%2B22&b.4_=1e-07&b.5_=-2.5",
            ),
            (
                "application/json",
                r#"{"a": null, "b": true, "c": [false], "d": ""}"#,
                "&a=None&b=True&c=False&d=",
            ),
            (
                "application/json",
                "{\"\u{e9}\": \"\u{1f600} /\"}",
                "&%C3%A9=%F0%9F%98%80+%2F",
            ),
            ("application/json", "not", ""),
            ("text/plain;charset=UTF-8", "{\"a\": 1}", "&a=1"),
            ("text/plain", "{\"a\": 1}\n", "&a=1"),
            ("text/plain", "{}\n{", "&__wb_post_data=e30Kew=="),
            (FORM, "a=b+c%20d%ff", "&a=b c d\u{fffd}"),
            ("", "", "&__wb_post_data="),
        ] {
            let length = format!("Content-Length: {}", body.len());
            assert_eq!(
                extended(media, &length, body.as_bytes()),
                expected,
                "{media} {body}"
            );
        }
    }

    #[test]
    fn only_bodies_that_a_key_can_have_extend_one() {
        assert_eq!(PostQuery::of(b"GET / HTTP/1.1\r\n\r\n"), None);
        assert_eq!(PostQuery::of(b"POST / HTTP/1.1\r\n"), None);
        let chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
        assert_eq!(PostQuery::of(chunked), None);
        let long = format!("Content-Length: {}", 2 * MAX_QUERY);
        let query = extended(FORM, &long, "\u{e9}".repeat(MAX_QUERY).as_bytes());
        assert_eq!(query.chars().count(), 1 + MAX_QUERY);
        let post = PostQuery::of(b"PUT / HTTP/1.1\r\nContent-Length: 0\r\n\r\n").unwrap();
        let url = post.extended("http://e.com/?a");
        assert_eq!(url, "http://e.com/?a&__wb_method=PUT&__wb_post_data=");
    }
}
