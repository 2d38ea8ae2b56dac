//! `crawler verify`: archive, journal and tables agree. One line and code 0, or what is wrong and code 1.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use store::embedded::{self, Audit};
use store::{Fate, Row};
use web::PageUrl;

use crate::args::LookArgs;
use crate::complaint::{Complaint, fault};
use crate::history;
use crate::output::{self, Format};
use crate::terminal::{printable, say};

/// Complaints that are told one by one; the rest are counted.
const TOLD: usize = 20;

#[derive(Serialize)]
struct Report {
    agrees: bool,
    pages: u64,
    unique: u64,
    queued: u64,
    journal_records: u64,
    archive_files: u64,
    archive_records: u64,
    archive_bytes: u64,
    complaints: Vec<String>,
}

pub(crate) fn run(args: &LookArgs) -> Result<ExitCode, Complaint> {
    let state = history::state_of(&args.directory)?;
    let audit = embedded::audit(&state).map_err(|error| fault(&error))?;
    let rows = embedded::rows(&state).map_err(|error| fault(&error))?;
    let mut expected = Expected::default();
    for row in rows {
        expected.note(&row.map_err(|error| fault(&error))?);
    }
    let mut report = Report::new(&audit);
    report.complaints.extend(expected.complaints());
    report.read_archive(&history::archive(&args.directory), &mut expected)?;
    report.agrees = report.complaints.is_empty();
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &report),
        Format::Table => report.write(out),
    })?;
    Ok(if report.agrees {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What the journal says the archive has.
#[derive(Default)]
struct Expected {
    /// By file and offset: the page, and whether it was kept whole.
    places: BTreeMap<String, HashMap<u64, (PageUrl, bool)>>,
    unique: HashSet<PageUrl>,
    originals: BTreeSet<PageUrl>,
    twice: Vec<PageUrl>,
}

impl Expected {
    fn note(&mut self, row: &Row) {
        if row.fate == Fate::Unique && !self.unique.insert(row.url.clone()) {
            self.twice.push(row.url.clone());
        }
        if !row.of_earlier {
            self.originals.extend(row.duplicate_of.clone());
        }
        if let (Some(file), Some(offset)) = (&row.warc_file, row.warc_offset) {
            self.places
                .entry(file.clone())
                .or_default()
                .insert(offset, (row.url.clone(), row.kept));
        }
    }

    fn complaints(&self) -> Vec<String> {
        let twice = self.twice.iter().map(|url| format!("{url} was kept twice"));
        let dangling = self
            .originals
            .iter()
            .filter(|original| !self.unique.contains(*original));
        twice
            .chain(dangling.map(|url| format!("{url} is the original of a duplicate, and was not kept")))
            .collect()
    }
}

impl Report {
    fn new(audit: &Audit) -> Self {
        Self {
            agrees: false,
            pages: audit.totals.pages,
            unique: audit.totals.unique,
            queued: audit.queued,
            journal_records: audit.records,
            archive_files: 0,
            archive_records: 0,
            archive_bytes: 0,
            complaints: audit
                .complaints
                .iter()
                .map(|complaint| format!("tables: {complaint}"))
                .collect(),
        }
    }

    fn read_archive(&mut self, directory: &Path, expected: &mut Expected) -> Result<(), Complaint> {
        for path in files(directory)? {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
                say(&format!("reading {}", path.display()));
            }
            let mut places = expected.places.remove(&name).unwrap_or_default();
            let mut wrong = Vec::new();
            let checked = sinks::warc::check_file(&path, &mut |record| {
                if !record.digests_hold() {
                    wrong.push(format!(
                        "{name} at {}: a digest does not agree with the record",
                        record.offset
                    ));
                }
                if let Some((url, kept)) = places.remove(&record.offset) {
                    let kind = record.kind();
                    let fits = !kept || kind == "response";
                    if !fits {
                        wrong.push(format!(
                            "{name} at {}: a {kind} record where {url} was kept",
                            record.offset
                        ));
                    }
                }
            });
            self.archive_files += 1;
            match checked {
                Ok(check) => {
                    self.archive_records += check.records;
                    self.archive_bytes += check.length;
                }
                Err(error) => wrong.push(error.to_string()),
            }
            let lost = places
                .iter()
                .map(|(offset, (url, _))| format!("{name} at {offset}: no record, where {url} should be"));
            self.complaints.extend(wrong.into_iter().chain(lost));
        }
        let missing = expected
            .places
            .iter()
            .map(|(file, pages)| format!("{file} is missing, with {} pages", pages.len()));
        self.complaints.extend(missing);
        Ok(())
    }

    fn write(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        if self.agrees {
            return writeln!(
                out,
                "valid and complete: {} pages ({} unique, {} queued), {} journal records, {} archive records in {} files, all digests hold",
                self.pages,
                self.unique,
                self.queued,
                self.journal_records,
                self.archive_records,
                self.archive_files
            );
        }
        for complaint in self.complaints.iter().take(TOLD) {
            writeln!(out, "{}", printable(complaint))?;
        }
        writeln!(out, "NOT valid: {} complaints", self.complaints.len())
    }
}

/// The archive's files in the order of their names.
fn files(directory: &Path) -> Result<Vec<std::path::PathBuf>, Complaint> {
    let listing = std::fs::read_dir(directory).map_err(|error| fault(&error))?;
    let paths: Result<Vec<_>, _> = listing.map(|item| item.map(|item| item.path())).collect();
    let mut paths = paths.map_err(|error| fault(&error))?;
    paths.retain(|path| path.to_string_lossy().ends_with(".warc.gz"));
    paths.sort();
    Ok(paths)
}
