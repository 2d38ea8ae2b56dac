//! What the tests, the demonstration and the benchmark crawl instead of the internet.
//!
//! A [`Site`] says what is answered to a [`Request`]; a [`Server`] says it on loopback, under as many host
//! names as one likes, and keeps a [`Log`] of what was asked and when, which is how politeness is proved.
//! A [`Gate`] holds an answer back until the test has seen what it wanted to see, so nothing sleeps.
//!
//! [`ToyWeb`] is a small web with a bit of everything and the truth about it, [`Corpus`] a large one with planted
//! copies; [`Site::directories`] serves documents that somebody else wrote.
//!
//! This crate knows no other crate of the workspace: each of them can use it in its tests.

mod build;
mod corpus;
mod gate;
mod http;
#[cfg(test)]
mod judge;
mod log;
mod play;
mod prose;
mod random;
mod receive;
mod server;
mod static_site;
#[cfg(feature = "tls")]
mod tls;
mod toy_web;

pub use build::build_crawler;
pub use corpus::{Change, Corpus, Planted, Score};
pub use gate::Gate;
pub use http::{Reply, Request, Site};
pub use log::{Hit, Log};
pub use server::{Server, Settings};
pub use toy_web::{CharsetPage, Declared, Fate, Reason, Tally, ToyWeb, Truth};
