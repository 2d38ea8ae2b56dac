//! Tools for agents that read a crawl: a server of the Model Context Protocol (MCP) on standard
//! input and output.
//!
//! `tools` has the tools, `arguments` their arguments. `answers` answers with the functions behind
//! the commands, `pages` reads the text and the links of a page, `excerpt` bounds an answer, and
//! `server` speaks the protocol. It is the only crate that uses rmcp.
//!
//! Invariants: no tool writes. No argument is a path: agents read only the crawls that the user
//! named. Text from the web is only in answers, never in descriptions or instructions.
//!
//! Source: Model Context Protocol, revision 2025-06-18, sections "Transports" and "Tools".

mod answers;
mod arguments;
mod crawls;
mod excerpt;
mod pages;
mod server;
mod tools;

pub use self::crawls::Crawls;
pub use self::server::serve;
