//! `crawler export`: a row for each visited URL, in the order in which the visits ended.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use serde::Serialize;
use store::{Row, StoreFault, embedded};

use crate::args::{ExportArgs, ExportForm};
use crate::complaint::{Complaint, fault, usage};
use crate::{history, output};

/// A row as scripts know it; names and order are the contract.
#[derive(Serialize)]
pub(crate) struct ExportedRow<'a> {
    url: &'a str,
    final_url: &'a str,
    status: Option<u16>,
    fetched_at: String,
    depth: u32,
    via: Option<&'a str>,
    content_type: Option<&'a str>,
    bytes: u64,
    charset: Option<&'a str>,
    language: Option<&'a str>,
    title: Option<&'a str>,
    verdict: &'static str,
    duplicate_of: Option<&'a str>,
    distance: Option<u32>,
    resemblance: Option<f64>,
    fingerprint: Option<String>,
    reason: Option<&'a str>,
    warc_file: Option<&'a str>,
    warc_offset: Option<u64>,
}

impl<'a> From<&'a Row> for ExportedRow<'a> {
    fn from(row: &'a Row) -> Self {
        Self {
            url: row.url.as_str(),
            final_url: row.final_url.as_ref().unwrap_or(&row.url).as_str(),
            status: row.status,
            fetched_at: row.fetched_at.to_string(),
            depth: row.depth,
            via: row.via.as_ref().map(web::PageUrl::as_str),
            content_type: row.content_type.as_deref(),
            bytes: row.bytes,
            charset: row.charset.as_deref(),
            language: row.language.as_deref(),
            title: row.title.as_deref(),
            verdict: row.fate.as_str(),
            duplicate_of: row.duplicate_of.as_ref().map(web::PageUrl::as_str),
            distance: row.distance,
            resemblance: row.resemblance,
            fingerprint: row.fingerprint.map(|fingerprint| fingerprint.to_string()),
            reason: row.reason.as_deref(),
            warc_file: row.warc_file.as_deref(),
            warc_offset: row.warc_offset,
        }
    }
}

/// The columns, for a CSV that has no rows.
const COLUMNS: [&str; 19] = [
    "url",
    "final_url",
    "status",
    "fetched_at",
    "depth",
    "via",
    "content_type",
    "bytes",
    "charset",
    "language",
    "title",
    "verdict",
    "duplicate_of",
    "distance",
    "resemblance",
    "fingerprint",
    "reason",
    "warc_file",
    "warc_offset",
];

/// Why an export ends early: reading is ours, writing is the user's choice of a place.
enum Interruption {
    Store(StoreFault),
    Write(io::Error),
}

pub(crate) fn run(args: &ExportArgs) -> Result<(), Complaint> {
    let state = history::state_of(&args.directory)?;
    let rows = embedded::rows(&state).map_err(|error| fault(&error))?;
    let Some(path) = &args.output else {
        let mut broken = None;
        output::to_stdout(|out| match write(rows, args.format, out) {
            Ok(()) => Ok(()),
            Err(Interruption::Write(error)) => Err(error),
            Err(Interruption::Store(error)) => {
                broken = Some(error);
                Ok(())
            }
        })?;
        return broken.map_or(Ok(()), |error| Err(fault(&error)));
    };
    let unwritable = |error: io::Error| usage(format!("cannot write {}: {error}", path.display()));
    let mut out = BufWriter::new(File::create(path).map_err(unwritable)?);
    match write(rows, args.format, &mut out) {
        Ok(()) => out.flush().map_err(unwritable),
        Err(Interruption::Write(error)) => Err(unwritable(error)),
        Err(Interruption::Store(error)) => Err(fault(&error)),
    }
}

fn write(
    rows: impl Iterator<Item = Result<Row, StoreFault>>,
    form: ExportForm,
    out: &mut dyn Write,
) -> Result<(), Interruption> {
    match form {
        ExportForm::Jsonl => {
            for row in rows {
                let row = row.map_err(Interruption::Store)?;
                output::json_line(out, &ExportedRow::from(&row)).map_err(Interruption::Write)?;
            }
            Ok(())
        }
        ExportForm::Csv => {
            let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(out);
            let unwritten = |error: csv::Error| Interruption::Write(io::Error::other(error));
            csv.write_record(COLUMNS).map_err(unwritten)?;
            for row in rows {
                let row = row.map_err(Interruption::Store)?;
                csv.serialize(ExportedRow::from(&row)).map_err(unwritten)?;
            }
            csv.flush().map_err(Interruption::Write)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_an_empty_table_are_those_of_a_row() {
        let row = ExportedRow {
            url: "http://a.test/",
            final_url: "http://a.test/",
            status: None,
            fetched_at: String::new(),
            depth: 0,
            via: None,
            content_type: None,
            bytes: 0,
            charset: None,
            language: None,
            title: None,
            verdict: "unique",
            duplicate_of: None,
            distance: None,
            resemblance: None,
            fingerprint: None,
            reason: None,
            warc_file: None,
            warc_offset: None,
        };
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.serialize(&row).unwrap();
        let written = String::from_utf8(csv.into_inner().unwrap()).unwrap();
        assert_eq!(written.lines().next().unwrap(), COLUMNS.join(","));
    }
}
