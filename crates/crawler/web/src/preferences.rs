//! Preferences of owners about the use of their pages by machines.
//!
//! `preference.rs` defines the values, `statement.rs` reads the vocabularies, `site_files.rs` reads
//! files other than robots.txt, `site_rules.rs` selects the statement about a URL, and `page.rs`
//! combines everything that is known about a page.
//!
//! | where | statement | source |
//! |---|---|---|
//! | robots.txt, header | `Content-Usage: / train-ai=n` | draft-ietf-aipref-attach, -vocab |
//! | robots.txt, header | `Content-Signal: ai-train=no` | contentsignals.org, 2025-09-24 |
//! | `/.well-known/tdmrep.json`, header, `<meta>` | `tdm-reservation: 1` | W3C TDMRep, 2024-05-10 |
//! | `X-Robots-Tag`, `<meta name="robots">` | `noai`, `noimageai` | DeviantArt, 2022-11-11 |
//! | `/ai.txt` | `Disallow: /` | Spawning, 2023-05-30 |
//!
//! Invariant: a refusal is never lost. If statements differ, the refusal wins (draft-ietf-aipref-
//! vocab, "Combining Preferences").

pub(crate) mod page;
pub(crate) mod preference;
pub(crate) mod site_files;
pub(crate) mod site_rules;
pub(crate) mod statement;
