//! The cost of reading a page: one of 26 KiB that is nearly all text, and real ones of about 170
//! KiB.

use std::io;
use std::path::Path;
use std::time::Instant;

use crate::corpus::{self, LabelledPage};
use crate::methods::METHODS;

/// Runs, of which the best counts, because other work on the machine only adds.
const ROUNDS: usize = 15;

/// The size of the real pages.
const REAL_BYTES: usize = 170 * 1024;
const REAL_PAGES: usize = 20;

/// Prints microseconds a page for each method.
///
/// # Errors
/// An error if the labelled pages cannot be read.
pub fn print(directory: &Path) -> io::Result<()> {
    let mut real = corpus::wcxb(directory)?;
    real.sort_by_key(|page| page.html.len().abs_diff(REAL_BYTES));
    real.truncate(REAL_PAGES);
    for (name, pages) in [
        ("26 KiB, all of it text", vec![generated()]),
        ("20 real pages of about 170 KiB", real),
    ] {
        println!("{name}");
        for method in METHODS {
            let best = pages.iter().map(|page| best_of(method.extract, page));
            println!(
                "  {:8.0} µs {}",
                best.sum::<f64>() * 1e6 / pages.len() as f64,
                method.name
            );
        }
    }
    Ok(())
}

fn best_of(extract: fn(&LabelledPage) -> String, page: &LabelledPage) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::hint::black_box(extract(page));
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn page(html: String) -> LabelledPage {
    LabelledPage {
        name: String::new(),
        url: "http://example.org/".to_owned(),
        kind: "article".to_owned(),
        html: html.into_bytes(),
        gold: String::new(),
    }
}

fn generated() -> LabelledPage {
    let mut html = "<!doctype html><html><head><title>A page</title></head><body><nav>\
         <a href=/>Home</a></nav><main>"
        .to_owned();
    for paragraph in 0..26 {
        html.push_str("<p>");
        html.push_str(&sentence(paragraph).repeat(16));
        html.push_str("</p>");
    }
    html.push_str("</main><footer>The end of it</footer></body></html>");
    page(html)
}

fn sentence(number: usize) -> String {
    format!("The quick brown fox {number} jumps over the lazy dog, and then it sleeps. ")
}
