//! Documents in files of every format: what is written is read, and what is kept is read again.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod formats; // every format gives the same documents
mod keep; // kept documents are those that were chosen
mod other_programs; // files as other programs write them
mod write; // writers of the formats
