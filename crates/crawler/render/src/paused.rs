//! Requests that the browser holds for us, and our answers in its words.

use bytes::Bytes;
use data_encoding::BASE64;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};

use crate::seam::{BrowserAnswer, BrowserRequest, RequestKind};

/// Headers that describe the transfer of a body, not the body that we hand over.
const OF_THE_TRANSFER: [&str; 4] = [
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "connection",
];

/// A request that the browser holds until it is answered.
#[derive(Debug)]
pub(crate) struct Paused {
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) frame: String,
    pub(crate) is_document: bool,
    pub(crate) request: BrowserRequest,
}

/// Reads the event `Fetch.requestPaused`.
pub(crate) fn read(params: &Value, session: &str) -> Option<Paused> {
    let request = &params["request"];
    let resource = params["resourceType"].as_str().unwrap_or_default();
    let headers = headers(&request["headers"]);
    Some(Paused {
        id: params["requestId"].as_str()?.to_owned(),
        session: session.to_owned(),
        frame: params["frameId"].as_str().unwrap_or_default().to_owned(),
        is_document: resource == "Document",
        request: BrowserRequest {
            url: request["url"].as_str()?.to_owned(),
            method: Method::from_bytes(request["method"].as_str()?.as_bytes()).ok()?,
            kind: kind(resource, &headers),
            headers,
            body: body(request),
        },
    })
}

fn kind(resource: &str, headers: &HeaderMap) -> RequestKind {
    match resource {
        "Other" if is_of_worker(headers) => RequestKind::Script,
        "Document" => RequestKind::Frame,
        "Script" => RequestKind::Script,
        "Stylesheet" => RequestKind::Style,
        "Font" => RequestKind::Font,
        "Image" => RequestKind::Image,
        "Media" | "TextTrack" => RequestKind::Media,
        "XHR" | "Fetch" | "EventSource" | "Preflight" => RequestKind::Data,
        _ => RequestKind::Other,
    }
}

/// Returns true for the script of a worker. Chromium gives it no type of its own, and sends only
/// `Accept: */*` and the referrer; an icon accepts pictures, a prefetch has a purpose. The script
/// of a service worker is marked, and not run: it would stand between the page and the crawler.
fn is_of_worker(headers: &HeaderMap) -> bool {
    let accepts_all = headers.get("accept").is_some_and(|accept| accept == "*/*");
    let marks = ["service-worker", "purpose", "sec-purpose", "user-agent"];
    accepts_all && !marks.iter().any(|mark| headers.contains_key(*mark))
}

/// Returns the headers that are valid; scripts can make others.
fn headers(object: &Value) -> HeaderMap {
    let pairs = object.as_object().into_iter().flatten();
    pairs
        .filter_map(|(name, value)| {
            let name = HeaderName::try_from(name.as_str()).ok()?;
            Some((name, HeaderValue::from_str(value.as_str()?).ok()?))
        })
        .collect()
}

/// Returns the body; `None` if a part of it is missing, such as a stream.
fn body(request: &Value) -> Option<Bytes> {
    if let Some(entries) = request["postDataEntries"].as_array() {
        let part = |entry: &Value| BASE64.decode(entry["bytes"].as_str()?.as_bytes()).ok();
        let parts: Option<Vec<_>> = entries.iter().map(part).collect();
        return Some(parts?.concat().into());
    }
    match request["postData"].as_str() {
        Some(text) => Some(Bytes::copy_from_slice(text.as_bytes())),
        None => (request["hasPostData"] != true).then(Bytes::new),
    }
}

/// Returns the method and parameters that answer the request `id`.
pub(crate) fn answer(id: &str, answer: &BrowserAnswer) -> (&'static str, Value) {
    match answer {
        BrowserAnswer::Response {
            status,
            headers,
            body,
        } => ("Fetch.fulfillRequest", response(id, *status, headers, body)),
        BrowserAnswer::Refused(_) => fail(id, "BlockedByClient"),
        BrowserAnswer::Failed(_) => fail(id, "Failed"),
    }
}

/// Returns the method and parameters that fail the request `id` with an error of the browser.
pub(crate) fn fail(id: &str, error: &str) -> (&'static str, Value) {
    (
        "Fetch.failRequest",
        json!({ "requestId": id, "errorReason": error }),
    )
}

/// Returns the parameters of `Fetch.fulfillRequest`.
pub(crate) fn response(id: &str, status: u16, headers: &HeaderMap, body: &[u8]) -> Value {
    let kept = headers
        .iter()
        .filter(|(name, _)| !OF_THE_TRANSFER.contains(&name.as_str()));
    let pairs: Vec<Value> = kept
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            json!({ "name": name.as_str(), "value": value })
        })
        .collect();
    json!({
        "requestId": id,
        "responseCode": status,
        "responseHeaders": pairs,
        "body": BASE64.encode(body),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_method_headers_body_and_purpose() {
        let params = json!({
            "requestId": "1", "frameId": "F", "resourceType": "XHR",
            "request": {
                "url": "https://a.test/x", "method": "POST",
                "headers": { "Accept": "*/*", "b\u{e9}d": "x" },
                "postDataEntries": [{ "bytes": "cT0=" }, { "bytes": "MQ==" }],
            },
        });
        let paused = read(&params, "s").unwrap();
        assert_eq!(paused.request.kind, RequestKind::Data);
        assert_eq!(paused.request.method, Method::POST);
        assert_eq!(paused.request.headers.len(), 1);
        assert_eq!(paused.request.body.as_deref(), Some(&b"q=1"[..]));
        assert!(!paused.is_document);
    }

    #[test]
    fn a_body_with_a_missing_part_is_not_known() {
        for (request, expected) in [
            (json!({}), Some("")),
            (json!({ "postData": "a" }), Some("a")),
            (json!({ "hasPostData": true }), None),
            (
                json!({ "hasPostData": true, "postDataEntries": [{ "bytes": "YQ==" }, {}] }),
                None,
            ),
        ] {
            let body = body(&request);
            let expected = expected.map(str::as_bytes);
            assert_eq!(body.as_deref(), expected, "{request}");
        }
    }

    #[test]
    fn a_response_keeps_its_policy_and_loses_its_coding() {
        let mut headers = HeaderMap::new();
        headers.insert("content-encoding", HeaderValue::from_static("br"));
        headers.insert(
            "content-security-policy",
            HeaderValue::from_static("default-src 'self'"),
        );
        let text = response("1", 200, &headers, b"x").to_string();
        assert!(
            text.contains("content-security-policy") && !text.contains("\"br\""),
            "{text}"
        );
    }

    #[test]
    fn a_refusal_is_told_to_the_browser_as_blocked() {
        let (method, params) = answer("1", &BrowserAnswer::Refused("robots.txt".to_owned()));
        assert_eq!(method, "Fetch.failRequest");
        assert_eq!(params["errorReason"], "BlockedByClient");
    }
}
