//! The blocks of `request` and `response` records: HTTP messages as HTTP/1.1 writes them (sections
//! 6.3.2, 6.5.2).
//!
//! An HTTP/2 response gets an HTTP/1.1 status line, since replay tools read that; `WARC-Protocol`
//! has the real protocol. The payload is kept as received but for its transfer coding, so fields
//! that would make a reader decode chunks, or expect another length, are renamed, never dropped.

use std::io::Write as _;

use http::StatusCode;
use http::header::{CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING};
use web::{Exchange, Protocol};

/// The prefix of renamed fields.
pub(super) const RENAMED: &str = "x-crawler-";

/// Returns the status line, header fields and empty line of a response.
pub(super) fn response_head(exchange: &Exchange) -> Vec<u8> {
    let version = match exchange.protocol {
        Protocol::Http10 => "HTTP/1.0",
        Protocol::Http11 | Protocol::Http2 => "HTTP/1.1",
    };
    let code = exchange.status;
    let status = StatusCode::from_u16(code).ok();
    let reason = status.and_then(|status| status.canonical_reason());
    let mut head = Vec::with_capacity(1024);
    write!(
        head,
        "{version} {code:03} {}\r\n",
        reason.unwrap_or_default()
    )
    .expect("a vector takes every byte");
    for (name, value) in &exchange.headers {
        let value = value.as_bytes();
        if misleads(name, value, exchange.body.len()) {
            head.extend_from_slice(RENAMED.as_bytes());
        }
        push_line(&mut head, name.as_str(), value);
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Returns true if a reader that trusts this field would not find the kept payload of `length`
/// bytes.
fn misleads(name: &HeaderName, value: &[u8], length: u64) -> bool {
    match *name {
        TRANSFER_ENCODING => true,
        CONTENT_LENGTH => value.trim_ascii() != length.to_string().as_bytes(),
        _ => false,
    }
}

/// Appends a header field as received. `http` allows no line break in a value; should one occur, it
/// must not end the line here.
fn push_line(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    head.extend_from_slice(name.as_bytes());
    head.extend_from_slice(b": ");
    head.extend(value.iter().map(|&byte| match byte {
        b'\r' | b'\n' | 0 => b' ',
        byte => byte,
    }));
    head.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_in_a_value_does_not_end_the_line() {
        let mut head = Vec::new();
        push_line(&mut head, "x-evil", b"a\r\nset-cookie: b\0\xff\x80\tc");
        assert_eq!(head, b"x-evil: a  set-cookie: b \xff\x80\tc\r\n");
    }
}
