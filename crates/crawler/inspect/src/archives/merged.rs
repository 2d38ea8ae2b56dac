//! The merged index of all inputs, and the originals that it lacks.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use disk::SystemDisk;
use messages::{CommandError, SlowProgress, fault, pasted, printable, say, usage, warn};
use settings::machine::usual_temp_dir;
use sinks::SinkFault;
use sinks::cdxj::{self, IndexingReport, SortedLines};
use sinks::wacz::{MergedIndex, MissingOriginals, WaczFault};
use web::Timestamp;

use super::inputs::{Input, InputCrawl};
use crate::index;

/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

/// The merged index of all inputs.
pub(crate) struct InputIndex {
    /// Lines of the index. `None` if the only input is a crawl whose index is used unchanged.
    pub(crate) lines: Option<SortedLines>,
    /// The time of the last capture.
    pub(crate) latest: Timestamp,
    missing: MissingOriginals,
    report: IndexingReport,
}

impl InputIndex {
    /// Indexes all inputs; without `merging`, the index of a single crawl is only checked.
    /// Temporary files go to `scratch`, which is removed afterwards.
    pub(crate) fn of(
        inputs: &[Input],
        scratch: &Path,
        merging: bool,
    ) -> Result<Self, CommandError> {
        let read = Self::read(inputs, scratch, merging);
        if scratch.is_dir() {
            // It is empty unless something failed, and failures are reported.
            fs::remove_dir_all(scratch).ok();
        }
        read
    }

    fn read(inputs: &[Input], scratch: &Path, merging: bool) -> Result<Self, CommandError> {
        let mut merged = MergedIndex::new(&SystemDisk, scratch, merging);
        let mut progress = SlowProgress::new("captures indexed");
        let mut whole = IndexingReport::default();
        let mut latest = Timestamp::default();
        for input in inputs {
            match input {
                Input::Crawl(crawl) => {
                    latest = latest.max(crawl.extent.latest);
                    let (path, lines) = open(crawl)?;
                    let each = &mut || progress.step();
                    let added = merged.add_index(&path, lines, &crawl.by_name(), each);
                    added.map_err(|error| unusable(crawl, &error))?;
                }
                Input::File(file) => {
                    let added = merged.add_file(file, &mut || progress.step());
                    let report = added.map_err(|error| fault(&error))?;
                    if report.records == 0 {
                        let reason = report.faults.first();
                        let reason = reason.map(|reason| format!(" ({reason})"));
                        let (path, reason) = (file.path.display(), reason.unwrap_or_default());
                        return Err(usage(format!("{path} contains no WARC record{reason}"))
                            .with_remedy("give WARC files and directories of crawls"));
                    }
                    whole.broken += report.broken;
                    whole.sharing += report.sharing;
                    whole.unnamed += report.unnamed;
                    whole.not_pages += report.not_pages;
                    whole.faults.extend(report.faults);
                }
            }
        }
        latest = latest.max(merged.latest().unwrap_or_default());
        let (lines, missing) = merged.finish().map_err(|error| fault(&error))?;
        Ok(Self {
            lines,
            latest,
            missing,
            report: whole,
        })
    }

    /// Warns about unreadable records, and about content that no input contains.
    pub(crate) fn warn(&self) {
        for broken in &self.report.faults {
            warn(&broken.to_string());
        }
        for remark in index::remarks(&self.report) {
            say(&remark);
        }
        if let Some(example) = &self.missing.example {
            say(&format!(
                "warning: {} revisits have no content in the inputs, such as {}: also give the \
                 earlier crawl (--since)",
                self.missing.count,
                printable(example)
            ));
        }
    }

    /// Returns true if every record was read and has its own offset.
    pub(crate) const fn is_whole(&self) -> bool {
        index::is_whole(&self.report)
    }
}

/// Returns the directory for temporary files. It is next to the output, whose disk needs the space
/// anyway, or the system's directory if the output is standard output.
pub(crate) fn scratch(output: &Path) -> PathBuf {
    if output == Path::new("-") {
        return usual_temp_dir().join(format!("crawler-{}.runs", std::process::id()));
    }
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".runs");
    output.with_file_name(name)
}

/// Opens the index of a crawl; returns its path and its lines.
pub(crate) fn open(crawl: &InputCrawl) -> Result<(PathBuf, BufReader<File>), CommandError> {
    let path = crawl.archive.join(cdxj::INDEX);
    let file = File::open(&path);
    let file = file.map_err(|error: io::Error| fault(&SinkFault::io("read", &path)(error)))?;
    Ok((path, BufReader::with_capacity(BUFFER, file)))
}

/// Returns the error for a crawl's index that cannot be used.
pub(crate) fn unusable(crawl: &InputCrawl, error: &WaczFault) -> CommandError {
    match error {
        WaczFault::Index { .. } => fault(error).with_remedy(format!(
            "remove {}: it is rebuilt from the archive; check the archive with `crawler verify {}`",
            crawl.archive.join(cdxj::INDEX).display(),
            pasted(&crawl.directory)
        )),
        _ => fault(error),
    }
}
