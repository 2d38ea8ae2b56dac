//! The extent of the link graph in an existing text file, to continue an export.
//!
//! The links of a page are consecutive, and pages are in the order of the visits. So the distinct
//! sources in the file must occur among the visits in this order; a visit between two sources has
//! no links. The links of the last source may be incomplete and are written again. Finding the
//! extent does not read the archive and holds one line in memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use journal::StoreFault;
use serde::Deserialize;

use crate::fault::ExportFault;
use crate::link::LINKS;
use crate::visit::Visit;
use crate::whole_file::{Differs, begun};
use crate::writer::Form;

/// The extent of a file of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// The number of visits, from the first, whose links are complete.
    pub visits: u64,
    /// The length of these visits' links in bytes.
    pub bytes: u64,
}

/// Returns the extent of the file of links at `path`, or of its draft; the default if neither file
/// exists, or only a torn line.
///
/// # Errors
/// [`Differs`] if the file is not of these visits, [`ExportFault`] if the file or a visit cannot be
/// read.
pub fn linked_so_far(
    path: &Path,
    form: Form,
    visits: impl Iterator<Item = Result<Visit, StoreFault>>,
) -> Result<Linked, ExportFault> {
    let Some((file, _)) = begun(path)? else {
        return Ok(Linked::default());
    };
    let mut runs = Runs::open(file, form)?;
    let Some(mut run) = runs.next_run()? else {
        return Ok(Linked::default());
    };
    for (number, visit) in (0..).zip(visits) {
        let visit = visit?;
        let source = visit.record.final_url.as_ref().unwrap_or(&visit.record.url);
        if source.as_str() != run.source {
            continue;
        }
        match runs.next_run()? {
            Some(next) => run = next,
            None => {
                return Ok(Linked {
                    visits: number,
                    bytes: run.start,
                });
            }
        }
    }
    Err(Differs { line: run.line }.into())
}

/// The links of a page.
struct Run {
    source: String,
    start: u64,
    line: u64,
}

/// The links in a file, page by page.
struct Runs {
    links: Links,
    next: Option<Run>,
}

enum Links {
    Jsonl {
        file: BufReader<File>,
        line: Vec<u8>,
        at: u64,
        number: u64,
    },
    Csv {
        reader: Box<csv::Reader<File>>,
        record: csv::ByteRecord,
        length: u64,
        ends_in_a_line: bool,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    source: String,
    #[serde(borrow, rename = "target")]
    _target: std::borrow::Cow<'a, str>,
    #[serde(rename = "anchor")]
    _anchor: Option<std::borrow::Cow<'a, str>>,
    #[serde(rename = "rel")]
    _rel: Option<std::borrow::Cow<'a, str>>,
    #[serde(rename = "kind")]
    _kind: std::borrow::Cow<'a, str>,
}

impl Runs {
    fn open(mut file: File, form: Form) -> Result<Self, ExportFault> {
        let length = file.metadata()?.len();
        let mut links = match form {
            Form::Csv | Form::RawCsv => {
                let mut last = [0];
                if length > 0 {
                    file.seek(SeekFrom::End(-1))?;
                    file.read_exact(&mut last)?;
                    file.rewind()?;
                }
                let mut reader = csv::ReaderBuilder::new();
                let reader = reader.flexible(true).has_headers(false).from_reader(file);
                Links::Csv {
                    reader: Box::new(reader),
                    record: csv::ByteRecord::new(),
                    length,
                    ends_in_a_line: last == *b"\n",
                }
            }
            Form::Jsonl | Form::Parquet | Form::Xlsx => Links::Jsonl {
                file: BufReader::with_capacity(64 << 10, file),
                line: Vec::new(),
                at: 0,
                number: 0,
            },
        };
        links.header()?;
        let next = links.next()?;
        Ok(Self { links, next })
    }

    fn next_run(&mut self) -> Result<Option<Run>, ExportFault> {
        let Some(run) = self.next.take() else {
            return Ok(None);
        };
        while let Some(next) = self.links.next()? {
            if next.source != run.source {
                self.next = Some(next);
                break;
            }
        }
        Ok(Some(run))
    }
}

impl Links {
    fn header(&mut self) -> Result<(), ExportFault> {
        let Self::Csv {
            reader,
            record,
            length,
            ends_in_a_line,
        } = self
        else {
            return Ok(());
        };
        let names = LINKS.columns.iter().map(|column| column.name.as_bytes());
        let is_there = reader.read_byte_record(record)?;
        let is_torn = reader.position().byte() >= *length && !*ends_in_a_line;
        if is_there && !is_torn && !record.iter().eq(names) {
            return Err(Differs { line: 1 }.into());
        }
        Ok(())
    }

    /// Returns the next complete link.
    fn next(&mut self) -> Result<Option<Run>, ExportFault> {
        match self {
            Self::Jsonl {
                file,
                line,
                at,
                number,
            } => {
                line.clear();
                file.read_until(b'\n', line)?;
                if line.last() != Some(&b'\n') {
                    return Ok(None);
                }
                let start = *at;
                *at += line.len() as u64;
                *number += 1;
                match serde_json::from_slice::<Line<'_>>(line) {
                    Ok(Line { source, .. }) => Ok(Some(Run {
                        source,
                        start,
                        line: *number,
                    })),
                    Err(_other) => Err(Differs { line: *number }.into()),
                }
            }
            Self::Csv {
                reader,
                record,
                length,
                ends_in_a_line,
            } => {
                let (start, line) = (reader.position().byte(), reader.position().line());
                let is_there = reader.read_byte_record(record)?;
                let is_last = reader.position().byte() >= *length;
                let is_whole = record.len() == LINKS.columns.len();
                if !is_there || is_last && (!*ends_in_a_line || !is_whole) {
                    return Ok(None);
                }
                if !is_whole {
                    return Err(Differs { line }.into());
                }
                Ok(Some(Run {
                    source: String::from_utf8_lossy(&record[0]).into_owned(),
                    start,
                    line,
                }))
            }
        }
    }
}
