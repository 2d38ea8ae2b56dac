//! Politeness: when a host may be asked, and how long it is left alone afterwards.

pub(crate) mod gate;
pub(crate) mod jitter;
pub(crate) mod pacer;
pub(crate) mod rules_in_force;
