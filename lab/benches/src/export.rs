//! The cost of an export: a generated crawl, exported in every form.
//!
//! The store itself writes the journal, so that reading it costs as much as after a crawl. Each
//! form runs in a process of its own (`--form`), because the system reports the peak of the memory
//! by process.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use clap::Parser;
use disk::SystemDisk;
use export::{
    Beginning, ExportInfo, Form, LINKS, Link, SKETCHES, TableWriter, VISITS, Visits, WholeFile,
};
use journal::{Fate, Reason, VisitRecord};
use neardup::{Features, HashKey, PageText, SignatureBuilder};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use store::{ArchivePlace, JournalRebuild, RestoredAdmission, RestoredVisit};
use testkit::Random;
use tokio::time::Instant;
use web::{CanonicalForm, PageUrl, Timestamp};

#[derive(Parser)]
struct Arguments {
    /// Visits in the crawl; every fifth is a duplicate
    #[arg(long, default_value_t = 1_000_000)]
    visits: u64,
    /// Directory of the crawl and the exports [default: a temporary directory]
    #[arg(long)]
    directory: Option<PathBuf>,
    /// Measurements of each form; the best counts
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Only this form, in this process: read, jsonl, csv, parquet, links
    #[arg(long, hide = true)]
    form: Option<String>,
}

const ABOUT: ExportInfo = ExportInfo {
    version: env!("CARGO_PKG_VERSION"),
    algorithm: neardup::ALGORITHM,
    zero_key: true,
    options: Vec::new(),
};

fn main() {
    let arguments = Arguments::parse();
    let temporary = tempfile::tempdir().expect("a temporary directory can be made");
    let directory = arguments
        .directory
        .clone()
        .unwrap_or_else(|| temporary.path().to_owned());
    let state = directory.join("state");
    if let Some(form) = &arguments.form {
        measure(&state, &directory, form);
        return;
    }
    if !state.exists() {
        std::fs::create_dir_all(&state).expect("the directory can be made");
        write_journal(&state, arguments.visits);
    }
    tell("form      rows/s      CPU µs a row   peak MiB   bytes a row");
    for form in ["read", "jsonl", "csv", "parquet", "links"] {
        let lines = (0..arguments.runs).map(|_| one(&directory, form));
        let best = lines.max_by_key(|line| {
            line.split_whitespace()
                .nth(1)
                .and_then(|rate| rate.parse::<u64>().ok())
        });
        tell(best.unwrap_or_default().trim_end());
    }
}

fn one(directory: &Path, form: &str) -> String {
    let own = std::env::current_exe().expect("a process knows what it runs");
    let output = Command::new(own)
        .args(["--form", form, "--directory"])
        .arg(directory)
        .output()
        .expect("this program can be run once more");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Writes a journal as a crawl leaves it; its pages are texts of 200 words.
fn write_journal(state: &Path, visits: u64) {
    let begun = Some((
        Timestamp::from_millis(1_790_000_000_000),
        "word:1".to_owned(),
    ));
    let mut restoring = JournalRebuild::begin(Arc::new(SystemDisk), state, HashKey::ZERO, begun)
        .expect("a journal can be begun");
    let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let mut random = Random::of(1, 0);
    for number in 0..visits {
        let record = record(number, &mut random);
        let text: String = (0..40)
            .map(|_| format!("word{} ", random.below(100_000)))
            .collect();
        let page = PageText::of(&text);
        let signature = signature_builder.signature(u128::from(number), Some(page));
        let record = VisitRecord {
            fingerprint: signature.text.as_ref().map(|text| text.fingerprint),
            ..record
        };
        let admission = match record.fate {
            Fate::Unique => RestoredAdmission::New(Box::new(signature)),
            _ => RestoredAdmission::None,
        };
        restoring
            .settle(RestoredVisit {
                end: Some(ArchivePlace {
                    file: record.warc_file.clone().unwrap_or_default(),
                    end: (number + 1) * 9_000,
                }),
                record,
                finds: Vec::new(),
                reached: Vec::new(),
                admission,
            })
            .expect("a visit can be written");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime can be made");
    runtime
        .block_on(restoring.finish())
        .expect("the journal can be ended");
}

fn record(number: u64, random: &mut Random) -> VisitRecord {
    let url = |number: u64| {
        let text = format!(
            "https://host{}.example.org/section/{}/page-{number}.html",
            number % 977,
            number % 31
        );
        PageUrl::parse(&text, &CanonicalForm::default()).expect("it is one")
    };
    let is_duplicate = number % 5 == 4;
    let some = |text: &str| Some(text.to_owned());
    VisitRecord {
        url: url(number),
        final_url: None,
        status: Some(200),
        fetched_at: Timestamp::from_millis(1_790_000_000_000 + number * 3),
        depth: (number % 9) as u32,
        via: Some(url(number / 12)),
        content_type: some("text/html"),
        bytes: 20_000 + random.below(60_000) as u64,
        charset: some("UTF-8"),
        language: some("en"),
        title: Some(format!("The title of page {number}, as titles are")),
        fate: if is_duplicate {
            Fate::NearDuplicate
        } else {
            Fate::Unique
        },
        duplicate_of: is_duplicate.then(|| url(number - 4)),
        distance: is_duplicate.then_some(2),
        resemblance: is_duplicate.then_some(0.921_875),
        fingerprint: None,
        reason: is_duplicate.then(|| Reason::said("near duplicate: resemblance 0.92")),
        warc_file: Some(format!("crawl-{:05}.warc.gz", number / 100_000)),
        warc_offset: Some(number * 9_000),
        kept: !is_duplicate,
        of_earlier: false,
        canonical: None,
        payload: None,
        requisite: 0,
        details: journal::VisitDetails::default(),
    }
}

fn measure(state: &Path, directory: &Path, form: &str) {
    let begun = Instant::now();
    let (rows, bytes) = match form {
        "read" => (
            Visits::open(state, true).expect("it is a store").count() as u64,
            0,
        ),
        "jsonl" => export(state, directory, Form::Jsonl),
        "csv" => export(state, directory, Form::Csv),
        "parquet" => export(state, directory, Form::Parquet),
        _ => links(directory),
    };
    let seconds = begun.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process may ask that");
    let cpu = (usage.user_time() + usage.system_time()).num_microseconds() as f64;
    let rows_too = rows.max(1) as f64;
    tell(&format!(
        "{form:<8} {:>8.0} {:>15.2} {:>11.1} {:>12.1}",
        rows as f64 / seconds,
        cpu / rows_too,
        usage.max_rss() as f64 / 1024.0,
        bytes as f64 / rows_too,
    ));
}

fn export(state: &Path, directory: &Path, form: Form) -> (u64, u64) {
    let path = directory.join(form.extension());
    let table = if form == Form::Parquet {
        SKETCHES
    } else {
        VISITS
    };
    let file =
        WholeFile::begin(Arc::new(SystemDisk), &path, Beginning::Anew).expect("it can be begun");
    let mut writer = TableWriter::begin(form, table, &ABOUT, file).expect("it can be begun");
    let mut rows = 0;
    for visit in Visits::open(state, table == SKETCHES).expect("it is a store") {
        let visit = visit.expect("it can be read");
        writer.write(&visit.fields()).expect("it can be written");
        rows += 1;
    }
    writer
        .finish()
        .and_then(|file| Ok(file.complete()?))
        .expect("it can be ended");
    (rows, std::fs::metadata(&path).map_or(0, |file| file.len()))
}

/// The writer of links alone, in Parquet: a million pages of ten links.
fn links(directory: &Path) -> (u64, u64) {
    let path = directory.join("links");
    let file =
        WholeFile::begin(Arc::new(SystemDisk), &path, Beginning::Anew).expect("it can be begun");
    let mut writer =
        TableWriter::begin(Form::Parquet, LINKS, &ABOUT, file).expect("it can be begun");
    let rows = 10_000_000;
    for number in 0..rows {
        let source = format!(
            "https://host{}.example.org/page-{}.html",
            number / 10 % 977,
            number / 10
        );
        let target = format!(
            "https://host{}.example.org/page-{}.html",
            number % 977,
            number * 7919 % 1_000_003
        );
        let link = Link {
            source: &source,
            target: &target,
            anchor: ["Home", "The next page", "Contents of the whole"][number as usize % 3],
            rel: if number % 11 == 0 { "nofollow" } else { "" },
            kind: "page",
        };
        writer.write(&link.fields()).expect("it can be written");
    }
    writer
        .finish()
        .and_then(|file| Ok(file.complete()?))
        .expect("it can be ended");
    (rows, std::fs::metadata(&path).map_or(0, |file| file.len()))
}

fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").expect("standard output takes it");
}
