//! The kinds of failures of requests: one per reaction.

/// The kind of a failure, the key of the table of [consequences](crate::Consequence).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum FailureKind {
    /// The host's name does not resolve to an address, or could not be looked up.
    #[error("dns")]
    Dns,
    /// The host is, or resolves only to, addresses that are not on the public internet.
    #[error("private-address")]
    PrivateAddress,
    /// No connection came about.
    #[error("connect")]
    Connect,
    /// The TLS handshake failed, or the certificate is not trusted.
    #[error("tls")]
    Tls,
    /// The proxy fails its task.
    #[error("proxy")]
    Proxy,
    /// The deadline for the whole exchange passed.
    #[error("timeout")]
    Timeout,
    /// The body stopped, or came more slowly than the minimum rate.
    #[error("too-slow")]
    TooSlow,
    /// The connection broke before the response was whole.
    #[error("disconnected")]
    Disconnected,
    /// The response is not valid HTTP.
    #[error("protocol")]
    Protocol,
    /// The response's header fields exceed the limits, in bytes or in number.
    #[error("headers-too-large")]
    HeadersTooLarge,
    /// The body is too large for memory, and the disk does not take it.
    #[error("spool")]
    Spool,
    /// Too many files are open, so a connection or a large body cannot open another.
    #[error("open-files")]
    OpenFiles,
    /// The URL cannot be written into a request.
    #[error("unaskable")]
    Unaskable,
}
