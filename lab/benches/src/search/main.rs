//! The cost of a search index and the latency of its answers: pages of 24 KB of prose through the
//! index and the archive, then queries of mixed kinds.
//!
//! - the writer alone: pages a second and processor time of all its threads for a page, flushing,
//!   committing and merging included;
//! - the sink over an archive: pages a second, disk space, memory (VmHWM);
//! - 1,000 queries for ten hits each: median, 99th percentile and worst, with and without snippets,
//!   which are read from the archive, and the same of each kind of query;
//! - 200 random queries against a plain scan of all pages: the sets must be equal.
//!
//! ```text
//! cargo run --release -p benches --bin bench-search -- [--pages 100000] \
//!     [--memory-mib 32] [--segments 1] [--threads 2] [--keep DIR]
//! ```
//!
//! With `--keep`, index and archive stay in that directory, and a second run with the same pages
//! and seed only queries them.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

mod scan;

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Parser;
use disk::SystemDisk;
use nix::time::{ClockId, clock_gettime};
use search::{Finder, IndexOptions, IndexPage, Query, Searchable, Snippets, Writer};
use sinks::warc::{WarcReader, locate};
use sinks::{ArchiveOptions, IndexText, Keeping, Sink, Visit, WarcArchive};
use testkit::{Corpus, Random};
use web::{
    CanonicalForm, Clock, Document, Exchange, PageUrl, Protocol, ReadLimits, ResponseMetadata,
    Timestamp,
};

use self::scan::{Asked, KINDS, Scan, Topics};

type Failure = Box<dyn Error>;

/// Pages for which the writer is measured alone.
const ALONE: usize = 5_000;
/// Queries that are timed, and those that are compared with a scan.
const QUERIES: usize = 1_000;
const COMPARED: usize = 200;

/// Measure the search index
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Number of pages
    #[arg(long, default_value_t = 100_000)]
    pages: usize,
    /// Memory of the writer, MiB
    #[arg(long, default_value_t = 32)]
    memory_mib: u64,
    /// Segments that are filled at a time
    #[arg(long, default_value_t = NonZeroUsize::MIN)]
    segments: NonZeroUsize,
    /// Seed of pages and queries
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads that search segments
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Keep index and archive here; if there are some already, only query them
    #[arg(long)]
    keep: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let corpus = Corpus::plain(options.pages, options.seed);
    let topics = topics(&corpus);
    let temporary = tempfile::tempdir()?;
    let directory = options.keep.as_deref().unwrap_or(temporary.path());
    let index = directory.join("search");
    let mut scan = None;
    if !search::exists(&index) {
        std::fs::create_dir_all(directory)?;
        alone(&options, &corpus, &temporary.path().join("alone"))?;
        let scan = scan.insert(Scan::new(&topics, COMPARED, options.seed));
        through_the_sink(&options, &corpus, directory, scan)?;
    }
    let finder = Finder::open(&index)?.with_threads(options.threads)?;
    println!(
        "index: {} pages in {} segments, {:.0} MiB, archive {:.0} MiB; peak memory {:.0} MiB",
        finder.pages(),
        finder.segments(),
        mebibytes(&index)?,
        mebibytes(&directory.join("archive"))?,
        peak_mib()?
    );
    answer(&finder, &topics, directory, options.seed)?;
    match scan {
        Some(scan) => compare(&finder, scan),
        None => Ok(()),
    }
}

fn topics(corpus: &Corpus) -> Topics {
    let host = |number| {
        let url = corpus.url(number, 80);
        let host = url.split('/').nth(2).unwrap_or_default();
        (
            host.split(':').next().unwrap_or_default().to_owned(),
            fetched_at(number),
        )
    };
    let text = |number| read(corpus, number).map_or_else(|_| String::new(), |(_, text)| text.text);
    Topics::of(corpus.len(), host, text)
}

/// Returns the time of a page: one each minute.
fn fetched_at(number: usize) -> u64 {
    1_767_225_600_000 + number as u64 * 60_000
}

/// A page, read as a crawl reads it.
fn read(corpus: &Corpus, number: usize) -> Result<(Exchange, Box<IndexText>), Failure> {
    let url = PageUrl::parse(&corpus.url(number, 80), &CanonicalForm::default())?;
    let body = corpus.html(number, 80);
    let text = index_text(document(&url, &body));
    Ok((exchange(url, body, number), text))
}

fn document(url: &PageUrl, body: &[u8]) -> Document {
    let hints = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(url)
    };
    web::read(
        body,
        &hints,
        &CanonicalForm::default(),
        &ReadLimits::default(),
    )
}

fn index_text(document: Document) -> Box<IndexText> {
    Box::new(IndexText {
        title: document.title,
        language: document.language,
        text: document.text,
    })
}

fn exchange(url: PageUrl, body: Bytes, number: usize) -> Exchange {
    let mut headers = http::HeaderMap::new();
    headers.insert(
        "content-type",
        http::HeaderValue::from_static("text/html; charset=utf-8"),
    );
    Exchange {
        url,
        request_head: Vec::new(),
        status: 200,
        headers,
        body: body.into(),
        truncated: None,
        warnings: Vec::new(),
        address: None,
        protocol: Protocol::Http11,
        started: Timestamp::from_millis(fetched_at(number)),
        elapsed: Duration::ZERO,
    }
}

fn index_options(options: &Options, directory: &Path) -> IndexOptions {
    IndexOptions {
        directory: directory.to_owned(),
        memory: options.memory_mib << 20,
        segments: options.segments,
        rules: "unique-main".to_owned(),
    }
}

/// Measures the writer alone.
fn alone(options: &Options, corpus: &Corpus, directory: &Path) -> Result<(), Failure> {
    let count = ALONE.min(options.pages);
    let mut writer = Writer::create(&index_options(options, directory))?;
    let mut pages = Vec::with_capacity(count);
    for number in 0..count {
        let (exchange, text) = read(corpus, number)?;
        pages.push(IndexPage {
            url: exchange.url,
            at: exchange.started,
            file: "crawl-20260101000000-00001.warc.gz".into(),
            offset: number as u64,
            text,
        });
    }
    let bytes: usize = pages.iter().map(|page| page.text.text.len()).sum();
    let (begun, cpu) = (Instant::now(), process_time()?);
    for page in pages {
        writer.add(page)?;
    }
    writer.close(None)?;
    let spent = process_time()?.saturating_sub(cpu);
    println!(
        "writer alone: {:.0} pages/s, {:.0} CPU µs a page of {} bytes of text, {} segments at a \
         time in {} MiB; peak memory {:.0} MiB, {} MiB of it pages",
        count as f64 / begun.elapsed().as_secs_f64(),
        spent.as_secs_f64() * 1e6 / count as f64,
        bytes / count,
        options.segments,
        options.memory_mib,
        peak_mib()?,
        bytes >> 20
    );
    Ok(())
}

/// Writes the pages as a crawl does.
fn through_the_sink(
    options: &Options,
    corpus: &Corpus,
    directory: &Path,
    scan: &mut Scan,
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let clock = Clock::fixed(Timestamp::from_millis(1_767_225_600_000));
        let archive = directory.join("archive");
        let options_of_archive = ArchiveOptions::new(clock.clone());
        let archive = WarcArchive::open(Arc::new(SystemDisk), &archive, options_of_archive, None)?;
        let writer = Writer::create(&index_options(options, &directory.join("search")))?;
        let sink = Searchable::over(Arc::new(archive), writer, clock);
        let begun = Instant::now();
        let cpu = process_time()?;
        for number in 0..corpus.len() {
            let (exchange, text) = read(corpus, number)?;
            scan.add(&exchange, &text);
            let visit = Visit {
                at: exchange.started,
                exchanges: vec![exchange.clone()],
                keeping: Keeping::Whole,
                subrequests: Vec::new(),
                dom: None,
                picture: None,
                payload: None,
                metadata: Vec::new(),
                robots: Vec::new(),
                text: Some(text),
                url: exchange.url,
            };
            let archived = sink.write(visit).await?;
            scan.place(archived.file, archived.page_offset);
            if number % 5_000 == 4_999 {
                sink.sync().await?;
            }
        }
        sink.close().await?;
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "sink, reading and scanning: {:.0} pages/s, {:.3} CPU s per 1,000 pages in all",
            corpus.len() as f64 / seconds,
            process_time()?.saturating_sub(cpu).as_secs_f64() * 1e3 / corpus.len() as f64
        );
        Ok(())
    })
}

/// Measures the time of queries.
fn answer(finder: &Finder, topics: &Topics, directory: &Path, seed: u64) -> Result<(), Failure> {
    let archive = directory.join("archive");
    for snippets in [false, true] {
        let random = &mut Random::of(seed, 77);
        let mut of_kinds = vec![Vec::new(); KINDS.len()];
        for _ in 0..QUERIES {
            let (kind, asked) = topics.query(random);
            let typed = asked.typed();
            let begun = Instant::now();
            let query = Query::parse(&typed)?;
            let hits = finder.search(&query, 10, 0)?;
            if snippets {
                let cut = Snippets::of(&query);
                for hit in &hits {
                    let path = locate(&archive, &hit.location.file);
                    let record =
                        WarcReader::open_at(&path, hit.location.offset)?.next_record(1 << 30)?;
                    let response =
                        record.and_then(|record| record.response(&CanonicalForm::default()));
                    let response = response.ok_or("a hit is not in the archive")?;
                    let body = response.body.to_bytes()?;
                    std::hint::black_box(cut.cut(&document(&response.url, &body).text));
                }
            }
            of_kinds[kind].push(begun.elapsed());
        }
        let with = if snippets { " with snippets" } else { "" };
        println!(
            "{QUERIES} queries{with}: {}",
            percentiles(of_kinds.concat())
        );
        for ((kind, _), times) in KINDS.iter().zip(of_kinds) {
            println!("    {kind}: {}", percentiles(times));
        }
    }
    Ok(())
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: f64| {
        let place = (times.len().saturating_sub(1) as f64 * share) as usize;
        times
            .get(place)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    format!(
        "median {:.2} ms, 99 % {:.2} ms, worst {:.2} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

/// Compares hits with those of a scan.
fn compare(finder: &Finder, scan: Scan) -> Result<(), Failure> {
    let (mut hits_in_all, mut fruitful) = (0, 0);
    for (asked, mut scanned) in scan.results() {
        let asked: Asked = asked;
        let hits = finder.search(&Query::parse(&asked.typed())?, search::MAX_HITS, 0)?;
        let mut found: Vec<(String, u64)> = hits
            .into_iter()
            .map(|hit| (hit.location.file, hit.location.offset))
            .collect();
        found.sort();
        scanned.sort();
        if found != scanned {
            return Err(format!(
                "{}: {} found, {} by the scan",
                asked.typed(),
                found.len(),
                scanned.len()
            )
            .into());
        }
        hits_in_all += found.len();
        fruitful += usize::from(!found.is_empty());
    }
    println!(
        "{COMPARED} random queries find what a plain scan finds: {hits_in_all} hits, {fruitful} \
         queries with any"
    );
    Ok(())
}

fn process_time() -> Result<Duration, Failure> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}

fn mebibytes(directory: &Path) -> Result<f64, Failure> {
    let mut bytes = 0;
    for item in std::fs::read_dir(directory)? {
        bytes += item?.metadata()?.len();
    }
    Ok(bytes as f64 / f64::from(1 << 20))
}

fn peak_mib() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}
