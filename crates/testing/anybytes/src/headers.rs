//! Header fields, and bodies coded as they say.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use web::{CanonicalForm, Exchange, Protocol, ReadLimits, ResponseMetadata, Timestamp, Validators};

use crate::base::split;

/// The maximum number of decoded bytes.
const CAP: u64 = 1 << 16;
const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// Reads the first line as a status, the lines up to an empty one as fields, the rest as the body.
pub fn headers(bytes: &[u8]) {
    let (head, body) = split(bytes, b"\n\n");
    let exchange = exchange(head, body);

    let decoded = web::decode(&exchange.headers, &exchange.body, CAP);
    assert!(decoded.bytes.len() as u64 <= CAP);
    let again = web::decode(&exchange.headers, &exchange.body, CAP / 2);
    assert!(again.bytes.len() as u64 <= CAP / 2);
    assert!(
        decoded.bytes.starts_with(&again.bytes),
        "a lower cap reads the beginning of the same"
    );

    let values = exchange.headers.values();
    for value in values.filter_map(|value| value.to_str().ok()) {
        let _wait = requests::retry_after(value, NOW);
        let media = web::essence(value);
        assert_eq!(web::essence(&media), media);
    }
    if let Some(location) = exchange.location() {
        let form = CanonicalForm::default();
        if let Ok(target) = exchange.url.join(&location, &form) {
            crate::url::is_canonical(&target, &form);
        }
    }
    assert!(Validators::of(&exchange).is_empty() || !exchange.headers.is_empty());

    let values = |name| -> Vec<String> {
        let values = exchange.headers.get_all(name).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect()
    };
    let (tags, links) = (values("x-robots-tag"), values("link"));
    let content_type = exchange.content_type();
    let metadata = ResponseMetadata {
        content_type: content_type.as_deref(),
        x_robots_tag: &tags.iter().map(String::as_str).collect::<Vec<_>>(),
        link: &links.iter().map(String::as_str).collect::<Vec<_>>(),
        content_location: exchange.header("content-location"),
        refresh: exchange.header("refresh"),
        agent: "crawler",
        ..ResponseMetadata::of(&exchange.url)
    };
    let document = web::read(
        &decoded.bytes,
        &metadata,
        &CanonicalForm::default(),
        &ReadLimits::default(),
    );
    crate::html::check_document(&document, &ReadLimits::default(), &exchange.url);
}

fn exchange(head: &[u8], body: &[u8]) -> Exchange {
    let (status, fields) = split(head, b"\n");
    let mut headers = HeaderMap::new();
    for line in fields.split(|&byte| byte == b'\n').take(64) {
        let (name, value) = split(line, b":");
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name),
            HeaderValue::from_bytes(value.trim_ascii()),
        ) {
            headers.append(name, value);
        }
    }
    let status = std::str::from_utf8(status)
        .ok()
        .and_then(|status| status.parse().ok());
    Exchange {
        url: crate::base::page(),
        request_head: Vec::new(),
        status: status.unwrap_or(301),
        headers,
        body: Bytes::copy_from_slice(body).into(),
        truncated: None,
        warnings: Vec::new(),
        address: Some(SocketAddr::from(([192, 0, 2, 1], 443))),
        protocol: Protocol::Http11,
        started: NOW,
        elapsed: Duration::ZERO,
    }
}
