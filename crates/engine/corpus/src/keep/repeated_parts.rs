//! Documents without the parts that occurred before.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use super::{KeepError, Kept, KeptDocuments, KeptSummary};
use crate::document::{Content, Document};
use crate::documents::InputDigest;
use crate::part_unit::PartUnit;

/// Repeated parts, in document order. They are in an unnamed temporary file, because they may not
/// fit in memory.
#[derive(Debug)]
pub struct RepeatedParts {
    file: BufWriter<File>,
}

impl RepeatedParts {
    /// Begins a file in this directory.
    ///
    /// # Errors
    /// The error of the system.
    pub fn new(directory: &Path) -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile_in(directory)?);
        Ok(Self { file })
    }

    /// Adds a part of a document, both numbered from 0.
    ///
    /// # Errors
    /// The error of the system.
    pub fn add(&mut self, document: u64, part: u32) -> io::Result<()> {
        self.file.write_all(&document.to_le_bytes())?;
        self.file.write_all(&part.to_le_bytes())
    }

    /// Reads the parts from the beginning.
    ///
    /// # Errors
    /// The error of the system.
    pub fn into_reader(self) -> io::Result<RepeatedPartReader> {
        let mut file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let mut reader = RepeatedPartReader {
            file: BufReader::new(file),
            head: None,
        };
        reader.head = reader.read()?;
        Ok(reader)
    }
}

/// A reader of repeated parts.
#[derive(Debug)]
pub struct RepeatedPartReader {
    file: BufReader<File>,
    head: Option<(u64, u32)>,
}

impl RepeatedPartReader {
    fn read(&mut self) -> io::Result<Option<(u64, u32)>> {
        let mut record = [0; 12];
        match self.file.read_exact(&mut record) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let (document, part) = record.split_at(8);
        let document = u64::from_le_bytes(document.try_into().expect("it has 8 bytes"));
        let part = u32::from_le_bytes(part.try_into().expect("it has 4 bytes"));
        Ok(Some((document, part)))
    }

    /// Returns the repeated parts of document `number`. Call it for every document, by ascending
    /// number.
    fn of_document(&mut self, number: u64) -> io::Result<Vec<u32>> {
        let mut parts = Vec::new();
        while let Some((document, part)) = self.head
            && document == number
        {
            parts.push(part);
            self.head = self.read()?;
        }
        Ok(parts)
    }
}

impl KeptDocuments {
    /// Reads the inputs again and writes the documents without their repeated parts; otherwise like
    /// [`write_texts`](Self::write_texts). Skips a document if nothing remains of it.
    ///
    /// # Errors
    /// As for [`write_texts`](Self::write_texts).
    pub fn write_without(
        &self,
        mut repeated: RepeatedPartReader,
        seen: &InputDigest,
        unit: PartUnit,
    ) -> Result<KeptSummary, KeepError> {
        self.write_texts(seen, |number, document| {
            let parts = repeated.of_document(number)?;
            Ok(without(document, &parts, unit))
        })
    }
}

/// Returns a document without these parts, which are in ascending order.
fn without(document: &Document, parts: &[u32], unit: PartUnit) -> Kept {
    let Content::Text { text, .. } = &document.content else {
        return Kept::Whole; // Not reached: `check_rewritable` has refused files.
    };
    if parts.is_empty() {
        return Kept::Whole;
    }
    let is_left = |(number, part): (u32, &'_ str)| {
        let is_repeated = parts.binary_search(&number).is_ok();
        (!is_repeated).then(|| part.to_owned())
    };
    let left: String = (0..).zip(unit.parts_of(text)).filter_map(is_left).collect();
    match left.trim().is_empty() {
        true => Kept::Dropped,
        false => Kept::WithText(left),
    }
}
