//! The contract of a store: every sentence of [`store::Frontier`], [`store::HostMemory`] and
//! [`store::NearDupIndex`], as a test of any store that claims to fulfil it.
//!
//! A store has an integration test without the usual harness, which implements [`Backend`] and
//! calls [`run`]:
//!
//! ```toml
//! [[test]]
//! name = "contract"
//! harness = false
//! ```
//!
//! [`run`] shows each sentence as one test per backend and takes the options of `cargo test`
//! (filters, `--list`, `--test-threads`). A new store is done when all sentences pass. A store that
//! promises less lists the missing promises in [`Backend::lacks`]. Sentences about these
//! [`Promise`]s are not held against it, and [`run`] reports them.
//!
//! Invariant: a sentence uses only the traits and this crate, so that it cannot know which store it
//! tests. The compiler warns about a function that is missing from all lists, so that no sentence
//! is forgotten.

#![expect(
    clippy::unwrap_used,
    reason = "the whole crate is a test: what it unwraps is part of it"
)]

mod admissions;
mod backend;
mod best_first;
mod canonical;
mod claims;
mod earlier_crawls;
pub mod fixtures;
mod frontier;
mod host_memory;
mod index;
mod last_chance;
mod memory;
mod memory_store;
mod model;
mod patterns;
mod politeness;
mod probes;
mod property;
mod redirects;
mod requisites;
mod restarts;
mod sentence;
mod sessions;
mod suite;
mod user;
mod verdicts;

pub use backend::{Backend, End, Promise, Session, Setup};
pub use memory::Memory;
pub use memory_store::MemoryStore;
/// The library as this crate sees it: in unit tests of `store`, the types of the two differ.
pub use store;
pub use suite::run;
