//! The cost of writing an archive: the writer alone, without a crawl, by compression, by digest,
//! and by the metadata of each page.
//!
//! Visits to generated pages go through [`sinks::WarcArchive`] one after another, as a crawl does:
//! records are made, digested, compressed and appended to files in a temporary directory. Time is
//! the processor time of the process, best of the runs; the payloads' digests are given, since a
//! crawl has them already. The last rows are zlib-rs on the same payloads at the same levels.
//!
//! ```text
//! cargo run --release -p benches --bin bench-warc -- [--pages 2000] [--runs 5]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use disk::SystemDisk;
use http::{HeaderMap, HeaderValue};
use nix::time::{ClockId, clock_gettime};
use sinks::warc::{Compression, Dictionary};
use sinks::{ArchiveOptions, DigestAlgorithm, Keeping, MetadataField, Sink, Visit, WarcArchive};
use testkit::Corpus;
use tokio::runtime::Runtime;
use web::{
    CanonicalForm, Clock, Exchange, PageUrl, Protocol, ReadLimits, ResponseMetadata, Timestamp,
};

type Failure = Box<dyn Error>;

const PORT: u16 = 80;
const SEED: u64 = 1;

/// Measure the writer of the archive
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Pages of each kind
    #[arg(long, default_value_t = 2_000)]
    pages: usize,
    /// Runs, of which the best counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Also measure with this zstd dictionary
    #[arg(long)]
    dictionary: Option<std::path::PathBuf>,
}

/// The metadata that is archived with a page.
#[derive(Clone, Copy)]
enum Metadata {
    Nothing,
    Verdict,
    Outlinks,
}

/// A visit that is ready to be archived.
struct Page {
    exchange: Exchange,
    notes: Vec<MetadataField>,
    outlinks: Vec<MetadataField>,
}

/// Returns the body of a page, which is in memory.
fn held(page: &Page) -> &bytes::Bytes {
    page.exchange.body.held().expect("the corpus is in memory")
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let dictionary = match &options.dictionary {
        Some(path) => Some(Dictionary::new(&fs::read(path)?)?),
        None => None,
    };
    for (name, corpus) in [
        ("26 KiB, plain", Corpus::plain(options.pages, SEED)),
        (
            "170 KiB, real-shaped",
            Corpus::real_shaped(options.pages / 4, SEED),
        ),
    ] {
        let pages = pages(&corpus)?;
        let bytes: u64 = pages.iter().map(|page| page.exchange.body.len()).sum();
        let links: usize = pages.iter().map(|page| page.outlinks.len()).sum();
        println!(
            "{name}: {} pages, {:.1} MB, {} links a page",
            pages.len(),
            bytes as f64 / 1e6,
            links / pages.len()
        );
        println!("  {:<34} {:>9} {:>8} {:>9}", "", "µs/page", "MB/s", "size");
        let row = |label: String, time: Duration, size: u64| {
            let (seconds, input) = (time.as_secs_f64(), bytes as f64);
            let each = seconds * 1e6 / pages.len() as f64;
            println!(
                "  {label:<34} {each:>9.1} {:>8.0} {:>8.1}%",
                input / seconds / 1e6,
                100.0 * size as f64 / input
            );
        };
        for (label, compression) in compressions(dictionary.as_ref()) {
            let (time, size) = measure(
                &options,
                &pages,
                &compression,
                DigestAlgorithm::Sha1,
                Metadata::Verdict,
            )?;
            row(label, time, size);
        }
        let gzip = Compression::default();
        for (label, digest, metadata) in [
            (
                "gzip 1, no metadata",
                DigestAlgorithm::Sha1,
                Metadata::Nothing,
            ),
            (
                "gzip 1, outlinks",
                DigestAlgorithm::Sha1,
                Metadata::Outlinks,
            ),
            ("gzip 1, sha256", DigestAlgorithm::Sha256, Metadata::Verdict),
        ] {
            let (time, size) = measure(&options, &pages, &gzip, digest, metadata)?;
            row(label.to_owned(), time, size);
        }
        for level in [1, 3, 6] {
            let (time, size) = zlib_rs(&options, &pages, level)?;
            row(format!("(zlib-rs {level}, payloads alone)"), time, size);
        }
        println!();
    }
    Ok(())
}

fn compressions(dictionary: Option<&Dictionary>) -> Vec<(String, Compression)> {
    let gzip = |level| (format!("gzip {level}"), Compression::Gzip { level });
    let zstd = |level| {
        let dictionary = None;
        (
            format!("zstd {level}"),
            Compression::Zstd { level, dictionary },
        )
    };
    let mut all = vec![
        gzip(1),
        gzip(2),
        gzip(3),
        gzip(6),
        zstd(1),
        zstd(3),
        zstd(6),
    ];
    if let Some(dictionary) = dictionary {
        for level in [1, 3] {
            let dictionary = Some(dictionary.clone());
            all.push((
                format!("zstd {level}, dictionary"),
                Compression::Zstd { level, dictionary },
            ));
        }
    }
    all.push(("none".to_owned(), Compression::None));
    all
}

fn pages(corpus: &Corpus) -> Result<Vec<Page>, Failure> {
    let (form, limits) = (CanonicalForm::default(), ReadLimits::default());
    let mut pages = Vec::with_capacity(corpus.len());
    for page in 0..corpus.len() {
        let url = PageUrl::parse(&corpus.url(page, PORT), &form)?;
        let body = corpus.html(page, PORT);
        let document = web::read(&body, &ResponseMetadata::of(&url), &form, &limits);
        let outlinks = document
            .links
            .iter()
            .map(|link| ("outlink", format!("{} L =NAVLINK_MISC", link.url)));
        let mut headers = HeaderMap::new();
        headers.insert(
            "content-type",
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
        headers.insert(
            "date",
            HeaderValue::from_static("Sat, 21 Nov 2026 22:11:56 GMT"),
        );
        headers.insert("server", HeaderValue::from_static("nginx/1.26.2"));
        headers.insert(
            "etag",
            HeaderValue::from_str(&format!("\"{page:x}-6a41\""))?,
        );
        headers.insert("content-length", HeaderValue::from(body.len()));
        let request = format!(
            "GET {} HTTP/1.1\r\nuser-agent: crawler/0.1.0 (archiving crawler; contact: \
             a@example.org)\r\naccept: */*\r\n\
             accept-encoding: gzip, deflate, br, zstd\r\nhost: {}\r\n\r\n",
            url.as_url().path(),
            url.host()
        );
        pages.push(Page {
            outlinks: outlinks.collect(),
            notes: vec![
                ("verdict", "unique".to_owned()),
                (
                    "fingerprint",
                    format!("{:016x}", page as u64 * 0x9e37_79b9_7f4a_7c15),
                ),
                ("http-status", "200".to_owned()),
                ("content-type", "text/html".to_owned()),
                ("bytes", body.len().to_string()),
                ("charset", "UTF-8".to_owned()),
                ("language", "en".to_owned()),
                ("title", document.title.clone().unwrap_or_default()),
                ("via", corpus.url(page / 10, PORT)),
                ("hopsFromSeed", "3".to_owned()),
                ("fetchTimeMs", "2".to_owned()),
            ],
            exchange: Exchange {
                url,
                request_head: request.into_bytes(),
                status: 200,
                headers,
                body: body.into(),
                truncated: None,
                warnings: Vec::new(),
                address: Some("192.0.2.7:80".parse()?),
                protocol: Protocol::Http11,
                started: Timestamp::from_millis(1_795_199_095_120),
                elapsed: Duration::from_millis(2),
            },
        });
    }
    Ok(pages)
}

/// The processor time, and the bytes of the archive.
fn measure(
    options: &Options,
    pages: &[Page],
    compression: &Compression,
    digest: DigestAlgorithm,
    metadata: Metadata,
) -> Result<(Duration, u64), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let (mut best, mut size) = (Duration::MAX, 0);
    for _run in 0..options.runs {
        let visits: Vec<Visit> = pages
            .iter()
            .map(|page| visit(page, digest, metadata))
            .collect();
        let (time, bytes) = once(&runtime, visits, compression, digest)?;
        best = best.min(time);
        size = bytes;
    }
    Ok((best, size))
}

fn visit(page: &Page, digest: DigestAlgorithm, metadata: Metadata) -> Visit {
    let notes = match metadata {
        Metadata::Nothing => Vec::new(),
        Metadata::Verdict => page.notes.clone(),
        Metadata::Outlinks => [page.notes.as_slice(), &page.outlinks].concat(),
    };
    Visit {
        url: page.exchange.url.clone(),
        at: page.exchange.started,
        robots: Vec::new(),
        subrequests: Vec::new(),
        dom: None,
        picture: None,
        payload: Some(digest.of(held(page))),
        exchanges: vec![page.exchange.clone()],
        keeping: Keeping::Whole,
        metadata: notes,
        text: None,
    }
}

fn once(
    runtime: &Runtime,
    visits: Vec<Visit>,
    compression: &Compression,
    digest: DigestAlgorithm,
) -> Result<(Duration, u64), Failure> {
    let directory = tempfile::tempdir()?;
    let archive_options = ArchiveOptions {
        compression: compression.clone(),
        digest,
        ..ArchiveOptions::new(Clock::fixed(Timestamp::from_millis(0)))
    };
    let archive = WarcArchive::open(
        Arc::new(SystemDisk),
        directory.path(),
        archive_options,
        None,
    )?;
    let before = processor()?;
    let end = runtime.block_on(async {
        for visit in visits {
            archive.write(visit).await?;
        }
        archive.close().await
    })?;
    Ok((processor()? - before, end.end))
}

/// Compresses with zlib-rs, one stream for each payload.
fn zlib_rs(options: &Options, pages: &[Page], level: i32) -> Result<(Duration, u64), Failure> {
    let (mut best, mut size) = (Duration::MAX, 0);
    let mut out = Vec::new();
    for _run in 0..options.runs {
        let before = processor()?;
        size = 0;
        for page in pages {
            let body = held(page);
            out.resize(zlib_rs::compress_bound(body.len()), 0);
            let (packed, _code) =
                zlib_rs::compress_slice(&mut out, body, zlib_rs::DeflateConfig::new(level));
            size += packed.len() as u64;
        }
        best = best.min(processor()? - before);
    }
    Ok((best, size))
}

fn processor() -> Result<Duration, Failure> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    Ok(Duration::from(time))
}
