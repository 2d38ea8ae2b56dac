//! `crawler nodes`: lists the nodes of a shared crawl.

use std::io::{self, Write};

use inspect::nodes::Node;
use messages::{CommandError, counted, printable};
use setup::shared;
use shared_store::Unowned;

use crate::args::NodesArgs;
use crate::output::{self, Format};

pub(crate) fn run(args: &NodesArgs) -> Result<(), CommandError> {
    let url = shared::required_url(args.store.as_ref())?;
    let (nodes, unowned) = shared::runtime()?.block_on(async {
        let crawl = shared::open_shared(&url).await?;
        let nodes = crawl.nodes().await.map_err(shared::read_error)?;
        let unowned = crawl.unowned().await.map_err(shared::read_error)?;
        Ok::<_, CommandError>((nodes, unowned))
    })?;
    let nodes: Vec<Node> = nodes.iter().map(Node::of).collect();
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => nodes
            .iter()
            .try_for_each(|node| output::json_line(out, node)),
        Format::Table => table(&nodes, unowned, out),
    })
}

fn table(nodes: &[Node], unowned: Unowned, out: &mut dyn Write) -> io::Result<()> {
    let names = nodes
        .iter()
        .map(|node| printable(&node.node).chars().count());
    let width = names.max().unwrap_or_default().max("node".len());
    writeln!(
        out,
        "{:<width$}  state   term  buckets     pages  pages/s   waiting  heartbeat",
        "node"
    )?;
    for node in nodes {
        writeln!(
            out,
            "{:<width$}  {:<7}  {:>4}  {:>7}  {:>8}  {:>7.1}  {:>8}  {:.1} s ago",
            printable(&node.node),
            node.state,
            node.term,
            node.buckets,
            node.pages,
            node.pages_per_second,
            node.waiting,
            node.heartbeat
        )?;
    }
    if unowned.buckets > 0 {
        writeln!(
            out,
            "{} without an owner",
            counted(unowned.buckets, "bucket")
        )?;
    }
    if unowned.links > 0 {
        writeln!(
            out,
            "{} in transfer between nodes",
            counted(unowned.links, "URL")
        )?;
    }
    Ok(())
}
