//! Why there was no answer: one variant for every different reaction.
//!
//! reqwest knows the reason but hides it in a chain of sources; `FetchFailure::of` walks the chain once, from
//! the outside in, and takes the first link that it recognises. Links of ours (a refused address) come first,
//! then TLS, then what the HTTP engine says, then the socket.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use crate::guard::Refusal;

/// The fate of a page that was not answered. Its text is a short clause, fit for a report's `reason`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchFailure {
    /// The host's name has no address, or could not be looked up.
    #[error("the host's name does not resolve")]
    Dns,
    /// The host is, or resolves only to, addresses that are not on the public internet.
    #[error("{address} is {refusal}")]
    PrivateAddress {
        /// The address that was refused; one of them where there were several.
        address: IpAddr,
        /// What kind of address it is.
        refusal: Refusal,
    },
    /// No connection came about.
    #[error("cannot connect: {0}")]
    Connect(io::ErrorKind),
    /// The two ends did not agree on TLS, or the certificate is not trusted.
    #[error("TLS: {cause}")]
    Tls {
        /// What the TLS library says.
        cause: Arc<str>,
    },
    /// The deadline for the whole exchange passed.
    #[error("the answer took too long")]
    Timeout,
    /// The body came more slowly than the minimum rate.
    #[error("the body came too slowly")]
    TooSlow,
    /// The connection broke before the answer was whole.
    #[error("the connection broke off")]
    Disconnected,
    /// What came was not HTTP as we understand it.
    #[error("the answer breaks the rules of HTTP")]
    Protocol,
    /// The answer's header fields exceed the limits, in bytes or in number.
    #[error("the answer's headers are too large")]
    HeadersTooLarge,
    /// The URL cannot be written into a request.
    #[error("the URL cannot be asked for")]
    Unaskable,
}

/// [`FetchFailure`] without its details: what a table of retries looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// See [`FetchFailure::Dns`].
    Dns,
    /// See [`FetchFailure::PrivateAddress`].
    PrivateAddress,
    /// See [`FetchFailure::Connect`].
    Connect,
    /// See [`FetchFailure::Tls`].
    Tls,
    /// See [`FetchFailure::Timeout`].
    Timeout,
    /// See [`FetchFailure::TooSlow`].
    TooSlow,
    /// See [`FetchFailure::Disconnected`].
    Disconnected,
    /// See [`FetchFailure::Protocol`].
    Protocol,
    /// See [`FetchFailure::HeadersTooLarge`].
    HeadersTooLarge,
    /// See [`FetchFailure::Unaskable`].
    Unaskable,
}

impl FetchFailure {
    /// Which reaction is called for.
    #[must_use]
    pub const fn kind(&self) -> FailureKind {
        match self {
            Self::Dns => FailureKind::Dns,
            Self::PrivateAddress { .. } => FailureKind::PrivateAddress,
            Self::Connect(_) => FailureKind::Connect,
            Self::Tls { .. } => FailureKind::Tls,
            Self::Timeout => FailureKind::Timeout,
            Self::TooSlow => FailureKind::TooSlow,
            Self::Disconnected => FailureKind::Disconnected,
            Self::Protocol => FailureKind::Protocol,
            Self::HeadersTooLarge => FailureKind::HeadersTooLarge,
            Self::Unaskable => FailureKind::Unaskable,
        }
    }

    /// What reqwest's error comes to.
    pub(crate) fn of(error: &reqwest::Error) -> Self {
        if error.is_builder() {
            return Self::Unaskable;
        }
        let mut link: Option<&(dyn StdError + 'static)> = Some(error);
        while let Some(cause) = link {
            if let Some(failure) = Self::of_link(cause, error.is_connect()) {
                return failure;
            }
            link = deeper(cause);
        }
        match () {
            () if error.is_dns() => Self::Dns,
            () if error.is_connect() && error.is_timeout() => Self::Connect(io::ErrorKind::TimedOut),
            () if error.is_connect() => Self::Connect(io::ErrorKind::Other),
            () if error.is_timeout() => Self::Timeout,
            () => Self::Protocol,
        }
    }

    /// What one link of the chain says, where it says anything.
    fn of_link(cause: &(dyn StdError + 'static), connecting: bool) -> Option<Self> {
        if let Some(AddressRefused { address, refusal }) = cause.downcast_ref() {
            return Some(Self::PrivateAddress {
                address: *address,
                refusal: *refusal,
            });
        }
        if cause.is::<NameUnknown>() {
            return Some(Self::Dns);
        }
        if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            return Some(Self::Tls {
                cause: tls.to_string().into(),
            });
        }
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            return Self::of_hyper(hyper);
        }
        let kind = cause.downcast_ref::<io::Error>()?.kind();
        if connecting {
            // An io::Error that only carries another error names no cause of its own.
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

/// The next link inwards. An [`io::Error`] made from another error skips that very error in `source`, so it
/// is asked for what it wraps.
fn deeper<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => cause.source(),
    }
}

impl FailureKind {
    /// One word, for tables and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::PrivateAddress => "private-address",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::TooSlow => "too-slow",
            Self::Disconnected => "disconnected",
            Self::Protocol => "protocol",
            Self::HeadersTooLarge => "headers-too-large",
            Self::Unaskable => "unaskable",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Our resolver found addresses, all of them refused. Travels through the HTTP engine and back.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{address} is {refusal}")]
pub(crate) struct AddressRefused {
    pub(crate) address: IpAddr,
    pub(crate) refusal: Refusal,
}

/// Our resolver found nothing.
#[derive(Debug, thiserror::Error)]
#[error("the name has no address")]
pub(crate) struct NameUnknown(#[source] pub(crate) Option<io::Error>);
