//! The crate as its users see it, against real sockets on loopback where there is something to connect to.

mod decode;
mod guard;
mod pacer;
mod pacing;
mod resolve;
mod robots;
mod server;
mod tls;
mod wire;
