//! A crawl by three nodes, without the internet and without containers.
//!
//! Starts PostgreSQL in a temporary directory, serves a generated web with planted copies on
//! loopback, and crawls it by three processes of the real binary. Then it checks the crawl and
//! shows where the archives are.
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
use std::sync::Arc;

use testkit::{Corpus, Database, Postgres, Server};

const DIRECTORY: &str = "nodes-crawl";
const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// Pages of the web, a tenth of them copies, and its hosts.
const PAGES: usize = 960;
const HOSTS: usize = 24;
/// Pages of the crawl when its nodes are shown.
const SHOWN_AT: u64 = 300;

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
    let postgres = Postgres::start(&[]);
    let crawl = SharedCrawl {
        crawler,
        store: postgres.create_database(),
    };
    let (server, arguments) = web();
    println!(
        "PostgreSQL runs in a temporary directory. {HOSTS} hosts with {PAGES} pages, some of them \
         copies, are served on 127.0.0.1:{}.",
        server.port()
    );
    println!("The first node begins the crawl, with seeds and settings:\n");
    let mut nodes = vec![crawl.start(NODES[0], &arguments)?];
    crawl.wait_for_nodes(&mut nodes, 0)?;
    println!("\nOthers join it, as on machines of their own:\n");
    for name in &NODES[1..] {
        nodes.push(crawl.start(name, &[])?);
    }
    crawl.wait_for_nodes(&mut nodes, SHOWN_AT)?;
    println!("\nThey share what waits, what was seen and the signatures of all pages:\n");
    crawl.show(&["nodes", "--format", "table"])?;
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

/// Returns a web, served, and the options of a crawl of it.
fn web() -> (Server, Vec<String>) {
    // The hosts of one domain would stay on one node.
    let corpus = Corpus::plain(PAGES, 1).with_hosts(HOSTS).on_domains();
    let web = Arc::new(corpus);
    let server = Server::spawn_thread(web.site());
    let mut arguments = web.seeds(server.port());
    let options = "--allow-private --contact demo@localhost --delay 200ms";
    arguments.extend(options.split(' ').map(str::to_owned));
    for host in web.hosts() {
        arguments.extend(["--resolve".to_owned(), server.resolve(&host)]);
    }
    (server, arguments)
}

/// The crawl that the nodes share.
struct SharedCrawl {
    crawler: PathBuf,
    store: Database,
}

impl SharedCrawl {
    fn start(&self, name: &str, arguments: &[String]) -> Result<Child, Failure> {
        let out = Path::new(DIRECTORY).join(name);
        println!(
            "$ crawler node --store {} --name {name} --out {}{}",
            &*self.store,
            out.display(),
            arguments
                .first()
                .map_or(String::new(), |seed| format!(" {seed} …"))
        );
        let output = File::create(log(name))?;
        let node = Command::new(&self.crawler)
            .args(["node", "--store", &*self.store, "--name", name, "--out"])
            .arg(out)
            .args(arguments)
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        Ok(node)
    }

    /// Waits until these nodes have their shares and the crawl has so many pages, or a node ends.
    fn wait_for_nodes(&self, nodes: &mut [Child], pages: u64) -> Result<(), Failure> {
        loop {
            for node in &mut *nodes {
                if node.try_wait()?.is_some() {
                    return Ok(());
                }
            }
            // Before the first node has made the tables, the command fails.
            let listed = self.run(&["nodes", "--format", "json"])?;
            let rows: Vec<serde_json::Value> = String::from_utf8(listed.stdout)?
                .lines()
                .map(serde_json::from_str)
                .collect::<Result<_, _>>()?;
            let visited: u64 = rows.iter().filter_map(|row| row["pages"].as_u64()).sum();
            let have_shares = rows.iter().filter(|row| row["buckets"] != 0).count();
            if have_shares == nodes.len() && visited >= pages {
                return Ok(());
            }
        }
    }

    /// Runs a command of the crawler on the shared crawl and shows it.
    fn show(&self, command: &[&str]) -> Result<(), Failure> {
        println!("$ crawler {} --store {}", command.join(" "), &*self.store);
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
        run.args(command).args(["--store", &*self.store]);
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
