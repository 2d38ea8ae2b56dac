//! Node file: the node and the crawl that a directory belongs to.
//!
//! The state of a node is a working copy, which each term recreates, and the tail of its archive is
//! cut after its settled visits. Invariant: no term does that to the directory of another node, or
//! of another crawl.

use std::io;
use std::path::Path;

use disk::Disk;
use serde::{Deserialize, Serialize};

/// Name of the file in the state of a node.
const FILE: &str = "shared-crawl";

/// The node and the crawl that a directory belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFile {
    /// The name of the node.
    pub node: String,
    /// The start time of the crawl, according to its store, in microseconds since 1970.
    pub crawl: i64,
}

impl NodeFile {
    /// Returns the node file in a state directory; `None` if it is not the state of a node.
    ///
    /// # Errors
    /// The error of reading the node file.
    pub fn read(state: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(state.join(FILE)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            // A path below a file, which cannot be the directory of a crawl.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the node file of a state directory.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, state: &Path, disk: &dyn Disk) -> io::Result<()> {
        disk.replace(&state.join(FILE), &serde_json::to_vec(self)?)
    }
}

#[cfg(test)]
mod tests {
    use disk::SystemDisk;

    use super::*;

    #[test]
    fn a_node_file_is_read_as_it_was_written_and_a_damaged_one_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(NodeFile::read(directory.path()).unwrap(), None);
        let file = directory.path().join("file.txt");
        std::fs::write(&file, "no directory").unwrap();
        assert_eq!(NodeFile::read(&file.join("state")).unwrap(), None);
        let node_file = NodeFile {
            node: "n1".to_owned(),
            crawl: 1_795_199_095_120_000,
        };
        node_file.write(directory.path(), &SystemDisk).unwrap();
        let text = std::fs::read_to_string(directory.path().join(FILE)).unwrap();
        assert_eq!(text, r#"{"node":"n1","crawl":1795199095120000}"#);
        assert_eq!(NodeFile::read(directory.path()).unwrap(), Some(node_file));
        std::fs::write(directory.path().join(FILE), "n1").unwrap();
        assert!(NodeFile::read(directory.path()).is_err());
    }
}
