//! Serves a generated web or directories of documents on loopback until standard input ends.
//!
//! ```text
//! serve --corpus plain|real [--pages N] [--hosts H] [--seed S] [--truth FILE] [--port P]
//! serve --toy [--port P]
//! serve --gallery [--port P]
//! serve --dir HOST=DIRECTORY… [--port P]
//! serve … --served FILE
//! serve (--gallery | --dir …) --tls FILE
//! ```
//!
//! It prints the port and then the seeds, a line each. The host names are its own: a crawler is
//! told with `--resolve HOST:PORT:127.0.0.1`, which is printed after the seeds, behind a `#`. The
//! last line is `# ready`.
//!
//! `--served FILE` says at the end what was answered, a line each: URL, method, status, `whole` or
//! `broken`, and in base64 the head as sent and the body without its transfer coding. With it an
//! archive can be checked by the bytes.
//!
//! `--tls FILE` serves HTTPS, HTTP/2 included, and writes the certificate of the authority behind
//! it to the file. It is there if testkit was built with its feature `tls`, as it is with the whole
//! workspace.
#![expect(
    clippy::print_stdout,
    reason = "the port and the seeds are what it is asked for"
)]

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use data_encoding::BASE64;
use testkit::{Corpus, Server, Settings, Site, ToyWeb, gallery};

const USAGE: &str = "serve (--corpus plain|real [--pages N] [--hosts H] [--seed S] [--truth FILE] \
                     | --toy | --gallery | --dir HOST=DIRECTORY…) [--port P] [--served FILE] \
                     [--tls FILE]";

#[derive(Default)]
struct Wish {
    corpus: Option<String>,
    pages: Option<usize>,
    hosts: Option<usize>,
    seed: u64,
    truth: Option<String>,
    toy: bool,
    gallery: bool,
    directories: Vec<(String, String)>,
    port: u16,
    served: Option<String>,
    tls: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let wish = read_arguments(std::env::args().skip(1))?;
    let toy = ToyWeb::new();
    let mut corpus = None;
    let site = match wish.corpus.as_deref() {
        Some(shape) => Arc::clone(corpus.insert(generate(shape, &wish)?)).site(),
        None if wish.toy => toy.site(),
        None if wish.gallery => gallery::site(),
        None if wish.directories.is_empty() => return Err(USAGE.into()),
        None => Site::directories(wish.directories.clone())?,
    };
    let server = match &wish.tls {
        Some(file) => over_tls(site, &wish, file)?,
        None => Server::spawn_thread_with(
            site,
            Settings {
                address: SocketAddr::from((Ipv4Addr::LOCALHOST, wish.port)),
                keep_log: wish.served.is_some(),
            },
        )?,
    };

    let port = server.port();
    let (hosts, seeds) = match &corpus {
        Some(corpus) => (corpus.hosts(), corpus.seeds(port)),
        None if wish.toy => (toy.hosts(), toy.seeds(port)),
        None => {
            let hosts = wish.hosts_of_its_own();
            let first = if wish.gallery {
                &hosts[..1]
            } else {
                &hosts[..]
            };
            let seeds = first.iter().map(|host| server.url(host, "/")).collect();
            (hosts, seeds)
        }
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
    println!("# ready");
    io::stdout().flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    if let Some(file) = &wish.served {
        let mut file = BufWriter::new(File::create(file)?);
        write_served(&server, &mut file)?;
        file.flush()?;
    }
    Ok(())
}

impl Wish {
    fn hosts_of_its_own(&self) -> Vec<String> {
        if self.gallery {
            return vec![gallery::HOST.to_owned(), gallery::ELSEWHERE.to_owned()];
        }
        self.directories
            .iter()
            .map(|(host, _)| host.clone())
            .collect()
    }
}

#[cfg(feature = "tls")]
fn over_tls(site: Site, wish: &Wish, authority: &str) -> Result<Server, Box<dyn Error>> {
    let hosts = wish.hosts_of_its_own();
    if hosts.is_empty() || wish.port != 0 {
        return Err("--tls is for --gallery and --dir, and on any port".into());
    }
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let (server, certificate) = Server::spawn_thread_tls(site, &hosts);
    std::fs::write(authority, certificate)?;
    Ok(server)
}

#[cfg(not(feature = "tls"))]
fn over_tls(_: Site, _: &Wish, _: &str) -> Result<Server, Box<dyn Error>> {
    Err("testkit was built without its feature tls".into())
}

fn write_served(server: &Server, file: &mut impl Write) -> io::Result<()> {
    for hit in &server.log() {
        writeln!(
            file,
            "{}\t{}\t{}\t{}\t{}\t{}",
            server.url(&hit.host, &hit.target),
            hit.method,
            hit.status,
            if hit.complete { "whole" } else { "broken" },
            BASE64.encode(&hit.head),
            BASE64.encode(&hit.body),
        )?;
    }
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
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{option} needs a value"))
        };
        match option.as_str() {
            "--corpus" => wish.corpus = Some(value()?),
            "--pages" => wish.pages = Some(value()?.parse()?),
            "--hosts" => wish.hosts = Some(value()?.parse()?),
            "--seed" => wish.seed = value()?.parse()?,
            "--truth" => wish.truth = Some(value()?),
            "--toy" => wish.toy = true,
            "--gallery" => wish.gallery = true,
            "--dir" => {
                let pair = value()?;
                let (host, directory) = pair.split_once('=').ok_or("--dir wants HOST=DIRECTORY")?;
                wish.directories.push((host.into(), directory.into()));
            }
            "--tls" => wish.tls = Some(value()?),
            "--served" => wish.served = Some(value()?),
            "--port" => wish.port = value()?.parse()?,
            _ => return Err(format!("unknown option {option}\n{USAGE}").into()),
        }
    }
    Ok(wish)
}
