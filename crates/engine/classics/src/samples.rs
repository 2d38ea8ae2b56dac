//! Samples of sets that the literature compares with a sketch of minima.
//!
//! Each is built from [`Shingles`](neardup::Shingles) and estimates their resemblance, some also
//! their containment (Broder, "On the resemblance and containment of documents", SEQUENCES 1997).
//! The crawler uses [`Sketch`](neardup::Sketch).

mod min_s;
mod mod_m;
mod sketch_1997;

pub use min_s::{InvalidSample, MAX_MIN_SAMPLE, MinS};
pub use mod_m::{DifferentModuli, InvalidModulus, MAX_MOD_SAMPLE, ModM};
pub use sketch_1997::{InvalidBits, NotASketch1997, Sketch1997, narrowed};
