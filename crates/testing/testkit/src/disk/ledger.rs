//! The books of a disk: the synced bytes of each file, and the file that each name led to at its
//! last sync.
//!
//! Files that are not in the ledger are durable as they are: it begins to keep books of one with
//! the first call that changes it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Node(u64);

/// The known state of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// So many bytes from its beginning were synced. Where it was cut since, some of them are in
    /// `cut`.
    pub(super) durable: u64,
    /// The durable bytes that were cut off since the last sync, and where they began.
    pub(super) cut: Option<(u64, Vec<u8>)>,
    /// A sync failed: bytes from here on never become durable.
    pub(super) hopeless_from: Option<u64>,
    /// Its bytes, if it has no name now.
    pub(super) buried: Option<Vec<u8>>,
}

/// A change of names that was not synced.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Create(PathBuf, Node),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, Node),
}

impl Change {
    pub(super) fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Create(path, _) | Self::Remove(path) => vec![path],
            Self::Rename(from, to, _) => vec![from, to],
        }
    }

    /// Makes the change in `names`.
    pub(super) fn apply(&self, names: &mut BTreeMap<PathBuf, Option<Node>>) {
        match self {
            Self::Create(path, node) => drop(names.insert(path.clone(), Some(*node))),
            Self::Remove(path) => drop(names.insert(path.clone(), None)),
            Self::Rename(from, to, node) => {
                names.insert(from.clone(), None);
                names.insert(to.clone(), Some(*node));
            }
        }
    }
}

/// The books of a disk.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    issued: u64,
    pub(super) contents: HashMap<Node, Content>,
    /// The file that each name leads to now; only names in the ledger.
    pub(super) names: BTreeMap<PathBuf, Option<Node>>,
    /// The file that each name led to when its directory was last synced.
    pub(super) durable_names: BTreeMap<PathBuf, Option<Node>>,
    /// Changes since that sync, in order.
    pub(super) changes: Vec<Change>,
}

impl Ledger {
    /// The file that was just made at `path`, which was free.
    pub(super) fn created(&mut self, path: &Path) -> Node {
        self.names.entry(path.to_owned()).or_insert(None);
        self.durable_names.entry(path.to_owned()).or_insert(None);
        let node = self.issue(Content::default());
        self.change(Change::Create(path.to_owned(), node));
        node
    }

    /// The file at `path`.
    pub(super) fn node_at(&mut self, path: &Path) -> io::Result<Node> {
        match self.names.get(path) {
            Some(Some(node)) => return Ok(*node),
            Some(None) => return Err(io::ErrorKind::NotFound.into()),
            None => {}
        }
        let durable = fs::metadata(path)?.len();
        let node = self.issue(Content {
            durable,
            ..Content::default()
        });
        self.names.insert(path.to_owned(), Some(node));
        self.durable_names.insert(path.to_owned(), Some(node));
        Ok(node)
    }

    pub(super) fn synced(&mut self, node: Node, length: u64) {
        let content = self.contents.entry(node).or_default();
        content.durable = content.hopeless_from.unwrap_or(length).min(length);
        content.cut = None;
    }

    /// Drops the bytes of a failed sync from the system's memory: later syncs do not find them.
    pub(super) fn sync_failed(&mut self, node: Node) {
        let content = self.contents.entry(node).or_default();
        let kept = content
            .cut
            .as_ref()
            .map_or(content.durable, |(from, _)| *from);
        content.hopeless_from = Some(content.hopeless_from.unwrap_or(kept).min(kept));
    }

    /// The file is about to be cut to `length`.
    pub(super) fn cut(&mut self, node: Node, length: u64) -> io::Result<()> {
        let path = self.path_of(node);
        let content = self.contents.entry(node).or_default();
        let known = content
            .cut
            .as_ref()
            .map_or(content.durable, |(from, _)| *from);
        if length < known
            && let Some(path) = path
        {
            let bytes = fs::read(path)?;
            let whole = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
            let mut lost = bytes[whole(length)..whole(known)].to_vec();
            lost.extend(
                content
                    .cut
                    .take()
                    .map(|(_, bytes)| bytes)
                    .unwrap_or_default(),
            );
            content.cut = Some((length, lost));
        }
        if content.hopeless_from.is_some_and(|from| length <= from) {
            // What could not be synced is cut off: what is written in its place can be.
            content.hopeless_from = None;
        }
        Ok(())
    }

    pub(super) fn removing(&mut self, path: &Path) -> io::Result<()> {
        self.bury(path)?;
        self.change(Change::Remove(path.to_owned()));
        Ok(())
    }

    pub(super) fn renaming(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let node = self.node_at(from)?;
        if to.exists() {
            self.bury(to)?;
        } else {
            self.names.entry(to.to_owned()).or_insert(None);
            self.durable_names.entry(to.to_owned()).or_insert(None);
        }
        self.change(Change::Rename(from.to_owned(), to.to_owned(), node));
        Ok(())
    }

    /// The names in `directory` are durable.
    pub(super) fn directory_synced(&mut self, directory: &Path) {
        let (synced, left) = std::mem::take(&mut self.changes)
            .into_iter()
            .partition(|change| {
                change
                    .paths()
                    .iter()
                    .any(|path| path.parent() == Some(directory))
            });
        self.changes = left;
        let synced: Vec<Change> = synced;
        for change in synced {
            change.apply(&mut self.durable_names);
        }
        self.forget_what_is_gone();
    }

    pub(super) fn durable_length(&self, path: &Path) -> u64 {
        match self.names.get(path) {
            Some(Some(node)) => self.contents[node]
                .cut
                .as_ref()
                .map_or(self.contents[node].durable, |(from, _)| *from),
            Some(None) => 0,
            None => fs::metadata(path).map_or(0, |found| found.len()),
        }
    }

    pub(super) fn path_of(&self, node: Node) -> Option<PathBuf> {
        let named = self.names.iter().find(|(_, at)| **at == Some(node));
        named.map(|(path, _)| path.clone())
    }

    /// Keeps what is at `path`, which is about to lose its name.
    fn bury(&mut self, path: &Path) -> io::Result<()> {
        let node = self.node_at(path)?;
        let bytes = fs::read(path)?;
        self.contents.entry(node).or_default().buried = Some(bytes);
        Ok(())
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.names);
        self.changes.push(change);
    }

    fn issue(&mut self, content: Content) -> Node {
        self.issued += 1;
        let node = Node(self.issued);
        self.contents.insert(node, content);
        node
    }

    /// Files that no name leads to, now or after a power cut.
    fn forget_what_is_gone(&mut self) {
        let wanted = |node: &Node| {
            let named = |names: &BTreeMap<PathBuf, Option<Node>>| {
                names.values().any(|at| *at == Some(*node))
            };
            let changing = self.changes.iter().any(|change| match change {
                Change::Create(_, of) | Change::Rename(_, _, of) => of == node,
                Change::Remove(_) => false,
            });
            named(&self.names) || named(&self.durable_names) || changing
        };
        let gone: Vec<Node> = self
            .contents
            .keys()
            .filter(|node| !wanted(node))
            .copied()
            .collect();
        for node in gone {
            self.contents.remove(&node);
        }
    }
}
