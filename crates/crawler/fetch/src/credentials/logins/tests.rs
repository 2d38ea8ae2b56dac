//! The login of each request, after earlier responses of its server.

use std::time::Duration;

use http::header::WWW_AUTHENTICATE;
use web::{Body, CanonicalForm, Protocol, Timestamp};

use super::*;

const BASIC: &str = "Basic dTpw";

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::keep_all()).unwrap()
}

/// A server that answers with these statuses and challenges, and what it was sent.
struct Talk {
    logins: Logins,
    url: PageUrl,
    login: SecretField,
}

impl Talk {
    fn with(url: &str) -> Self {
        Self {
            logins: Logins::new(7),
            url: self::url(url),
            login: SecretField::basic("u:p", None).unwrap().unwrap(),
        }
    }

    /// Sends a request that gets this response. Returns what it carried, and whether it is worth
    /// another one.
    fn request(&self, status: u16, challenge: &str) -> (String, bool) {
        let sent = self.logins.field(&self.url, "GET", &self.login);
        let mut headers = HeaderMap::new();
        if !challenge.is_empty() {
            headers.insert(WWW_AUTHENTICATE, challenge.parse().unwrap());
        }
        let code = StatusCode::from_u16(status).unwrap();
        self.logins.learn(&self.url, sent.as_ref(), code, &headers);
        let refusal = Exchange {
            url: self.url.clone(),
            request_head: Vec::new(),
            status,
            headers,
            body: Body::default(),
            truncated: None,
            warnings: Vec::new(),
            address: None,
            protocol: Protocol::Http11,
            started: Timestamp::default(),
            elapsed: Duration::ZERO,
        };
        let shown = sent.map(|field| {
            assert!(field.is_sensitive());
            let text = field.to_str().unwrap();
            // The hashes are tested with the known answers.
            let of_nonce = |part: &&str| part.starts_with("nonce") || part.starts_with("qop");
            match text.strip_prefix("Digest ") {
                Some(digest) => {
                    let parts: Vec<&str> = digest.split(", ").collect();
                    let count = parts.iter().find(|part| part.starts_with("nc="));
                    let shown: Vec<&str> = parts
                        .iter()
                        .copied()
                        .filter(|part| of_nonce(part))
                        .collect();
                    format!("{} {}", shown.join(" "), count.unwrap_or(&""))
                }
                None => text.to_owned(),
            }
        });
        (shown.unwrap_or_default(), self.logins.can_answer(&refusal))
    }

    fn check(&self, steps: &[(u16, &str, &str, bool)]) {
        for (number, (status, challenge, sent, is_worth_it)) in steps.iter().enumerate() {
            let expected = ((*sent).to_owned(), *is_worth_it);
            let given = self.request(*status, challenge);
            assert_eq!(given, expected, "{} step {number}", self.url);
        }
    }
}

const DIGEST: &str = "Digest realm=r, qop=auth, nonce=one";
const FIRST: &str = "nonce=\"one\" qop=auth nc=00000001";
const SECOND: &str = "nonce=\"one\" qop=auth nc=00000002";

#[test]
fn over_https_basic_is_sent_at_once_and_digest_replaces_it_where_it_is_offered() {
    let basic = Talk::with("https://a.test/");
    basic.check(&[
        (200, "", BASIC, false),
        (401, "Basic realm=r", BASIC, false),
        (401, "Negotiate", BASIC, false),
    ]);
    Talk::with("https://a.test/").check(&[
        (401, &format!("Basic realm=r, {DIGEST}"), BASIC, true),
        (200, "", FIRST, false),
        (200, "", SECOND, false),
    ]);
}

#[test]
fn over_http_nothing_is_sent_before_the_server_asks() {
    Talk::with("http://a.test/").check(&[
        (200, "", "", false),
        (401, "Negotiate", "", false),
        (401, DIGEST, "", true),
        (404, "", FIRST, false),
        (200, "", SECOND, false),
    ]);
    Talk::with("http://a.test/").check(&[
        (401, "Basic realm=r", "", true),
        (200, "", BASIC, false),
        (401, "Basic realm=r", BASIC, false),
        (401, "Basic realm=other", BASIC, false),
    ]);
}

#[test]
fn a_wrong_password_is_sent_once_for_each_page() {
    Talk::with("http://a.test/").check(&[
        (401, DIGEST, "", true),
        (401, DIGEST, FIRST, false),
        (401, DIGEST, FIRST, false),
        // Another realm may know the login.
        (401, "Digest realm=s, nonce=two", FIRST, true),
        (200, "", "nonce=\"two\" ", false),
    ]);
}

#[test]
fn a_nonce_that_is_stale_or_worked_before_is_replaced() {
    Talk::with("http://a.test/").check(&[
        (401, DIGEST, "", true),
        (401, "Digest realm=r, nonce=two, stale=true", FIRST, true),
        (200, "", "nonce=\"two\" ", false),
        (401, "Digest realm=r, nonce=three", "nonce=\"two\" ", true),
        (401, "Digest realm=r, nonce=four", "nonce=\"three\" ", false),
    ]);
}

#[test]
fn an_origin_learns_nothing_from_another() {
    let talk = Talk::with("http://a.test/");
    talk.check(&[(401, "Basic realm=r", "", true)]);
    for other in ["http://a.test:8080/", "http://b.test/"] {
        assert_eq!(talk.logins.field(&url(other), "GET", &talk.login), None);
    }
}
