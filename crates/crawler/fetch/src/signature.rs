//! HTTP message signatures (RFC 9421) of requests, as Web Bot Auth defines them.
//!
//! The draft is draft-ietf-webbotauth-httpsig-protocol-01 (29 October 2026), section 5.2: a
//! signature covers `@authority` and the `Signature-Agent` member of its own label. It names a
//! creation time, an expiry, the key and the tag `web-bot-auth`. A signature does not cover
//! method, path or body, so anyone who reads it can reuse it at the same authority until it
//! expires.
//!
//! Invariants: no two signatures of a signer have the same nonce, and a private key is in no text.

pub(crate) mod key;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use data_encoding::BASE64;
use http::header::HeaderMap;
use http::{HeaderName, HeaderValue};
use ring::digest;
use url::{Position, Url};
use web::{PageUrl, Timestamp};

use self::key::SigningKey;

/// Lifetime of a request's signature: long enough for clocks that differ by minutes.
const LIFETIME: Duration = Duration::from_secs(300);

/// Maximum length of the URL in `Signature-Agent`, in bytes.
const MAX_AGENT_BYTES: usize = 1024;

/// The label of our signatures, which is also the key of our `Signature-Agent` member.
const LABEL: &str = "sig1";

const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
const SIGNATURE_AGENT: HeaderName = HeaderName::from_static("signature-agent");

/// The URL where the public keys of a crawler are: its key directory, or the directory's origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureAgent(String);

/// A text that is not a [`SignatureAgent`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an https URL of at most {MAX_AGENT_BYTES} bytes, without user, query and fragment, \
     such as https://bot.example.org"
)]
pub struct SignatureAgentError;

impl SignatureAgent {
    /// Reads an https URL. The slash after an origin is optional, and removed.
    ///
    /// # Errors
    ///
    /// [`SignatureAgentError`] for other text.
    pub fn parse(text: &str) -> Result<Self, SignatureAgentError> {
        let url = Url::parse(text).map_err(|_not_a_url| SignatureAgentError)?;
        let has_extra = !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some();
        if url.scheme() != "https" || url.host().is_none() || has_extra {
            return Err(SignatureAgentError);
        }
        let shown = match url.path() {
            "/" => url.as_str().trim_end_matches('/'),
            _ => url.as_str(),
        };
        // These two would end or extend the string of the field (RFC 9651 section 3.3.3).
        if shown.len() > MAX_AGENT_BYTES || shown.contains(['"', '\\']) {
            return Err(SignatureAgentError);
        }
        Ok(Self(shown.to_owned()))
    }

    /// Returns the host, with the port unless it is the usual one (RFC 9421 section 2.2.3).
    #[must_use]
    pub fn authority(&self) -> String {
        let url = Url::parse(&self.0).expect("it is the text of a URL");
        url[Position::BeforeHost..Position::AfterPort].to_owned()
    }
}

/// A signer of requests. `Debug` shows only the id of its key.
pub struct RequestSigner {
    key: SigningKey,
    agent: SignatureAgent,
    /// Random bytes of this process. They and a count determine each nonce.
    seed: u64,
    signed: AtomicU64,
}

impl RequestSigner {
    /// Returns a signer whose nonces follow from `seed`, which must be random.
    #[must_use]
    pub fn new(key: SigningKey, agent: SignatureAgent, seed: u64) -> Self {
        let signed = AtomicU64::new(0);
        Self {
            key,
            agent,
            seed,
            signed,
        }
    }

    /// Sets the three fields of a request for `url` that is sent `now`. They replace fields of the
    /// same names.
    pub(crate) fn sign(&self, url: &PageUrl, headers: &mut HeaderMap, now: Timestamp) {
        let number = self.signed.fetch_add(1, Ordering::Relaxed);
        let counted = [self.seed.to_be_bytes(), number.to_be_bytes()].concat();
        let nonce = digest::digest(&digest::SHA256, &counted);
        let period = Period::starting(now, LIFETIME);
        let fields = self.fields(LABEL, url.authority(), period, nonce.as_ref());
        for (name, value) in [SIGNATURE_AGENT, SIGNATURE_INPUT, SIGNATURE]
            .into_iter()
            .zip(fields)
        {
            let value = HeaderValue::try_from(value).expect("URLs and base 64 are visible ASCII");
            headers.insert(name, value);
        }
    }

    /// Returns the values of `Signature-Agent`, `Signature-Input` and `Signature`.
    fn fields(&self, label: &str, authority: &str, period: Period, nonce: &[u8]) -> [String; 3] {
        let Period { created, expires } = period;
        let (agent, key_id) = (&self.agent.0, self.key.key_id());
        let member = format!("\"signature-agent\";key=\"{label}\"");
        let input = format!(
            "(\"@authority\" {member});created={created};keyid=\"{key_id}\";alg=\"ed25519\"\
             ;expires={expires};nonce=\"{}\";tag=\"web-bot-auth\"",
            BASE64.encode(nonce)
        );
        let base = format!(
            "\"@authority\": {authority}\n{member}: \"{agent}\"\n\"@signature-params\": {input}"
        );
        [
            format!("{label}=\"{agent}\""),
            format!("{label}={input}"),
            format!("{label}=:{}:", self.key.sign(base.as_bytes())),
        ]
    }
}

impl fmt::Debug for RequestSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestSigner")
            .field("key", &self.key)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

/// The validity of a signature, in seconds since 1970 (RFC 9421 section 2.3).
#[derive(Clone, Copy)]
struct Period {
    created: u64,
    expires: u64,
}

impl Period {
    fn starting(now: Timestamp, lifetime: Duration) -> Self {
        let created = now.as_millis() / 1000;
        let expires = created.saturating_add(lifetime.as_secs());
        Self { created, expires }
    }
}

/// Returns the fields that prove, in a response with the key directory `body`, that `agent` has
/// the private keys (appendix B.1 of the draft): one signature per key, valid for `lifetime`.
#[must_use]
pub fn directory_fields(
    keys: &[SigningKey],
    body: &str,
    agent: &SignatureAgent,
    now: Timestamp,
    lifetime: Duration,
) -> [(&'static str, String); 3] {
    let digest = digest::digest(&digest::SHA256, body.as_bytes());
    let digest = format!("sha-256=:{}:", BASE64.encode(digest.as_ref()));
    let (authority, period) = (agent.authority(), Period::starting(now, lifetime));
    let mut inputs = Vec::with_capacity(keys.len());
    let mut signatures = Vec::with_capacity(keys.len());
    for (key, number) in keys.iter().zip(1..) {
        let (input, signature) = binding(key, &digest, &authority, period);
        inputs.push(format!("binding{number}={input}"));
        signatures.push(format!("binding{number}=:{signature}:"));
    }
    [
        ("Content-Digest", digest),
        ("Signature-Input", inputs.join(", ")),
        ("Signature", signatures.join(", ")),
    ]
}

/// Returns the parameters and the signature of a directory with this digest (RFC 9530).
fn binding(key: &SigningKey, digest: &str, authority: &str, period: Period) -> (String, String) {
    let Period { created, expires } = period;
    let input = format!(
        "(\"@authority\";req \"content-digest\");created={created};expires={expires}\
         ;keyid=\"{}\";tag=\"http-message-signatures-directory\"",
        key.key_id()
    );
    let base = format!(
        "\"@authority\";req: {authority}\n\"content-digest\": {digest}\n\
         \"@signature-params\": {input}"
    );
    let signature = key.sign(base.as_bytes());
    (input, signature)
}

#[cfg(test)]
mod tests;
