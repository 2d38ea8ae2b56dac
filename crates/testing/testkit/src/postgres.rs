//! A PostgreSQL server of its own, in a temporary directory, for tests of the shared store.
//!
//! `initdb` and `postgres` are looked for on the PATH, and where Debian installs them. Tests that
//! need them are marked `#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]`: the
//! build script of their crate sets the flag. The server refuses to run as root; where tests do, it
//! runs as the user `nobody`. A shell of that user starts and stops it, and stops it when the test
//! process ends, however it ends.

mod programs;

use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// The user and group `nobody` of Linux.
const NOBODY: u32 = 65_534;

/// Starts and stops the server at each line of its input, and stops it at the end of the input. The
/// arguments are the directories of the programs and of the server, and the server's options.
const SHELL: &str = r#"
programs=$1 directory=$2 options=$3
begin() { "$programs/pg_ctl" -D "$directory/data" -l "$directory/log" -o "$options" -w start; }
finish() { "$programs/pg_ctl" -D "$directory/data" -m immediate -w stop; }
"$programs/initdb" -D "$directory/data" -U postgres -A trust -E UTF8 --no-locale --no-sync \
    >"$directory/initdb.log" 2>&1 && begin >/dev/null 2>&1 && echo ready || echo failed
while read -r order; do
    case $order in
        begin) begin >/dev/null 2>&1 ;;
        finish) finish >/dev/null 2>&1 ;;
    esac
    echo done
done
finish >/dev/null 2>&1
rm -rf "$directory"
"#;

/// A running server. It ends with the test process.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    port: u16,
    databases: AtomicU32,
    shell: Mutex<Shell>,
}

#[derive(Debug)]
struct Shell {
    _process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Postgres {
    /// Returns true if the programs of a server are installed.
    #[must_use]
    pub fn is_installed() -> bool {
        programs::find().is_some()
    }

    /// Returns the server that all tests of this process share.
    ///
    /// # Panics
    /// If PostgreSQL is not installed, or does not start.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(&[]))
    }

    /// Starts a server with these settings (`name=value`).
    ///
    /// # Panics
    /// If PostgreSQL is not installed, or does not start.
    #[must_use]
    pub fn start(settings: &[&str]) -> Self {
        let programs = programs::find().expect("PostgreSQL's initdb is installed");
        Self::start_in(programs, settings).expect("an installed PostgreSQL starts")
    }

    fn start_in(programs: PathBuf, settings: &[&str]) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("postgres-")
            .tempdir()?
            .keep();
        let is_root = fs::metadata(&directory)?.uid() == 0;
        let mut shell = Command::new("sh");
        if is_root {
            chown(&directory, Some(NOBODY), Some(NOBODY))?;
            shell.uid(NOBODY).gid(NOBODY);
        }
        let port = free_port()?;
        // Without a file system's guarantees the server is faster; a process that is killed loses
        // nothing. Its log of changes stays short: each new database is written there whole.
        let mut options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={} \
             -c fsync=off -c max_connections=400 -c max_wal_size=128MB",
            directory.display()
        );
        for setting in settings {
            options.push_str(&format!(" -c {setting}"));
        }
        let mut process = shell
            .args(["-c", SHELL, "sh"])
            .arg(&programs)
            .arg(&directory)
            .arg(options)
            .current_dir(&directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (Some(orders), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("the shell has no pipes"));
        };
        let mut shell = Shell {
            _process: process,
            orders,
            answers: BufReader::new(answers),
        };
        if shell.answer()? != "ready" {
            let log = fs::read_to_string(directory.join("log"));
            let log = log.or_else(|_missing| fs::read_to_string(directory.join("initdb.log")));
            return Err(io::Error::other(log.unwrap_or_default()));
        }
        Ok(Self {
            programs,
            port,
            databases: AtomicU32::new(0),
            shell: Mutex::new(shell),
        })
    }

    /// Returns the port of the server on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Creates a database.
    ///
    /// # Panics
    /// If the server does not create it.
    pub fn create_database(&self) -> Database {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("crawl_{number}");
        let maintenance_url = self.url("postgres");
        self.query(&maintenance_url, &format!("CREATE DATABASE {name}"));
        Database {
            url: self.url(&name),
            name,
            maintenance_url,
            programs: self.programs.clone(),
        }
    }

    /// Returns the URL of a database.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the rows of a query by `psql`, a line each, with `|` between columns.
    ///
    /// # Panics
    /// If the query fails.
    pub fn query(&self, url: &str, sql: &str) -> String {
        let output = psql(&self.programs, url, sql)
            .output()
            .expect("psql comes with the server");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {error}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Stops the server at once, as a crash does.
    ///
    /// # Panics
    /// If the shell has ended.
    pub fn crash(&self) {
        self.order("finish");
    }

    /// Starts the server again. It recovers first.
    ///
    /// # Panics
    /// If the shell has ended.
    pub fn restart(&self) {
        self.order("begin");
    }

    fn order(&self, order: &str) {
        let mut shell = self.shell();
        writeln!(shell.orders, "{order}").expect("the shell reads");
        let answer = shell.answer().expect("the shell answers");
        assert_eq!(answer, "done");
    }

    fn shell(&self) -> MutexGuard<'_, Shell> {
        self.shell.lock().expect("no panic while it is locked")
    }
}

/// A database of a test. It is dropped with this value, so that the disk holds the databases of the
/// tests that run: one takes 7 MiB, and the contract alone opens hundreds.
#[derive(Debug)]
pub struct Database {
    url: String,
    name: String,
    maintenance_url: String,
    programs: PathBuf,
}

impl Deref for Database {
    type Target = str;

    /// Returns the URL of the database.
    fn deref(&self) -> &str {
        &self.url
    }
}

impl fmt::Display for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.url)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let statement = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        // The server of a test that crashed it does not answer, and takes its databases along.
        let _ = psql(&self.programs, &self.maintenance_url, &statement).output();
    }
}

/// Returns the call of `psql` that runs a statement.
fn psql(programs: &Path, url: &str, sql: &str) -> Command {
    let mut client = programs.join("psql");
    if !client.exists() {
        client = PathBuf::from("psql");
    }
    let mut command = Command::new(client);
    command
        .args(["--no-psqlrc", "--tuples-only", "--no-align", "--quiet"])
        .args(["--set", "ON_ERROR_STOP=1", "--command", sql, url]);
    command
}

impl Shell {
    fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
    fn a_server_answers_crashes_and_comes_back_with_what_it_had() {
        let server = Postgres::start(&[]);
        let url = server.create_database();
        server.query(&url, "CREATE TABLE page AS SELECT 7 AS number");
        server.crash();
        server.restart();
        assert_eq!(server.query(&url, "SELECT number FROM page"), "7");
    }
}
