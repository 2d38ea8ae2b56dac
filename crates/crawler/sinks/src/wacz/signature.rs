//! The anonymous signature of a WACZ: by a key pair, without a name and a trusted time
//! (<https://specs.webrecorder.net/wacz-auth/0.1.0/>).
//!
//! `signedData` in `datapackage-digest.json` has a signature of the digest of `datapackage.json`,
//! which has the digests of all other files. Curve, hash and forms are those that ReplayWeb.page
//! verifies: ECDSA on P-384 with SHA-256, the signature as two numbers of 48 bytes, the public key
//! as `SubjectPublicKeyInfo`, both in base 64. It verifies no Ed25519, the keys of signed requests.
//!
//! Invariant: the nonce is derived from key and digest (RFC 6979), so the same crawl and the same
//! key give the same bytes.

use std::fmt;

use data_encoding::BASE64;
use p384::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use p384::ecdsa::{Signature, SigningKey, VerifyingKey};
use p384::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePublicKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The version of the format of `signedData`.
const VERSION: &str = "0.1.0";

/// A private key that signs packages. `Debug` shows nothing of it.
#[derive(Clone)]
pub struct PackageKey {
    key: SigningKey,
    /// The public key, in base 64.
    public: String,
}

/// A text without a [`PackageKey`]. The error does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it does not contain a private key on the curve P-384 in PEM form (PKCS #8)")]
pub struct PackageKeyError;

impl PackageKey {
    /// Reads a key from the text of a PEM file, as `openssl genpkey` writes it.
    ///
    /// # Errors
    /// [`PackageKeyError`] for other text, encrypted keys and keys of other kinds.
    pub fn from_pem(text: &[u8]) -> Result<Self, PackageKeyError> {
        let text = std::str::from_utf8(text).map_err(|_not_utf8| PackageKeyError)?;
        let key = SigningKey::from_pkcs8_pem(text).map_err(|_other| PackageKeyError)?;
        let public = VerifyingKey::from(&key).to_public_key_der();
        let public = public.map_err(|_impossible| PackageKeyError)?;
        Ok(Self {
            key,
            public: BASE64.encode(public.as_bytes()),
        })
    }

    /// Returns `signedData` for the digest of a package that `software` made at the time `created`.
    pub(super) fn signed_data(&self, hash: &str, created: &str, software: &str) -> Value {
        let signature: Signature = self
            .key
            .sign_prehash(&digest(hash))
            .expect("32 bytes are more than half of the field, and nonces are never zero");
        json!({
            "hash": hash,
            "created": created,
            "software": software,
            "signature": BASE64.encode(&signature.to_bytes()),
            "publicKey": self.public,
            "version": VERSION,
        })
    }
}

impl fmt::Debug for PackageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PackageKey")
    }
}

/// Returns the problem of `signedData` in a package with this digest and creation time. A signature
/// in the name of a domain has certificates instead of a key, and is not checked.
pub(super) fn problem(signed: &Value, hash: &str, created: &Value) -> Option<&'static str> {
    if signed["hash"] != hash {
        return Some("signs another digest");
    }
    if signed["created"] != *created {
        return Some("has another creation time than the package");
    }
    let public = signed["publicKey"].as_str()?;
    match is_signed(signed["signature"].as_str(), public, hash) {
        Some(true) => None,
        Some(false) => Some("is not by its public key"),
        None => Some("has an unreadable signature or public key; it must be ECDSA on P-384"),
    }
}

/// Returns true if the key has signed the digest; `None` if either cannot be read.
fn is_signed(signature: Option<&str>, public: &str, hash: &str) -> Option<bool> {
    let public = BASE64.decode(public.as_bytes()).ok()?;
    let key = VerifyingKey::from_public_key_der(&public).ok()?;
    let signature = BASE64.decode(signature?.as_bytes()).ok()?;
    let signature = Signature::from_slice(&signature).ok()?;
    Some(key.verify_prehash(&digest(hash), &signature).is_ok())
}

fn digest(hash: &str) -> [u8; 32] {
    Sha256::digest(hash.as_bytes()).into()
}
