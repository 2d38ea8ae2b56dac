//! Serves a generated web or directories of documents on loopback until standard input ends.
//!
//! ```text
//! serve --corpus plain|real [--pages N] [--hosts H] [--seed S] [--truth FILE] [--port P]
//! serve --toy [--port P]
//! serve --dir HOST=DIRECTORY… [--port P]
//! ```
//!
//! It prints the port and then the seeds, a line each. The host names are its own: a crawler is told with
//! `--resolve HOST:PORT:127.0.0.1`, which is printed after the seeds, behind a `#`.
#![expect(
    clippy::print_stdout,
    reason = "the port and the seeds are what it is asked for"
)]

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use testkit::{Corpus, Server, Settings, Site, ToyWeb};

const USAGE: &str = "serve (--corpus plain|real [--pages N] [--hosts H] [--seed S] [--truth FILE] | --toy | \
                     --dir HOST=DIRECTORY…) [--port P]";

#[derive(Default)]
struct Wish {
    corpus: Option<String>,
    pages: Option<usize>,
    hosts: Option<usize>,
    seed: u64,
    truth: Option<String>,
    toy: bool,
    directories: Vec<(String, String)>,
    port: u16,
}

fn main() -> Result<(), Box<dyn Error>> {
    let wish = read_arguments(std::env::args().skip(1))?;
    let toy = ToyWeb::new();
    let mut corpus = None;
    let site = match wish.corpus.as_deref() {
        Some(shape) => Arc::clone(corpus.insert(generate(shape, &wish)?)).site(),
        None if wish.toy => toy.site(),
        None if wish.directories.is_empty() => return Err(USAGE.into()),
        None => Site::directories(wish.directories.clone())?,
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, wish.port));
    let server = Server::spawn_thread_with(
        site,
        Settings {
            address,
            keep_log: false,
        },
    )?;

    let port = server.port();
    let (hosts, seeds) = match &corpus {
        Some(corpus) => (corpus.hosts(), corpus.seeds(port)),
        None if wish.toy => (toy.hosts(), toy.seeds(port)),
        None => wish
            .directories
            .iter()
            .map(|(host, _)| (host.clone(), server.url(host, "/")))
            .unzip(),
    };
    if let (Some(corpus), Some(file)) = (&corpus, &wish.truth) {
        let mut file = BufWriter::new(File::create(file)?);
        corpus.write_truth(port, &mut file)?;
        file.flush()?;
    }
    println!("{port}");
    for seed in seeds {
        println!("{seed}");
    }
    for host in hosts {
        println!("# --resolve {}", server.resolve(&host));
    }
    io::stdout().flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn generate(shape: &str, wish: &Wish) -> Result<Arc<Corpus>, Box<dyn Error>> {
    let pages = wish.pages.unwrap_or(20_000);
    let corpus = match shape {
        "plain" => Corpus::plain(pages, wish.seed),
        "real" => Corpus::real_shaped(pages, wish.seed),
        _ => return Err(format!("no corpus {shape}: plain or real").into()),
    };
    Ok(Arc::new(match wish.hosts {
        Some(hosts) => corpus.with_hosts(hosts),
        None => corpus,
    }))
}

fn read_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Wish, Box<dyn Error>> {
    let mut wish = Wish {
        seed: 1,
        ..Wish::default()
    };
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{option} needs a value"));
        match option.as_str() {
            "--corpus" => wish.corpus = Some(value()?),
            "--pages" => wish.pages = Some(value()?.parse()?),
            "--hosts" => wish.hosts = Some(value()?.parse()?),
            "--seed" => wish.seed = value()?.parse()?,
            "--truth" => wish.truth = Some(value()?),
            "--toy" => wish.toy = true,
            "--dir" => {
                let pair = value()?;
                let (host, directory) = pair.split_once('=').ok_or("--dir wants HOST=DIRECTORY")?;
                wish.directories.push((host.into(), directory.into()));
            }
            "--port" => wish.port = value()?.parse()?,
            _ => return Err(format!("unknown option {option}\n{USAGE}").into()),
        }
    }
    Ok(wish)
}
