//! Runs the binary in its own directory.

pub(crate) mod barrier;
pub(crate) mod browser;
pub(crate) mod cdxj;
pub(crate) mod damage;
pub(crate) mod environment;
pub(crate) mod foreign_warc;
pub(crate) mod inspection;
pub(crate) mod kill_points;
pub(crate) mod pages;
pub(crate) mod peak_memory;
pub(crate) mod request_quota;
pub(crate) mod settled_web;
pub(crate) mod shared_crawl;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use testkit::Server;

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    let cli = Path::new(env!("CARGO_MANIFEST_DIR"));
    cli.ancestors().nth(3).unwrap().to_owned()
}

/// A crawl: a directory, and the arguments that it is run with each time.
pub(crate) struct Crawl {
    directory: TempDir,
    arguments: Vec<String>,
}

impl Crawl {
    /// Returns a crawl of these host names, which `server` answers for. It has no delays, so that
    /// tests are quick.
    pub(crate) fn of(server: &Server, hosts: &[&str]) -> Self {
        Self::polite(server, hosts, "0").with(&["--delay-factor", "0"])
    }

    /// Returns the same crawl with a delay.
    pub(crate) fn polite(server: &Server, hosts: &[&str], delay: &str) -> Self {
        Self::keyless(server, hosts)
            .with(&["--delay", delay])
            .with(&["--hash-key", KEY])
    }

    /// Returns a crawl with a random hash key, as a user's crawl has.
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

    /// Returns a crawl with no argument but its directory.
    pub(crate) fn bare() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            directory,
            arguments: Vec::new(),
        }
        .with(&["--out", "crawl"])
    }

    /// Returns the same crawl with another value of `--out`.
    pub(crate) fn into_out(mut self, out: &str) -> Self {
        assert_eq!(self.arguments[..2], ["--out", "crawl"]);
        out.clone_into(&mut self.arguments[1]);
        self
    }

    /// Adds arguments for every run.
    pub(crate) fn with(mut self, arguments: &[impl AsRef<str>]) -> Self {
        self.arguments.extend(
            arguments
                .iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }

    /// Adds a file of seeds with these lines.
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

    /// Writes a file into the working directory; returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Runs the crawl to its end.
    pub(crate) fn run(&self) -> CommandOutput {
        self.run_with(&[] as &[&str])
    }

    /// Runs the crawl to its end, with more arguments this time.
    pub(crate) fn run_with(&self, more: &[impl AsRef<str>]) -> CommandOutput {
        self.start_with(more).end()
    }

    /// Runs the crawl to its end and asserts success; returns the summary. A crawl without a page
    /// ends with code 3 if no seed could be fetched.
    pub(crate) fn complete(&self) -> Value {
        let run = self.run();
        let summary = run.summary();
        let is_empty = run.code == Some(3) && summary["pages"] == 0;
        assert!(run.code == Some(0) || is_empty, "{run:?}");
        summary
    }

    /// Starts the crawl.
    pub(crate) fn start(&self) -> Running {
        self.start_with(&[] as &[&str])
    }

    /// Starts the crawl, with more arguments this time.
    pub(crate) fn start_with(&self, more: &[impl AsRef<str>]) -> Running {
        let mut command = self.command();
        command
            .args(&self.arguments)
            .args(more.iter().map(AsRef::as_ref));
        Running::of(command)
    }

    /// Runs the crawl with a limit on the size of each file, in blocks of 512 bytes: to the
    /// program, a full disk.
    pub(crate) fn run_with_file_limit(&self, blocks: u64) -> CommandOutput {
        self.run_command_with_file_limit(blocks, &self.arguments)
    }

    /// Runs another command with the same limit.
    pub(crate) fn run_command_with_file_limit(
        &self,
        blocks: u64,
        arguments: &[impl AsRef<str>],
    ) -> CommandOutput {
        // The signal SIGXFSZ would kill the process; if it is ignored, the write fails with EFBIG.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        self.start_in(&["sh"], &script, &with_json(arguments)).end()
    }

    /// Runs a shell script that has the binary as `$0` and these arguments as `$@`.
    pub(crate) fn run_command_by(
        &self,
        shell: &str,
        script: &str,
        arguments: &[impl AsRef<str>],
    ) -> CommandOutput {
        self.start_in(&[shell], script, &with_json(arguments)).end()
    }

    /// Runs another command with a limit on the address space, in KiB.
    pub(crate) fn run_command_with_memory_limit(
        &self,
        kibibytes: u64,
        arguments: &[impl AsRef<str>],
    ) -> CommandOutput {
        let script = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
        self.start_in(&["sh"], &script, &with_json(arguments)).end()
    }

    /// Starts a shell script that has the binary as `$0` and the crawl's arguments as `$@`.
    pub(crate) fn start_by(&self, shell: &[&str], script: &str) -> Running {
        self.start_in(shell, script, &self.arguments)
    }

    /// Starts a shell script that has the binary as `$0` and these arguments as `$@`.
    fn start_in(&self, shell: &[&str], script: &str, arguments: &[impl AsRef<str>]) -> Running {
        let mut command = Command::new(shell[0]);
        command
            .current_dir(self.directory())
            .args(&shell[1..])
            .args(["-c", script, BINARY])
            .args(arguments.iter().map(AsRef::as_ref));
        Running::of(command)
    }

    /// Runs another command of the binary in the same directory.
    pub(crate) fn run_command(&self, arguments: &[impl AsRef<str>]) -> CommandOutput {
        self.start_command(arguments).end()
    }

    /// Runs another command, asserts success, and returns the JSON lines that it prints.
    pub(crate) fn json_lines(&self, arguments: &[impl AsRef<str>]) -> Vec<Value> {
        self.run_command(arguments).json_lines()
    }

    /// Starts another command of the binary in the same directory.
    pub(crate) fn start_command(&self, arguments: &[impl AsRef<str>]) -> Running {
        let mut command = self.command();
        command.args(with_json(arguments));
        Running::of(command)
    }

    /// Runs another command of the binary with `input` on standard input.
    pub(crate) fn run_command_with_input(
        &self,
        arguments: &[impl AsRef<str>],
        input: impl AsRef<[u8]>,
    ) -> CommandOutput {
        let mut command = self.command();
        command.args(with_json(arguments));
        Running::with_input(command, input.as_ref()).end()
    }

    /// Starts another command of the binary, and gives it the beginning of standard input, which
    /// does not end before the result is dropped.
    pub(crate) fn start_command_with_open_input(
        &self,
        arguments: &[impl AsRef<str>],
        beginning: impl AsRef<[u8]>,
    ) -> (Running, ChildStdin) {
        let mut command = self.command();
        command.args(with_json(arguments));
        let (running, mut input) = Running::with_open_input(command);
        input.write_all(beginning.as_ref()).unwrap();
        (running, input)
    }

    /// Runs the crawl with `input` on standard input.
    pub(crate) fn run_with_input(&self, input: impl AsRef<[u8]>) -> CommandOutput {
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

/// Commands that print tables, unless told otherwise.
const TABLES: [&str; 19] = [
    "changes",
    "clean",
    "compare",
    "config",
    "duplicates",
    "frames",
    "nodes",
    "patterns",
    "plan",
    "rebuild",
    "reindex",
    "search",
    "similar",
    "skipped",
    "status",
    "topic",
    "unpack",
    "verify",
    "why",
];

/// Returns the arguments of a command; without `--format` or `--html`, a command that prints a
/// table gets `--format json`, because tests read values.
fn with_json(arguments: &[impl AsRef<str>]) -> Vec<String> {
    let arguments = arguments
        .iter()
        .map(|argument| argument.as_ref().to_owned());
    let mut arguments: Vec<String> = arguments.collect();
    let prints_a_table = arguments
        .first()
        .is_some_and(|name| TABLES.contains(&&**name));
    if prints_a_table
        && !arguments
            .iter()
            .any(|argument| argument.starts_with("--format") || argument == "--html")
    {
        arguments.splice(1..1, ["--format", "json"].map(str::to_owned));
    }
    arguments
}

/// Returns the names of the commands in the output of `crawler --help`.
pub(crate) fn command_names(help: &str) -> Vec<&str> {
    let groups = help.lines().take_while(|line| *line != "Arguments:");
    let names = groups.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .collect()
}

/// Reads each line as a JSON object.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The hash key of the crawls: with a fixed key the similarity of two texts is always the same.
pub(crate) const KEY: &str = "0123456789abcdef";

/// The binary.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_crawler");

/// A running command. It is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    errors: BufReader<ChildStderr>,
    stderr: String,
}

impl Running {
    fn of(command: Command) -> Self {
        Self::with_input(command, b"")
    }

    fn with_input(command: Command, input: &[u8]) -> Self {
        let (running, mut open) = Self::with_open_input(command);
        // A command that refuses its arguments does not read its input.
        let _unread = open.write_all(input);
        running
    }

    fn with_open_input(mut command: Command) -> (Self, ChildStdin) {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let running = Self {
            child,
            errors,
            stderr: String::new(),
        };
        (running, input)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Interrupts the process as Ctrl-C does.
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

    /// Reads standard error up to a line that contains these words.
    pub(crate) fn wait_for_line(&mut self, words: &str) {
        self.line_with(words);
    }

    /// Reads standard error up to a line that contains these words, and returns that line.
    pub(crate) fn line_with(&mut self, words: &str) -> String {
        loop {
            let before = self.stderr.len();
            let length = self.errors.read_line(&mut self.stderr).unwrap();
            assert_ne!(
                length, 0,
                "it ended before it printed {words:?}: {}",
                self.stderr
            );
            let line = &self.stderr[before..];
            if line.contains(words) {
                return line.trim_end().to_owned();
            }
        }
    }

    /// Kills the process; returns its standard error so far.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.errors.read_to_string(&mut self.stderr).unwrap();
        std::mem::take(&mut self.stderr)
    }

    /// Returns true if the process has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> CommandOutput {
        let mut output = self.child.stdout.take().unwrap();
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            text
        });
        self.errors.read_to_string(&mut self.stderr).unwrap();
        let code = self.child.wait().unwrap().code();
        CommandOutput {
            code,
            output: reading.join().unwrap(),
            errors: std::mem::take(&mut self.stderr),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process has ended already unless the test failed.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The output of a command that has ended.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    /// The exit code; none if a signal ended the process.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) output: String,
    /// Standard error.
    pub(crate) errors: String,
}

impl CommandOutput {
    /// Returns standard error without the lines about written files.
    pub(crate) fn remarks(&self) -> String {
        let lines = self.errors.split_inclusive('\n');
        lines.filter(|line| !line.starts_with("wrote ")).collect()
    }

    /// Returns standard output as one JSON object.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.output).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts success, and returns the lines of standard output as JSON objects.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{self:?}");
        json_lines(&self.output)
    }

    /// Returns the summary of a crawl.
    pub(crate) fn summary(&self) -> Value {
        self.json()
    }

    /// Asserts one error line with this exit code and these words, and at most one line of help.
    pub(crate) fn assert_error(&self, code: i32, words: &str) {
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
