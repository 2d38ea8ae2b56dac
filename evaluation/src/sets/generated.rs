//! Sets that are generated, the same ones everywhere: what no labelled data exist for.

mod language;
mod reference;
mod scripts;

pub(super) use reference::reference;
pub(super) use scripts::{chinese, japanese, other_scripts};
