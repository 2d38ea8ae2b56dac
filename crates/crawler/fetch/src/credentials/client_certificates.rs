//! Certificates of the crawler (TLS client authentication, RFC 8446, section 4.4.2), each bound to
//! origins.
//!
//! A certificate names its owner to every server that it is shown to, so it follows the rule of
//! secrets: it is shown at origins of seeds, and for a single host also over https on the standard
//! port.

use std::collections::HashSet;
use std::path::PathBuf;

use web::{HostTable, PageUrl};

/// A certificate with its chain, and its private key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientCertificate {
    /// The PEM file of the certificate and of the chain between it and a root.
    pub certificate: PathBuf,
    /// The PEM file of the key; it may be the same file.
    pub key: PathBuf,
}

/// The certificates of a crawl, bound to origins.
#[derive(Clone, Debug, Default)]
pub struct ClientCertificates {
    of_seeds: Option<ClientCertificate>,
    of_hosts: HostTable<ClientCertificate>,
    seeds: HashSet<String>,
}

impl ClientCertificates {
    /// Binds `of_seeds` to the https origins of these seeds, and the other certificates to single
    /// hosts.
    #[must_use]
    pub fn new(
        of_seeds: Option<ClientCertificate>,
        of_hosts: HostTable<ClientCertificate>,
        seeds: &[PageUrl],
    ) -> Self {
        let over_https = seeds
            .iter()
            .filter(|seed| seed.as_url().scheme() == "https");
        Self {
            of_seeds,
            of_hosts,
            seeds: over_https.map(PageUrl::origin).collect(),
        }
    }

    /// Returns the certificate to show for a URL.
    #[must_use]
    pub fn of(&self, url: &PageUrl) -> Option<&ClientCertificate> {
        if url.as_url().scheme() != "https" {
            return None;
        }
        let of_host = self.of_hosts.get(&url.host());
        if of_host.is_none() && self.of_seeds.is_none() {
            return None;
        }
        let is_of_seed = self.seeds.contains(&url.origin());
        let of_host = of_host.filter(|_| is_of_seed || url.as_url().port().is_none());
        of_host.or_else(|| self.of_seeds.as_ref().filter(|_| is_of_seed))
    }

    /// Returns all certificates, each once.
    pub(crate) fn all(&self) -> HashSet<&ClientCertificate> {
        self.of_hosts.values().chain(&self.of_seeds).collect()
    }
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    #[test]
    fn a_certificate_is_shown_at_its_origins_only() {
        let url = |text: &str| PageUrl::parse(text, &CanonicalForm::keep_all()).unwrap();
        let named = |name: &str| ClientCertificate {
            certificate: name.into(),
            key: name.into(),
        };
        let of_hosts = [("*.a.test".parse().unwrap(), named("host"))];
        let seeds = [
            "https://s.test:8443/",
            "http://t.test/",
            "https://x.a.test:8443/",
        ]
        .map(url);
        let certificates =
            ClientCertificates::new(Some(named("seeds")), of_hosts.into_iter().collect(), &seeds);
        for (to, expected) in [
            ("https://s.test:8443/deep", Some("seeds")),
            ("https://s.test/", None),
            ("https://t.test/", None),
            ("http://t.test/", None),
            ("https://www.a.test/", Some("host")),
            ("http://www.a.test/", None),
            ("https://www.a.test:8443/", None),
            ("https://x.a.test:8443/", Some("host")),
            ("https://a.test/", None),
        ] {
            let shown = certificates.of(&url(to));
            assert_eq!(shown, expected.map(named).as_ref(), "{to}");
        }
    }
}
