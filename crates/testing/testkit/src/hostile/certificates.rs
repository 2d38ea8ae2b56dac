//! The certificates that the modes over TLS show.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A kind of certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certificate {
    Good,
    SelfSigned,
    Expired,
    NotYet,
    WrongName,
    Stranger,
    ManyNames,
}

/// Every certificate that is shown, and the authority behind the good ones.
#[derive(Debug)]
pub(super) struct Identities {
    /// As PEM.
    pub(super) authority: String,
    configurations: Vec<(Certificate, Arc<ServerConfig>)>,
}

impl Identities {
    pub(super) fn new(domain: &str) -> Self {
        let (ours, stranger) = (
            authority("testkit, good for nothing else"),
            authority("a stranger"),
        );
        let any = format!("*.{domain}");
        let mut many: Vec<String> = (0..2000)
            .map(|number| format!("name-{number}.test"))
            .collect();
        many.push(any.clone());
        let named =
            |names: Vec<String>| CertificateParams::new(names).expect("these are host names");
        let ours_only = || named(vec![any.clone()]);
        let (mut expired, mut not_yet) = (ours_only(), ours_only());
        (expired.not_before, expired.not_after) =
            (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
        (not_yet.not_before, not_yet.not_after) =
            (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1));
        let shown = [
            (Certificate::Good, ours_only(), Some(&ours)),
            (Certificate::SelfSigned, ours_only(), None),
            (Certificate::Expired, expired, Some(&ours)),
            (Certificate::NotYet, not_yet, Some(&ours)),
            (
                Certificate::WrongName,
                named(vec!["other.test".into()]),
                Some(&ours),
            ),
            (Certificate::Stranger, ours_only(), Some(&stranger)),
            (Certificate::ManyNames, named(many), Some(&ours)),
        ];
        let configure =
            |(certificate, params, issuer): (_, CertificateParams, Option<&Authority>)| {
                (certificate, configuration(&params, issuer))
            };
        Self {
            configurations: shown.map(configure).into(),
            authority: ours.pem(),
        }
    }

    pub(super) fn configuration(&self, certificate: Certificate) -> Arc<ServerConfig> {
        let found = self
            .configurations
            .iter()
            .find(|(of, _)| *of == certificate);
        Arc::clone(&found.expect("there is one for each").1)
    }
}

type Authority = CertifiedIssuer<'static, KeyPair>;

fn key() -> KeyPair {
    KeyPair::generate().expect("the default algorithm has a generator")
}

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new(Vec::new()).expect("no names, none of them wrong");
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, key()).expect("the parameters are complete")
}

/// Signed by itself where there is no issuer.
fn configuration(params: &CertificateParams, issuer: Option<&Authority>) -> Arc<ServerConfig> {
    let own = key();
    let signed = match issuer {
        Some(issuer) => params.signed_by(&own, issuer),
        None => params.self_signed(&own),
    };
    let certificate = signed.expect("whoever signs may");
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring speaks the default versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .expect("the key belongs to the certificate");
    Arc::new(config)
}
