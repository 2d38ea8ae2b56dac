//! The archive from outside: the written records, their order, their durability, and their
//! readers.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod arc;
mod blocks;
mod conversions;
mod damage;
mod faults;
mod fixtures;
mod foreign;
mod golden;
mod index;
mod injection;
mod one_record;
mod order;
mod packed;
mod power;
mod records;
mod recovery;
mod resume;
mod round_trip;
mod theirs;
