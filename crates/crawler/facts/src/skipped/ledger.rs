//! The fate of each URL that a crawl has seen, in bounded memory.
//!
//! The URLs of a large crawl do not fit into memory. So their events are distributed by key over
//! partitions; large partitions go to unnamed files. At the end, one partition after another is
//! read (a hash join after Shapiro, ACM TODS 11(3), 1986, section 3).
//!
//! ```text
//! an entry   kind u8 · key of the URL u64 · length u32 · JSON of that length
//!
//! little-endian; visited URLs have no JSON
//! ```

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use journal::ReasonKind;
use serde::{Deserialize, Serialize};
use web::{PageUrl, UrlError, UrlKey};

/// Maximum bytes of all partitions in memory before they are written.
const MEMORY: usize = 64 << 20;
/// Bytes of the journal per partition: its URLs take about the same amount of memory.
const JOURNAL_A_PARTITION: u64 = 32 << 20;
const MAX_PARTITIONS: u64 = 256;
const HEADER_BYTES: usize = 13;

/// A URL that was seen and not visited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The URL.
    pub url: String,
    /// The number of its [`ReasonKind`].
    pub kind: u8,
    /// Why it was not visited.
    pub reason: String,
    /// The page that links to it.
    pub via: Option<String>,
    /// True if it waits in the queue.
    pub waits: bool,
    /// The stored form of the URL as its page wrote it, if that differs from `url`.
    pub written: Option<String>,
}

/// A line of the list. Field names are used in `--format json`.
#[derive(Serialize)]
pub struct Line<'a> {
    /// The URL.
    pub url: &'a str,
    /// The word of the kind of rule that left it out.
    pub why: &'static str,
    /// Why it was not visited.
    pub reason: &'a str,
    /// The page that links to it.
    pub via: Option<&'a str>,
}

impl Skipped {
    /// Returns the URL for output.
    pub fn line(&self) -> Line<'_> {
        Line {
            url: &self.url,
            why: self.kind().as_str(),
            reason: &self.reason,
            via: self.via.as_deref(),
        }
    }

    /// Returns the URL as its page wrote it.
    pub fn target(&self) -> Result<PageUrl, UrlError> {
        PageUrl::of_stored(self.written.as_ref().unwrap_or(&self.url))
    }

    /// Returns the kind of rule that left it out.
    pub fn kind(&self) -> ReasonKind {
        let kind = ReasonKind::ALL.get(usize::from(self.kind));
        kind.copied().unwrap_or(ReasonKind::Other)
    }
}

/// An event in the life of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Visited, or reached by a redirect.
    Visited,
    /// Not reached after all.
    Unreached,
    /// Queued; waits unless it was visited.
    Queued,
    /// Requeued; waits again.
    Requeued,
    /// Excluded.
    Excluded,
    /// Linked by a page, but not queued.
    Linked,
}

impl Event {
    const ALL: [Self; 6] = [
        Self::Visited,
        Self::Unreached,
        Self::Queued,
        Self::Requeued,
        Self::Excluded,
        Self::Linked,
    ];
}

/// Entries in partitions.
pub(super) struct Ledger {
    partitions: Vec<Partition>,
    /// The directory of temporary files.
    directory: PathBuf,
    /// Maximum bytes of a partition in memory.
    room: usize,
}

#[derive(Default)]
struct Partition {
    bytes: Vec<u8>,
    file: Option<File>,
}

impl Ledger {
    /// Creates a ledger for a crawl whose journal has `journal_bytes` bytes. Temporary files, if
    /// needed, go to `directory`.
    pub(super) fn new(directory: &Path, journal_bytes: u64) -> Self {
        let count = journal_bytes
            .div_ceil(JOURNAL_A_PARTITION)
            .clamp(1, MAX_PARTITIONS);
        Self::with_partitions(directory, count as usize, MEMORY)
    }

    fn with_partitions(directory: &Path, count: usize, memory: usize) -> Self {
        Self {
            partitions: (0..count).map(|_| Partition::default()).collect(),
            directory: directory.to_owned(),
            room: memory / count,
        }
    }

    /// Adds an event. Events of a URL apply in insertion order.
    pub(super) fn add(
        &mut self,
        event: Event,
        url: UrlKey,
        skipped: Option<&Skipped>,
    ) -> io::Result<()> {
        let json = skipped
            .map(serde_json::to_vec)
            .transpose()?
            .unwrap_or_default();
        let length = u32::try_from(json.len()).map_err(io::Error::other)?;
        // The low bits select the slot within a partition's map.
        let place = (url.as_u64() >> 32) as usize % self.partitions.len();
        let partition = &mut self.partitions[place];
        partition.bytes.push(event as u8);
        partition.bytes.extend(url.as_u64().to_le_bytes());
        partition.bytes.extend(length.to_le_bytes());
        partition.bytes.extend(json);
        if partition.bytes.len() >= self.room {
            partition.write(&self.directory)?;
        }
        Ok(())
    }

    /// Calls `give` once with each URL that was not visited.
    pub(super) fn finish(self, mut give: impl FnMut(Skipped) -> io::Result<()>) -> io::Result<()> {
        for partition in self.partitions {
            let mut states = States::default();
            partition.read(|event, url, json| states.apply(event, url, json))?;
            for skipped in states.skipped.into_iter().flatten() {
                give(skipped)?;
            }
        }
        Ok(())
    }
}

impl Partition {
    fn write(&mut self, directory: &Path) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(directory)?),
        };
        file.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Calls `give` with the entries in insertion order.
    fn read(mut self, mut give: impl FnMut(Event, u64, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let tail = std::mem::take(&mut self.bytes);
        let written: Box<dyn Read> = match self.file {
            Some(mut file) => {
                file.seek(SeekFrom::Start(0))?;
                Box::new(io::BufReader::with_capacity(1 << 18, file))
            }
            None => Box::new(io::empty()),
        };
        let mut all = written.chain(&*tail);
        let mut json = Vec::new();
        loop {
            let mut header = [0; HEADER_BYTES];
            match all.read_exact(&mut header) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                read => read?,
            }
            let [event, rest @ ..] = header;
            let (key, length) = rest.split_first_chunk().expect("a header has a key");
            let length = length.first_chunk().expect("a header has a length");
            json.resize(u32::from_le_bytes(*length) as usize, 0);
            all.read_exact(&mut json)?;
            let event = Event::ALL.get(usize::from(event));
            let event = event.ok_or_else(|| io::Error::other("an entry of no kind"))?;
            give(*event, u64::from_le_bytes(*key), &json)?;
        }
    }
}

/// The URLs of a partition.
#[derive(Default)]
struct States {
    places: HashMap<u64, usize>,
    /// URLs in the order of their first events; `None` for visited URLs.
    skipped: Vec<Option<Skipped>>,
}

impl States {
    fn apply(&mut self, event: Event, url: u64, json: &[u8]) -> io::Result<()> {
        let known = self.places.get(&url).copied();
        let is_visited = known.is_some_and(|place| self.skipped[place].is_none());
        match event {
            Event::Linked if known.is_some() => return Ok(()),
            Event::Queued if is_visited => return Ok(()),
            Event::Unreached => {
                self.places.remove(&url);
                return Ok(());
            }
            _ => {}
        }
        let state = match json {
            [] => None,
            json => Some(serde_json::from_slice(json)?),
        };
        let place = known.unwrap_or_else(|| {
            self.skipped.push(None);
            self.places.insert(url, self.skipped.len() - 1);
            self.skipped.len() - 1
        });
        self.skipped[place] = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(number: u64, reason: &str) -> Skipped {
        Skipped {
            url: format!("http://a.test/{number}"),
            kind: ReasonKind::Limit as u8,
            reason: reason.to_owned(),
            via: None,
            waits: true,
            written: None,
        }
    }

    fn left(ledger: Ledger) -> Vec<(String, String)> {
        let mut left = Vec::new();
        ledger
            .finish(|skipped| {
                left.push((skipped.url, skipped.reason));
                Ok(())
            })
            .unwrap();
        left.sort();
        left
    }

    #[test]
    fn the_last_event_of_a_url_counts_and_a_visited_one_is_not_listed() {
        use Event::{Excluded, Linked, Queued, Requeued, Unreached, Visited};
        type Events<'a> = &'a [(Event, Option<&'a str>)];
        let cases: [(Events<'_>, Option<&str>); 9] = [
            (&[(Queued, Some("q"))], Some("q")),
            (&[(Queued, Some("q")), (Visited, None)], None),
            (
                &[(Queued, Some("q")), (Visited, None), (Requeued, Some("r"))],
                Some("r"),
            ),
            (&[(Queued, Some("q")), (Excluded, Some("l"))], Some("l")),
            (&[(Excluded, Some("l")), (Queued, Some("q"))], Some("q")),
            (&[(Visited, None), (Queued, Some("q"))], None),
            (
                &[(Visited, None), (Unreached, None), (Linked, Some("k"))],
                Some("k"),
            ),
            (&[(Linked, Some("k")), (Linked, Some("other"))], Some("k")),
            (&[(Visited, None), (Linked, Some("k"))], None),
        ];
        for (events, expected) in cases {
            let directory = tempfile::tempdir().unwrap();
            let mut ledger = Ledger::new(directory.path(), 0);
            for (event, reason) in events {
                let skipped = reason.map(|reason| skipped(1, reason));
                ledger
                    .add(*event, UrlKey::from_u64(1), skipped.as_ref())
                    .unwrap();
            }
            let given: Vec<String> = left(ledger).into_iter().map(|(_, reason)| reason).collect();
            assert_eq!(
                given,
                expected.into_iter().collect::<Vec<_>>(),
                "{events:?}"
            );
        }
    }

    #[test]
    fn partitions_in_files_list_the_same_as_one_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let fill = |mut ledger: Ledger| {
            for number in 0..5_000_u64 {
                let key = UrlKey::of_name(&number.to_string());
                ledger
                    .add(Event::Queued, key, Some(&skipped(number, "waits")))
                    .unwrap();
            }
            for number in (0..5_000_u64).step_by(3) {
                let key = UrlKey::of_name(&number.to_string());
                ledger.add(Event::Visited, key, None).unwrap();
            }
            ledger
        };
        let in_memory = fill(Ledger::new(directory.path(), 0));
        let on_disk = fill(Ledger::with_partitions(directory.path(), 7, 7 << 10));
        assert!(in_memory.partitions[0].file.is_none());
        assert!(
            on_disk
                .partitions
                .iter()
                .all(|partition| partition.file.is_some())
        );
        let left_in_memory = left(in_memory);
        assert_eq!(left_in_memory.len(), 3_333);
        assert_eq!(left_in_memory, left(on_disk));
    }
}
