//! The quality of focused crawls, over manuals of Debian's packages as hosts.
//!
//! `focus-relevance` measures the relevance of single pages, without a crawl; `focus` measures the
//! order of visits: rules of the literature in a simulator over the same links, and the crawl
//! itself, in virtual time. The topics and their relevant pages are in `evaluation/topics.txt`,
//! which was written before anything was run.

mod figures;
mod hosts;
mod judged;
mod link_graph;
mod relevance;
mod topics;

pub(crate) use self::relevance::measure_relevance;
