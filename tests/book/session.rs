//! A shell in which the commands of a page run, and the toy web that they reach.
//!
//! The pages name sites without a port, and crawls wait between requests. So the program of the
//! session is a script that adds the flags of a test to each crawl: a proxy that leads to the toy
//! web, public addresses for its names, and no delays. Everything else is as a reader types it.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use testkit::{Proxy, Server, ToyWeb};

use crate::support::{BINARY, KEY};

/// An address that is public, and that nobody connects to: the proxy leads to the toy web.
const PUBLIC: &str = "93.184.216.34";

/// Seeds of the toy web. Its fourth host has a calendar without end, which takes a crawl longer
/// than the other three together.
const SEEDS: &str = "\
http://original.test/
http://mirror.test/notice.html
http://manual.test/
";

/// The program of the session.
const PROGRAM: &str = r#"#!/bin/sh
case ${1-} in
--help | --version) exec 'BINARY' "$@" ;;
crawl | -* | *://*)
    # A crawl that is continued has a key.
    case "$*" in
    *--seeds*) set -- "$@" --hash-key KEY ;;
    esac
    exec 'BINARY' "$@" FLAGS
    ;;
esac
exec 'BINARY' "$@"
"#;

/// A working directory, and the toy web.
pub(super) struct Session {
    directory: TempDir,
    crawl: Option<PathBuf>,
    _server: Server,
    _proxy: Proxy,
}

impl Session {
    /// Opens a session with seeds in `seeds.txt`, and with the directory of a crawl to copy as
    /// `$CRAWL`.
    pub(super) fn open(crawl: Option<&Path>) -> Self {
        let toy = ToyWeb::new();
        let server = Server::spawn_thread(toy.site());
        let proxy = Proxy::before(server.address(), None);
        let directory = tempfile::tempdir().unwrap();

        let mut flags = format!(
            "--proxy socks5://{} --delay 0s --delay-factor 0",
            proxy.address()
        );
        for host in toy.hosts() {
            write!(flags, " --resolve {host}:80:{PUBLIC}").unwrap();
        }
        let script = PROGRAM
            .replace("BINARY", BINARY)
            .replace("FLAGS", &flags)
            .replace("KEY", KEY);
        let session = Self {
            directory,
            crawl: crawl.map(Path::to_owned),
            _server: server,
            _proxy: proxy,
        };
        session.write("bin/crawler", &script);
        session.run("chmod +x ../bin/crawler");
        session.write("work/seeds.txt", SEEDS);
        session
    }

    /// Writes a file below the directory of the session, whose `work` is where commands run.
    pub(super) fn write(&self, name: &str, content: &str) {
        let path = self.directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::create_dir_all(self.work()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Returns the directory in which commands run.
    pub(super) fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// Runs a command line; returns its exit code and both of its outputs, as a terminal has them.
    pub(super) fn run(&self, command: &str) -> (Option<i32>, String) {
        let programs = self.directory.path().join("bin");
        let path = match std::env::var_os("PATH") {
            Some(path) => join(&programs, &path),
            None => programs.into_os_string(),
        };
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(self.work())
            .env("PATH", path)
            .env("HOME", self.directory.path())
            .env("COLUMNS", "100")
            .env("CRAWL", self.crawl.as_deref().unwrap_or(Path::new("")))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    }
}

/// Returns a search path with another directory at its beginning.
fn join(first: &Path, rest: &OsStr) -> OsString {
    let mut path = first.as_os_str().to_owned();
    path.push(":");
    path.push(rest);
    path
}
