//! The guard against server-side request forgery: the addresses that may be asked, and the look-up
//! of names.

pub(crate) mod address;
pub(crate) mod guard;
pub(crate) mod names;
pub(crate) mod resolve_rule;
pub(crate) mod resolver;
