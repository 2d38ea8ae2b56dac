//! Generated sets, the same on every machine, for questions without labelled data.

mod language;
mod reference;
mod scripts;

pub(super) use reference::reference;
pub(super) use scripts::{chinese, japanese, other_scripts};
