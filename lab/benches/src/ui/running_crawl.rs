//! A crawl of a generated web on loopback: twenty-five hosts, each asked once a second.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;
use testkit::{Corpus, Server, Settings};
use tokio::time::Instant;

use crate::Failure;

/// Hosts, and so pages a second.
const HOSTS: usize = 25;
/// Pages, more than are visited.
const PAGES: usize = 20_000;

/// A crawl that runs until it is dropped.
pub(crate) struct RunningCrawl {
    process: Child,
    directory: TempDir,
    _server: Server,
}

impl Drop for RunningCrawl {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.process.kill().and_then(|()| self.process.wait());
    }
}

impl RunningCrawl {
    /// Starts a crawl with this time limit, and waits until it has begun.
    pub(crate) fn start(crawler: &Path, seconds: u64) -> Result<Self, Failure> {
        let corpus = Arc::new(Corpus::plain(PAGES, 1).with_hosts(HOSTS));
        let settings = Settings {
            keep_log: false,
            ..Settings::default()
        };
        let server = Server::spawn_thread_with(corpus.site(), settings)?;
        let port = server.port();
        let directory = tempfile::tempdir()?;
        let seeds = directory.path().join("seeds.txt");
        std::fs::write(&seeds, corpus.seeds(port).join("\n"))?;
        let mut command = Command::new(crawler);
        let out = directory.path().join("crawl");
        command.arg("--seeds").arg(seeds).arg("--out").arg(&out);
        command.args(["--scope", "any", "--delay", "1s", "--delay-factor", "0"]);
        command.args(["--max-time", &format!("{seconds}s")]);
        command.args(["--allow-private", "--quiet"]);
        for host in corpus.hosts() {
            command.args(["--resolve", &format!("{host}:{port}:127.0.0.1")]);
        }
        let process = command.stdout(Stdio::null()).spawn()?;
        let crawl = Self {
            process,
            directory,
            _server: server,
        };
        crawl.wait_for(&out.join("crawler.toml"))?;
        Ok(crawl)
    }

    /// Returns the directory of the crawl.
    pub(crate) fn directory(&self) -> PathBuf {
        self.directory.path().join("crawl")
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark has nothing else to wait for"
    )]
    fn wait_for(&self, file: &Path) -> Result<(), Failure> {
        let begun = Instant::now();
        while !file.exists() || !self.directory().join("state/journal").is_dir() {
            if begun.elapsed().as_secs() > 30 {
                return Err("the crawl did not begin".into());
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Ok(())
    }
}
