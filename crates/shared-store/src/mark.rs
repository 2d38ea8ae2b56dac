//! The mark of a node's state: the node and the crawl that a directory belongs to.
//!
//! The state of a node is a working copy, which each term recreates, and the tail of its archive is
//! cut after its settled visits. Invariant: no term does that to the directory of another node, or
//! of another crawl.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file that marks the state of a node.
const FILE: &str = "shared-crawl";

/// The node and the crawl that a directory belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMark {
    /// The name of the node.
    pub node: String,
    /// The start time of the crawl, according to its store, in microseconds since 1970.
    pub crawl: i64,
}

impl NodeMark {
    /// Returns the mark in a state directory; `None` if it is not the state of a node.
    ///
    /// # Errors
    /// The error of reading the mark.
    pub fn read(state: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(state.join(FILE)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            // A path below a file, which cannot be the directory of a crawl.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Marks a state directory.
    pub(crate) fn write(&self, state: &Path) -> io::Result<()> {
        std::fs::write(state.join(FILE), serde_json::to_vec(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_and_a_damaged_one_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(NodeMark::read(directory.path()).unwrap(), None);
        let file = directory.path().join("file.txt");
        std::fs::write(&file, "no directory").unwrap();
        assert_eq!(NodeMark::read(&file.join("state")).unwrap(), None);
        let mark = NodeMark {
            node: "n1".to_owned(),
            crawl: 1_795_199_095_120_000,
        };
        mark.write(directory.path()).unwrap();
        let text = std::fs::read_to_string(directory.path().join(FILE)).unwrap();
        assert_eq!(text, r#"{"node":"n1","crawl":1795199095120000}"#);
        assert_eq!(NodeMark::read(directory.path()).unwrap(), Some(mark));
        std::fs::write(directory.path().join(FILE), "n1").unwrap();
        assert!(NodeMark::read(directory.path()).is_err());
    }
}
