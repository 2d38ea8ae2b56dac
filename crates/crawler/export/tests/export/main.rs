//! Tables in every form, read back; complete files; continued directories.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod linked;
mod parts;
mod read_back;
mod round_trip;
mod schema;
mod whole_file;
