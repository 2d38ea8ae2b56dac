//! One exchange over the real network: options, request, connection, answer, body, decoding.

pub(crate) mod body;
pub(crate) mod chunks;
pub(crate) mod connections;
pub(crate) mod connector;
pub(crate) mod framing;
pub(crate) mod head;
pub(crate) mod http_fetch;
pub(crate) mod idle_connections;
pub(crate) mod options;
pub(crate) mod progress;
pub(crate) mod repetition;
pub(crate) mod request;
pub(crate) mod setup_error;
pub(crate) mod tls;
pub(crate) mod wire;
