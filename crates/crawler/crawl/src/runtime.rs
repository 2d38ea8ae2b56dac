//! The state of a crawl that outlasts a visit, and the settings that may change while it runs.

pub(crate) mod active_overrides;
pub(crate) mod adaptive_signatures;
pub(crate) mod blocks;
pub(crate) mod disk_space;
pub(crate) mod earlier_archives;
pub(crate) mod focus;
pub(crate) mod host_frames;
pub(crate) mod kept_pages;
pub(crate) mod listing_quota;
mod lost_requests;
pub(crate) mod politeness;
pub(crate) mod recent_texts;
pub(crate) mod renderer;
pub(crate) mod repeated_texts;
pub(crate) mod resuming;
pub mod retry;
pub(crate) mod robots_files;
pub(crate) mod saves;
pub(crate) mod seed_reports;
pub(crate) mod shared_parts;
pub(crate) mod shortest_ways;
pub(crate) mod soft_not_found;
pub(crate) mod telemetry;
pub(crate) mod topic_of_seeds;
pub(crate) mod turns;
pub(crate) mod unvisited_urls;
