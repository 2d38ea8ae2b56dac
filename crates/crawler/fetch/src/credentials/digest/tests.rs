//! Known answers of RFC 7616 and RFC 2069, and challenges as servers write them.

use proptest::prelude::*;

use super::*;

fn offer(fields: &[&str]) -> Option<Offer> {
    let values = fields.iter().map(|field| {
        let value = HeaderValue::from_bytes(field.as_bytes()).unwrap();
        (WWW_AUTHENTICATE, value)
    });
    Offer::of(&values.collect())
}

fn challenge(field: &str) -> DigestChallenge {
    match offer(&[field]) {
        Some(Offer::Digest(challenge)) => challenge,
        other => panic!("{field}: {other:?}"),
    }
}

fn login(user: &str, password: &str) -> Login {
    let (user, password) = (user.to_owned(), password.to_owned());
    Login { user, password }
}

/// Returns a parameter of an answer.
fn parameter(answer: &HeaderValue, name: &str) -> Option<String> {
    let mut words = words(answer).into_iter();
    let found = words.find(|(word, value)| word == name && value.is_some());
    found.and_then(|(_, value)| value)
}

fn answer(challenge: &str, login: &Login, target: &str, client_nonce: &str) -> HeaderValue {
    let of = AnswerOf {
        method: "GET",
        target,
        count: 1,
        client_nonce,
    };
    self::challenge(challenge).answer(login, of).unwrap()
}

/// Section 3.9.1: one request, MD5 and SHA-256.
#[test]
fn the_examples_of_rfc_7616_have_the_responses_of_the_rfc() {
    let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
    for (algorithm, response) in [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        (
            "SHA-256",
            "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
        ),
    ] {
        let field = format!(
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
             algorithm={algorithm}, nonce=\"{nonce}\", \
             opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        );
        let answer = answer(
            &field,
            &login("Mufasa", "Circle of Life"),
            "/dir/index.html",
            "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
        );
        for (name, expected) in [
            ("username", "Mufasa"),
            ("realm", "http-auth@example.org"),
            ("uri", "/dir/index.html"),
            ("algorithm", algorithm),
            ("nonce", nonce),
            ("nc", "00000001"),
            ("qop", "auth"),
            ("response", response),
            ("opaque", "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"),
        ] {
            assert_eq!(
                parameter(&answer, name).as_deref(),
                Some(expected),
                "{name}"
            );
        }
        assert_eq!(parameter(&answer, "userhash"), None);
        assert!(answer.is_sensitive());
    }
}

/// Section 3.9.2, with the values of Python's hashlib: the RFC truncated SHA-512 there (erratum
/// 4897), and SHA-512/256 has an initial state of its own (FIPS 180-4 section 5.3.6).
#[test]
fn user_and_password_in_utf_8_and_a_hashed_user_are_answered() {
    let field = "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, \
                 nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", \
                 opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\", charset=UTF-8, \
                 userhash=true";
    let answer = answer(
        field,
        &login("J\u{e4}s\u{f8}n Doe", "Secret, or not?"),
        "/doe.json",
        "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm",
    );
    for (name, expected) in [
        (
            "username",
            "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b",
        ),
        (
            "response",
            "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c",
        ),
        ("userhash", "true"),
    ] {
        assert_eq!(
            parameter(&answer, name).as_deref(),
            Some(expected),
            "{name}"
        );
    }
}

/// RFC 2069 section 2.4, corrected by its erratum 749, and RFC 2617 section 3.5.
#[test]
fn a_challenge_without_qop_is_answered_as_rfc_2069_has_it() {
    let field = "Digest realm=\"testrealm@host.com\", \
                 nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", \
                 opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"";
    let target = "/dir/index.html";
    let old = answer(field, &login("Mufasa", "CircleOfLife"), target, "0a4f113b");
    let response = parameter(&old, "response");
    assert_eq!(
        response.as_deref(),
        Some("1949323746fe6a43ef61f9606e7febea")
    );
    for name in ["qop", "nc", "cnonce", "algorithm"] {
        assert_eq!(parameter(&old, name), None, "{name}");
    }
    let field = format!("{field}, qop=auth");
    let new = answer(
        &field,
        &login("Mufasa", "Circle Of Life"),
        target,
        "0a4f113b",
    );
    let response = parameter(&new, "response");
    assert_eq!(
        response.as_deref(),
        Some("6629fae49393a05397450978507c4ef1")
    );
}

#[test]
fn a_session_hashes_the_nonces_into_the_login() {
    for (algorithm, hash) in [("MD5-sess", Hash::Md5), ("SHA-256-sess", Hash::Sha256)] {
        let field = format!("Digest realm=r, nonce=n, qop=auth, algorithm={algorithm}");
        let answer = answer(&field, &login("u", "p"), "/", "c");
        let of_login = hash.hex(&format!("{}:n:c", hash.hex("u:r:p")));
        let expected = format!("{of_login}:n:00000001:c:auth:{}", hash.hex("GET:/"));
        let response = parameter(&answer, "response");
        assert_eq!(response, Some(hash.hex(&expected)), "{algorithm}");
    }
}

#[test]
fn the_first_digest_that_is_known_is_chosen_and_basic_only_without_one() {
    let digest = "Digest realm=\"a, \\\"b\\\"\", nonce=\"n\"";
    for (fields, expected) in [
        (&["Basic realm=\"x\""][..], Some("Basic x")),
        (&["Basic"], Some("Basic ")),
        (&["Negotiate", "NTLM abc=="], None),
        (&[], None),
        (&[""], None),
        (&["Digest"], None),
        (&["Digest realm=\"x\", qop=\"auth-int\", nonce=1"], None),
        (&["Digest realm=x, nonce=1, algorithm=SHA-1"], None),
        (
            &["Digest realm=x, nonce=1, algorithm=SHA-1, Basic realm=y"],
            Some("Basic y"),
        ),
        (&["Basic realm=y", digest], Some("Md5 a, \"b\"")),
        (
            &["Negotiate YII==, Basic realm=y, DIGEST realm=z,nonce=1"],
            Some("Md5 z"),
        ),
        (
            &["Digest realm=s, nonce=1, algorithm=sha-256, Digest realm=m, nonce=1"],
            Some("Sha256 s"),
        ),
        (&["Digest realm = \"s\" , nonce=\"open"], Some("Md5 s")),
    ] {
        let shown = offer(fields).map(|offer| match &offer {
            Offer::Basic(realm) => format!("Basic {realm}"),
            Offer::Digest(challenge) => format!("{:?} {}", challenge.hash, offer.realm()),
        });
        assert_eq!(shown.as_deref(), expected, "{fields:?}");
    }
    assert!(challenge(&format!("{digest}, stale=TRUE")).is_stale);
    assert!(!challenge(digest).is_stale);
}

proptest! {
    /// Servers send anything; an answer is one line, and its strings mean what they were.
    #[test]
    fn any_challenge_is_read_and_what_is_answered_is_read_back(
        realm in "[ -~]{0,20}",
        nonce in "[ -~]{0,20}",
        user in "[ -9;-~\u{a1}-\u{17f}]{0,20}",
        noise in "[\t -~]{0,40}",
    ) {
        let field = format!("Digest realm={}, nonce={}, qop=auth", quoted(&realm), quoted(&nonce));
        let answer = answer(&field, &login(&user, "p"), "/x?\"y\"", "c");
        for (name, expected) in [("realm", &realm), ("nonce", &nonce), ("username", &user)] {
            prop_assert_eq!(parameter(&answer, name), Some(expected.clone()));
        }
        let _any = offer(&[&noise]);
    }
}
