//! `--on-file`: a command that receives each closed file of the archive.
//!
//! A file loses its suffix `.open` once it is whole and synced and its visits are settled
//! (`sinks::warc`). So the directory is the queue: it survives a kill, and nothing waits in memory.
//! One thread runs one command at a time. Like `--on-finish`, the command is not a setting; it runs
//! without a shell.
//!
//! Invariant: `handed-over` names a file, with its length, only after its command has ended with
//! code 0. After a kill, a file may be handed over twice, but never not at all. A crawl that is
//! continued may append to its last file, which then has another length and is handed over again.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use disk::{Disk, SystemDisk};
use messages::{CommandError, fault, usage, warn};
use settings::crawl_directory;
use sinks::warc::{is_foreign, name_of};

/// Pause between two searches for closed files.
const PAUSE: Duration = Duration::from_secs(2);

/// Place of the path in the words of a command; without it, the path comes last.
const PLACE: &str = "{}";

/// Name and first line of the list of files that were handed over.
const LIST: &str = "handed-over";
const HEADER: &str = "crawler-handed-over 1";

/// The words of a command.
#[derive(Clone, Debug)]
pub struct FileCommand(Vec<String>);

impl FromStr for FileCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match shlex::split(text).filter(|words| !words.is_empty()) {
            Some(words) => Ok(Self(words)),
            None => Err("it has no words, or an open quotation mark".to_owned()),
        }
    }
}

impl FileCommand {
    /// Returns the command for the file at `path`.
    fn of(&self, path: &Path) -> Command {
        let has_place = self.0.iter().any(|word| word.contains(PLACE));
        let shown = path.to_string_lossy();
        let mut words = self.0.iter().map(|word| word.replace(PLACE, &shown));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        if !has_place {
            command.arg(path);
        }
        command.stdin(Stdio::null()).stdout(io::stderr());
        command
    }
}

/// A running hand-over of the files of a crawl. Dropping it hands over the remaining files, and
/// files whose command failed, and waits for the end.
pub struct OnFile(Option<(SyncSender<()>, JoinHandle<()>)>);

impl OnFile {
    /// Begins to hand over the files of the crawl in `out`, which this process has locked.
    ///
    /// # Errors
    /// The list of an earlier session cannot be read.
    pub fn begin(command: FileCommand, out: &Path) -> Result<Self, CommandError> {
        let out = std::path::absolute(out).map_err(|error| fault(&error))?;
        let mut hand_over = HandOver {
            command,
            archive: crawl_directory::archive(&out),
            list: FileList::read(out.join(LIST))?,
            failed: BTreeMap::new(),
        };
        let (end, ended) = sync_channel(0);
        let thread = std::thread::Builder::new().name("on-file".to_owned());
        let thread = thread.spawn(move || hand_over.run(&ended));
        Ok(Self(Some((end, thread.map_err(|error| fault(&error))?))))
    }
}

impl Drop for OnFile {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            if thread.join().is_err() {
                warn("--on-file broke off: continue the crawl to hand over the remaining files");
            }
        }
    }
}

/// A closed file of the archive.
struct ClosedFile {
    path: PathBuf,
    name: String,
    length: u64,
}

/// The files of an archive and the command that receives them.
struct HandOver {
    command: FileCommand,
    archive: PathBuf,
    list: FileList,
    /// Lengths of the files whose command failed in this session.
    failed: BTreeMap<String, u64>,
}

impl HandOver {
    fn run(&mut self, ended: &Receiver<()>) {
        loop {
            self.pass(false);
            match ended.recv_timeout(PAUSE) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.pass(true);
    }

    /// Hands over all files that wait; in the last pass, also those whose command failed.
    fn pass(&mut self, is_last: bool) {
        for file in self.waiting(is_last) {
            let mut command = self.command.of(&file.path);
            if !is_last {
                // An interrupt at the terminal is for the crawl.
                command.process_group(0);
            }
            match command.status() {
                Ok(status) if status.success() => self.note(&file),
                Ok(status) => {
                    let how = match status.code() {
                        Some(code) => format!("failed with code {code}"),
                        None => format!("was ended by a signal ({status})"),
                    };
                    self.report(&file, &how, is_last);
                }
                Err(error) => self.report(&file, &format!("could not be run: {error}"), is_last),
            }
        }
    }

    /// Returns the closed files that wait, in the order of the archive. There is no archive before
    /// the first visit.
    fn waiting(&self, is_last: bool) -> Vec<ClosedFile> {
        let files = crawl_directory::archive_files(&self.archive).unwrap_or_default();
        let files = files.into_iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let length = path.metadata().ok()?.len();
            let is_closed = name_of(&path) == Some(name.as_str());
            let is_in = |files: &BTreeMap<String, u64>| files.get(&name) == Some(&length);
            let is_done = is_in(&self.list.files) || (!is_last && is_in(&self.failed));
            let is_waiting = is_closed && !is_done && !is_foreign(&path);
            is_waiting.then_some(ClosedFile { path, name, length })
        });
        files.collect()
    }

    fn note(&mut self, file: &ClosedFile) {
        self.failed.remove(&file.name);
        if let Err(error) = self.list.add(file) {
            let list = self.list.path.display();
            warn(&format!(
                "cannot write {list}: {error}; {} will be handed over again",
                file.name
            ));
        }
    }

    fn report(&mut self, file: &ClosedFile, how: &str, is_last: bool) {
        let again = match is_last {
            true => "continue the crawl to hand it over again",
            false => "it is handed over again at the end",
        };
        let path = file.path.display();
        warn(&format!("--on-file {how} for {path}; {again}"));
        self.failed.insert(file.name.clone(), file.length);
    }
}

/// The files that were handed over, by name, with their lengths: a line per file.
struct FileList {
    path: PathBuf,
    files: BTreeMap<String, u64>,
}

impl FileList {
    /// Reads the list, which is replaced as a whole and so never torn.
    fn read(path: PathBuf) -> Result<Self, CommandError> {
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => format!("{HEADER}\n"),
            read => read.map_err(|error| unreadable(&path, &error.to_string()))?,
        };
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return Err(unreadable(&path, "its first line is of another version"));
        }
        let mut files = BTreeMap::new();
        for line in lines {
            let parts = line.split_once(' ');
            let file =
                parts.and_then(|(length, name)| Some((name.to_owned(), length.parse().ok()?)));
            files.extend([file.ok_or_else(|| unreadable(&path, "it contains an invalid line"))?]);
        }
        Ok(Self { path, files })
    }

    /// Adds a file, durably.
    fn add(&mut self, file: &ClosedFile) -> io::Result<()> {
        self.files.insert(file.name.clone(), file.length);
        let mut text = format!("{HEADER}\n");
        for (name, length) in &self.files {
            text.push_str(&format!("{length} {name}\n"));
        }
        SystemDisk.replace(&self.path, text.as_bytes())
    }
}

fn unreadable(path: &Path, reason: &str) -> CommandError {
    let error = usage(format!("cannot read {}: {reason}", path.display()));
    error.with_remedy("remove it to hand over all files of the archive again")
}
