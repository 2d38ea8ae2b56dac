//! Failures: of a page, which is its fate, and of the browser's start, which is ours to mend.

use std::io;
use std::path::PathBuf;

/// The reason why a page has no rendering.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderFailure {
    /// The page ended the process that showed it, or the browser.
    #[error("the tab crashed")]
    TabCrashed,
    /// The page did not answer within the wall limit.
    #[error("the page did not answer within its time limit")]
    OutOfTime,
    /// The browser is gone, and two starts of another one failed.
    #[error("the browser is gone and cannot be started: {0}")]
    BrowserGone(String),
    /// The DOM exceeds its limit.
    #[error("the DOM exceeds {0} bytes")]
    TooLarge(usize),
    /// The browser refused a command, or the page sent too many events.
    #[error("the browser did not show the page: {0}")]
    Protocol(String),
}

/// The reason why a browser cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No known name is on PATH.
    #[error(
        "no Chromium on PATH: install it with `apt-get install chromium-headless-shell`, or name \
         it with --browser"
    )]
    NotFound,
    /// The named browser is not a file.
    #[error("{} is not a file: name a Chromium with --browser", .0.display())]
    NotAFile(PathBuf),
    /// A program that the sandbox needs is not on PATH.
    #[error("no {0} on PATH: install it with `apt-get install util-linux`")]
    NoTool(&'static str),
    /// The directory of the browser cannot be made.
    #[error("cannot make a directory for the browser in {}", .folder.display())]
    Directory {
        /// The parent of the directory.
        folder: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The process cannot be started.
    #[error("cannot start {}", .program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The browser ended at once.
    #[error(
        "{} ended at once: {output}; if namespaces are forbidden here, allow them (in a systemd \
         unit with /usr/share/doc/crawler/examples/render.conf, in a container with a seccomp \
         profile), or try --render-sandbox flags",
        .program.display()
    )]
    Ended {
        /// The program.
        program: PathBuf,
        /// The last lines of its error output.
        output: String,
    },
    /// The browser started and cannot render the test page.
    #[error(
        "{} ({version}) fails its self-test: update Chromium (125 or later) with `apt-get install \
         chromium`, or name another one with --browser",
        .program.display()
    )]
    SelfTest {
        /// The program.
        program: PathBuf,
        /// Its name and version.
        version: String,
        /// The cause.
        source: RenderFailure,
    },
}
