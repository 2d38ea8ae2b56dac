//! The story of a crawl.
//!
//! [`visit`] is the life of one page, from lease to settlement; [`run()`] lives many of them at a time until nothing is
//! left or a limit is reached. Everything they need stands in a [`Crew`]: the four seams (`Fetch`, `Frontier`, `NearDupIndex`,
//! `Sink`) and the rules of the crawl.
//!
//! A failure of a page is a value, its [`Outcome`]; a failure of our own machinery is a [`Fault`] and ends the crawl.

mod account;
mod crew;
mod duplicate_links;
mod earlier;
mod evidence;
mod fault;
mod indexing;
mod judgement;
mod legacy_reason;
mod links;
mod listings;
mod live;
mod manners;
mod outlinks;
mod page;
mod permission;
mod reading;
mod requisites;
mod resuming;
mod retelling;
pub mod retry;
mod robots_files;
mod room;
mod run;
mod studio;
mod telemetry;
mod travel;
mod unvisited;

pub use crew::{Crew, Policy};
pub use duplicate_links::{DuplicateLinks, UnknownDuplicateLinks};
pub use earlier::EarlierArchives;
pub use fault::Fault;
pub use indexing::{IndexedPages, UnknownIndexedPages, archived_text};
pub use judgement::OnDuplicate;
pub use listings::{ListingRules, Listings, Sitemaps, UnknownSitemaps};
pub use live::{Live, Orders};
pub use page::{Outcome, visit};
pub use reading::{document_here, page_text, payload_name};
pub use requisites::{Requisites, UnknownRequisites};
pub use resuming::{open_archive, settled_end};
pub use retelling::{ArchivedVisit, Retold, RetoldSeat, judged, retell};
pub use robots_files::RobotsFiles;
pub use room::{Room, RoomRules, Shortage};
pub use run::{Finish, Limits, Stop, StopHandle, run, stop};
pub use studio::Studio;
pub use telemetry::{Counts, Telemetry};
pub use unvisited::{Distinct, why_unvisited};
