//! One index over several crawls and WARC files, and the revisits whose original none of them has.
//!
//! A replay finds the payload of a `revisit` record by the URL and the date that the record refers
//! to (ISO 28500:2017, sections 5.13 and 5.14), or without these by its digest among the captures
//! of the same URL. Both become lines that are sorted like the index, so that a reference stands
//! beside the capture that it names, and memory is bounded.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use disk::Disk;
use web::Timestamp;

use super::fault::WaczFault;
use super::index_lines::next_line;
use crate::cdxj::capture::DUPLICATE;
use crate::cdxj::entry::{CdxjLine, LineError};
use crate::cdxj::gather::{IndexingReport, index_file};
use crate::cdxj::json;
use crate::cdxj::key::key;
use crate::cdxj::line_sorter::{LineSorter, SortedLines};
use crate::cdxj::lines::CdxjReader;
use crate::fault::SinkFault;
use crate::warc::read::read_head;

/// A WARC file in a package.
#[derive(Clone, Debug)]
pub struct PackedFile {
    /// Its path on the disk.
    pub path: PathBuf,
    /// Its name in the package, without the directory.
    pub name: String,
    /// The number of bytes that are packed, from its start.
    pub length: u64,
}

/// The lines of several indexes, and the references of their revisits.
pub struct MergedIndex<'a> {
    /// `None` if there is only one index, which is packed as it is.
    lines: Option<LineSorter<'a>>,
    references: LineSorter<'a>,
    revisits: u64,
    latest: Option<String>,
}

/// The revisits whose payload is in none of the given files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingOriginals {
    /// Their number.
    pub count: u64,
    /// The URL of the first of them in the order of the index.
    pub example: Option<String>,
}

impl<'a> MergedIndex<'a> {
    /// Creates the index of several inputs, or, without `merging`, only the references of one. What
    /// exceeds the memory goes to files below `scratch`.
    #[must_use]
    pub fn new(disk: &'a dyn Disk, scratch: &Path, merging: bool) -> Self {
        let sorter = |name| LineSorter::new(disk, &scratch.join(name));
        Self {
            lines: merging.then(|| sorter("lines")),
            references: sorter("references"),
            revisits: 0,
            latest: None,
        }
    }

    /// Adds the lines of the index at `path` about records in `files`, which have the names that
    /// the index uses as keys. Lines about duplicates are among them; a package leaves them out.
    ///
    /// # Errors
    /// [`WaczFault::Index`] if the index has an invalid line or is not sorted, [`WaczFault::Read`],
    /// and [`WaczFault::Sorting`] if temporary files cannot be written.
    pub fn add_index(
        &mut self,
        path: &Path,
        input: impl BufRead,
        files: &HashMap<String, PackedFile>,
        each: &mut dyn FnMut(),
    ) -> Result<(), WaczFault> {
        let mut lines = CdxjReader::new(input);
        loop {
            let Some(entry) = next_line(&mut lines, path)? else {
                return Ok(());
            };
            each();
            let file = files.get(entry.file());
            let Some(file) = file.filter(|file| entry.end() <= file.length) else {
                continue;
            };
            if let Some(sorter) = &mut self.lines {
                let renamed = renamed(lines.line(), entry.file(), &file.name);
                let number = lines.skipped().lines;
                let renamed = renamed.ok_or_else(|| WaczFault::Index {
                    path: path.to_owned(),
                    line: number,
                    reason: LineError::Malformed,
                })?;
                sorter.push(&renamed)?;
            }
            if !entry.key.starts_with(DUPLICATE) {
                self.refer(&entry, &file.path)?;
            }
        }
    }

    /// Reads a WARC file of any crawler and adds the lines of its records.
    ///
    /// # Errors
    /// [`WaczFault::Sorting`] if temporary files cannot be written.
    pub fn add_file(
        &mut self,
        file: &PackedFile,
        each: &mut dyn FnMut(),
    ) -> Result<IndexingReport, WaczFault> {
        let mut report = IndexingReport::default();
        index_file(&file.path, &file.name, &mut report, &mut |line| {
            each();
            if let Some(sorter) = &mut self.lines {
                sorter.push(line)?;
            }
            let Ok(entry) = CdxjLine::parse(line.as_bytes()) else {
                return Ok(());
            };
            if self.latest.as_ref() < Some(&entry.timestamp) {
                self.latest = Some(entry.timestamp.clone());
            }
            if entry.key.starts_with(DUPLICATE) {
                return Ok(());
            }
            self.refer(&entry, &file.path)
        })?;
        Ok(report)
    }

    /// Returns the time of the last capture in the files that [`MergedIndex::add_file`] has read,
    /// to the second.
    #[must_use]
    pub fn latest(&self) -> Option<Timestamp> {
        let digits = self.latest.as_deref()?;
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or("00");
        let date = format!(
            "{}-{}-{}T{}:{}:{}Z",
            part(0, 4),
            part(4, 6),
            part(6, 8),
            part(8, 10),
            part(10, 12),
            part(12, 14)
        );
        date.parse().ok()
    }

    /// Returns the lines of the merged index, none without `merging`, and the revisits whose
    /// original is missing.
    ///
    /// # Errors
    /// [`WaczFault::Sorting`] if temporary files cannot be written or read.
    pub fn finish(self) -> Result<(Option<SortedLines>, MissingOriginals), WaczFault> {
        let missing = match self.revisits {
            0 => MissingOriginals::default(),
            _ => missing(self.references.finish()?)?,
        };
        let lines = self.lines.map(LineSorter::finish).transpose()?;
        Ok((lines, missing))
    }

    /// Adds the lines by which a revisit and its original meet.
    fn refer(&mut self, entry: &CdxjLine, path: &Path) -> Result<(), SinkFault> {
        let CdxjLine { key, timestamp, .. } = entry;
        if entry.text("mime") != Some("warc/revisit") {
            self.references.push(&format!("D {key} {timestamp} 0\n"))?;
            if let Some(digest) = entry.text("digest").filter(|digest| is_word(digest)) {
                self.references.push(&format!("P {key} {digest} 0\n"))?;
            }
            return Ok(());
        }
        self.revisits += 1;
        let url = entry.text("url").unwrap_or_default();
        let wanted = match original_of(path, entry.offset()) {
            Some((key, timestamp)) => format!("D {key} {timestamp}"),
            None => match entry.text("digest").filter(|digest| is_word(digest)) {
                Some(digest) => format!("P {key} {digest}"),
                None => format!("P {key} -"),
            },
        };
        self.references
            .push(&format!("{wanted} 1 {timestamp} {url}\n"))
    }
}

/// Returns the key and the timestamp of the capture that a revisit refers to.
fn original_of(path: &Path, offset: u64) -> Option<(String, String)> {
    let head = read_head(path, offset, 0).ok()?;
    let url = head.field("WARC-Refers-To-Target-URI")?;
    let at: Timestamp = head.field("WARC-Refers-To-Date")?.parse().ok()?;
    let key = key(url.trim_matches(['<', '>']));
    is_word(&key).then(|| (key, at.digits()))
}

/// Reads the sorted references and returns those that stand beside no capture.
fn missing(mut references: SortedLines) -> Result<MissingOriginals, WaczFault> {
    let mut missing = MissingOriginals::default();
    let (mut found, mut line) = (String::new(), String::new());
    loop {
        line.clear();
        let read = references.read_line(&mut line);
        let read = read.map_err(SinkFault::io("read", Path::new("the sorted references")))?;
        if read == 0 {
            return Ok(missing);
        }
        let mut words = line.trim_end_matches('\n').splitn(6, ' ');
        let names: Vec<&str> = words.by_ref().take(3).collect();
        let names = names.join(" ");
        if words.next() == Some("0") {
            found = names;
        } else if found != names {
            missing.count += 1;
            let url = || words.nth(1).unwrap_or_default().to_owned();
            missing.example.get_or_insert_with(url);
        }
    }
}

/// Returns true if this can stand between two spaces of a line.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace())
}

/// Returns a line, with its line break, that names a file by its name in the package. The name is
/// the last field of every line of ours; `None` for another line.
fn renamed(line: &[u8], from: &str, to: &str) -> Option<String> {
    let end = |name: &str| {
        let mut end = "\"filename\": ".to_owned();
        json::push_string(&mut end, name);
        end.push('}');
        end
    };
    let line = std::str::from_utf8(line).ok()?;
    let start = line.strip_suffix(&end(from))?;
    Some(format!("{start}{}\n", end(to)))
}

#[cfg(test)]
mod tests {
    use disk::SystemDisk;

    use super::*;

    #[test]
    fn a_line_names_its_file_by_the_name_in_the_package() {
        let line = r#"com,a)/ 2026 {"length": "1", "offset": "2", "filename": "\u00e9.warc"}"#;
        let renamed = renamed(line.as_bytes(), "é.warc", "2-é.warc").unwrap();
        assert_eq!(
            renamed,
            concat!(
                r#"com,a)/ 2026 {"length": "1", "offset": "2", "filename": "2-\u00e9.warc"}"#,
                "\n"
            )
        );
        assert_eq!(super::renamed(line.as_bytes(), "e.warc", "x"), None);
    }

    #[test]
    fn a_reference_is_missing_if_no_capture_has_its_key_and_its_time() {
        let mut sorter = LineSorter::new(&SystemDisk, Path::new("never needed"));
        for line in [
            "D com,a)/ 20260101000000 0\n",
            "D com,a)/ 20260101000000 1 20260102000000 http://a.com/\n",
            "D com,a)/ 20260101000001 1 20260102000000 http://a.com/?late\n",
            "P com,b)/ sha1:X 0\n",
            "P com,b)/ sha1:X 1 20260102000000 http://b.com/\n",
            "P com,b)/ sha1:Y 1 20260102000000 http://b.com/?other\n",
            "P com,c)/ - 1 20260102000000 http://c.com/\n",
        ] {
            sorter.push(line).unwrap();
        }
        let missing = missing(sorter.finish().unwrap()).unwrap();
        assert_eq!(missing.count, 3);
        assert_eq!(missing.example.as_deref(), Some("http://a.com/?late"));
    }
}
