//! From a page's URI to a connection: name, TCP, proxy, TLS, and a [`Wire`] around it.
//!
//! Names are resolved by the guarded resolver only. What each kind of proxy is asked for is in
//! `requests/src/proxy_url.rs`.

use std::error::Error as StdError;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::rt::TokioIo;
use requests::ProxyUrl;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use crate::client::options::FetchOptions;
use crate::client::wire::{Stream, Wire};
use crate::failure::FetchFailure;
use crate::ssrf_guard::resolver::GuardedResolver;

type Http = HttpConnector<GuardedResolver>;
type BoxError = Box<dyn StdError + Send + Sync>;
type Pending<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// The connector of one HTTP client.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    route: Route,
    /// Time from the look-up of the name to the end of the TLS handshake.
    timeout: Duration,
}

/// The way to a page.
#[derive(Clone, Debug)]
enum Route {
    Direct(HttpsConnector<Http>),
    HttpProxy {
        proxy: Uri,
        /// For http pages: the proxy reads their requests.
        to_proxy: HttpsConnector<Http>,
        /// For https pages: TLS through the proxy.
        through: Box<HttpsConnector<Tunnel<HttpsConnector<Http>>>>,
    },
    Socks(Box<HttpsConnector<Socks>>),
}

impl Connector {
    pub(crate) fn new(
        options: &FetchOptions,
        proxy: Option<&ProxyUrl>,
        tls: ClientConfig,
        names: GuardedResolver,
    ) -> Self {
        let mut http = HttpConnector::new_with_resolver(names.clone());
        http.enforce_http(false);
        http.set_nodelay(true);
        let route = match proxy {
            None => Route::Direct(HttpsConnector::from((http, tls))),
            Some(proxy) if proxy.is_socks() => {
                let socks = Socks {
                    http,
                    names,
                    proxy: proxy.clone(),
                };
                Route::Socks(Box::new(HttpsConnector::from((socks, tls))))
            }
            Some(proxy) => {
                let mut tls_of_proxy = tls.clone();
                tls_of_proxy.alpn_protocols.clear();
                let to_proxy = HttpsConnector::from((http, tls_of_proxy));
                let mut tunnel = Tunnel::new(proxy.uri(), to_proxy.clone());
                if let Some(login) = proxy.basic_login() {
                    tunnel = tunnel.with_auth(login);
                }
                Route::HttpProxy {
                    proxy: proxy.uri(),
                    to_proxy,
                    through: Box::new(HttpsConnector::from((tunnel, tls))),
                }
            }
        };
        Self {
            route,
            timeout: options.limits.connect_timeout,
        }
    }
}

impl Service<Uri> for Connector {
    type Response = Wire;
    type Error = BoxError;
    type Future = Pending<Wire>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, page: Uri) -> Pending<Wire> {
        let is_https = page.scheme() == Some(&Scheme::HTTPS);
        let is_proxied = !is_https && matches!(self.route, Route::HttpProxy { .. });
        let connecting = match &mut self.route {
            Route::Direct(https) => boxed(https.call(page)),
            Route::HttpProxy { through, .. } if is_https => boxed(through.call(page)),
            Route::HttpProxy {
                proxy, to_proxy, ..
            } => boxed(to_proxy.call(proxy.clone())),
            Route::Socks(socks) => boxed(socks.call(page)),
        };
        let within = self.timeout;
        Box::pin(async move {
            match timeout(within, connecting).await {
                Ok(connected) => Ok(Wire::new(connected?, is_proxied)),
                Err(_elapsed) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
            }
        })
    }
}

/// Returns a connection of any kind.
fn boxed<T: Stream + 'static>(
    connecting: impl Future<Output = Result<T, BoxError>> + Send + 'static,
) -> Pending<Box<dyn Stream>> {
    Box::pin(async move { Ok(Box::new(connecting.await?) as Box<dyn Stream>) })
}

/// TCP through a SOCKS 5 proxy, to an address that is looked up here unless the proxy does it.
#[derive(Clone, Debug)]
struct Socks {
    http: Http,
    names: GuardedResolver,
    proxy: ProxyUrl,
}

impl Service<Uri> for Socks {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pending<TokioIo<TcpStream>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, page: Uri) -> Self::Future {
        let mut socks = SocksV5::new(self.proxy.uri(), self.http.clone());
        if let Some((user, password)) = self.proxy.login() {
            socks = socks.with_auth(user, password);
        }
        let (names, by_name) = (self.names.clone(), self.proxy.looks_up_itself());
        let Some(host) = page.host().map(str::to_owned) else {
            return Box::pin(ready(Err(FetchFailure::Unaskable.into())));
        };
        let usual_port = if page.scheme() == Some(&Scheme::HTTPS) {
            443
        } else {
            80
        };
        let port = page.port_u16().unwrap_or(usual_port);
        Box::pin(async move {
            let authority = if by_name {
                format!("{host}:{port}")
            } else {
                let found = names.addresses(&host).await?;
                let address = found.first().ok_or(FetchFailure::Dns)?;
                SocketAddr::new(*address, port).to_string()
            };
            let target = Uri::try_from(format!("http://{authority}"))?;
            Ok(socks.call(target).await?)
        })
    }
}

/// Returns a configuration for servers that must not speak HTTP/2.
pub(crate) fn without_http2(tls: &ClientConfig) -> ClientConfig {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    tls
}
