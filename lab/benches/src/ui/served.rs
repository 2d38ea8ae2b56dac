//! The dashboard as a process, and a client of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use tokio::time::Instant;

use crate::Failure;

/// A dashboard that is served until it is dropped.
pub(crate) struct Served {
    process: Child,
    address: String,
    clock: ClockId,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// The time from the connection to the last byte.
    pub(crate) took: Duration,
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.process.kill().and_then(|()| self.process.wait());
    }
}

impl Served {
    /// Serves the crawl in a directory.
    pub(crate) fn start(crawler: &Path, directory: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(crawler);
        command.arg("serve").arg(directory).stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(process.id().try_into()?))?;
        let said = process.stderr.take().ok_or("no standard error")?;
        let mut lines = BufReader::new(said).lines();
        let address = loop {
            let line = lines.next().ok_or("it printed no address")??;
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split('/').next().unwrap_or_default().to_owned();
            }
        };
        Ok(Self {
            process,
            address,
            clock,
        })
    }

    /// Fetches a page over a connection of its own.
    pub(crate) fn get(&self, target: &str) -> Result<Answer, Failure> {
        let begun = Instant::now();
        let mut stream = self.ask(target)?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let took = begun.elapsed();
        let (head, body) = text.split_once("\r\n\r\n").ok_or("no head")?;
        let status = head.split(' ').nth(1).ok_or("no status")?;
        Ok(Answer {
            status: status.parse()?,
            body: body.to_owned(),
            took,
        })
    }

    fn ask(&self, target: &str) -> Result<TcpStream, Failure> {
        let mut stream = TcpStream::connect(&self.address)?;
        let host = &self.address;
        let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        Ok(stream)
    }

    /// Looks at the overview for a time, as the script of the dashboard does. Returns the number of
    /// times that it fetched the page.
    pub(crate) fn watch(&self, long: Duration) -> Result<u64, Failure> {
        let begun = Instant::now();
        let events = self.ask("/events")?;
        events.set_read_timeout(Some(long))?;
        let mut looks = 0;
        for line in BufReader::new(events).lines() {
            let line = match line {
                Ok(line) => line,
                // Nothing happened for the rest of the time.
                Err(_) if begun.elapsed() >= long => break,
                Err(error) => return Err(error.into()),
            };
            if begun.elapsed() >= long {
                break;
            }
            if line.starts_with("event: change") {
                self.get("/")?;
                looks += 1;
            }
        }
        Ok(looks)
    }

    /// Returns the number beside a label of the overview.
    pub(crate) fn count(&self, label: &str) -> Result<u64, Failure> {
        let page = self.get("/")?.body;
        let rest = page.split(&format!("<dt>{label}</dt><dd>")).nth(1);
        let rest = rest.ok_or("the overview has no such label")?;
        let digits = rest.trim_start_matches("<a href=\"/in-flight\">");
        let digits = digits.chars().take_while(|one| *one != '<');
        let digits: String = digits.filter(char::is_ascii_digit).collect();
        Ok(digits.parse().unwrap_or_default())
    }

    /// Returns the processor time of the process.
    pub(crate) fn cpu(&self) -> Result<Duration, Failure> {
        Ok(clock_gettime(self.clock)?.into())
    }

    /// Returns the most memory that the process has had, in bytes.
    pub(crate) fn peak(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let mut lines = status.lines();
        let peak = lines.find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = peak.and_then(|peak| peak.trim().strip_suffix("kB"));
        let kibibytes: u64 = kibibytes.ok_or("no VmHWM")?.trim().parse()?;
        Ok(kibibytes << 10)
    }
}
