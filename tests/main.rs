//! The real binary against real HTTP on loopback: what a user, a site and a reader of the archive see of it.
//!
//! Nothing sleeps and nothing has a time limit: a gate holds an answer until the test has seen what it waits for.
//! Each test has a directory and a server of its own.

#![expect(clippy::unwrap_used, reason = "what the helpers unwrap is part of the test")]

mod against;
mod architecture;
mod archive;
mod bad_input;
mod clusters;
mod commands;
mod content;
mod dedup;
mod duplicates;
mod faults;
mod files;
mod inspect;
mod limits;
mod pages;
mod politeness;
mod redirects;
mod resume;
mod robots;
mod scope;
mod settings;
mod similar;
mod support;
mod tls;
mod toy_web;
mod wreck;
