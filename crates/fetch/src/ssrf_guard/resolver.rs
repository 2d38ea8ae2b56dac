//! The guarded resolver that the HTTP engine asks for addresses.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::ssrf_guard::names::Names;

/// The resolver of one HTTP client, for the URLs of one port: reqwest asks without saying the port.
#[derive(Debug)]
pub(crate) struct GuardedResolver {
    names: Arc<Names>,
    port: u16,
    proxy: Option<String>,
}

impl GuardedResolver {
    /// Returns a resolver for the URLs of `port`; 0 is every port without a rule. The host `proxy`
    /// may have any address.
    pub(crate) fn new(names: Arc<Names>, port: u16, proxy: Option<String>) -> Self {
        Self { names, port, proxy }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (names, port) = (Arc::clone(&self.names), self.port);
        let of_proxy = self.proxy.as_deref() == Some(name.as_str());
        Box::pin(async move {
            let addresses = if of_proxy {
                names.addresses_of_proxy(name.as_str()).await?
            } else {
                names.addresses(name.as_str(), port).await?
            };
            let addresses: Vec<_> = addresses
                .iter()
                // Port 0 is "the URL's port" to reqwest.
                .map(|address| SocketAddr::new(*address, 0))
                .collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
