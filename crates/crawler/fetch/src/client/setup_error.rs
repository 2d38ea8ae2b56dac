//! Errors of a setup that cannot work.

use std::path::PathBuf;

use rustls::pki_types::pem;

/// The reason why a client cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The user agent has characters that a header field cannot carry.
    #[error("the user agent {0:?} is not a valid header field value")]
    UserAgent(String),
    /// A file of certificates cannot be read.
    #[error("cannot read certificates from {path:?}")]
    CertificateFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: pem::Error,
    },
    /// A certificate file that does not contain a certificate.
    #[error("{0:?} does not contain a PEM certificate")]
    NoCertificate(PathBuf),
    /// The file of a private key cannot be read, or does not contain a key.
    #[error("cannot read a PEM private key from {path:?}")]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: pem::Error,
    },
    /// A certificate cannot be shown: it does not belong to its key.
    #[error("the certificate in {path:?} cannot be used with its key")]
    ClientCertificate {
        /// The file of the certificate.
        path: PathBuf,
        /// The cause.
        source: rustls::Error,
    },
    /// The TLS library does not accept its configuration.
    #[error("cannot set up TLS")]
    Tls(#[source] rustls::Error),
}
