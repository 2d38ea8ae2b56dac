//! The story of a crawl.
//!
//! [`visit`] is the life of one page, from lease to settlement; [`run()`] lives many of them at a time until nothing is
//! left or a limit is reached. Everything they need stands in a [`Crew`]: the four seams (`Fetch`, `Frontier`, `NearDupIndex`,
//! `Sink`) and the rules of the crawl.
//!
//! A failure of a page is a value, its [`Outcome`]; a failure of our own machinery is a [`Fault`] and ends the crawl.

mod account;
mod crew;
mod fault;
mod judgement;
mod links;
mod page;
mod permission;
mod reading;
pub mod retry;
mod run;
mod studio;
mod telemetry;
mod travel;

pub use crew::{Crew, Policy};
pub use fault::Fault;
pub use judgement::OnDuplicate;
pub use page::{Outcome, visit};
pub use reading::{page_text, payload_name};
pub use run::{Finish, Limits, Stop, StopHandle, run, stop};
pub use studio::Studio;
pub use telemetry::{Counts, Telemetry};
