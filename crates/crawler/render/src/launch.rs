//! The process of the browser: its start in a sandbox, and its end.
//!
//! Invariant: the thread that starts the browser lives as long as it. The kernel ends the browser
//! with that thread (`PDEATHSIG`), so a killed crawler leaves no browser. The thread removes the
//! directory of the browser at the end.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use tempfile::TempDir;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::devtools::DevTools;
use crate::failure::LaunchError;
use crate::flags::Sandbox;
use crate::memory::memory_below;
use crate::options::ChromiumOptions;
use crate::{find, flags};

/// User and group of a browser that root starts: `nobody`.
const NOBODY: u32 = 65534;

/// Beginning of the names of the directories of browsers.
const PROFILE: &str = "crawler-browser-";

/// A file in such a directory, which its crawler keeps locked.
const LOCK: &str = "lock";

/// Number of attempts to remove the directory of a browser that is just ending.
const REMOVALS: u32 = 8;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(10);

/// A running browser. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    errors: PathBuf,
    /// The process that we started; all processes of the browser descend from it.
    id: u32,
}

impl Process {
    /// Starts a browser and connects to it.
    pub(crate) async fn start(
        program: &Path,
        options: &ChromiumOptions,
    ) -> Result<(Self, DevTools), LaunchError> {
        let (profile, lock) = profile()?;
        let errors = profile.path().join("stderr");
        let spawn = |source| LaunchError::Spawn {
            program: program.to_path_buf(),
            source,
        };
        let (to_browser, browser_in) = pipe::pipe().map_err(spawn)?;
        let (browser_out, from_browser) = pipe::pipe().map_err(spawn)?;
        let pipes = [
            (browser_in.into_blocking_fd().map_err(spawn)?, 3),
            (browser_out.into_blocking_fd().map_err(spawn)?, 4),
        ];
        let command = command(program, options, profile.path(), pipes)?;
        let (stop, stopped) = sync_channel(1);
        let (report, started) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("browser".to_owned())
            .spawn(move || {
                keep(command, profile, report, &stopped);
                drop(lock);
            })
            .map_err(spawn)?;
        let mut process = Self {
            stop: Some(stop),
            thread: Some(thread),
            errors,
            id: 0,
        };
        process.id = match started.await {
            Ok(outcome) => outcome.map_err(spawn)?,
            Err(_gone) => return Err(process.ended(program)),
        };
        Ok((process, DevTools::new(to_browser, from_browser)))
    }

    /// Returns the memory of the browser in bytes. Reads files of `/proc` for some milliseconds.
    pub(crate) async fn memory(&self) -> u64 {
        let id = self.id;
        let memory = tokio::task::spawn_blocking(move || memory_below(id));
        // It cannot panic; it is cancelled only with the runtime.
        memory.await.unwrap_or_default()
    }

    /// Returns the error of a browser that ended at once, with the last lines that it wrote.
    pub(crate) fn ended(&self, program: &Path) -> LaunchError {
        let output = std::fs::read(&self.errors).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let lines: Vec<&str> = output.lines().collect();
        let last = match lines[..] {
            [] => "it wrote nothing".to_owned(),
            [..] => lines[lines.len().saturating_sub(3)..].join(" / "),
        };
        LaunchError::Ended {
            program: program.to_path_buf(),
            output: last,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::warn!("the thread of the browser panicked");
        }
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Makes the directory of one browser, and locks it. `nobody` must reach it, so it is not below the
/// crawl's directory, which may be closed to other users. Removes directories that killed
/// crawlers left behind.
#[expect(
    clippy::disallowed_methods,
    reason = "the browser's files, not the crawler's, and nothing of them is kept"
)]
fn profile() -> Result<(TempDir, File), LaunchError> {
    let folder = std::env::temp_dir();
    remove_left(&folder);
    let made = tempfile::Builder::new()
        .prefix(PROFILE)
        .tempdir_in(&folder)
        .and_then(|profile| {
            let lock = locked(profile.path())?;
            if is_root() {
                chown(profile.path(), Some(NOBODY), Some(NOBODY))?;
            }
            Ok((profile, lock))
        });
    made.map_err(|source| LaunchError::Directory { folder, source })
}

/// Locks the directory of a browser. The lock has its name only once it is locked.
fn locked(profile: &Path) -> io::Result<File> {
    let unnamed = profile.join("unlocked");
    let lock = File::create_new(&unnamed)?;
    lock.lock()?;
    std::fs::rename(unnamed, profile.join(LOCK))?;
    Ok(lock)
}

/// Removes the directories of browsers that no crawler has locked.
fn remove_left(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of_browsers = entries.filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().starts_with(PROFILE.as_bytes())
    });
    for directory in of_browsers.map(|entry| entry.path()) {
        let is_left = File::open(directory.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
        if is_left && let Err(error) = std::fs::remove_dir_all(&directory) {
            tracing::debug!(%error, directory = %directory.display(), "cannot be removed");
        }
    }
}

/// Returns the command: `setpriv`, then `unshare` if namespaces are wanted, then the browser.
fn command(
    program: &Path,
    options: &ChromiumOptions,
    profile: &Path,
    pipes: [(OwnedFd, i32); 2],
) -> Result<Command, LaunchError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let spawn = |source| LaunchError::Spawn {
        program: program.to_path_buf(),
        source,
    };
    let errors = File::create(profile.join("stderr")).map_err(spawn)?;
    let mut command = Command::new(find::tool("setpriv", &path)?);
    command.args(flags::privileges(is_root()));
    if options.sandbox == Sandbox::Namespaces {
        command
            .arg(find::tool("unshare", &path)?)
            .args(flags::namespaces());
    }
    command
        .arg(program)
        .args(flags::browser(
            profile,
            options.heap_mib,
            options.user_agent.as_deref(),
        ))
        .env_clear()
        .env("PATH", path)
        .env("HOME", profile)
        .env("TMPDIR", profile)
        .env("LANG", "C.UTF-8")
        .current_dir(profile)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors)
        .process_group(0);
    let mappings = pipes.map(|(parent_fd, child_fd)| FdMapping {
        parent_fd,
        child_fd,
    });
    let mapped = command.fd_mappings(mappings.into());
    mapped.map_err(|collision| spawn(io::Error::other(collision)))?;
    Ok(command)
}

/// Starts the browser, waits for the order to end it, ends it, and removes its directory.
fn keep(
    mut command: Command,
    profile: TempDir,
    report: oneshot::Sender<io::Result<u32>>,
    stopped: &Receiver<()>,
) {
    let spawned = command.spawn();
    // Closes our copies of the browser's ends of the pipes, so that its end is noticed.
    drop(command);
    let mut child = match spawned {
        Ok(child) => child,
        Err(fault) => {
            // An error means that nobody waits for the browser any more.
            drop(report.send(Err(fault)));
            return;
        }
    };
    if report.send(Ok(child.id())).is_ok() {
        // The sender is only ever dropped.
        stopped.iter().for_each(|()| ());
    }
    if let Err(fault) = end(&mut child) {
        tracing::warn!(%fault, "the browser cannot be ended");
    }
    // A process that is just ending may still write a file.
    let path = profile.keep();
    let removed = (0..REMOVALS).any(|attempt| {
        #[expect(
            clippy::disallowed_methods,
            reason = "the browser's own thread, which has nothing else to do"
        )]
        std::thread::sleep(BETWEEN_REMOVALS * attempt);
        std::fs::remove_dir_all(&path).is_ok()
    });
    if !removed {
        tracing::warn!(path = %path.display(), "the directory of the browser cannot be removed");
    }
}

/// Kills the process group. The child is not waited for before, so its number is still its own.
fn end(child: &mut Child) -> io::Result<()> {
    let group = format!("-{}", child.id());
    let killed = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !killed.is_ok_and(|status| status.success()) {
        child.kill()?;
    }
    child.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each kill -9 of a crawler left 3 to 16 MiB behind.
    #[test]
    fn the_directories_of_killed_crawlers_are_removed_and_no_others() {
        let folder = tempfile::tempdir().expect("set up by the test");
        let directory = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).expect("set up by the test");
            path
        };
        let [left, used, unknown] =
            ["1", "2", "3"].map(|name| directory(&format!("{PROFILE}{name}")));
        let other = directory("other");
        drop(locked(&left).expect("set up by the test"));
        drop(locked(&other).expect("set up by the test"));
        let lock = locked(&used).expect("set up by the test");
        remove_left(folder.path());
        let exist = [left, used, unknown, other].map(|path| path.exists());
        assert_eq!(exist, [false, true, true, true]);
        drop(lock);
    }
}
