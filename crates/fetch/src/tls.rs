//! Whom we trust, and how we speak in private: rustls with ring, the system's roots and those we were given.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;
use tracing::warn;

use crate::SetupError;

/// The TLS configuration of every connection: HTTP/2 where the server speaks it, else HTTP/1.1 (ALPN).
pub(crate) fn client_config(extra_roots: &[PathBuf]) -> Result<ClientConfig, SetupError> {
    let mut extra = Vec::new();
    for path in extra_roots {
        extra.extend(read_certificates(path)?);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(SetupError::Tls)?;
    let mut config = match system_verifier(extra, provider)? {
        Some(verifier) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier)),
        None => builder.with_root_certificates(RootCertStore::empty()),
    }
    .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The platform's own verdict on certificates; `None` where the machine trusts nobody at all, which makes
/// https impossible but is no reason not to crawl http.
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
