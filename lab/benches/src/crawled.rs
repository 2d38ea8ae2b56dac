//! The parts that benchmarks of whole crawls share: the arguments of a crawl, the web in a process
//! of its own, and the figures of the crawler's process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::Failure;

/// Returns the arguments of every crawl of the corpus, but for its delay and its directory.
pub(crate) fn arguments(hosts: &[String], port: u16, seeds: &Path) -> Vec<String> {
    let fixed = "--scope any --delay-factor 0 --allow-private --quiet --summary json --seeds";
    let mut arguments: Vec<String> = fixed.split(' ').map(str::to_owned).collect();
    arguments.push(seeds.display().to_string());
    for host in hosts {
        arguments.extend(["--resolve".to_owned(), format!("{host}:{port}:127.0.0.1")]);
    }
    arguments
}

/// Starts this benchmark again, with arguments that make it serve the web.
pub(crate) fn start(arguments: &[&str]) -> Result<Child, Failure> {
    let web = Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    Ok(web)
}

pub(crate) fn read_port(web: &mut Child) -> Result<u16, Failure> {
    let mut line = String::new();
    BufReader::new(web.stdout.as_mut().ok_or("the web says nothing")?).read_line(&mut line)?;
    Ok(line.trim().parse()?)
}

pub(crate) fn stop(mut web: Child) -> Result<(), Failure> {
    drop(web.stdin.take());
    web.wait()?;
    Ok(())
}

/// Returns the CPU seconds of all children that have ended.
pub(crate) fn cpu() -> Result<f64, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(micros as f64 / 1e6)
}

/// Returns the highest resident size, in bytes, that the kernel has seen of a process so far; 0 if
/// it has ended.
pub(crate) fn peak_of(child: &Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .and_then(|number| number.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
