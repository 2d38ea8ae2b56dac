//! The public API of the crate, against real sockets on loopback where there is something to
//! connect to.

mod addresses;
mod change;
mod forgery;
mod groups;
mod guard;
mod leniency;
mod names;
mod pacer;
mod proxy;
mod repetition;
mod resolve;
mod robots;
mod secrets;
mod server;
mod signatures;
mod tls;
mod wire;
