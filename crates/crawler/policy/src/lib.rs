//! The rules of a crawl, as values: its policy, the overrides of a running crawl, and what a crawl
//! has learned about words and boilerplate.
//!
//! [`Policy`] contains the rules as the user chose them. [`control_file`] reads the overrides in
//! `control.toml`; [`values`] are written the same way there, in flags and in settings files.
//! [`LearnedWords`] and [`LearnedFrames`] change how pages are weighed and compared. Nothing here
//! visits a page: `crawl` does, and questions about a crawl apply the same rules again.

pub mod control_file;
pub mod values;

mod depth_limits;
mod duplicate_links;
mod failed_pages;
mod learned_frames;
mod learned_words;
mod off_scope;
mod off_topic;
mod policy;
mod rendering;
mod requisites;
mod runtime_overrides;
mod unvisited;

pub use depth_limits::DepthLimits;
pub use duplicate_links::{DuplicateLinks, Following};
pub use failed_pages::{FailedPages, FailedPagesError, StatusRange};
pub use learned_frames::{FramesByHost, LearnedFrames};
pub use learned_words::LearnedWords;
pub use off_scope::links_off_scope;
pub use off_topic::OffTopic;
pub use policy::{IndexedPages, OnDuplicate, Policy};
pub use rendering::{RenderMode, RenderRules, RenderSandbox};
pub use requisites::Requisites;
pub use runtime_overrides::{Actions, RuntimeOverrides};
pub use unvisited::{LinkingPage, why_unvisited};
