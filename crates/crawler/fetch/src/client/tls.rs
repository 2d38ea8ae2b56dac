//! TLS: rustls with ring, the system's roots and the user's.
//!
//! One verifier serves every connection. It gets the name that a certificate is shown for, accepts
//! the names that the user called insecure, and leaves all others to the system. rustls keeps
//! resumable sessions by name, so a session with an insecure host serves no other.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
};
use rustls_platform_verifier::Verifier;
use tracing::warn;

use crate::client::setup_error::SetupError;
use crate::credentials::client_certificates::ClientCertificate;
use crate::ssrf_guard::resolve_rule::canonical_host;

/// A host whose certificates are not checked, on any port: TLS proves names, not ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsecureHost {
    host: String,
    name: ServerName<'static>,
}

/// The error for a text that is not an [`InsecureHost`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a host, such as old.example.org or [::1] (without a port, because a certificate \
     applies to all ports of a host)"
)]
pub struct InsecureHostError(String);

impl FromStr for InsecureHost {
    type Err = InsecureHostError;

    fn from_str(text: &str) -> Result<Self, InsecureHostError> {
        let wrong = || InsecureHostError(text.to_owned());
        let host = canonical_host(text).ok_or_else(wrong)?;
        let bare = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let name = ServerName::try_from(bare).map_err(|_not_a_name| wrong())?;
        Ok(Self { host, name })
    }
}

impl InsecureHost {
    /// Returns the host as URLs have it.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }
}

impl fmt::Display for InsecureHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)
    }
}

/// Returns the TLS configuration of every connection: HTTP/2 if the server speaks it, else HTTP/1.1
/// (ALPN). `shown` is the certificate for servers that ask for one.
pub(crate) fn client_config(
    extra_roots: &[PathBuf],
    insecure: &[InsecureHost],
    shown: Option<&ClientCertificate>,
) -> Result<ClientConfig, SetupError> {
    let mut extra = Vec::new();
    for path in extra_roots {
        extra.extend(read_certificates(path)?);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = CertificateVerifier {
        given: extra.clone(),
        system: system_verifier(extra, Arc::clone(&provider))?,
        insecure: insecure.iter().map(|host| host.name.clone()).collect(),
        algorithms: provider.signature_verification_algorithms,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(SetupError::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match shown {
        None => config.with_no_client_auth(),
        Some(ClientCertificate { certificate, key }) => {
            let chain = read_certificates(certificate)?;
            let read = PrivateKeyDer::from_pem_file(key);
            let private = read.map_err(|source| SetupError::KeyFile {
                path: key.clone(),
                source,
            })?;
            let with = config.with_client_auth_cert(chain, private);
            with.map_err(|source| SetupError::ClientCertificate {
                path: certificate.clone(),
                source,
            })?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Returns the platform's verifier; `None` on a machine without root certificates, which makes
/// https impossible but does not prevent a crawl over http.
fn system_verifier(
    extra: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Option<Verifier>, SetupError> {
    let given = !extra.is_empty();
    match Verifier::new_with_extra_roots(extra, provider) {
        Ok(verifier) => Ok(Some(verifier)),
        Err(error) if given => Err(SetupError::Tls(error)),
        Err(error) => {
            warn!(%error, "no root certificates: https pages cannot be fetched");
            Ok(None)
        }
    }
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let unreadable = |source| SetupError::CertificateFile {
        path: path.to_owned(),
        source,
    };
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(|entries| entries.collect::<Result<Vec<_>, _>>())
        .map_err(unreadable)?;
    if certificates.is_empty() {
        return Err(SetupError::NoCertificate(path.to_owned()));
    }
    Ok(certificates)
}

/// The verifier of certificates.
#[derive(Debug)]
struct CertificateVerifier {
    system: Option<Verifier>,
    /// The certificates that the user trusts.
    given: Vec<CertificateDer<'static>>,
    insecure: Vec<ServerName<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl CertificateVerifier {
    /// Returns true for a certificate that cannot be read, for example of X.509 version 1. Only
    /// insecure hosts come this far with such a certificate: for others it was already refused.
    fn is_unread(&self, shown: &CertificateDer<'_>) -> bool {
        !self.insecure.is_empty() && ParsedCertificate::try_from(shown).is_err()
    }
}

/// The words of rustls-webpki for a certificate of an authority that a server shows as its own. A
/// test holds these words.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";
/// Its words for versions of X.509 before 3.
const OLD_VERSION: &str = "UnsupportedCertVersion";

/// Returns true if a certificate was refused in these words of rustls-webpki.
fn is(error: &Error, words: &str) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(refusal))
        if refusal.0.to_string() == words)
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.insecure.iter().any(|insecure| insecure == name) {
            return Ok(ServerCertVerified::assertion());
        }
        let Some(system) = &self.system else {
            return Err(CertificateError::UnknownIssuer.into());
        };
        match system.verify_server_cert(shown, intermediates, name, ocsp, now) {
            // As `openssl req -x509` makes it: it signs itself and calls itself an authority. The
            // user trusts this very certificate; its dates were checked before its use.
            Err(error) if is(&error, AUTHORITY_AS_SERVER) && self.given.contains(shown) => {
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    // Insecure hosts too must prove that they have the key of their certificate, if it can be read.

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.is_unread(shown) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, shown, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.is_unread(shown) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, shown, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Describes a failed handshake for a report.
pub(crate) fn describe(error: &Error) -> String {
    use CertificateError as Bad;
    let words = match error {
        Error::InvalidCertificate(bad) => match bad {
            Bad::Expired | Bad::ExpiredContext { .. } => "the certificate has expired",
            Bad::NotValidYet | Bad::NotValidYetContext { .. } => "the certificate is not valid yet",
            Bad::UnknownIssuer => "the certificate's issuer is not trusted",
            Bad::NotValidForNameContext { presented, .. } if presented.is_empty() => {
                "the certificate names no host (subjectAltName): --insecure-host HOST accepts it"
            }
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
                "the certificate is for another name"
            }
            Bad::Revoked => "the certificate was revoked",
            Bad::BadSignature => {
                "the certificate's signature is wrong, or its key is RSA of less than 2048 bits"
            }
            Bad::BadEncoding => "the certificate cannot be read",
            Bad::InvalidPurpose | Bad::InvalidPurposeContext { .. } => {
                "the certificate is not for servers"
            }
            Bad::Other(_) if is(error, AUTHORITY_AS_SERVER) => {
                "the certificate is that of an authority, perhaps signed by itself: \
                 --ca-certificate FILE trusts it, --insecure-host HOST trusts any"
            }
            Bad::Other(_) if is(error, OLD_VERSION) => {
                "the certificate is of X.509 version 1 or 2: --insecure-host HOST accepts it"
            }
            Bad::Other(verdict) => return format!("the certificate is not accepted: {verdict}"),
            other => return format!("the certificate is not accepted: {other}"),
        },
        Error::NoCertificatesPresented => "the server presents no certificate",
        Error::PeerIncompatible(_) => {
            "the server offers no TLS version (1.2, 1.3) or cipher suite (ECDHE with AES-GCM or \
             ChaCha20) that this crawler has"
        }
        Error::AlertReceived(
            AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity,
        ) => {
            "the server offers no cipher suite that this crawler has (ECDHE with AES-GCM or \
             ChaCha20; none with CBC, RSA key exchange or DHE), has a certificate with a P-521 \
             key, or wants a client certificate"
        }
        Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            "the server offers no TLS version that this crawler has (1.2 and 1.3)"
        }
        Error::AlertReceived(alert) => return format!("the server sent the alert {alert:?}"),
        Error::InvalidMessage(_) => "the server does not speak TLS",
        Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. }
        | Error::PeerMisbehaved(_) => "the server violates the TLS protocol",
        other => return other.to_string(),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Such a key counted as a wrong signature, which sent people looking in the wrong place.
    #[test]
    fn a_refused_signature_may_be_that_of_a_short_key() {
        let refused = Error::InvalidCertificate(CertificateError::BadSignature);
        assert_eq!(
            describe(&refused),
            "the certificate's signature is wrong, or its key is RSA of less than 2048 bits"
        );
    }
}
