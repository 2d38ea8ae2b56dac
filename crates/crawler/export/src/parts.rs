//! A Parquet table as a directory of complete files: `part-00000.parquet` and so on.
//!
//! A Parquet file has its index at the end, so a truncated one is lost and a complete one cannot
//! grow. With parts, a kill costs only the part in progress, and later visits go into new parts.
//!
//! The footer of each part has the number of visits that it covers and a digest of all visits up to
//! there. Parts of another crawl, or from before a visit was revoked, are refused and left
//! unchanged. The digest is a chain, of the previous digest and of the visit as a line of JSON,
//! with XXH3-128 under the zero key. It guards against mistakes, not against malice.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;
use neardup::HashKey;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::export_info::ExportInfo;
use crate::fault::ExportFault;
use crate::table::{Table, Value};
use crate::text::json_line;
use crate::visit::{SKETCHES, Visit};
use crate::whole_file::{Beginning, WholeFile};
use crate::writer::{Form, TableWriter};

/// Default number of records in a part.
pub const DEFAULT_ROWS_PER_FILE: u64 = 1_000_000;

/// A position in the sequence of visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitPosition {
    /// The number of visits up to here.
    visits: u64,
    /// The chained digest of the visits up to here.
    digest: u128,
}

/// A directory of parts, open for writing.
pub struct Parts {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    table: Table,
    about: ExportInfo,
    rows_per_file: u64,
    /// The end of each part that existed at the start.
    there: Vec<VisitPosition>,
    /// The last visit that was read.
    read: VisitPosition,
    /// The last visit that was written.
    written: VisitPosition,
    /// The number of the next part.
    next: usize,
    open: Option<(TableWriter<WholeFile>, u64)>,
    line: Vec<u8>,
}

const VISITS_NOTE: &str = "crawler.visits";
const DIGEST_NOTE: &str = "crawler.visits_digest";

impl Parts {
    /// Begins a table in `directory`, or continues it if `go_on` is set. A part ends with the visit
    /// that brings it to `rows_per_file` records.
    ///
    /// # Errors
    /// [`ExportFault::Occupied`] if parts exist and `go_on` is not set,
    /// [`ExportFault::ForeignPart`] if they cannot be continued, otherwise the system's error.
    pub fn begin(
        disk: Arc<dyn Disk>,
        directory: &Path,
        table: Table,
        about: ExportInfo,
        rows_per_file: u64,
        go_on: bool,
    ) -> Result<Self, ExportFault> {
        disk.create_directories(directory)?;
        let mut there = Vec::new();
        while let Some(mark) = position_of(&directory.join(name(there.len())), table, &about)? {
            there.push(mark);
            if !go_on {
                return Err(ExportFault::Occupied(directory.to_owned()));
            }
        }
        Ok(Self {
            disk,
            directory: directory.to_owned(),
            table,
            about,
            rows_per_file,
            next: there.len(),
            written: there.last().copied().unwrap_or_default(),
            there,
            read: VisitPosition::default(),
            open: None,
            line: Vec::new(),
        })
    }

    /// Takes the next visit in sequence, and returns its position; `None` if an existing part
    /// covers it.
    ///
    /// # Errors
    /// [`ExportFault::ForeignPart`] if an existing part ends with this visit and was made from
    /// other visits.
    pub fn advance(&mut self, visit: &Visit) -> Result<Option<VisitPosition>, ExportFault> {
        self.line.clear();
        self.line.extend_from_slice(&self.read.digest.to_le_bytes());
        json_line(SKETCHES, &visit.fields(), &mut self.line)?;
        self.read = VisitPosition {
            visits: self.read.visits + 1,
            digest: HashKey::ZERO.digest(&self.line),
        };
        let read = self.read;
        let is_of_others = |end: &VisitPosition| end.visits == read.visits && *end != read;
        if let Some(number) = self.there.iter().position(is_of_others) {
            let why = "it differs from the crawl, or comes from another crawl";
            return Err(self.foreign(number, why));
        }
        let last = self.there.last().map_or(0, |mark| mark.visits);
        Ok((self.read.visits > last).then_some(self.read))
    }

    /// Writes a record.
    ///
    /// # Errors
    /// [`ExportFault`] if the output cannot be written.
    pub fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        let (writer, rows) = self.open()?;
        *rows += 1;
        writer.write(fields)
    }

    /// Marks all records up to this visit as written, and ends the part if it is full.
    ///
    /// # Errors
    /// [`ExportFault`] if a part ends here and cannot be written.
    pub fn wrote(&mut self, mark: VisitPosition) -> Result<(), ExportFault> {
        self.written = mark;
        match &self.open {
            Some((_, rows)) if *rows >= self.rows_per_file => self.end_part(),
            _ => Ok(()),
        }
    }

    /// Ends the last part. A table without a record gets one empty part, for its columns.
    ///
    /// # Errors
    /// [`ExportFault`] if the part cannot be written, or if parts extend beyond the last visit.
    pub fn finish(mut self) -> Result<(), ExportFault> {
        let is_beyond = |end: &VisitPosition| end.visits > self.read.visits;
        if let Some(number) = self.there.iter().position(is_beyond) {
            return Err(self.foreign(number, "it has more visits than the crawl"));
        }
        if self.next == 0 {
            self.open()?;
        }
        self.end_part()
    }

    fn open(&mut self) -> Result<&mut (TableWriter<WholeFile>, u64), ExportFault> {
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let path = self.directory.join(name(self.next));
                let file = WholeFile::begin(Arc::clone(&self.disk), &path, Beginning::Anew)?;
                self.next += 1;
                let writer = TableWriter::begin(Form::Parquet, self.table, &self.about, file)?;
                (writer, 0)
            }
        };
        Ok(self.open.insert(open))
    }

    fn end_part(&mut self) -> Result<(), ExportFault> {
        let Some((mut writer, _)) = self.open.take() else {
            return Ok(());
        };
        writer.note(VISITS_NOTE, self.written.visits.to_string());
        writer.note(DIGEST_NOTE, format!("{:032x}", self.written.digest));
        writer.finish()?.complete().map_err(ExportFault::from)
    }

    fn foreign(&self, number: usize, why: &str) -> ExportFault {
        foreign(&self.directory.join(name(number)), why)
    }
}

fn foreign(path: &Path, why: &str) -> ExportFault {
    ExportFault::ForeignPart {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

fn name(number: usize) -> String {
    format!("part-{number:05}.parquet")
}

/// Returns the end of the part at `path`; `None` if the file does not exist.
fn position_of(
    path: &Path,
    table: Table,
    about: &ExportInfo,
) -> Result<Option<VisitPosition>, ExportFault> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let foreign = |why: &str| foreign(path, why);
    let reader = SerializedFileReader::new(file).map_err(|error| foreign(&error.to_string()))?;
    let notes = reader.metadata().file_metadata().key_value_metadata();
    let note = |name: &str| {
        let found = notes.into_iter().flatten().find(|note| note.key == name);
        found.and_then(|note| note.value.clone())
    };
    for ours in about.notes(table) {
        // A later version of this program may continue as long as the columns keep their meaning.
        if ours.key != "crawler.version" && note(&ours.key) != ours.value {
            let why = format!("its {} differs from this export", ours.key);
            return Err(foreign(&why));
        }
    }
    let visits = note(VISITS_NOTE).and_then(|visits| visits.parse().ok());
    let digest = note(DIGEST_NOTE).and_then(|digits| u128::from_str_radix(&digits, 16).ok());
    match (visits, digest) {
        (Some(visits), Some(digest)) => Ok(Some(VisitPosition { visits, digest })),
        _ => Err(foreign("it does not contain its end")),
    }
}
