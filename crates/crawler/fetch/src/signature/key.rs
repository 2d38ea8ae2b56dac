//! Ed25519 keys of signed requests: private ones in PEM files, public ones as JSON Web Keys.

use std::fmt;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::digest;
use ring::signature::{Ed25519KeyPair, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;

/// The bytes before the seed in a PKCS #8 key without its public key (RFC 8410 section 7). OpenSSL
/// before 3.5 cannot read the newer form, with the public key.
const PKCS8_HEAD: [u8; 16] = [
    0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
];

/// An Ed25519 private key. `Debug` shows only its id.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    id: String,
}

/// A text that does not contain a [`SigningKey`]. It does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it does not contain an Ed25519 private key in PEM form (PKCS #8)")]
pub struct SigningKeyError;

impl SigningKey {
    /// Reads a key from the text of a PEM file, as [`new_pem`] and `openssl genpkey` write it.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`] for other text, encrypted keys and keys of other kinds.
    pub fn from_pem(text: &[u8]) -> Result<Self, SigningKeyError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(text).map_err(|_no_pem| SigningKeyError)?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der())
            .map_err(|_other_key| SigningKeyError)?;
        let id = thumbprint(&public(&pair));
        Ok(Self { pair, id })
    }

    /// Returns the id of the key: its JWK thumbprint by SHA-256 (RFC 7638; RFC 8037 appendix A.3).
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.id
    }

    /// Returns the public key as a JSON Web Key (RFC 8037 section 2).
    #[must_use]
    pub fn public_jwk(&self) -> String {
        let (id, x) = (&self.id, public(&self.pair));
        format!(
            "{{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"{id}\",\"x\":\"{x}\",\"use\":\"sig\"}}"
        )
    }

    /// Returns the signature of `base` in base 64 (RFC 9421 section 3.3.6).
    pub(super) fn sign(&self, base: &[u8]) -> String {
        BASE64.encode(self.pair.sign(base).as_ref())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id)
    }
}

/// Returns a private key as the text of a PEM file. `seed` must be random.
#[must_use]
pub fn new_pem(seed: &[u8; 32]) -> String {
    let der = [&PKCS8_HEAD[..], seed].concat();
    let text = BASE64.encode(&der);
    format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
}

/// Returns the key directory of these keys: a JSON Web Key Set (RFC 7517 section 5).
#[must_use]
pub fn key_directory(keys: &[SigningKey]) -> String {
    let keys: Vec<String> = keys.iter().map(SigningKey::public_jwk).collect();
    format!("{{\"keys\":[{}]}}", keys.join(","))
}

fn public(pair: &Ed25519KeyPair) -> String {
    BASE64URL_NOPAD.encode(pair.public_key().as_ref())
}

/// Returns the digest of the required members, in the order of their names.
fn thumbprint(x: &str) -> String {
    let members = format!("{{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"{x}\"}}");
    BASE64URL_NOPAD.encode(digest::digest(&digest::SHA256, members.as_bytes()).as_ref())
}
