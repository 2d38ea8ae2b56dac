//! A demonstration without the internet.
//!
//! Serves a toy web on loopback (two mirrors, a manual whose pages look alike and are not, a
//! section that robots.txt forbids, an endless calendar, several charsets), crawls it with the real
//! binary, and shows what was left out and why.
//!
//! ```text
//! cargo run --release --example demo
//! ```
#![expect(clippy::print_stdout, reason = "a demonstration shows something")]

use std::error::Error;
use std::path::Path;
use std::process::Command;

use testkit::{Server, ToyWeb};

const DIRECTORY: &str = "demo-crawl";
/// The number of duplicates that are shown.
const SHOWN: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    // Together with this example, so that what was built for it serves both.
    let crawler = testkit::build_crawler(&["--example", "demo"])?;
    if Path::new(DIRECTORY).exists() {
        std::fs::remove_dir_all(DIRECTORY)?;
    }
    let web = ToyWeb::new();
    let server = Server::spawn_thread(web.site());
    let seeds = web.seeds(server.port());

    let mut arguments: Vec<String> = seeds.clone();
    arguments.extend(
        [
            "--out",
            DIRECTORY,
            "--allow-private",
            "--contact",
            "demo@localhost",
        ]
        .map(str::to_owned),
    );
    arguments.extend(["--delay", "20ms"].map(str::to_owned));
    for host in web.hosts() {
        arguments.extend(["--resolve".to_owned(), server.resolve(&host)]);
    }
    println!(
        "A toy web of {} hosts is served on 127.0.0.1:{}.",
        web.hosts().len(),
        server.port()
    );
    println!("$ crawler {}\n", arguments.join(" "));
    let crawled = Command::new(&crawler).args(&arguments).status()?;
    if !crawled.success() {
        return Err(format!("the crawl ended with {crawled}").into());
    }

    let exported = Command::new(&crawler)
        .args(["export", DIRECTORY])
        .output()?;
    let visits: Vec<serde_json::Value> = String::from_utf8(exported.stdout)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    show_duplicates(&visits);
    show_the_manual(&visits);

    println!("\nTry:");
    println!("  crawler why {DIRECTORY} {}", seeds[0]);
    println!("  crawler export {DIRECTORY} --format csv");
    println!("  crawler verify {DIRECTORY}");
    Ok(())
}

fn show_duplicates(visits: &[serde_json::Value]) {
    let text = |visit: &serde_json::Value, column: &str| {
        visit[column].as_str().unwrap_or_default().to_owned()
    };
    let duplicates: Vec<_> = visits
        .iter()
        .filter(|visit| text(visit, "verdict").ends_with("-duplicate"))
        .collect();
    println!(
        "\nThe first of {} duplicates, and what they repeat:",
        duplicates.len()
    );
    for visit in duplicates.iter().take(SHOWN) {
        println!("  {:<15}  {}", text(visit, "verdict"), text(visit, "url"));
        println!(
            "  {:<15}  {}  ({})",
            "",
            text(visit, "duplicate_of"),
            text(visit, "reason")
        );
    }
}

fn show_the_manual(visits: &[serde_json::Value]) {
    let manual = visits.iter().filter(|visit| {
        visit["url"]
            .as_str()
            .is_some_and(|url| url.contains("//manual.test"))
    });
    let (unique, all) = manual.fold((0, 0), |(unique, all), visit| {
        (unique + u32::from(visit["verdict"] == "unique"), all + 1)
    });
    println!(
        "\nThe manual's pages share their frame and nothing else: {unique} of {all} are unique."
    );
}
