//! A list of visits as CSV in memory, for the dashboard.

use std::io::{self, Write};
use std::path::Path;

use export::{ExportFault, ExportInfo, Form, TableWriter, VISITS, Visits};
use journal::{StoreFault, VisitRecord};

/// The beginning of a table as CSV, which has no place for metadata.
const ABOUT: ExportInfo = ExportInfo {
    version: env!("CARGO_PKG_VERSION"),
    algorithm: neardup::ALGORITHM,
    zero_key: false,
    options: Vec::new(),
};

/// Bytes in memory, up to a maximum.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = self.most;
        if self.bytes.len() + bytes.len() > most {
            let long = format!("the list exceeds {most} bytes: `crawler export` writes all visits");
            return Err(io::Error::other(long));
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the visits of the crawl with this state that a filter takes, as CSV of at most `most`
/// bytes.
///
/// # Errors
/// The reason why they cannot be read, or more than `most` bytes.
pub fn of(
    state: &Path,
    takes: &dyn Fn(&VisitRecord) -> bool,
    most: usize,
) -> Result<Vec<u8>, String> {
    let unreadable = |fault: StoreFault| fault.to_string();
    let unwritten = |fault: ExportFault| fault.to_string();
    let bytes = Vec::new();
    let table = TableWriter::begin(Form::Csv, VISITS, &ABOUT, Bounded { bytes, most });
    let mut table = table.map_err(unwritten)?;
    for visit in Visits::open(state, false).map_err(unreadable)? {
        let visit = visit.map_err(unreadable)?;
        if takes(&visit.record) {
            table.write(&visit.fields()).map_err(unwritten)?;
        }
    }
    Ok(table.finish().map_err(unwritten)?.bytes)
}
