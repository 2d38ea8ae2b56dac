//! `crawler nodes`: lists the nodes of a shared crawl.

use std::io::{self, Write};

use serde::Serialize;
use shared_store::{NodeState, TermState, Unowned};

use super::shared;
use crate::args::NodesArgs;
use crate::cli_error::CliError;
use crate::output::{self, Format};
use crate::terminal::printable;

/// A row of the list.
#[derive(Serialize)]
struct Node {
    node: String,
    /// `live`, `silent`, `left` or `lapsed`.
    state: &'static str,
    term: u64,
    buckets: u64,
    pages: u64,
    /// Over the term.
    pages_per_second: f64,
    waiting: u64,
    /// Seconds since the last heartbeat.
    heard: f64,
}

pub(crate) fn run(args: &NodesArgs) -> Result<(), CliError> {
    let url = shared::required_url(args.store.as_ref())?;
    let (nodes, unowned) = shared::runtime()?.block_on(async {
        let crawl = shared::open_shared(&url).await?;
        let nodes = crawl.nodes().await.map_err(shared::read_error)?;
        let unowned = crawl.unowned().await.map_err(shared::read_error)?;
        Ok::<_, CliError>((nodes, unowned))
    })?;
    let nodes: Vec<Node> = nodes.iter().map(Node::of).collect();
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => nodes
            .iter()
            .try_for_each(|node| output::json_line(out, node)),
        Format::Table => table(&nodes, unowned, out),
    })
}

impl Node {
    fn of(state: &NodeState) -> Self {
        let lasted = state.lasted.as_secs_f64();
        let rate = match lasted > 0.0 {
            true => page_count(state.pages_of_term) / lasted,
            false => 0.0,
        };
        Self {
            node: state.name.clone(),
            state: match state.state {
                TermState::Live => "live",
                TermState::Silent => "silent",
                TermState::Left => "left",
                TermState::Lapsed => "lapsed",
            },
            term: state.term,
            buckets: state.buckets,
            pages: state.pages,
            pages_per_second: (rate * 10.0).round() / 10.0,
            waiting: state.waiting,
            heard: (state.silent_for.as_secs_f64() * 10.0).round() / 10.0,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate needs no more than 15 digits"
)]
fn page_count(pages: u64) -> f64 {
    pages as f64
}

fn table(nodes: &[Node], unowned: Unowned, out: &mut dyn Write) -> io::Result<()> {
    let names = nodes
        .iter()
        .map(|node| printable(&node.node).chars().count());
    let width = names.max().unwrap_or_default().max("node".len());
    writeln!(
        out,
        "{:<width$}  state   term  buckets     pages  pages/s   waiting  heard",
        "node"
    )?;
    for node in nodes {
        writeln!(
            out,
            "{:<width$}  {:<6}  {:>4}  {:>7}  {:>8}  {:>7.1}  {:>8}  {:.1} s ago",
            printable(&node.node),
            node.state,
            node.term,
            node.buckets,
            node.pages,
            node.pages_per_second,
            node.waiting,
            node.heard
        )?;
    }
    if unowned.buckets > 0 {
        writeln!(out, "{} buckets have no owner", unowned.buckets)?;
    }
    if unowned.links > 0 {
        writeln!(out, "{} URLs are in transfer between nodes", unowned.links)?;
    }
    Ok(())
}
