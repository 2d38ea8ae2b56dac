//! Requests off the wire, within limits, and not a byte more than each (RFC 9112 section 6).

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::http::Request;

/// The longest request head that is read; one byte more is answered with 431.
const MAX_HEAD: usize = 64 * 1024;
/// The most header fields in a request; one more is answered with 431.
const MAX_FIELDS: usize = 100;
/// The longest request body that is read; one byte more is answered with 413.
pub(crate) const MAX_BODY: usize = 1024 * 1024;

/// Returns the next request, with true if the connection continues after it, `Err(status)` for one
/// that is refused, `None` where the client has nothing more to ask.
pub(crate) async fn read_request<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
) -> io::Result<Option<Result<(Request, bool), u16>>> {
    let (head_length, body_length) = loop {
        match measure(buffer) {
            Ok(Some(lengths)) => break lengths,
            Ok(None) if buffer.len() >= MAX_HEAD => return Ok(Some(Err(431))),
            Ok(None) => {}
            Err(refusal) => return Ok(Some(Err(refusal))),
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    while buffer.len() < head_length + body_length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let head = buffer.split_to(head_length).freeze();
    let body = buffer.split_to(body_length).freeze();
    Ok(Some(understand(&head, body)))
}

/// The lengths of head and body of the request at the start of `buffer`, once its head is complete.
fn measure(buffer: &[u8]) -> Result<Option<(usize, usize)>, u16> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let head_length = match parsed.parse(buffer) {
        Ok(httparse::Status::Complete(length)) if length > MAX_HEAD => return Err(431),
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(431),
        Err(_) => return Err(400),
    };
    let mut body_length = 0;
    for field in parsed.headers.iter() {
        if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(501);
        }
        if field.name.eq_ignore_ascii_case("content-length") {
            body_length = std::str::from_utf8(field.value)
                .ok()
                .and_then(|value| value.parse().ok())
                .ok_or(400_u16)?;
        }
    }
    if body_length > MAX_BODY {
        return Err(413);
    }
    Ok(Some((head_length, body_length)))
}

fn understand(head: &Bytes, body: Bytes) -> Result<(Request, bool), u16> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let (Ok(_), Some(method), Some(target)) = (parsed.parse(head), parsed.method, parsed.path)
    else {
        return Err(400);
    };
    let mut keep_alive = parsed.version == Some(1);
    let mut authority = "";
    for field in parsed.headers.iter() {
        let value = std::str::from_utf8(field.value).unwrap_or("");
        if field.name.eq_ignore_ascii_case("host") {
            authority = value;
        } else if field.name.eq_ignore_ascii_case("connection") {
            keep_alive = !value.eq_ignore_ascii_case("close");
        }
    }
    let request = Request::new(method, target, authority, head.clone(), body);
    Ok((request, keep_alive))
}
