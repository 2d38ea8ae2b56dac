//! The index of an archive: sorted runs, the part of the archive that each covers, and one merged
//! file when it is closed.
//!
//! ```text
//! archive/index.cdxj         the whole index when closed; the first run while the archive goes on
//! archive/index/runs         the runs, and the part of the archive that each covers (`manifest`)
//! archive/index/NNNNNN.cdxj  runs, each of a span that begins where the one before ends
//! ```
//!
//! Invariant: **the archive is the truth.** The runs of the manifest agree exactly with the archive
//! up to their noted end. On opening, lines beyond the archive's end are cut, missing and damaged
//! runs are dropped, and the rest of the archive is read again. So an interruption at any call to
//! the disk is repaired by the next opening.
//!
//! Closing merges the runs into one, puts that one alone into the manifest, and renames it to
//! `index.cdxj`. It is found under either name by its length, and its checksum is verified whenever
//! it is read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;

use super::batch::Batch;
use super::entry::CdxjLine;
use super::manifest::{CoveredRun, Manifest};
use super::run::{self, MergeFault, Reader, Run, Seal, Writer};
use super::scan;
use crate::fault::SinkFault;
use crate::warc::archive_end::ArchiveEnd;

/// Default memory for lines that are in no run yet, in bytes, for two batches: one is filled while
/// the other is written.
pub const MEMORY: usize = 16 << 20;

/// The merged index, in the directory of the archive.
pub const INDEX: &str = "index.cdxj";
/// The directory of the runs.
const DIRECTORY: &str = "index";
const MANIFEST: &str = "runs";
const SUFFIX: &str = ".cdxj";

/// The index of an archive while it is written.
pub(super) struct Index {
    disk: Arc<dyn Disk>,
    archive: PathBuf,
    manifest: Manifest,
    /// The next number of a run, above all others.
    next: u64,
    /// Size in bytes that makes a batch a run.
    full: usize,
    /// True if the only run was verified since it was written.
    is_checked: bool,
    /// True if the manifest on the disk still belongs to the index that this one will replace.
    is_draft: bool,
}

impl Index {
    /// Opens the index of the archive in `archive`, which is valid up to `end`, and updates it up
    /// to there.
    pub(super) fn open(
        disk: Arc<dyn Disk>,
        archive: &Path,
        end: &ArchiveEnd,
        memory: usize,
    ) -> Result<Self, SinkFault> {
        let directory = archive.join(DIRECTORY);
        disk.create_directories(&directory)
            .map_err(SinkFault::io("create", &directory))?;
        let manifest = Manifest::read(&directory.join(MANIFEST));
        let mut index = Self {
            disk,
            archive: archive.to_owned(),
            next: manifest.next_number(),
            manifest,
            full: memory / 2,
            is_checked: false,
            is_draft: false,
        };
        index.keep_what_holds(end)?;
        index.catch_up(end)?;
        Ok(index)
    }

    /// Returns the end of the part of the archive that the runs cover.
    pub(super) fn covered(&self) -> Option<&ArchiveEnd> {
        self.manifest.0.last().map(|run| &run.end)
    }

    /// Returns the size in bytes that makes a batch a run.
    pub(super) fn full(&self) -> usize {
        self.full
    }

    /// Writes a run of these lines, which cover the archive from [`Index::covered`] up to `end`.
    pub(super) fn add(&mut self, batch: &Batch, end: ArchiveEnd) -> Result<(), SinkFault> {
        if self.covered() == Some(&end) {
            return Ok(());
        }
        if batch.is_empty()
            && let Some(last) = self.manifest.0.last_mut()
        {
            last.end = end;
            return self.write_manifest();
        }
        self.is_checked = false;
        let (number, path) = self.next_run();
        let seal = run::write(&*self.disk, &path, batch.sorted())?.seal;
        self.sync(DIRECTORY)?;
        self.manifest.0.push(CoveredRun { number, seal, end });
        self.write_manifest()
    }

    /// Indexes the archive from the end of the runs up to `end`.
    pub(super) fn catch_up(&mut self, end: &ArchiveEnd) -> Result<(), SinkFault> {
        if self.covered() == Some(end) {
            return Ok(());
        }
        self.read(Some(end)).map(drop)
    }

    /// Indexes the archive from the end of the runs up to `end`, or to the archive's own end.
    fn read(&mut self, end: Option<&ArchiveEnd>) -> Result<IndexCounts, SinkFault> {
        let from = self.covered().cloned();
        let archive = self.archive.clone();
        let mut batch = Batch::default();
        let mut made = IndexCounts::default();
        let reached = scan::scan(&archive, from.as_ref(), end, &mut |place| {
            made.records += 1;
            if let Some(line) = place.line() {
                made.lines += 1;
                batch.push(&line);
            }
            if batch.size() >= self.full {
                self.add(&batch, place.end())?;
                batch = Batch::default();
            }
            Ok(())
        })?;
        if let Some(end) = end.cloned().or(reached) {
            self.add(&batch, end)?;
        }
        Ok(made)
    }

    /// Merges all runs into [`INDEX`], which then covers the archive up to `end`.
    pub(super) fn close(&mut self, end: &ArchiveEnd) -> Result<(), SinkFault> {
        self.catch_up(end)?;
        match self.merge() {
            Err(MergeFault::Sink(fault)) => return Err(fault),
            Err(MergeFault::Damaged(path)) => {
                let path = path.display();
                tracing::warn!(
                    %path,
                    "this part of the index is damaged: all of it is rebuilt from the archive"
                );
                self.drop_all()?;
                self.catch_up(end)?;
                self.merge()?;
            }
            Ok(()) => {}
        }
        self.promote()
    }

    /// Drops all runs.
    pub(super) fn drop_all(&mut self) -> Result<(), SinkFault> {
        self.manifest = Manifest::default();
        self.write_manifest()?;
        self.remove_strays()
    }

    fn merge(&mut self) -> Result<(), MergeFault> {
        let Some(end) = self.covered().cloned() else {
            return Ok(());
        };
        if self.manifest.0.len() == 1 && self.is_checked {
            return Ok(());
        }
        let places = 0..self.manifest.0.len();
        let runs: Option<Vec<Run>> = places.map(|place| self.found(place)).collect();
        let runs = runs.ok_or_else(|| MergeFault::Damaged(self.archive.join(DIRECTORY)))?;
        if let [only] = runs.as_slice() {
            check(only)?;
            self.is_checked = true;
            return Ok(());
        }
        let mut number = 0;
        let disk = Arc::clone(&self.disk);
        let seal = run::merge(&*disk, &runs, || {
            let (next, path) = self.next_run();
            number = next;
            path
        })?
        .seal;
        self.sync(DIRECTORY)?;
        self.manifest = Manifest(vec![CoveredRun { number, seal, end }]);
        self.write_manifest()?;
        self.is_checked = true;
        Ok(())
    }

    /// Renames the only run to [`INDEX`] and removes runs that the manifest does not name.
    fn promote(&mut self) -> Result<(), SinkFault> {
        if let [whole] = self.manifest.0.as_slice() {
            let from = self.run_path(whole.number);
            if is_sealed(&from, whole.seal) {
                let into = self.archive.join(INDEX);
                self.disk
                    .rename(&from, &into)
                    .map_err(SinkFault::io("replace", &into))?;
                self.sync("")?;
                self.sync(DIRECTORY)?;
            }
        }
        self.remove_strays()
    }

    /// Drops runs that are missing or damaged, and cuts lines beyond the archive's end.
    fn keep_what_holds(&mut self, end: &ArchiveEnd) -> Result<(), SinkFault> {
        let before = self.manifest.clone();
        let mut kept = 0;
        while kept < self.manifest.0.len() && self.holds(kept) {
            kept += 1;
        }
        self.manifest.0.truncate(kept);
        let mut cut = None;
        while let Some(last) = self.manifest.0.last()
            && end.is_before(&last.end)
        {
            let place = self.manifest.0.len() - 1;
            cut = self.found(place);
            self.manifest.0.pop();
        }
        if self.manifest != before || cut.is_some() {
            if let Some(run) = cut
                && self.covered() != Some(end)
            {
                self.cut(&run, end)?;
            }
            self.write_manifest()?;
        }
        self.remove_strays()
    }

    /// Writes a run with the lines of `run`, which follows [`Index::covered`], that are before
    /// `end`. Writes nothing if `run` is damaged.
    fn cut(&mut self, run: &Run, end: &ArchiveEnd) -> Result<(), SinkFault> {
        let (number, path) = self.next_run();
        let mut writer = Writer::create(&*self.disk, &path)?;
        let mut read = || -> Result<(), MergeFault> {
            let mut reader = Reader::open(run)?;
            while let Some(line) = reader.next()? {
                let entry =
                    CdxjLine::parse(line).map_err(|_odd| MergeFault::Damaged(run.path.clone()))?;
                if !end.is_before(&entry.archive_end()) {
                    writer.push(line)?;
                }
            }
            Ok(())
        };
        match read() {
            Ok(()) => {}
            Err(MergeFault::Damaged(_)) => return Ok(()),
            Err(MergeFault::Sink(fault)) => return Err(fault),
        }
        let seal = writer.finish()?.seal;
        self.sync(DIRECTORY)?;
        let end = end.clone();
        self.manifest.0.push(CoveredRun { number, seal, end });
        Ok(())
    }

    /// Returns true if this run exists and the archive reaches the end of what it covers.
    fn holds(&self, place: usize) -> bool {
        let end = &self.manifest.0[place].end;
        let before = self.manifest.0[..place].last();
        let is_later = before.is_none_or(|before| !end.is_before(&before.end));
        is_later && scan::reaches(&self.archive, end) && self.found(place).is_some()
    }

    /// Returns this run, if its file exists.
    fn found(&self, place: usize) -> Option<Run> {
        find(&self.archive, &self.manifest.0[place], place == 0)
    }

    /// Removes runs, and a merged index, that the manifest does not name.
    fn remove_strays(&self) -> Result<(), SinkFault> {
        let directory = self.archive.join(DIRECTORY);
        remove_all(
            &*self.disk,
            &directory,
            strays_of(&self.manifest, &directory),
        )?;
        let whole = self.archive.join(INDEX);
        let is_run =
            !self.manifest.0.is_empty() && self.found(0).is_some_and(|run| run.path == whole);
        if !is_run {
            run::remove(&*self.disk, &whole)?;
        }
        Ok(())
    }

    fn next_run(&mut self) -> (u64, PathBuf) {
        let number = self.next;
        self.next += 1;
        (number, self.run_path(number))
    }

    fn run_path(&self, number: u64) -> PathBuf {
        run_path(&self.archive, number)
    }

    fn write_manifest(&self) -> Result<(), SinkFault> {
        if self.is_draft {
            return Ok(());
        }
        let path = self.archive.join(DIRECTORY).join(MANIFEST);
        self.manifest.write(&*self.disk, &path)
    }

    /// Makes the names in this directory durable.
    fn sync(&self, directory: &str) -> Result<(), SinkFault> {
        let directory = self.archive.join(directory);
        self.disk
            .sync_directory(&directory)
            .map_err(SinkFault::io("sync", &directory))
    }
}

/// Returns the existing runs of an index that is not open, even damaged ones, and the end of the
/// part of the archive that they should cover.
pub(super) fn survey(archive: &Path) -> Option<Survey> {
    let manifest = Manifest::read(&archive.join(DIRECTORY).join(MANIFEST));
    let covered = manifest.0.last()?.end.clone();
    let mut survey = Survey {
        runs: Vec::new(),
        covered,
        missing: None,
    };
    for (place, run) in manifest.0.iter().enumerate() {
        let seal = run.seal;
        let own = run_path(archive, run.number);
        let path = match place == 0 && !own.exists() {
            true => archive.join(INDEX),
            false => own,
        };
        if path.exists() {
            survey.runs.push(Run { path, seal });
        } else {
            survey.missing = Some(path);
        }
    }
    Some(survey)
}

/// The result of [`survey`].
pub(super) struct Survey {
    pub(super) runs: Vec<Run>,
    pub(super) covered: ArchiveEnd,
    /// A run that is missing.
    pub(super) missing: Option<PathBuf>,
}

/// Returns the end of the part of the archive that a closed index covers; `None` if the index is
/// not closed, or damaged. Reads the index once, for its checksum.
#[must_use]
pub fn whole(archive: &Path) -> Option<ArchiveEnd> {
    let survey = survey(archive)?;
    let [run] = survey.runs.as_slice() else {
        return None;
    };
    let is_whole =
        run.path == archive.join(INDEX) && survey.missing.is_none() && check(run).is_ok();
    is_whole.then_some(survey.covered)
}

/// Rebuilds the index of the archive in `archive` from its records, up to the first torn one at its
/// end. No process may have the archive open.
///
/// The old index stays until the new one is complete, so an interruption leaves either the old or
/// the new index under its name. Runs of an interrupted rebuild are removed by the next one, and by
/// the next opening; [`strays`] lists them. Lines take up to `memory` bytes ([`MEMORY`]).
///
/// # Errors
/// I/O errors of the disk.
pub fn make_again(
    disk: Arc<dyn Disk>,
    archive: &Path,
    memory: usize,
) -> Result<IndexCounts, SinkFault> {
    let directory = archive.join(DIRECTORY);
    disk.create_directories(&directory)
        .map_err(SinkFault::io("create", &directory))?;
    remove_all(&*disk, &directory, strays(archive))?;
    let manifest = Manifest::read(&directory.join(MANIFEST));
    let mut index = Index {
        disk,
        archive: archive.to_owned(),
        next: manifest.next_number(),
        manifest: Manifest::default(),
        full: memory / 2,
        is_checked: false,
        is_draft: true,
    };
    let made = index.read(None)?;
    index.merge()?;
    index.is_draft = false;
    index.write_manifest()?;
    index.promote()?;
    Ok(made)
}

/// Lists the runs of an index that its manifest does not name: the rest of an interrupted rebuild.
/// No process may have the archive open.
///
/// # Errors
/// I/O errors of the disk.
pub fn strays(archive: &Path) -> io::Result<Vec<PathBuf>> {
    let directory = archive.join(DIRECTORY);
    match strays_of(&Manifest::read(&directory.join(MANIFEST)), &directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        strays => strays,
    }
}

/// Lists the runs in `directory` that this manifest does not name.
fn strays_of(manifest: &Manifest, directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut strays = Vec::new();
    for item in std::fs::read_dir(directory)? {
        let path = item?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_suffix(SUFFIX)?.parse::<u64>().ok());
        let is_named = |number| manifest.0.iter().any(|run| run.number == number);
        if number.is_some_and(|number| !is_named(number)) {
            strays.push(path);
        }
    }
    strays.sort();
    Ok(strays)
}

/// Removes the runs that were listed in `directory`.
fn remove_all(
    disk: &dyn Disk,
    directory: &Path,
    listed: io::Result<Vec<PathBuf>>,
) -> Result<(), SinkFault> {
    let runs = listed.map_err(SinkFault::io("list", directory))?;
    runs.iter().try_for_each(|run| run::remove(disk, run))
}

/// The counts of indexing an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    /// The number of records read.
    pub records: u64,
    /// The number of lines written.
    pub lines: u64,
}

/// Returns true if this file, by its name, is the manifest of an index, and so not part of an
/// archive.
#[must_use]
pub fn is_manifest(path: &Path) -> bool {
    path.ends_with(Path::new(DIRECTORY).join(MANIFEST))
}

/// Removes the index of an archive that continues without one: the index would not notice when the
/// archive is cut meanwhile.
///
/// # Errors
/// I/O errors of the disk.
pub fn remove(disk: &dyn Disk, archive: &Path) -> Result<(), SinkFault> {
    let directory = archive.join(DIRECTORY);
    if directory.exists() {
        run::remove(disk, &directory.join(MANIFEST))?;
        disk.sync_directory(&directory)
            .map_err(SinkFault::io("sync", &directory))?;
        remove_all(disk, &directory, strays(archive))?;
    }
    run::remove(disk, &archive.join(INDEX))
}

fn run_path(archive: &Path, number: u64) -> PathBuf {
    archive.join(DIRECTORY).join(format!("{number:06}{SUFFIX}"))
}

fn find(archive: &Path, run: &CoveredRun, is_first: bool) -> Option<Run> {
    let seal = run.seal;
    let whole = is_first.then(|| archive.join(INDEX));
    let mut paths = [Some(run_path(archive, run.number)), whole]
        .into_iter()
        .flatten();
    let path = paths.find(|path| is_sealed(path, seal))?;
    Some(Run { path, seal })
}

/// Returns true if a file has the noted length. Readers verify its checksum.
fn is_sealed(path: &Path, seal: Seal) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == seal.bytes)
}

/// Reads a run to its end and verifies it.
fn check(run: &Run) -> Result<(), MergeFault> {
    let mut reader = Reader::open(run)?;
    while reader.next()?.is_some() {}
    Ok(())
}
