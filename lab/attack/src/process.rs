//! The crawler as a process: its output, exit code, memory and time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::failure::Failure;

/// The interval at which a process is sampled.
const SAMPLE_EVERY: Duration = Duration::from_millis(5);
/// Ticks of a processor's time a second, as `/proc` counts.
const TICKS: f64 = 100.0;

/// The binary.
pub(crate) struct Crawler {
    binary: PathBuf,
}

impl Crawler {
    pub(crate) fn new(binary: PathBuf) -> Self {
        Self { binary }
    }

    /// Returns a crawl in a directory of its own, with these arguments for each of its sessions.
    pub(crate) fn crawl(&self, arguments: Vec<String>) -> Result<Crawl, Failure> {
        Ok(Crawl {
            binary: self.binary.clone(),
            directory: tempfile::tempdir()?,
            arguments,
            environment: Vec::new(),
        })
    }
}

/// A crawl that is run again and again.
pub(crate) struct Crawl {
    binary: PathBuf,
    directory: TempDir,
    arguments: Vec<String>,
    /// Variables of its processes.
    pub(crate) environment: Vec<(String, String)>,
}

impl Crawl {
    /// The working directory.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The output directory.
    pub(crate) fn out(&self) -> PathBuf {
        self.directory().join("crawl")
    }

    /// Starts a session with more arguments.
    pub(crate) fn start(&self, more: &[&str]) -> Result<Running, Failure> {
        let mut arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        arguments.extend(more);
        self.command(&arguments)
    }

    /// Starts another command.
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<Running, Failure> {
        let (output, errors) = (
            self.directory().join("output"),
            self.directory().join("errors"),
        );
        let mut command = Command::new(&self.binary);
        command
            .current_dir(self.directory())
            .args(arguments)
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(File::create(&output)?)
            .stderr(File::create(&errors)?);
        Ok(Running {
            child: command.spawn()?,
            began: Instant::now(),
            output,
            errors,
            peak: 0,
            processor: Duration::ZERO,
        })
    }

    /// Runs a session to its end.
    pub(crate) fn run(&self, more: &[&str], limit: Duration) -> Result<Ended, Failure> {
        self.start(more)?.end(limit)
    }
}

/// A running process, which is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    began: Instant,
    output: PathBuf,
    errors: PathBuf,
    peak: u64,
    processor: Duration,
}

/// The result of a process that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; none if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) errors: String,
    /// Peak memory in bytes.
    pub(crate) peak: u64,
    /// Processor time.
    pub(crate) processor: Duration,
    pub(crate) took: Duration,
    /// True if it had to be killed because it did not end in time.
    pub(crate) overran: bool,
}

impl Running {
    /// Waits for this time, or until the process ends; returns true if it ended.
    pub(crate) fn ends_within(&mut self, time: Duration) -> Result<bool, Failure> {
        let until = Instant::now() + time;
        loop {
            self.sample();
            if self.child.try_wait()?.is_some() {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            std::thread::sleep(left.min(SAMPLE_EVERY));
        }
    }

    pub(crate) fn interrupt(&self) -> Result<(), Failure> {
        Ok(kill(
            Pid::from_raw(i32::try_from(self.child.id())?),
            Signal::SIGINT,
        )?)
    }

    /// Kills it, which for the process is like a power cut.
    pub(crate) fn kill(mut self) -> Result<Ended, Failure> {
        self.sample();
        self.child.kill()?;
        self.finish(false)
    }

    /// Waits for its end, and kills it after `limit`.
    pub(crate) fn end(mut self, limit: Duration) -> Result<Ended, Failure> {
        let ended = self.ends_within(limit)?;
        if !ended {
            self.child.kill()?;
        }
        self.finish(!ended)
    }

    fn finish(mut self, overran: bool) -> Result<Ended, Failure> {
        let status = self.child.wait()?;
        let read = |path: &Path| {
            std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(Ended {
            code: status.code(),
            output: read(&self.output)?,
            errors: read(&self.errors)?,
            peak: self.peak,
            processor: self.processor,
            took: self.began.elapsed(),
            overran,
        })
    }

    fn sample(&mut self) {
        let process = self.child.id();
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak: Option<u64> =
            peak.and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse().ok());
        self.peak = self.peak.max(peak.unwrap_or_default() << 10);
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The program's name, in parentheses, may have spaces. User and system time are fields 14
        // and 15.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks = fields.split_ascii_whitespace().skip(11).take(2);
        let ticks: f64 = ticks.filter_map(|field| field.parse::<f64>().ok()).sum();
        self.processor = self.processor.max(Duration::from_secs_f64(ticks / TICKS));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It is still running only if the attack failed.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

impl Ended {
    /// Returns the first lines of standard error, to find the cause.
    pub(crate) fn first_errors(&self) -> String {
        let lines = self
            .errors
            .lines()
            .filter(|line| !line.contains("interrupt at any time"));
        lines.take(2).collect::<Vec<_>>().join(" / ")
    }

    /// Returns true if it reported a problem to the user.
    pub(crate) fn reports_a_problem(&self) -> bool {
        let errors = self.errors.to_lowercase();
        let has_warning = ["warning: ", "warn ", "error: "]
            .iter()
            .any(|word| errors.contains(word));
        self.code != Some(0) || has_warning
    }
}
