//! Compares the archive of a node with the store of its crawl.

use std::path::Path;

pub use facts::verify::node::Report;
use facts::verify::node::compare;
use messages::{CommandError, usage};
use settings::crawl_directory;
use setup::shared::NodeReplica;
use sinks::warc::name_of;
use store::DirectoryLock;

/// Compares the archive in `directory` with the crawl in the store at `url`.
pub fn check(directory: &Path, url: &str) -> Result<Report, CommandError> {
    let state = crawl_directory::any_state_of(directory)?;
    // Held until the end: the node must not run meanwhile.
    let _lock = DirectoryLock::share(&state)?;
    let archive_directory = crawl_directory::archive(directory);
    let replica = match crawl_directory::node_file(directory)? {
        Some(node_file) => NodeReplica::of_node_file(url, node_file)?,
        // An imported crawl.
        None => {
            let files = crawl_directory::archive_files(&archive_directory).unwrap_or_default();
            let names = files.iter().filter_map(|path| name_of(path));
            let names: Vec<String> = names.map(str::to_owned).collect();
            NodeReplica::of_archive(url, &names)?
        }
    };
    let Some(replica) = replica else {
        let shown = directory.display();
        return Err(usage(format!(
            "{shown} is not the directory of a node of this crawl"
        ))
        .with_remedy("give the store of its crawl, and the directory that was given to --out"));
    };
    compare(directory, &replica.directory, &replica.node)
}
