//! A crawl by three nodes, without the internet and without containers.
//!
//! Starts PostgreSQL in a temporary directory, serves the toy web of the demonstration on loopback,
//! and crawls it by three processes of the real binary. Then it checks the crawl and shows where
//! the archives are.
//!
//! ```text
//! cargo run --release --example nodes
//! ```
#![expect(clippy::print_stdout, reason = "a demonstration shows something")]

use std::error::Error;
use std::fs::File;
use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output};

use testkit::{Postgres, Server, ToyWeb};

const DIRECTORY: &str = "nodes-crawl";
const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// Pages of the crawl when its nodes are shown.
const SHOWN_AT: u64 = 20;

type Failure = Box<dyn Error>;

fn main() -> Result<ExitCode, Failure> {
    if !Postgres::is_installed() {
        println!("PostgreSQL is not installed. Install its server and try again:");
        println!("  apt install postgresql             Debian, Ubuntu");
        println!("  dnf install postgresql-server      Fedora");
        println!("  brew install postgresql            macOS");
        return Ok(ExitCode::FAILURE);
    }
    // Together with this example, so that what was built for it serves both.
    let crawler = testkit::build_crawler(&["--example", "nodes"])?;
    if Path::new(DIRECTORY).exists() {
        std::fs::remove_dir_all(DIRECTORY)?;
    }
    std::fs::create_dir(DIRECTORY)?;
    let Some(postgres) = Postgres::start(&[]) else {
        return Err("PostgreSQL did not start".into());
    };
    let crawl = SharedCrawl {
        crawler,
        store: postgres.create_database(),
    };
    let (server, arguments) = web();
    println!(
        "PostgreSQL runs in a temporary directory, and a toy web is served on 127.0.0.1:{}.",
        server.port()
    );
    println!("Three nodes crawl it. Each is a process of its own, as on a machine of its own:\n");
    let mut nodes = Vec::new();
    for name in NODES {
        nodes.push(crawl.start(name, &arguments)?);
    }
    println!("\nThey share what waits, what was seen and the signatures of all pages:\n");
    crawl.show_nodes_at_work(&mut nodes)?;
    for (name, node) in NODES.iter().zip(&mut nodes) {
        let ended = node.wait()?;
        if !ended.success() {
            let log = log(name);
            return Err(format!("node {name} ended with {ended}: {}", log.display()).into());
        }
    }
    println!("\nNothing is left to visit, so all three have ended:\n");
    crawl.show(&["nodes", "--format", "table"])?;
    println!();
    crawl.show(&["status"])?;
    println!("\nThe rows of all nodes are checked against each other:\n");
    crawl.show(&["verify"])?;
    show_archives()?;
    wait_for_enter()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the toy web, served, and the options of a crawl of it.
fn web() -> (Server, Vec<String>) {
    let web = ToyWeb::new();
    let server = Server::spawn_thread(web.site());
    let mut arguments = web.seeds(server.port());
    let options = "--allow-private --contact demo@localhost --delay 50ms";
    arguments.extend(options.split(' ').map(str::to_owned));
    for host in web.hosts() {
        arguments.extend(["--resolve".to_owned(), server.resolve(&host)]);
    }
    (server, arguments)
}

/// The crawl that the nodes share.
struct SharedCrawl {
    crawler: PathBuf,
    store: String,
}

impl SharedCrawl {
    fn start(&self, name: &str, arguments: &[String]) -> Result<Child, Failure> {
        let out = Path::new(DIRECTORY).join(name);
        println!(
            "$ crawler node --store {} --name {name} --out {} {} …",
            self.store,
            out.display(),
            arguments[0]
        );
        let output = File::create(log(name))?;
        let node = Command::new(&self.crawler)
            .args(["node", "--store", &self.store, "--name", name, "--out"])
            .arg(out)
            .args(arguments)
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        Ok(node)
    }

    /// Shows the nodes once all of them have joined and the crawl has some pages, or one has ended.
    fn show_nodes_at_work(&self, nodes: &mut [Child]) -> Result<(), Failure> {
        loop {
            for node in &mut *nodes {
                if node.try_wait()?.is_some() {
                    return Ok(());
                }
            }
            let listed = self.run(&["nodes", "--format", "json"])?;
            // The first node makes the tables; before that there is no crawl to list.
            let rows: Vec<serde_json::Value> = String::from_utf8(listed.stdout)?
                .lines()
                .map(serde_json::from_str)
                .collect::<Result<_, _>>()?;
            let pages: u64 = rows.iter().filter_map(|row| row["pages"].as_u64()).sum();
            let have_shares = rows.iter().filter(|row| row["buckets"] != 0).count();
            if have_shares == NODES.len() && pages >= SHOWN_AT {
                return self.show(&["nodes", "--format", "table"]);
            }
        }
    }

    /// Runs a command of the crawler on the shared crawl and shows it.
    fn show(&self, command: &[&str]) -> Result<(), Failure> {
        println!("$ crawler {} --store {}", command.join(" "), self.store);
        let status = self.command(command).status()?;
        if !status.success() {
            return Err(format!("crawler {} ended with {status}", command[0]).into());
        }
        Ok(())
    }

    fn run(&self, command: &[&str]) -> Result<Output, Failure> {
        Ok(self.command(command).output()?)
    }

    fn command(&self, command: &[&str]) -> Command {
        let mut run = Command::new(&self.crawler);
        run.args(command).args(["--store", &self.store]);
        run
    }
}

/// Returns the file of what a node prints.
fn log(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(format!("{name}.out"))
}

fn show_archives() -> Result<(), Failure> {
    println!("\nEach node has archived the pages that it visited:\n");
    for name in NODES {
        let archive = Path::new(DIRECTORY).join(name).join("archive");
        let mut files: Vec<PathBuf> = std::fs::read_dir(&archive)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        files.retain(|file| file.extension().is_some_and(|suffix| suffix == "gz"));
        files.sort();
        for file in files {
            println!("  {}", file.display());
        }
    }
    println!("\nWhat the nodes printed is in {DIRECTORY}/*.out.");
    println!("On machines of your own: docs/guide/nodes.md.");
    Ok(())
}

/// Keeps PostgreSQL running for somebody who wants to look around.
fn wait_for_enter() -> Result<(), Failure> {
    if stdin().is_terminal() {
        println!("\nPostgreSQL runs until you press Enter: try the commands above.");
        stdin().read_line(&mut String::new())?;
    }
    Ok(())
}
