//! `crawler nodes`: lists the nodes of a shared crawl.

use std::io;

use export::List;
use inspect::nodes::Node;
use messages::{CommandError, counted, printable};
use setup::shared;
use shared_store::Unowned;

use crate::args::NodesArgs;
use crate::output;

/// Columns of CSV.
const COLUMNS: &[&str] = &[
    "node",
    "state",
    "term",
    "buckets",
    "pages",
    "pages_per_second",
    "waiting",
    "heartbeat",
];

pub(crate) fn run(args: &NodesArgs) -> Result<(), CommandError> {
    let url = shared::required_url(args.store.as_ref())?;
    let (nodes, unowned) = shared::runtime()?.block_on(async {
        let crawl = shared::open_shared(&url).await?;
        let nodes = crawl.nodes().await.map_err(shared::read_error)?;
        let unowned = crawl.unowned().await.map_err(shared::read_error)?;
        Ok::<_, CommandError>((nodes, unowned))
    })?;
    let nodes: Vec<Node> = nodes.iter().map(Node::of).collect();
    output::list(&args.list, COLUMNS, |list| write(&nodes, unowned, list))
}

fn write(nodes: &[Node], unowned: Unowned, list: &mut List<'_>) -> io::Result<()> {
    let names = nodes
        .iter()
        .map(|node| printable(&node.node).chars().count());
    let width = names.max().unwrap_or_default().max("node".len());
    list.line(&format!(
        "{:<width$}  state   term  buckets     pages  pages/s   waiting  heartbeat",
        "node"
    ))?;
    for node in nodes {
        list.write(node, |out| {
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
            )
        })?;
    }
    if unowned.buckets > 0 {
        let buckets = counted(unowned.buckets, "bucket");
        list.line(&format!("{buckets} without an owner"))?;
    }
    if unowned.links > 0 {
        let urls = counted(unowned.links, "URL");
        list.line(&format!("{urls} in transfer between nodes"))?;
    }
    Ok(())
}
