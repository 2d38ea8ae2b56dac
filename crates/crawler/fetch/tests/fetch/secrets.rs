//! Credentials on the wire, and the part of them that archives get.

use std::sync::Arc;

use fetch::{Fetch, FetchOptions, HttpFetch, Secrets, read_cookies};
use requests::SecretField;
use web::{Clock, Timestamp};

use crate::server::Server;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const ASKS: &str = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                    Content-Length: 5\r\n\r\nhello";

#[tokio::test]
async fn secrets_are_sent_to_their_origin_and_archives_get_their_names_only() {
    let (own, other) = (Server::answering(ASKS).await, Server::answering(OK).await);
    let fields = vec![
        SecretField::parse("X-Token: SECRET1").unwrap(),
        SecretField::basic("u:SECRET2", None).unwrap().unwrap(),
        SecretField::parse("Accept: text/secret").unwrap(),
    ];
    let cookies = read_cookies(b"127.0.0.1\tFALSE\t/\tFALSE\t0\tid\tSECRET3").cookies;
    let secrets = Secrets::new(fields, cookies, &[own.url("/seed")]);
    let options = FetchOptions {
        allow_private: true,
        secrets: Arc::new(secrets),
        ..FetchOptions::new("crawler/0.1", Clock::fixed(Timestamp::from_millis(1)))
    };
    let fetch = HttpFetch::new(options).unwrap();
    // Over http, the login waits for the question.
    let question = fetch.fetch(&own.url("/x")).await.unwrap();
    assert!(fetch.can_log_in(&question));
    let refusal = fetch.fetch(&own.url("/x")).await.unwrap();
    assert!(!fetch.can_log_in(&refusal));
    let kept = refusal.request_head;
    let kept_of_other = fetch.fetch(&other.url("/x")).await.unwrap().request_head;

    let head = |server: &Server, accept: &str, rest: &str| {
        let address = server.address;
        format!(
            "GET /x HTTP/1.1\r\nhost: {address}\r\nuser-agent: crawler/0.1\r\naccept: {accept}\r\n\
             accept-encoding: gzip, deflate, br, zstd\r\n{rest}\r\n"
        )
    };
    let said = "x-token: SECRET1\r\ncookie: id=SECRET3\r\n";
    let with_login = format!("{said}authorization: Basic dTpTRUNSRVQy\r\n");
    let sent = [said, &with_login].map(|rest| head(&own, "text/secret", rest));
    assert_eq!(own.heads(), sent);
    let fields = "x-token: [not kept]\r\ncookie: [not kept]\r\nauthorization: [not kept]\r\n";
    assert_eq!(
        String::from_utf8(kept).unwrap(),
        head(&own, "[not kept]", fields)
    );

    let plain = head(&other, "text/html,application/xhtml+xml,*/*;q=0.8", "");
    assert_eq!(other.heads(), std::slice::from_ref(&plain));
    assert_eq!(String::from_utf8(kept_of_other).unwrap(), plain);
}
