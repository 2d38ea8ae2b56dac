//! Lists of the dashboard as CSV, with a maximum size: they are held in memory.

use std::io::{self, Write};
use std::path::Path;

use export::{ExportFault, ExportInfo, Form, List, ListForm, TableWriter, VISITS, Visits};
use facts::hosts;
use journal::{StoreFault, VisitRecord};
use settings::Settings;
use statistics::CrawlStatistics;

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
    /// The command that writes the whole list.
    command: &'static str,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = self.most;
        if self.bytes.len() + bytes.len() > most {
            let command = self.command;
            let long = format!("the list exceeds {most} bytes: `{command}` writes all of it");
            return Err(io::Error::other(long));
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the visits that a filter takes, with the columns of `crawler export`.
///
/// # Errors
/// A sentence, if the journal cannot be read or the list exceeds `most` bytes.
pub fn of_visits(
    state: &Path,
    takes: &dyn Fn(&VisitRecord) -> bool,
    most: usize,
) -> Result<Vec<u8>, String> {
    let unreadable = |fault: StoreFault| fault.to_string();
    let unwritten = |fault: ExportFault| fault.to_string();
    let out = Bounded {
        bytes: Vec::new(),
        most,
        command: "crawler export",
    };
    let table = TableWriter::begin(Form::Csv, VISITS, &ABOUT, out);
    let mut table = table.map_err(unwritten)?;
    for visit in Visits::open(state, false).map_err(unreadable)? {
        let visit = visit.map_err(unreadable)?;
        if takes(&visit.record) {
            table.write(&visit.fields()).map_err(unwritten)?;
        }
    }
    Ok(table.finish().map_err(unwritten)?.bytes)
}

/// Returns the hosts whose names contain `letters`, with the columns of `crawler status --hosts`.
///
/// # Errors
/// A sentence, if the list exceeds `most` bytes.
pub fn of_hosts(
    statistics: &CrawlStatistics,
    settings: &Settings,
    letters: &str,
    most: usize,
) -> Result<Vec<u8>, String> {
    let mut out = Bounded {
        bytes: Vec::new(),
        most,
        command: "crawler status --hosts --format csv",
    };
    let lines = hosts::lines(statistics, settings).into_iter();
    let write = || {
        let mut list = List::begin(ListForm::Csv, hosts::COLUMNS, &mut out)?;
        for line in lines.filter(|line| line.host.contains(letters)) {
            list.write(&line, |_| Ok(()))?;
        }
        list.end()
    };
    write().map_err(|error: io::Error| error.to_string())?;
    Ok(out.bytes)
}
