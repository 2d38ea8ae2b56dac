//! Several nodes of a shared crawl in one process: races of their admissions, nodes that are cut
//! off from the database, and nodes that join, leave and die.
//!
//! Terms, and the time after which a node is dead, are of the database's clock. So these tests run
//! in real time, and wait for conditions. Where PostgreSQL is not installed, they say so and pass.

#![expect(clippy::unwrap_used, reason = "what the tests unwrap is part of them")]

mod database;
mod fences;
mod membership;
mod races;
#[path = "../support/mod.rs"]
mod support;
