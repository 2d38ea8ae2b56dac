//! The quality of focused crawls, over manuals of Debian's packages as hosts.
//!
//! `focus-relevance` measures the relevance of single pages, without a crawl; `focus` measures the
//! order of visits: rules of the literature in a simulator over the same links, and the crawl
//! itself, in virtual time. The topics and their relevant pages are in `lab/evaluation/topics.txt`,
//! which was written before anything was run.

mod choose;
mod documents;
mod engine;
mod figures;
mod formula;
mod goals;
mod hosts;
mod judged;
mod judgement;
mod learning;
mod link_graph;
mod orders;
mod outcome;
mod prepared;
mod relevance;
mod rows;
mod rules;
mod seeds;
mod simulator;
mod topics;

pub(crate) use self::choose::choose;
pub(crate) use self::orders::measure_orders;
pub(crate) use self::relevance::measure_relevance;
