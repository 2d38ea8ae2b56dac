//! Failures of requests: one variant per reaction.
//!
//! The engine hides the reason in a chain of sources. `FetchFailure::of` walks the chain once, from
//! the outside in, and takes the first link that it recognizes. Our own links (a refused address)
//! come first, then TLS, then the HTTP engine, then the socket.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use disk::is_shortage_of_files;
use hyper_util::client::legacy::Error as RequestError;
use requests::FailureKind;
use web::{Exchange, Warning};

use crate::client::tls::describe;
use crate::ssrf_guard::address::Refusal;

/// The reason why a page was not answered, as a short clause for a report's `reason`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchFailure {
    /// The host's name does not resolve to an address, or could not be looked up.
    #[error("the host's name does not resolve")]
    Dns,
    /// The host is, or resolves only to, addresses that are not on the public internet.
    #[error("{address} is {refusal}")]
    PrivateAddress {
        /// The address that was refused; any of several.
        address: IpAddr,
        /// The kind of address.
        refusal: Refusal,
    },
    /// No connection came about.
    #[error("cannot connect: {0}")]
    Connect(io::ErrorKind),
    /// The TLS handshake failed, or the certificate is not trusted.
    #[error("TLS: {cause}")]
    Tls {
        /// The cause, in words.
        cause: Arc<str>,
    },
    /// The proxy fails its task.
    #[error("the proxy: {cause}")]
    Proxy {
        /// The cause, in words.
        cause: Arc<str>,
    },
    /// The deadline for the whole exchange passed.
    #[error("the request timed out")]
    Timeout,
    /// The body stopped, or came more slowly than the minimum rate.
    #[error("the body stops, or is slower than the minimum rate")]
    TooSlow,
    /// The connection broke before the response was whole.
    #[error("the connection was closed early")]
    Disconnected,
    /// The response is not valid HTTP.
    #[error("the response is not valid HTTP")]
    Protocol,
    /// The response's header fields exceed the limits, in bytes or in number.
    #[error("the response's header fields are too large")]
    HeadersTooLarge,
    /// The body is too large for memory, and the disk does not take it.
    #[error("the body cannot be kept on disk: {0}")]
    Spool(io::ErrorKind),
    /// Too many files are open, so a connection or a large body cannot open another.
    #[error("too many files are open")]
    OpenFiles,
    /// The URL cannot be written into a request.
    #[error("the URL cannot be requested")]
    Unaskable,
}

impl FetchFailure {
    /// Returns the kind of failure.
    #[must_use]
    pub const fn kind(&self) -> FailureKind {
        match self {
            Self::Dns => FailureKind::Dns,
            Self::PrivateAddress { .. } => FailureKind::PrivateAddress,
            Self::Connect(_) => FailureKind::Connect,
            Self::Tls { .. } => FailureKind::Tls,
            Self::Proxy { .. } => FailureKind::Proxy,
            Self::Timeout => FailureKind::Timeout,
            Self::TooSlow => FailureKind::TooSlow,
            Self::Disconnected => FailureKind::Disconnected,
            Self::Protocol => FailureKind::Protocol,
            Self::HeadersTooLarge => FailureKind::HeadersTooLarge,
            Self::Spool(_) => FailureKind::Spool,
            Self::OpenFiles => FailureKind::OpenFiles,
            Self::Unaskable => FailureKind::Unaskable,
        }
    }

    /// Returns the failure that left a part of the body out, if it is incomplete: another request
    /// may bring the rest.
    #[must_use]
    pub fn of_incomplete(exchange: &Exchange) -> Option<Self> {
        match () {
            () if exchange.warnings.contains(&Warning::StalledBody) => Some(Self::TooSlow),
            () if exchange.is_incomplete() => Some(Self::Disconnected),
            () => None,
        }
    }

    pub(crate) fn proxy(cause: impl fmt::Display) -> Self {
        Self::Proxy {
            cause: cause.to_string().into(),
        }
    }

    /// Returns the failure of a request without a response.
    pub(crate) fn of(error: &RequestError) -> Self {
        let unknown = if error.is_connect() {
            Self::Connect(io::ErrorKind::Other)
        } else {
            Self::Protocol
        };
        Self::of_chain(error, error.is_connect()).unwrap_or(unknown)
    }

    /// Returns the failure of a body.
    pub(crate) fn of_body(error: &hyper::Error) -> Self {
        Self::of_chain(error, false).unwrap_or(Self::Protocol)
    }

    fn of_chain(error: &(dyn StdError + 'static), connecting: bool) -> Option<Self> {
        chain(error).find_map(|cause| Self::of_link(cause, connecting))
    }

    /// Returns the failure of a request behind a proxy: a failure before the proxy has connected us
    /// is the proxy's.
    pub(crate) fn by_way_of_proxy(error: &RequestError, https: bool) -> Self {
        let failure = Self::of(error);
        let before_any_proxy = matches!(
            failure,
            Self::PrivateAddress { .. } | Self::Dns | Self::Connect(io::ErrorKind::TimedOut)
        );
        if !error.is_connect() || before_any_proxy {
            return failure;
        }
        match chain(error).find_map(|cause| of_proxy(&cause.to_string())) {
            _ if matches!(failure, Self::Proxy { .. }) => failure,
            Some(ProxyFailure::Said(words)) => Self::proxy(words),
            Some(ProxyFailure::Unreached) if failure == Self::Connect(io::ErrorKind::Other) => {
                Self::proxy("cannot connect")
            }
            Some(ProxyFailure::Unreached) => Self::proxy(failure),
            // A request for an http page goes to the proxy; TLS through a tunnel is the page's own.
            None if !https => Self::proxy(failure),
            None => failure,
        }
    }

    /// Returns the failure in one link of the chain, if the link is recognized.
    fn of_link(cause: &(dyn StdError + 'static), connecting: bool) -> Option<Self> {
        if let Some(failure) = cause.downcast_ref::<Self>() {
            return Some(failure.clone());
        }
        if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            return Some(Self::Tls {
                cause: describe(tls).into(),
            });
        }
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            return Self::of_hyper(hyper);
        }
        if let Some(http2) = cause.downcast_ref::<h2::Error>() {
            // An error of our own library is the server's violation of the protocol.
            return (http2.is_remote() || http2.is_io()).then_some(Self::Disconnected);
        }
        let error = cause.downcast_ref::<io::Error>()?;
        if is_shortage_of_files(error) {
            return Some(Self::OpenFiles);
        }
        let kind = error.kind();
        if connecting {
            // An `io::Error` of these kinds only wraps another error.
            return (kind != io::ErrorKind::Other && kind != io::ErrorKind::InvalidData)
                .then_some(Self::Connect(kind));
        }
        match kind {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
            | io::ErrorKind::UnexpectedEof => Some(Self::Disconnected),
            io::ErrorKind::TimedOut => Some(Self::Timeout),
            _ => None,
        }
    }

    fn of_hyper(error: &hyper::Error) -> Option<Self> {
        if error.is_parse_too_large() {
            return Some(Self::HeadersTooLarge);
        }
        if error.is_parse() {
            return Some(Self::Protocol);
        }
        (error.is_incomplete_message() || error.is_canceled() || error.is_closed())
            .then_some(Self::Disconnected)
    }
}

/// A failure between us and the proxy.
enum ProxyFailure {
    /// The proxy was not reached; the cause may be further down in the chain.
    Unreached,
    Said(String),
}

/// Returns the proxy's failure in a link of the chain, recognized by hyper-util's words. A test
/// holds them.
fn of_proxy(text: &str) -> Option<ProxyFailure> {
    let said = text.strip_prefix("tunnel error: ");
    let said = said.or_else(|| text.strip_prefix("SOCKS error: "))?;
    let words = match said {
        "failed to create underlying connection" => return Some(ProxyFailure::Unreached),
        "proxy authorization required" => "it requires a user and a password",
        "unsuccessful" => "it opens no tunnel",
        "proxy response headers too long" => "its response is too long",
        "unexpected end of file"
        | "io error establishing tunnel"
        | "io error during SOCKS handshake" => "the connection was closed early",
        "failed parsing server response" => "it does not speak SOCKS 5",
        "server does not support user/pass authentication" => "it wants a password, or none",
        "credentials not accepted" => "it refuses this user and password",
        other => other,
    };
    Some(ProxyFailure::Said(words.to_owned()))
}

/// Iterates over an error and its causes, from the outside in.
pub(crate) fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |cause| deeper(*cause))
}

/// Returns the next link inwards. An [`io::Error`] made from another error skips that very error in
/// `source`, so the wrapped error is taken.
fn deeper<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match cause
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(wrapped) => Some(wrapped),
        None => cause.source(),
    }
}
