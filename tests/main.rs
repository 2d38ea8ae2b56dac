//! The real binary against real HTTP on loopback: what a user, a site and a reader of the archive
//! see of it.
//!
//! Nothing sleeps and nothing has a time limit: a gate holds an answer until the test has seen what
//! it waits for. Each test has a directory and a server of its own.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod against;
mod architecture;
mod archive;
mod archiving;
mod bad_input;
mod canonical;
mod changes;
mod clean;
mod clocks;
mod clusters;
mod commands;
mod content;
mod control;
mod damages;
mod dedup;
mod duplicates;
mod earlier_version;
mod export;
mod faults;
mod files;
mod flips;
mod groups;
mod guard;
mod guest;
mod hostile;
mod hosts;
mod index;
mod inspect;
mod kill;
mod limits;
mod links;
mod manners;
mod maps;
mod packings;
mod pages;
mod politeness;
mod power;
mod proxy;
mod reading;
mod real_sites;
mod rebuild;
mod redirects;
mod requisites;
mod resume;
mod robots;
mod room;
mod scope;
mod search;
mod secrets;
mod settings;
mod similar;
mod since;
mod skipped;
mod stalls;
mod support;
mod terminal;
mod tls;
mod toy_web;
mod traps;
mod verify;
mod wacz;
mod wreck;
