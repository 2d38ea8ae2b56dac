//! The child process that reads a PDF: how it is started, limited and heard.
//!
//! The child limits itself before it reads the first byte, so the limits hold even if this process
//! dies. It is in a process group of its own: an interrupt at the terminal reaches only the
//! crawler, which finishes its pages.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use web::{PdfContent, PdfFailure, ReadPdf};

use crate::content;

/// The argument that makes this program a child.
const ARGUMENT: &str = "read-pdf";
/// Maximum processor time, in seconds.
const MAX_SECONDS: u64 = 10;
/// Maximum time, for a machine that is busy with other work.
const MAX_TIME: Duration = Duration::from_secs(120);
/// Maximum memory, in bytes.
const MAX_MEMORY: u64 = 1 << 30;
/// Maximum bytes of an answer, which is JSON.
const MAX_ANSWER: u64 = 64 << 20;

/// True if this program knows [`ARGUMENT`]: any other one, such as the interpreter of Python, would
/// do something else if it were started with it.
static HAS_CHILDREN: AtomicBool = AtomicBool::new(false);

/// Returns the reader of PDFs; `None` if `main` of this program did not call [`run_child`].
#[must_use]
pub fn reader() -> Option<ReadPdf> {
    HAS_CHILDREN.load(Ordering::Relaxed).then_some(read)
}

/// Reads a PDF in a child, and waits for it.
fn read(bytes: &[u8]) -> Result<PdfContent, PdfFailure> {
    let program = match cfg!(target_os = "linux") {
        // Also right after the file was replaced by another version.
        true => "/proc/self/exe".into(),
        false => std::env::current_exe().unwrap_or_default(),
    };
    let mut command = Command::new(program);
    command.arg(ARGUMENT);
    read_by(command, bytes)
}

fn read_by(mut command: Command, bytes: &[u8]) -> Result<PdfContent, PdfFailure> {
    command.env_clear();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .spawn()
        .map_err(|_no_process| PdfFailure::Unstarted)?;
    let answer = answer(&mut child, bytes);
    // Ends a child that has more to say.
    let _may_have_ended = child.kill();
    let ended = child.wait();
    let is_killed = ended.is_ok_and(|status| status.code().is_none());
    answer.unwrap_or(match is_killed {
        true => Err(PdfFailure::TooCostly),
        false => Err(PdfFailure::Damaged),
    })
}

/// Returns the answer of the child; `None` if it died or its answer is none.
fn answer(child: &mut Child, bytes: &[u8]) -> Option<Result<PdfContent, PdfFailure>> {
    // It reads everything before it writes. The end of the pipe ends the file.
    child.stdin.take()?.write_all(bytes).ok()?;
    let mut answer = Vec::new();
    let mut output = child.stdout.take()?.take(MAX_ANSWER);
    output.read_to_end(&mut answer).ok()?;
    serde_json::from_slice(&answer).ok()
}

/// Reads the PDF on the standard input, if this process was started for that, and writes what it
/// found to the standard output. Otherwise returns `None`, and this program can read PDFs from now
/// on. `main` calls it first.
pub fn run_child() -> Option<ExitCode> {
    let word = std::env::args_os().nth(1);
    if word.is_none_or(|word| word != ARGUMENT) {
        HAS_CHILDREN.store(true, Ordering::Relaxed);
        return None;
    }
    Some(match answer_parent() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_nobody_listens) => ExitCode::FAILURE,
    })
}

fn answer_parent() -> io::Result<()> {
    limit_this_process()?;
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    serde_json::to_writer(io::stdout().lock(), &content::read(bytes))?;
    Ok(())
}

#[cfg(unix)]
fn limit_this_process() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};

    for (resource, most) in [
        (Resource::As, MAX_MEMORY),
        (Resource::Cpu, MAX_SECONDS),
        (Resource::Core, 0),
    ] {
        let most = Some(most);
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        setrlimit(resource, limit)?;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this thread has no other work, and the process no runtime"
    )]
    std::thread::spawn(|| {
        std::thread::sleep(MAX_TIME);
        std::process::abort();
    });
    Ok(())
}

/// Refuses to read anything without limits.
#[cfg(not(unix))]
fn limit_this_process() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn answer_of(script: &str) -> Result<PdfContent, PdfFailure> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        read_by(command, &[b'x'; 1 << 20])
    }

    #[test]
    fn an_answer_is_what_the_child_found() {
        let found = answer_of("cat >&2; echo '{\"Err\":\"Encrypted\"}'");
        assert_eq!(found, Err(PdfFailure::Encrypted));
        let text = r#"{"Ok":{"title":null,"language":null,"text":"words","links":[]}}"#;
        let found = answer_of(&format!("cat >&2; echo '{text}'"));
        assert_eq!(found.unwrap().text, "words");
    }

    #[test]
    fn a_child_that_cannot_be_started_says_nothing_about_its_pdf() {
        let found = read_by(Command::new("/nonexistent/reader"), b"%PDF-");
        assert_eq!(found, Err(PdfFailure::Unstarted));
    }

    #[test]
    fn a_child_that_dies_or_says_nonsense_or_too_much_costs_its_pdf_alone() {
        for (script, expected) in [
            ("kill -9 $$", PdfFailure::TooCostly),
            ("cat >&2; kill -XCPU $$", PdfFailure::TooCostly),
            ("exit 101", PdfFailure::Damaged),
            ("cat >&2; echo running 0 tests", PdfFailure::Damaged),
            ("cat >&2; exec cat /dev/zero", PdfFailure::TooCostly),
        ] {
            assert_eq!(answer_of(script), Err(expected), "{script}");
        }
    }
}
