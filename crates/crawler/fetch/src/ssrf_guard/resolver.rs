//! The guarded resolver that the HTTP engine asks for addresses.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use crate::failure::FetchFailure;
use crate::ssrf_guard::names::{Addresses, Names};

/// The resolver of one HTTP client, for the URLs of one port: the engine asks without saying the
/// port.
#[derive(Clone, Debug)]
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

    /// Returns the addresses of a name, or of an address.
    pub(crate) async fn addresses(&self, name: &str) -> Result<Addresses, FetchFailure> {
        if self.proxy.as_deref() == Some(name) {
            self.names.addresses_of_proxy(name).await
        } else {
            self.names.addresses(name, self.port).await
        }
    }
}

impl Service<Name> for GuardedResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = FetchFailure;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, FetchFailure>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), FetchFailure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let resolver = self.clone();
        Box::pin(async move {
            let found = resolver.addresses(name.as_str()).await?;
            // The engine sets the port of the URL.
            let found = found.iter().map(|address| SocketAddr::new(*address, 0));
            Ok(found.collect::<Vec<_>>().into_iter())
        })
    }
}
