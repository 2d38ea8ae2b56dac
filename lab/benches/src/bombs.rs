//! The cost of reading pages that are built to break their reader.
//!
//! One thread reads a page as a crawl does: the digest of its payload, charset, tree, links of
//! every kind, text, main content, language, and the signature. Measured are the CPU time of the
//! thread, the least of several runs, because other programs can only make it longer, and the
//! memory that one reading takes, without the page's own bytes. The exit code is 1 if a bomb takes
//! longer than `--at-most`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::hint::black_box;
use std::io::{Read, Write, stdin};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use neardup::{Features, HashKey, PageText, SignatureBuilder};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use testkit::HTML_BOMBS;
use web::{
    CanonicalForm, LinkKind, LinkKinds, MainContent, Media, PageUrl, ReadLimits, ResponseMetadata,
};

#[derive(Parser)]
struct Options {
    /// Bytes of a bomb (repeatable); the largest is not always the slowest
    #[arg(long, default_values_t = [256 << 10, 2 << 20, 16 << 20])]
    bytes: Vec<usize>,
    /// Readings of each
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Milliseconds of CPU that a bomb may take
    #[arg(long, default_value_t = 250)]
    at_most: i64,
    /// Only bombs whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Reads one page of this many bytes from standard input and prints the memory that it took, in
    /// KiB
    #[arg(long, hide = true)]
    memory_of: Option<usize>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::parse();
    let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    if let Some(bytes) = options.memory_of {
        let mut page = Vec::with_capacity(bytes);
        stdin().lock().take(bytes as u64).read_to_end(&mut page)?;
        let before = peak_memory()?;
        read(&page, &signature_builder)?;
        println!("{}", peak_memory()? - before);
        return Ok(ExitCode::SUCCESS);
    }
    print!("| bomb |");
    for bytes in &options.bytes {
        print!(" {} KiB: ms | MiB |", bytes >> 10);
    }
    println!(" what was noticed |");
    println!("|---|{}---|", "---:|---:|".repeat(options.bytes.len()));
    let (mut bombs, mut too_long, mut longest, mut most) = (0, 0, 0, 0);
    for bomb in HTML_BOMBS
        .iter()
        .filter(|bomb| bomb.name.contains(&options.only))
    {
        print!("| {} |", bomb.name);
        let (mut noticed, mut worst) = (String::new(), 0);
        for &bytes in &options.bytes {
            let page = bomb.page(bytes);
            let mut least = i64::MAX;
            for _ in 0..options.runs.max(1) {
                let before = cpu()?;
                noticed = read(&page, &signature_builder)?;
                least = least.min(cpu()? - before);
            }
            let memory = memory_of(&page)?;
            worst = worst.max(least);
            most = most.max(memory);
            print!(
                " {:.1} | {:.1} |",
                least as f64 / 1e3,
                memory as f64 / 1024.0
            );
        }
        bombs += 1;
        longest = longest.max(worst);
        too_long += usize::from(worst > options.at_most * 1_000);
        println!(" {noticed} |");
    }
    println!(
        "\n{bombs} bombs, {too_long} longer than {} ms; the longest {:.1} ms, the most memory \
         {:.1} MiB",
        options.at_most,
        longest as f64 / 1e3,
        most as f64 / 1024.0
    );
    Ok(ExitCode::from(u8::from(too_long > 0)))
}

/// Returns the memory that reading a page takes beside the page, in KiB: the growth of the peak of
/// a process that does nothing else.
fn memory_of(page: &[u8]) -> Result<u64, Box<dyn Error>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--memory-of", &page.len().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("no standard input")?
        .write_all(page)?;
    let output = child.wait_with_output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// Returns the peak memory of this process in KiB; 0 if the system does not report it.
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let held = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(held.map_or(Ok(0), |held| held.trim().parse())?)
}

/// Reads a page as `crawl::reading` does, but without a content coding; returns its warnings.
fn read(page: &[u8], signature_builder: &SignatureBuilder) -> Result<String, Box<dyn Error>> {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://bombs.example/dir/page", &form)?;
    let hints = ResponseMetadata {
        agent: "crawler",
        content_type: Some("text/html"),
        ..ResponseMetadata::of(&url)
    };
    let kinds = LinkKinds::PAGES
        .with(LinkKind::Form)
        .with(LinkKind::Script)
        .with(LinkKind::Requisite);
    let limits = ReadLimits {
        kinds,
        ..ReadLimits::default()
    };
    let payload = HashKey::ZERO.digest(page);
    let document = web::read(page, &hints, &form, &limits);
    let own = match &document.own {
        MainContent::Main => None,
        MainContent::PageFallback { main_text } => Some(main_text.as_str()),
    };
    let text = PageText {
        main_content: own,
        ..PageText::of(&document.text)
    };
    black_box(
        signature_builder.signature(payload, (document.media == Media::Html).then_some(text)),
    );
    let warnings: Vec<String> = document
        .warnings
        .iter()
        .map(|warning| format!("{warning:?}"))
        .collect();
    Ok(warnings.join(", "))
}

/// Returns the CPU microseconds of this thread.
fn cpu() -> Result<i64, Box<dyn Error>> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD)?;
    Ok(usage.user_time().num_microseconds() + usage.system_time().num_microseconds())
}
