//! Runs the binary, in a directory of its own.

pub(crate) mod bell;
pub(crate) mod cdxj;
pub(crate) mod damage;
pub(crate) mod environment;
pub(crate) mod foreign_warc;
pub(crate) mod inspection;
pub(crate) mod moments;
pub(crate) mod pages;
pub(crate) mod peak_memory;
pub(crate) mod ration;
pub(crate) mod settled_web;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use testkit::Server;

/// A crawl: a directory, and the arguments that it is run with each time.
pub(crate) struct Crawl {
    directory: TempDir,
    arguments: Vec<String>,
}

impl Crawl {
    /// Of these host names, which `server` answers for; without politeness, so that tests are
    /// quick.
    pub(crate) fn of(server: &Server, hosts: &[&str]) -> Self {
        Self::polite(server, hosts, "0").with(&["--delay-factor", "0"])
    }

    /// The same with a delay.
    pub(crate) fn polite(server: &Server, hosts: &[&str], delay: &str) -> Self {
        Self::keyless(server, hosts)
            .with(&["--delay", delay])
            .with(&["--hash-key", KEY])
    }

    /// The same with a key that is drawn at random, as a user's crawl has.
    pub(crate) fn keyless(server: &Server, hosts: &[&str]) -> Self {
        let rules = hosts.iter().map(|host| server.resolve(host));
        let rules: Vec<String> = rules
            .flat_map(|rule| ["--resolve".to_owned(), rule])
            .collect();
        Self::bare()
            .with(&["--allow-private"])
            .with(&["--contact", "tests@example.org", "--summary", "json"])
            .with(&rules)
    }

    /// With nothing but a directory to write to.
    pub(crate) fn bare() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            directory,
            arguments: Vec::new(),
        }
        .with(&["--out", "crawl"])
    }

    /// More arguments for every run.
    pub(crate) fn with(mut self, arguments: &[impl AsRef<str>]) -> Self {
        self.arguments.extend(
            arguments
                .iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }

    /// A file of seeds with these lines.
    pub(crate) fn seeds(self, lines: &[impl AsRef<str>]) -> Self {
        let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
        self.write("seeds.txt", lines.join("\n"));
        self.with(&["--seeds", "seeds.txt"])
    }

    /// Returns the working directory of its runs, which has all its files.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the directory that it writes to.
    pub(crate) fn out(&self) -> PathBuf {
        self.directory().join("crawl")
    }

    /// Puts a file beside it; returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Runs it to its end.
    pub(crate) fn run(&self) -> Ran {
        self.run_with(&[] as &[&str])
    }

    /// Runs it to its end, with more arguments this time.
    pub(crate) fn run_with(&self, more: &[impl AsRef<str>]) -> Ran {
        self.start_with(more).end()
    }

    /// Runs it to its end, which is to be a good one; returns the summary.
    pub(crate) fn complete(&self) -> Value {
        let ran = self.run();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.summary()
    }

    /// Runs it.
    pub(crate) fn start(&self) -> Running {
        self.start_with(&[] as &[&str])
    }

    /// Runs it, with more arguments this time.
    pub(crate) fn start_with(&self, more: &[impl AsRef<str>]) -> Running {
        let mut command = self.command();
        command
            .args(&self.arguments)
            .args(more.iter().map(AsRef::as_ref));
        Running::of(command)
    }

    /// Runs it where no file may grow beyond `blocks` blocks of 512 bytes: to the program, a disk
    /// that is full.
    pub(crate) fn run_cramped(&self, blocks: u64) -> Ran {
        self.tell_cramped(blocks, &self.arguments)
    }

    /// Another command under the same condition.
    pub(crate) fn tell_cramped(&self, blocks: u64, arguments: &[impl AsRef<str>]) -> Ran {
        // The signal that comes with it would kill; ignored, the write fails with EFBIG.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        self.start_in(&["sh"], &script, arguments).end()
    }

    /// Runs another command where the process may have this many KiB of address space.
    pub(crate) fn tell_within(&self, kibibytes: u64, arguments: &[impl AsRef<str>]) -> Ran {
        let script = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
        self.start_in(&["sh"], &script, arguments).end()
    }

    /// Runs it by a shell script that has the binary as `$0` and the crawl's arguments as `$@`.
    pub(crate) fn start_by(&self, shell: &[&str], script: &str) -> Running {
        self.start_in(shell, script, &self.arguments)
    }

    /// Runs a shell script that has the binary as `$0` and these arguments as `$@`.
    fn start_in(&self, shell: &[&str], script: &str, arguments: &[impl AsRef<str>]) -> Running {
        let mut command = Command::new(shell[0]);
        command
            .current_dir(self.directory())
            .args(&shell[1..])
            .args(["-c", script, BINARY])
            .args(arguments.iter().map(AsRef::as_ref));
        Running::of(command)
    }

    /// Another command of the binary, in the same directory.
    pub(crate) fn tell(&self, arguments: &[impl AsRef<str>]) -> Ran {
        let mut command = self.command();
        command.args(arguments.iter().map(AsRef::as_ref));
        Running::of(command).end()
    }

    /// Another command of the binary that reads `input`.
    pub(crate) fn tell_with_input(
        &self,
        arguments: &[impl AsRef<str>],
        input: impl AsRef<[u8]>,
    ) -> Ran {
        let mut command = self.command();
        command.args(arguments.iter().map(AsRef::as_ref));
        Running::with_input(command, input.as_ref()).end()
    }

    /// A run of this crawl that reads `input`.
    pub(crate) fn run_with_input(&self, input: impl AsRef<[u8]>) -> Ran {
        let mut command = self.command();
        command.args(&self.arguments);
        Running::with_input(command, input.as_ref()).end()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(BINARY);
        command.current_dir(self.directory());
        command
    }
}

/// The hash key of the crawls, so that the likeness of two texts is the same in every run.
pub(crate) const KEY: &str = "0123456789abcdef";

const BINARY: &str = env!("CARGO_BIN_EXE_crawler");

/// A run that goes on. It is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    errors: BufReader<ChildStderr>,
    heard: String,
}

impl Running {
    fn of(command: Command) -> Self {
        Self::with_input(command, b"")
    }

    fn with_input(mut command: Command, input: &[u8]) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Who refuses its arguments does not read its input.
        let _unread = child.stdin.take().unwrap().write_all(input);
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            errors,
            heard: String::new(),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// As Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        self.signal("INT");
    }

    /// Sends the signal of this name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Reads standard error up to a line with this in it.
    pub(crate) fn hear(&mut self, words: &str) {
        loop {
            let before = self.heard.len();
            let length = self.errors.read_line(&mut self.heard).unwrap();
            assert_ne!(
                length, 0,
                "it ended before it said {words:?}: {}",
                self.heard
            );
            if self.heard[before..].contains(words) {
                return;
            }
        }
    }

    /// As a power cut does, as far as a process can tell; returns what it had said on standard
    /// error.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.errors.read_to_string(&mut self.heard).unwrap();
        std::mem::take(&mut self.heard)
    }

    /// Returns true if it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ran {
        let mut output = self.child.stdout.take().unwrap();
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            text
        });
        self.errors.read_to_string(&mut self.heard).unwrap();
        let code = self.child.wait().unwrap().code();
        Ran {
            code,
            output: reading.join().unwrap(),
            errors: std::mem::take(&mut self.heard),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already unless a test failed meanwhile, and then a kill is all that can be
        // done.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// A run that ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// None where a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) output: String,
    /// Standard error.
    pub(crate) errors: String,
}

impl Ran {
    /// Standard output as one JSON object.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.output).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The summary of a crawl.
    pub(crate) fn summary(&self) -> Value {
        self.json()
    }

    /// Asserts one error line with this exit code and these words, and at most one line of help.
    pub(crate) fn complained(&self, code: i32, words: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        let mut lines = self.errors.lines();
        let first = lines.next().unwrap_or_default();
        assert!(
            first.starts_with("error: ") && first.contains(words),
            "{words:?} in {self:?}"
        );
        assert!(
            lines.next().is_none_or(|line| line.starts_with("  help: ")),
            "{self:?}"
        );
        assert_eq!(lines.next(), None, "{self:?}");
    }
}
