//! Finds the captures of one URL in the index on the disk.
//!
//! Each run is sorted, so a binary search finds the first line of a key without reading the rest. A
//! run that is damaged, or replaced meanwhile, may lack a capture; it never invents one, since the
//! caller reads the record itself.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use web::surt_key;

use super::entry::{CdxjLine, MAX_LINE};
use super::index::survey;
use super::lines::CdxjReader;

/// Bytes of a run that are read line by line instead of being halved again.
const STRETCH: u64 = 8 << 10;

/// Returns the index lines with the key of `url`, at most `most` per run. URLs with the same key,
/// such as `/a` and `/A`, are included. Empty if `archive` has no index.
///
/// # Errors
/// I/O errors of the disk.
pub fn captures_of(archive: &Path, url: &str, most: usize) -> io::Result<Vec<CdxjLine>> {
    let key = surt_key(url);
    let mut found = Vec::new();
    for run in survey(archive)
        .map(|survey| survey.runs)
        .unwrap_or_default()
    {
        let mut input = BufReader::new(File::open(&run.path)?);
        seek(&mut input, run.seal.bytes, format!("{key} ").as_bytes())?;
        let mut lines = CdxjReader::new(input);
        let mut taken = 0;
        while taken < most
            && let Some(line) = lines.next_entry()?
        {
            if line.key == key {
                taken += 1;
                found.push(line);
            } else if line.key > key {
                break;
            }
        }
    }
    Ok(found)
}

/// Moves to a line that is not after the first one that begins with `start`, and near it.
fn seek(input: &mut BufReader<File>, length: u64, start: &[u8]) -> io::Result<()> {
    // Invariant: a line begins at `low`, every line before it sorts before `start`, and no line
    // that begins after `high` does.
    let (mut low, mut high) = (0, length);
    let mut line = Vec::new();
    while high.saturating_sub(low) > STRETCH {
        let middle = low + (high - low) / 2;
        input.seek(SeekFrom::Start(middle))?;
        let begin = middle + read_line(input, &mut line)?;
        read_line(input, &mut line)?;
        match begin < high && line.as_slice() < start {
            true => low = begin,
            false => high = middle,
        }
    }
    input.seek(SeekFrom::Start(low)).map(drop)
}

/// Reads a line, up to the cap, and returns its length.
fn read_line(input: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<u64> {
    line.clear();
    let read = input.take(MAX_LINE as u64 + 1).read_until(b'\n', line)?;
    Ok(read as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: &str = r#"{"length": "5", "offset": 7, "filename": "a.warc.gz"}"#;

    #[test]
    fn a_search_ends_at_or_shortly_before_the_first_line_of_a_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run");
        // Keys of many lengths, some with several lines.
        let key =
            |number: usize| format!("com,a)/{:05}{}", number / 3, "x".repeat(number / 3 % 700));
        let lines = (0..3_000).map(|number| format!("{} {:014} {PLACE}\n", key(number), number));
        let text: String = lines.collect();
        std::fs::write(&path, &text).unwrap();
        let mut input = BufReader::new(File::open(&path).unwrap());
        for number in (0..3_000).step_by(7) {
            let start = format!("{} ", key(number));
            seek(&mut input, text.len() as u64, start.as_bytes()).unwrap();
            let place = usize::try_from(input.stream_position().unwrap()).unwrap();
            let first = text.find(&start).unwrap();
            assert!(
                place <= first && first - place < 3 * STRETCH as usize,
                "{start}"
            );
            assert!(place == 0 || text.as_bytes()[place - 1] == b'\n', "{start}");
        }
    }
}
