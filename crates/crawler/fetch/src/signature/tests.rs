use proptest::prelude::*;
use ring::signature::{ED25519, UnparsedPublicKey};
use web::CanonicalForm;

use super::*;
use crate::signature::key::{key_directory, new_pem};

/// The test key of RFC 9421, appendix B.1.4.
const PEM: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
";
const KEY_ID: &str = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";
const X: &str = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs";

fn key() -> SigningKey {
    SigningKey::from_pem(PEM.as_bytes()).expect("the key of the RFC")
}

fn agent(url: &str) -> SignatureAgent {
    SignatureAgent::parse(url).expect("an https URL")
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::keep_all()).expect("a URL")
}

/// Returns true if the three fields are a valid signature of a request to `authority`, by the
/// steps of RFC 9421, section 3.2.
fn verifies(headers: &HeaderMap, authority: &str, public: &[u8]) -> bool {
    let text = |name: &HeaderName| headers[name].to_str().expect("ASCII").to_owned();
    let after = |text: &str, start: &str| text.strip_prefix(start).expect(start).to_owned();
    let input = after(&text(&SIGNATURE_INPUT), "sig1=");
    let member = after(&text(&SIGNATURE_AGENT), "sig1=");
    let signature = after(&text(&SIGNATURE), "sig1=:");
    let base = format!(
        "\"@authority\": {authority}\n\"signature-agent\";key=\"sig1\": {member}\n\
         \"@signature-params\": {input}"
    );
    let signature = BASE64.decode(signature.trim_end_matches(':').as_bytes());
    let key = UnparsedPublicKey::new(&ED25519, public);
    let signature = signature.expect("base 64");
    key.verify(base.as_bytes(), &signature).is_ok()
}

/// RFC 9421, appendix B.2.6.
#[test]
fn the_signature_of_the_rfc_is_reproduced() {
    let base = "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\
        \"@authority\": example.com\n\"content-type\": application/json\n\
        \"content-length\": 18\n\
        \"@signature-params\": (\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \
        \"content-length\");created=1618884473;keyid=\"test-key-ed25519\"";
    let expected = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5l\
        Ip5WPpBKRCw==";
    assert_eq!(key().sign(base.as_bytes()), expected);
}

/// Appendix E.2.1 of draft-ietf-webbotauth-httpsig-protocol-01.
#[test]
fn the_signed_request_of_the_draft_is_reproduced() {
    let nonce = "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1Ys\
        auiA==";
    let nonce = BASE64.decode(nonce.as_bytes()).expect("base 64");
    let period = Period {
        created: 1_735_689_600,
        expires: 4_889_289_600,
    };
    let signer = RequestSigner::new(key(), agent("https://signature-agent.test"), 0);
    let [agent, input, signature] = signer.fields("sig2", "example.com", period, &nonce);
    assert_eq!(agent, "sig2=\"https://signature-agent.test\"");
    let start = format!(
        "sig2=(\"@authority\" \"signature-agent\";key=\"sig2\");created=1735689600\
         ;keyid=\"{KEY_ID}\";alg=\"ed25519\";expires=4889289600;nonce=\"n9p433xm"
    );
    assert!(input.starts_with(&start), "{input}");
    assert!(input.ends_with("iA==\";tag=\"web-bot-auth\""), "{input}");
    assert_eq!(
        signature,
        "sig2=:CGokAoY/FrPpyuzTe1Fb2kLTAH9Idw6qSFd1+D77r1firsMRCxeuLu5e6O+ek3zQgDMAzjiXtLVfqE00xn\
         ABCQ==:"
    );
}

/// Appendix E.2.3 of the same draft.
#[test]
fn the_signed_directory_of_the_draft_is_reproduced() {
    let body = key_directory(&[key()]);
    let expected = format!(
        "{{\"keys\":[{{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"{KEY_ID}\",\"x\":\"{X}\",\
         \"use\":\"sig\"}}]}}"
    );
    assert_eq!(body, expected);
    let created = Timestamp::from_millis(1_735_689_600_000);
    let lifetime = Duration::from_secs(4_889_289_600 - 1_735_689_600);
    let agent = agent("https://signature-agent.test");
    let [digest, input, signature] = directory_fields(&[key()], &body, &agent, created, lifetime);
    assert_eq!(
        digest.1,
        "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
    );
    assert!(input.1.ends_with(
        ";created=1735689600;expires=4889289600;keyid=\"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0\
         U\";tag=\"http-message-signatures-directory\""
    ));
    assert_eq!(
        signature.1,
        "binding1=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz\
         7gOVBg==:"
    );
}

/// RFC 8037, appendix A.3: the thumbprint of the key of appendix A.1.
#[test]
fn the_thumbprint_of_the_rfc_is_reproduced() {
    let seed = data_encoding::BASE64URL_NOPAD
        .decode(b"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
        .expect("base 64");
    let pem = new_pem(&seed.try_into().expect("32 bytes"));
    let key = SigningKey::from_pem(pem.as_bytes()).expect("a new key");
    assert_eq!(key.key_id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    assert!(!format!("{key:?}").contains("nWGx"));
}

#[test]
fn a_key_is_written_as_openssl_writes_it() {
    let der = BASE64.decode(PEM.lines().nth(1).expect("a line").as_bytes());
    let der = der.expect("base 64");
    let seed: [u8; 32] = der[16..].try_into().expect("32 bytes");
    assert_eq!(new_pem(&seed), PEM);
}

#[test]
fn a_text_that_is_no_https_url_is_no_signature_agent() {
    for (text, expected) in [
        ("https://bot.example.org", Some("https://bot.example.org")),
        (
            "https://Bot.example.org:443/",
            Some("https://bot.example.org"),
        ),
        (
            "https://bot.test:8443/keys",
            Some("https://bot.test:8443/keys"),
        ),
        ("http://bot.example.org", None),
        ("bot.example.org", None),
        ("https://me@bot.example.org", None),
        ("https://bot.example.org/?a=b", None),
        ("https://bot.example.org/#keys", None),
        ("data:application/json,{}", None),
    ] {
        let read = SignatureAgent::parse(text).ok().map(|agent| agent.0);
        assert_eq!(read.as_deref(), expected, "{text}");
    }
    let long = |path: usize| format!("https://bot.test/{}", "a".repeat(path));
    assert!(SignatureAgent::parse(&long(MAX_AGENT_BYTES - 17)).is_ok());
    assert!(SignatureAgent::parse(&long(MAX_AGENT_BYTES - 16)).is_err());
}

proptest! {
    #[test]
    fn a_signature_is_valid_for_its_authority_only(
        seed: [u8; 32],
        nonces: u64,
        host in "[a-z]{1,12}\\.test(:[1-9][0-9]{3})?",
        path in "/[a-z0-9]{0,8}",
        millis in 0..=4_102_444_800_000_u64,
    ) {
        let key = SigningKey::from_pem(new_pem(&seed).as_bytes()).expect("a new key");
        let jwk = key.public_jwk();
        let x = jwk.split("\"x\":\"").nth(1).and_then(|rest| rest.get(..43)).expect("x");
        let public = data_encoding::BASE64URL_NOPAD.decode(x.as_bytes()).expect("base 64");
        let signer = RequestSigner::new(key, agent("https://bot.test/keys"), nonces);
        let [mut headers, mut again] = [HeaderMap::new(), HeaderMap::new()];
        let page = url(&format!("https://{host}{path}"));
        signer.sign(&page, &mut headers, Timestamp::from_millis(millis));
        prop_assert!(verifies(&headers, &host, &public));
        let is_valid_elsewhere = verifies(&headers, &format!("www.{host}"), &public);
        prop_assert!(!is_valid_elsewhere);
        signer.sign(&page, &mut again, Timestamp::from_millis(millis));
        prop_assert_ne!(&headers[SIGNATURE], &again[SIGNATURE]);
        headers.insert(SIGNATURE_AGENT, HeaderValue::from_static("sig1=\"https://other.test\""));
        prop_assert!(!verifies(&headers, &host, &public));
    }
}
