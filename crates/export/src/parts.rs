//! A table in Parquet as a directory of files, each of them whole: `part-00000.parquet` and so on.
//!
//! A Parquet file has its contents listed at its end, so one that was cut short is lost, and one
//! that is whole cannot grow. In parts, a kill costs the part that was being written, and what was
//! visited since goes into new ones.
//!
//! Each part notes up to which visit it goes, and a digest of all visits up to there: parts that
//! were made when the crawl told otherwise (a visit was revoked since), or of another crawl, are
//! refused, and left as they are. The digest is a chain: of the one before and of the visit as a
//! line of JSON, with XXH3-128 under the zero key. It guards against mistakes, not against malice.

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

/// Records in a part, unless told otherwise.
pub const DEFAULT_ROWS_PER_FILE: u64 = 1_000_000;

/// A visit's place among all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitPosition {
    /// How many visits there are up to this one.
    visits: u64,
    /// Stands for all of them.
    digest: u128,
}

/// A directory of parts that is being written.
pub struct Parts {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    table: Table,
    about: ExportInfo,
    rows_per_file: u64,
    /// Of each part that was there: how far it goes.
    there: Vec<VisitPosition>,
    /// How far was read.
    read: VisitPosition,
    /// How far was written.
    written: VisitPosition,
    /// The number of the next part.
    next: usize,
    open: Option<(TableWriter<WholeFile>, u64)>,
    line: Vec<u8>,
}

const VISITS_NOTE: &str = "crawler.visits";
const DIGEST_NOTE: &str = "crawler.visits_digest";

impl Parts {
    /// Begins a table in `directory`, or goes on with it. A part ends with the visit that brings it
    /// to `rows_per_file` records.
    ///
    /// # Errors
    /// [`ExportFault::Occupied`] where parts are there that are not to be continued,
    /// [`ExportFault::ForeignPart`] where they cannot be, else what the system said.
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

    /// Hears of the next visit, in their order: its mark, or none where the parts that are there
    /// have it.
    ///
    /// # Errors
    /// [`ExportFault::ForeignPart`] where a part that is there ends with this visit, and was made
    /// from others.
    pub fn advance(&mut self, visit: &Visit) -> Result<Option<VisitPosition>, ExportFault> {
        self.line.clear();
        self.line.extend_from_slice(&self.read.digest.to_le_bytes());
        json_line(SKETCHES, &visit.fields(), &mut self.line)?;
        self.read = VisitPosition {
            visits: self.read.visits + 1,
            digest: HashKey::ZERO.digest(&self.line),
        };
        let ends_here = |mark: &VisitPosition| mark.visits == self.read.visits;
        if let Some(number) = self
            .there
            .iter()
            .position(|mark| ends_here(mark) && *mark != self.read)
        {
            return Err(self.foreign(
                number,
                "the crawl tells otherwise now, or it is of another crawl",
            ));
        }
        let last = self.there.last().map_or(0, |mark| mark.visits);
        Ok((self.read.visits > last).then_some(self.read))
    }

    /// Writes a record.
    ///
    /// # Errors
    /// [`ExportFault`] where it cannot be written.
    pub fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        let (writer, rows) = self.open()?;
        *rows += 1;
        writer.write(fields)
    }

    /// All records of this visit were written, and of those before it.
    ///
    /// # Errors
    /// [`ExportFault`] where a part ends here and cannot be written.
    pub fn wrote(&mut self, mark: VisitPosition) -> Result<(), ExportFault> {
        self.written = mark;
        match &self.open {
            Some((_, rows)) if *rows >= self.rows_per_file => self.end_part(),
            _ => Ok(()),
        }
    }

    /// Ends the last part. Where there is no record at all, there is a part without any, for its
    /// columns.
    ///
    /// # Errors
    /// [`ExportFault`] where it cannot be written, or where parts go beyond the last visit.
    pub fn finish(mut self) -> Result<(), ExportFault> {
        let beyond = self
            .there
            .iter()
            .position(|mark| mark.visits > self.read.visits);
        if let Some(number) = beyond {
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
        ExportFault::ForeignPart {
            path: self.directory.join(name(number)),
            why: why.to_owned(),
        }
    }
}

fn name(number: usize) -> String {
    format!("part-{number:05}.parquet")
}

/// How far a part goes; none where it is not there.
fn position_of(
    path: &Path,
    table: Table,
    about: &ExportInfo,
) -> Result<Option<VisitPosition>, ExportFault> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let foreign = |why: &str| ExportFault::ForeignPart {
        path: path.to_owned(),
        why: why.to_owned(),
    };
    let reader = SerializedFileReader::new(file).map_err(|error| foreign(&error.to_string()))?;
    let notes = reader.metadata().file_metadata().key_value_metadata();
    let note = |name: &str| {
        let found = notes.into_iter().flatten().find(|note| note.key == name);
        found.and_then(|note| note.value.clone())
    };
    for ours in about.notes(table) {
        // A later version of ours may go on, as long as the columns and what is in them mean the
        // same.
        if ours.key != "crawler.version" && note(&ours.key) != ours.value {
            return Err(foreign(&format!(
                "its {} is not that of this export",
                ours.key
            )));
        }
    }
    let visits = note(VISITS_NOTE).and_then(|visits| visits.parse().ok());
    let digest = note(DIGEST_NOTE).and_then(|digits| u128::from_str_radix(&digits, 16).ok());
    match (visits, digest) {
        (Some(visits), Some(digest)) => Ok(Some(VisitPosition { visits, digest })),
        _ => Err(foreign("it does not say how far it goes")),
    }
}
