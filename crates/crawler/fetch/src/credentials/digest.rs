//! Digest authentication (RFC 7616): a proof of the password that does not contain it.
//!
//! Known are MD5, SHA-256 and SHA-512-256, each also with `-sess`; `qop=auth`, and servers without
//! `qop` (RFC 2069); `userhash`. User and password are encoded in UTF-8. A challenge with an
//! algorithm or a `qop` that is not known is passed over.
//!
//! Invariant: answers are marked sensitive, like other secrets.

use data_encoding::HEXLOWER;
use http::HeaderValue;
use http::header::{GetAll, HeaderMap, WWW_AUTHENTICATE};
use md5::{Digest as _, Md5};
use requests::{Login, secret};
use ring::digest;

use super::netrc::unquoted;

/// The login that a refusal asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// Basic, with its realm (RFC 7617).
    Basic(String),
    Digest(DigestChallenge),
}

/// A challenge that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DigestChallenge {
    pub(super) realm: String,
    /// True if the request was refused for its old nonce, not for its password.
    pub(super) is_stale: bool,
    nonce: String,
    opaque: Option<String>,
    /// The algorithm as the server writes it.
    algorithm: Option<String>,
    hash: Hash,
    /// True for the algorithms with `-sess`.
    is_session: bool,
    has_qop: bool,
    hashes_user: bool,
}

/// The request that an answer is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerOf<'a> {
    pub(super) method: &'a str,
    /// Path and query.
    pub(super) target: &'a str,
    /// Number of requests with this nonce, including this one.
    pub(super) count: u32,
    /// The client's nonce, the same for all answers to a challenge.
    pub(super) client_nonce: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Md5,
    Sha256,
    Sha512_256,
}

impl Hash {
    fn hex(self, text: &str) -> String {
        let of_sha2 = |algorithm| digest::digest(algorithm, text.as_bytes());
        match self {
            Self::Md5 => HEXLOWER.encode(Md5::digest(text.as_bytes()).as_slice()),
            Self::Sha256 => HEXLOWER.encode(of_sha2(&digest::SHA256).as_ref()),
            Self::Sha512_256 => HEXLOWER.encode(of_sha2(&digest::SHA512_256).as_ref()),
        }
    }
}

impl Offer {
    /// Returns the first Digest challenge that is known, or else Basic; `None` for other schemes.
    /// A server lists its challenges by preference (RFC 7616 section 3.7).
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let challenges = challenges(&headers.get_all(WWW_AUTHENTICATE));
        let known = challenges.iter().find_map(DigestChallenge::of);
        if let Some(challenge) = known {
            return Some(Self::Digest(challenge));
        }
        let mut challenges = challenges.iter();
        let basic = challenges.find(|one| one.scheme.eq_ignore_ascii_case("basic"))?;
        Some(Self::Basic(basic.text("realm").unwrap_or("").to_owned()))
    }

    /// Returns the realm, which names what the login is for.
    pub(super) fn realm(&self) -> &str {
        match self {
            Self::Basic(realm) => realm,
            Self::Digest(challenge) => &challenge.realm,
        }
    }
}

impl DigestChallenge {
    fn of(challenge: &Challenge) -> Option<Self> {
        if !challenge.scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let is_true = |name| {
            let value = challenge.text(name);
            value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
        };
        let algorithm = challenge.text("algorithm");
        let name = algorithm.unwrap_or("MD5").to_ascii_lowercase();
        let hash = match name.strip_suffix("-sess").unwrap_or(&name) {
            "md5" => Hash::Md5,
            "sha-256" => Hash::Sha256,
            "sha-512-256" => Hash::Sha512_256,
            _ => return None,
        };
        let qop = challenge.text("qop").filter(|qop| !qop.trim().is_empty());
        let is_auth = |one: &str| one.trim().eq_ignore_ascii_case("auth");
        if qop.is_some_and(|qop| !qop.split(',').any(is_auth)) {
            return None;
        }
        Some(Self {
            realm: challenge.text("realm")?.to_owned(),
            is_stale: is_true("stale"),
            nonce: challenge.text("nonce")?.to_owned(),
            opaque: challenge.text("opaque").map(str::to_owned),
            algorithm: algorithm.map(str::to_owned),
            hash,
            is_session: name.ends_with("-sess"),
            has_qop: qop.is_some(),
            hashes_user: is_true("userhash"),
        })
    }

    /// Returns the `Authorization` field of a request; `None` if it would be too long.
    pub(super) fn answer(&self, login: &Login, of: AnswerOf<'_>) -> Option<HeaderValue> {
        let hash = |parts: &[&str]| self.hash.hex(&parts.join(":"));
        let AnswerOf { method, target, .. } = of;
        let (realm, nonce, client_nonce) = (&*self.realm, &*self.nonce, of.client_nonce);
        let mut of_login = hash(&[&login.user, realm, &login.password]);
        if self.is_session {
            of_login = hash(&[&of_login, nonce, client_nonce]);
        }
        let (of_request, count) = (hash(&[method, target]), format!("{:08x}", of.count));
        let response = match self.has_qop {
            true => hash(&[&of_login, nonce, &count, client_nonce, "auth", &of_request]),
            false => hash(&[&of_login, nonce, &of_request]),
        };
        let user = match self.hashes_user {
            true => hash(&[&login.user, realm]),
            false => login.user.clone(),
        };
        let mut parts = vec![
            format!("username={}", quoted(&user)),
            format!("realm={}", quoted(realm)),
            format!("uri={}", quoted(target)),
            format!("nonce={}", quoted(nonce)),
            format!("response={}", quoted(&response)),
        ];
        if let Some(algorithm) = &self.algorithm {
            parts.push(format!("algorithm={algorithm}"));
        }
        if let Some(opaque) = &self.opaque {
            parts.push(format!("opaque={}", quoted(opaque)));
        }
        if self.has_qop {
            parts.push(format!("qop=auth, nc={count}"));
        }
        if self.has_qop || self.is_session {
            parts.push(format!("cnonce={}", quoted(client_nonce)));
        }
        if self.hashes_user {
            parts.push("userhash=true".to_owned());
        }
        secret(format!("Digest {}", parts.join(", ")).as_bytes())
    }
}

/// A challenge as it is written (RFC 9110 section 11.6.1).
struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    fn text(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        let known = parameters.find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, value)| value.as_str())
    }
}

/// Returns the challenges of all fields.
fn challenges(fields: &GetAll<'_, HeaderValue>) -> Vec<Challenge> {
    let mut found: Vec<Challenge> = Vec::new();
    for (word, value) in fields.iter().flat_map(words) {
        match (value, found.last_mut()) {
            (Some(value), Some(challenge)) => challenge.parameters.push((word, value)),
            (Some(_), None) => {}
            (None, _) => found.push(Challenge {
                scheme: word,
                parameters: Vec::new(),
            }),
        }
    }
    found
}

/// Returns the words of a field in order: a scheme has no value, a parameter has one. A field that
/// is not UTF-8 has no words.
fn words(field: &HeaderValue) -> Vec<(String, Option<String>)> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let mut found = Vec::new();
    let mut rest = str::from_utf8(field.as_bytes()).unwrap_or_default();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',', '=']);
        if rest.is_empty() {
            return found;
        }
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after.trim_start_matches(BLANKS);
        let Some(value) = rest.strip_prefix('=') else {
            found.push((word.to_owned(), None));
            continue;
        };
        let value = value.trim_start_matches(BLANKS);
        let (value, after) = match value.strip_prefix('"') {
            // A quote that is not closed ends with the field.
            Some(quote) => unquoted(quote).unwrap_or_else(|| (quote.to_owned(), "")),
            None => {
                let (token, after) =
                    value.split_at(value.find([' ', '\t', ',']).unwrap_or(value.len()));
                (token.to_owned(), after)
            }
        };
        found.push((word.to_owned(), Some(value)));
        rest = after;
    }
}

/// Returns a quoted string (RFC 9110 section 5.6.4).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests;
