//! The end of a body: `Content-Length` and `Transfer-Encoding`, settled so that one rule is left
//! (RFC 9112 section 6.3).
//!
//! Fields that contradict each other or mean nothing are removed: without any, the body ends with
//! the connection.

use std::borrow::Cow;

use web::Warning;

/// A field of a head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: Cow<'a, [u8]>,
}

/// The part of the content that has come after a head.
pub(crate) struct Content<'a> {
    pub(crate) begins_with: &'a [u8],
    pub(crate) has_ended: bool,
}

/// Settles the fields of a response of HTTP/1.`minor_version`, and returns the minor version that
/// it is read in; `None` if the decision needs more of the content.
pub(crate) fn settle(
    fields: &mut Vec<Field<'_>>,
    minor_version: u8,
    content: &Content<'_>,
    warnings: &mut Vec<Warning>,
) -> Option<u8> {
    let codings = codings(fields);
    if codings.is_empty() {
        settle_length(fields, warnings);
        return Some(minor_version);
    }
    let mut is_chunked = codings.iter().any(|coding| coding == "chunked");
    if codings != ["chunked"] {
        warnings.push(Warning::TransferEncoding);
    }
    if is_chunked && minor_version == 0 {
        // Section 6.1: faulty. Browsers do not expect chunks there, curl does: the content decides.
        warnings.push(Warning::TransferEncoding);
        is_chunked = begins_a_chunk(content)?;
    }
    remove(fields, b"transfer-encoding");
    if let Some(packed) = codings.iter().find(|coding| is_compression(coding)) {
        // We asked for no such transfer coding; readers of the archive know content codings.
        if !fields
            .iter()
            .any(|field| is_named(field, b"content-encoding"))
        {
            fields.push(field("content-encoding", packed.clone()));
        }
    }
    if is_chunked {
        if remove(fields, b"content-length") {
            warnings.push(Warning::ContentLength);
        }
        fields.push(field("transfer-encoding", "chunked".to_owned()));
        return Some(1);
    }
    settle_length(fields, warnings);
    Some(minor_version)
}

/// Returns true if settled fields announce chunks.
pub(crate) fn is_chunked(fields: &[Field<'_>]) -> bool {
    fields
        .iter()
        .any(|field| is_named(field, b"transfer-encoding"))
}

/// Returns all transfer codings, in lower case and without parameters.
fn codings(fields: &[Field<'_>]) -> Vec<String> {
    let values = values(fields, b"transfer-encoding");
    let names = values.iter().map(|value| match value.split_once(';') {
        Some((name, _parameters)) => name.trim().to_owned(),
        None => value.clone(),
    });
    names.collect()
}

/// Leaves one `Content-Length`, or none if its value is not a number. If several differ, the
/// greatest counts: received bytes are kept even if they are fewer.
fn settle_length(fields: &mut Vec<Field<'_>>, warnings: &mut Vec<Warning>) {
    let values = values(fields, b"content-length");
    let is_field = fields
        .iter()
        .filter(|field| is_named(field, b"content-length"));
    if is_field.count() == 1 && values.len() == 1 && is_number(&values[0]) {
        return;
    }
    if !remove(fields, b"content-length") {
        return;
    }
    let lengths: Option<Vec<u64>> = values
        .iter()
        .map(|value| value.parse().ok().filter(|_| is_number(value)))
        .collect();
    let greatest = lengths.as_ref().and_then(|lengths| lengths.iter().max());
    let differ = lengths
        .as_ref()
        .is_none_or(|lengths| lengths.iter().any(|length| Some(length) != greatest));
    if differ || greatest.is_none() {
        warnings.push(Warning::ContentLength);
    }
    if let Some(greatest) = greatest {
        fields.push(field("content-length", greatest.to_string()));
    }
}

/// Returns true for digits that are an `i64`, as in browsers. The engine refuses the two greatest
/// `u64`, which it keeps for other kinds of bodies.
fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit()) && value.parse::<i64>().is_ok()
}

/// Returns true if the content begins with the size of a chunk, `None` if it may.
fn begins_a_chunk(content: &Content<'_>) -> Option<bool> {
    let bytes = content.begins_with;
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    match bytes.get(digits) {
        None if content.has_ended => Some(false),
        None if digits <= 16 => None,
        None => Some(false),
        Some(next) => Some(digits > 0 && matches!(next, b'\r' | b'\n' | b';' | b' ' | b'\t')),
    }
}

fn is_compression(coding: &str) -> bool {
    matches!(coding, "gzip" | "x-gzip" | "deflate" | "br" | "zstd")
}

/// Returns the elements of all fields of this name, in lower case.
fn values(fields: &[Field<'_>], name: &[u8]) -> Vec<String> {
    let mut values = Vec::new();
    for field in fields.iter().filter(|field| is_named(field, name)) {
        let value = String::from_utf8_lossy(&field.value).to_ascii_lowercase();
        values.extend(value.split(',').map(|value| value.trim().to_owned()));
    }
    values
}

/// Removes all fields of this name; returns true if there were any.
fn remove(fields: &mut Vec<Field<'_>>, name: &[u8]) -> bool {
    let before = fields.len();
    fields.retain(|field| !is_named(field, name));
    fields.len() < before
}

fn is_named(field: &Field<'_>, name: &[u8]) -> bool {
    field.name.eq_ignore_ascii_case(name)
}

fn field(name: &'static str, value: String) -> Field<'static> {
    Field {
        name: name.as_bytes(),
        value: value.into_bytes().into(),
    }
}
