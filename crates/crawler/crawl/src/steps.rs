//! The steps of a visit, in the order that `page.rs` takes them.

pub(crate) mod permission;

pub(crate) mod conditional;
pub(crate) mod head_first;
pub(crate) mod redirects;

pub(crate) mod interstitials;
pub(crate) mod reading;
pub(crate) mod rendered_page;
pub(crate) mod rendering;
pub(crate) mod subrequests;

pub(crate) mod admission;
pub(crate) mod by_texts;
pub(crate) mod content_filter;
pub(crate) mod retention_rule;
pub(crate) mod shells;

pub(crate) mod limits;
pub(crate) mod link_rules;
pub(crate) mod link_score;
pub(crate) mod links;
pub(crate) mod listings;
pub(crate) mod requisites;
pub(crate) mod seed_moves;
pub(crate) mod unvisited;

pub(crate) mod indexing;
pub(crate) mod outlinks;
pub(crate) mod visit_record;
