//! The state of a crawl that outlasts a visit, and the settings that may change while it runs.

pub(crate) mod adaptive_signatures;
pub(crate) mod disk_space;
pub(crate) mod focus;
pub(crate) mod host_frames;
pub(crate) mod kept_pages;
pub(crate) mod learned_words;
pub(crate) mod politeness;
pub(crate) mod recent_texts;
pub(crate) mod resuming;
pub mod retry;
pub(crate) mod runtime_overrides;
pub(crate) mod seed_reports;
pub(crate) mod shortest_ways;
pub(crate) mod telemetry;
pub(crate) mod topic_of_seeds;
pub(crate) mod turns;
pub(crate) mod unvisited_urls;
