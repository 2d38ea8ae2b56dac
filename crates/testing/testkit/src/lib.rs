//! The web that the tests, the demonstration and the benchmark crawl instead of the internet.
//!
//! A [`Site`] answers each [`Request`]; a [`Server`] serves it on loopback, under any number of
//! host names, and keeps a [`Log`] of the requests and their times, which proves politeness. A
//! [`Gate`] holds an answer back until the test has seen what it waits for, so nothing sleeps.
//!
//! [`ToyWeb`] is a small web with a bit of everything and the truth about it, [`Corpus`] a large
//! one with planted copies; [`Site::directories`] serves existing documents.
//!
//! A [`hostile`] web has a host for each way in which servers misbehave: every test that says
//! "whatever the server does" is about it. [`traps`] has six sites without end, and one with.
//! [`known_sites`] model real sites on which leaving out duplicates loses pages, with the truth
//! about each page; [`topic_webs`] are webs for focused crawls. The [`gallery`] is a site that must
//! look right when it is replayed. A [`Pdf`] is a document of text. A [`Proxy`] forwards every
//! request to one server.
//!
//! A [`FaultyDisk`] fails, runs full, and forgets what was not synced. A [`FaultyNetwork`] delays
//! bytes, holds them back, loses them, and cuts connections. [`Postgres`] is a server of its own,
//! which crashes on demand.
//!
//! A [`ScriptedBrowser`](browser::ScriptedBrowser) renders pages by a table, without a browser.
//!
//! This crate knows no other crates of the workspace but `disk`, whose trait it breaks, and
//! `render`, whose trait it implements: all other crates can use it in their tests.

pub mod brotli;
pub mod browser;
mod build;
mod corpus;
mod disk;
pub mod gallery;
mod gate;
pub mod hostile;
mod html_bombs;
mod http;
#[cfg(test)]
mod judge;
pub mod known_sites;
mod log;
mod network;
mod pdf;
mod play;
mod postgres;
mod prose;
mod proxy;
mod random;
mod receive;
mod server;
mod static_site;
#[cfg(feature = "tls")]
mod tls;
pub mod topic_webs;
mod toy_web;
pub mod traps;

pub use build::build_crawler;
pub use corpus::{Change, Corpus, Planted, Score};
pub use disk::{Call, CallKind, Failure, FaultyDisk, Plan};
pub use gate::Gate;
pub use html_bombs::{HTML_BOMBS, HtmlBomb};
pub use http::{Reply, Request, Site};
pub use log::{Hit, Log};
pub use network::{FaultyNetwork, NetworkState};
pub use pdf::{Pdf, hostile_pdfs};
pub use postgres::{Database, Postgres};
pub use proxy::Proxy;
pub use random::Random;
pub use server::{Server, Settings};
#[cfg(feature = "tls")]
pub use tls::ClientIdentity;
pub use toy_web::{CharsetPage, Declared, Fate, Reason, Tally, ToyWeb, Truth};
