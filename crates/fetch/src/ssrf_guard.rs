//! The guard against server-side request forgery: which addresses may be asked, and where names
//! lead.

pub(crate) mod address;
pub(crate) mod guard;
pub(crate) mod names;
pub(crate) mod resolve_rule;
pub(crate) mod resolver;
