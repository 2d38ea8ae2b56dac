//! One index over several crawls and WARC files, and the revisits whose original is missing.
//!
//! The original of a revisit is found by the rules of [`originals`](crate::originals): by the
//! digest, or by target and date, or, without a digest, among all captures of the target. Each way
//! becomes a line that is sorted like the index, so that a reference is next to the capture that it
//! names, and memory is bounded. An original named only by the id of its record is not searched
//! for.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use disk::Disk;
use web::{Timestamp, surt_key};

use super::fault::WaczFault;
use super::index_lines::next_line;
use crate::cdxj::capture::DUPLICATE;
use crate::cdxj::entry::{CdxjLine, LineError};
use crate::cdxj::gather::{IndexingReport, index_file};
use crate::cdxj::json;
use crate::cdxj::line_sorter::{LineSorter, SortedLines};
use crate::cdxj::lines::CdxjReader;
use crate::fault::SinkFault;
use crate::originals::{DigestText, Reference};
use crate::warc::read::read_head;

/// Maximum number of revisits without an original that may become the example.
const MAX_EXAMPLES: usize = 64;

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
    /// The URL of the first such revisit in the order of the index.
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
    /// the index uses as keys. Lines about duplicates are included, although a package leaves them
    /// out.
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

    /// Returns the lines of the merged index, `None` without `merging`, and the revisits whose
    /// original is missing.
    ///
    /// # Errors
    /// [`WaczFault::Sorting`] if temporary files cannot be written or read.
    pub fn finish(self) -> Result<(Option<SortedLines>, MissingOriginals), WaczFault> {
        let missing = match self.revisits {
            0 => MissingOriginals::default(),
            _ => missing(self.references.finish()?, self.revisits)?,
        };
        let lines = self.lines.map(LineSorter::finish).transpose()?;
        Ok((lines, missing))
    }

    /// Adds the lines that sort a revisit next to its original.
    fn refer(&mut self, entry: &CdxjLine, path: &Path) -> Result<(), SinkFault> {
        let CdxjLine { key, timestamp, .. } = entry;
        let digest = entry.text("digest").and_then(DigestText::of);
        let digest = digest.map(|digest| digest.to_string());
        let digest = digest.filter(|digest| is_word(digest));
        if entry.text("mime") != Some("warc/revisit") {
            let shown = digest.as_deref().unwrap_or("-");
            self.references
                .push(&format!("D {key} {timestamp} 0 {shown}\n"))?;
            self.references.push(&format!("K {key} - 0\n"))?;
            if let Some(digest) = digest {
                self.references.push(&format!("P {digest} - 0\n"))?;
            }
            return Ok(());
        }
        let Some(reference) = reference_of(path, entry.offset()) else {
            return Ok(());
        };
        let url = entry.text("url").unwrap_or_default();
        let is_by_id = reference.names_a_record() && digest.is_none();
        let named = reference.target().map(surt_key).filter(|key| is_word(key));
        let dated = named.as_ref().zip(reference.date());
        let dated = dated.map(|(key, at)| format!("D {key} {}", at.digits()));
        let shown = digest.clone().unwrap_or_else(|| "-".to_owned());
        let wanted = match digest {
            Some(digest) => [Some(format!("P {digest} -")), dated],
            None if is_by_id => return Ok(()),
            None => [Some(format!("K {} -", named.as_ref().unwrap_or(key))), None],
        };
        for wanted in wanted.into_iter().flatten() {
            let number = self.revisits;
            self.references
                .push(&format!("{wanted} 1 {shown} {number} {url}\n"))?;
        }
        self.revisits += 1;
        Ok(())
    }
}

/// Returns the reference of the revisit at a place.
fn reference_of(path: &Path, offset: u64) -> Option<Reference> {
    let head = read_head(path, offset, 0).ok()?;
    Some(Reference::of(&head))
}

/// Reads the sorted references of this many revisits and returns the revisits without any line next
/// to a capture.
fn missing(mut references: SortedLines, revisits: u64) -> Result<MissingOriginals, WaczFault> {
    let mut is_found = vec![false; usize::try_from(revisits).unwrap_or_default()];
    let mut unfound = Vec::new();
    let (mut found, mut line) = (String::new(), String::new());
    let mut digests: Vec<Option<DigestText>> = Vec::new();
    loop {
        line.clear();
        let read = references.read_line(&mut line);
        let read = read.map_err(SinkFault::io("read", Path::new("the sorted references")))?;
        if read == 0 {
            break;
        }
        let mut words = line.trim_end_matches('\n').splitn(7, ' ');
        let names: Vec<&str> = words.by_ref().take(3).collect();
        let names = names.join(" ");
        let is_capture = words.next() == Some("0");
        let digest = words.next().filter(|digest| *digest != "-");
        let digest = digest.and_then(DigestText::of);
        if is_capture {
            if found != names {
                digests.clear();
            }
            found = names;
            digests.push(digest);
            continue;
        }
        let may_be =
            |known: &Option<DigestText>| DigestText::may_agree(digest.as_ref(), known.as_ref());
        let is_here = found == names && digests.iter().any(may_be);
        let number = words.next().and_then(|number| number.parse().ok());
        let number: usize = number.unwrap_or_default();
        if !is_here {
            if unfound.len() < MAX_EXAMPLES {
                unfound.push((number, words.next().unwrap_or_default().to_owned()));
            }
        } else if let Some(is_found) = is_found.get_mut(number) {
            *is_found = true;
        }
    }
    let is_missing = |(number, _): &(usize, String)| is_found.get(*number) == Some(&false);
    Ok(MissingOriginals {
        count: is_found.iter().filter(|found| !**found).count() as u64,
        example: unfound.into_iter().find(is_missing).map(|(_, url)| url),
    })
}

/// Returns true if a text can be one word of a line.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace())
}

/// Returns a line, with its line break, that names a file by its name in the package. The name is
/// the last field of every line of ours; `None` for another line.
fn renamed(line: &[u8], from: &str, to: &str) -> Option<String> {
    let field = |name: &str| {
        let mut field = "\"filename\": ".to_owned();
        json::push_string(&mut field, name);
        field
    };
    // Within a string, quotation marks are escaped.
    let line = std::str::from_utf8(line).ok()?;
    let (start, end) = line.split_once(&field(from))?;
    Some(format!("{start}{}{end}\n", field(to)))
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
        let line = r#"com,a)/ 2026 {"url": "\"filename\": \"a\"", "filename": "a", "method": "P"}"#;
        let renamed = super::renamed(line.as_bytes(), "a", "b").unwrap();
        assert!(renamed.ends_with("\"filename\": \"b\", \"method\": \"P\"}\n"));
    }

    /// A revisit by digest, or a second off, was said to have its content in none of the inputs.
    #[test]
    fn an_original_is_missing_if_no_way_leads_to_a_capture() {
        let mut sorter = LineSorter::new(&SystemDisk, Path::new("never needed"));
        for line in [
            "D com,a)/ 20260101000000 0 sha1:Q\n",
            "K com,a)/ - 0\n",
            "P sha1:X - 0\n",
            "D com,a)/ 20260101000000 1 sha256:Z 0 http://a.com/\n",
            "P sha256:Z - 1 sha256:Z 0 http://a.com/\n",
            "D com,a)/ 20260101000001 1 sha1:X 1 http://a.com/?late\n",
            "P sha1:X - 1 sha1:X 1 http://a.com/?late\n",
            "P sha1:Y - 1 sha1:Y 2 http://b.com/?other\n",
            "K com,c)/ - 1 - 3 http://c.com/\n",
            "K com,a)/ - 1 - 4 http://a.com/\n",
            "D com,a)/ 20260101000000 1 sha1:R 5 http://a.com/?new\n",
        ] {
            sorter.push(line).unwrap();
        }
        let missing = missing(sorter.finish().unwrap(), 6).unwrap();
        assert_eq!(missing.count, 3);
        assert_eq!(missing.example.as_deref(), Some("http://a.com/?new"));
    }
}
