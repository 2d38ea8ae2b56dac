//! The links to check, by host. Their URLs wait in a temporary file.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use disk::Spool;
use web::{Host, PageUrl};

/// A link to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTarget {
    /// Its target, as the page wrote it.
    pub url: PageUrl,
    /// The first page that was found to link to it.
    pub linked_from: Option<PageUrl>,
}

/// Links to check, each with a different target.
pub struct LinkQueue {
    spool: Spool,
    numbers: HashMap<Host, usize>,
    /// Offsets of the links of each host, newest first.
    offsets: Vec<Vec<u64>>,
    links: u64,
}

impl LinkQueue {
    /// Creates an empty queue on the file system of `directory`.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub fn in_directory(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            spool: Spool::in_directory(directory)?,
            numbers: HashMap::new(),
            offsets: Vec::new(),
            links: 0,
        })
    }

    /// Adds a link.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub fn add(&mut self, target: &LinkTarget) -> io::Result<()> {
        let linked_from = target.linked_from.as_ref().map(PageUrl::as_str);
        let entry = serde_json::to_vec(&(target.url.to_stored(), linked_from))?;
        let length = u32::try_from(entry.len()).map_err(io::Error::other)?;
        let offset = self.spool.length();
        self.spool
            .append(&[&length.to_le_bytes()[..], &entry].concat())?;
        let next = self.offsets.len();
        let number = *self.numbers.entry(target.url.host()).or_insert(next);
        if number == next {
            self.offsets.push(Vec::new());
        }
        self.offsets[number].push(offset);
        self.links += 1;
        Ok(())
    }

    /// Returns the number of links that were added.
    #[must_use]
    pub fn links(&self) -> u64 {
        self.links
    }

    /// Returns the number of hosts.
    pub(super) fn hosts(&self) -> usize {
        self.offsets.len()
    }

    /// Takes the next link of the host with this number.
    pub(super) fn take(&mut self, host: usize) -> io::Result<Option<LinkTarget>> {
        let Some(offset) = self.offsets[host].pop() else {
            return Ok(None);
        };
        let length: [u8; 4] = self.read(offset, 4)?.try_into().unwrap_or_default();
        let length = u32::from_le_bytes(length) as usize;
        let entry = self.read(offset + 4, length)?;
        let (url, linked_from): (String, Option<PageUrl>) = serde_json::from_slice(&entry)?;
        let url = PageUrl::of_stored(&url).map_err(io::Error::other)?;
        Ok(Some(LinkTarget { url, linked_from }))
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while filled < length {
            filled += self
                .spool
                .read_at(&mut bytes[filled..], offset + filled as u64)?;
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    #[test]
    fn links_are_taken_host_by_host_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        let mut queue = LinkQueue::in_directory(directory.path()).unwrap();
        let url = |text: &str| PageUrl::parse(text, &CanonicalForm::default()).unwrap();
        let mut added = Vec::new();
        for number in 0..1_000 {
            let host = number % 7;
            added.push(LinkTarget {
                url: url(&format!(
                    "http://h{host}.test/p?z={number}&utm_source=x&a=1"
                )),
                linked_from: (number % 2 == 0).then(|| url("http://home.test/")),
            });
            queue.add(&added[number]).unwrap();
        }
        assert_eq!((queue.links(), queue.hosts()), (1_000, 7));
        let mut taken = Vec::new();
        for host in 0..7 {
            while let Some(target) = queue.take(host).unwrap() {
                assert!(target.url.request().as_str().contains("utm_source=x"));
                taken.push(target);
            }
        }
        added.sort_by(|one, two| one.url.cmp(&two.url));
        taken.sort_by(|one, two| one.url.cmp(&two.url));
        assert_eq!(taken, added);
    }
}
