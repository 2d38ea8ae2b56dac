//! `crawler duplicates`: lists pages that repeat an earlier one, with the original, the distance
//! and the resemblance. Reads the journal, so it works while the crawl runs. `--diff` compares a
//! duplicate with its original ([`shown_pair`]).

mod shown_pair;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use journal::{StoreFault, VisitRecord};
use serde::Serialize;
use store::DistinctOrder;
use web::PageUrl;

use super::shared::{OpenCrawl, Refused};
use super::{order, parse_url};
use crate::args::DuplicatesArgs;
use crate::cli_error::{CliError, usage};
use crate::control::orders::sentence;
use crate::crawl_directory;
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::terminal::{pasted, printable, say};

/// A page that repeats another.
#[derive(Serialize)]
struct Duplicate<'a> {
    url: &'a str,
    /// `exact-duplicate` or `near-duplicate`.
    verdict: &'static str,
    duplicate_of: &'a str,
    distance: Option<u32>,
    resemblance: Option<f64>,
    /// True if it was still archived: `--per-cluster`, `--on-duplicate keep`.
    kept: bool,
    reason: Option<String>,
}

/// Pages with the same content.
#[derive(Serialize)]
struct Cluster {
    /// The original, and then its duplicates in the order of their visits.
    members: Vec<Box<str>>,
}

pub(crate) fn run(args: &DuplicatesArgs) -> Result<(), CliError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), &args.store)?;
    let directory = crawl.directory();
    let state = crawl_directory::state_of(directory)?;
    if !args.distinct.is_empty() {
        crawl.refuse_for_mirror("--distinct", Refused::Writes)?;
        return declare_distinct(directory, &args.distinct);
    }
    let format = Format::or_fitting(args.format);
    if let Some(url) = &args.diff {
        crawl.refuse_for_mirror("--diff", Refused::ReadsArchive)?;
        return shown_pair::show(directory, url, format);
    }
    if args.clusters {
        let clusters = clusters(&state)?;
        return output::to_stdout(|out| clusters.iter().try_for_each(|one| one.write(format, out)));
    }
    let mut rows = journal::rows(&state)?;
    let mut read = Ok(());
    output::to_stdout(|out| {
        for row in &mut rows {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    read = Err(error);
                    break;
                }
            };
            if let Some(duplicate) = Duplicate::of(&row) {
                duplicate.write(format, out)?;
            }
        }
        Ok(())
    })?;
    Ok(read?)
}

/// Requeues pages that the user declares distinct.
fn declare_distinct(directory: &Path, distinct: &[String]) -> Result<(), CliError> {
    let form = Settings::of_crawl(directory)?.canonical_form();
    let urls = distinct.iter().map(|url| parse_url(url, &form));
    let urls: Vec<PageUrl> = urls.collect::<Result<_, _>>()?;
    let quoted: Vec<String> = urls.iter().map(|url| format!("\"{url}\"")).collect();
    let line = format!("distinct = [{}]", quoted.join(", "));
    let effects = order(directory, &line, async |store| {
        store.declare_distinct(&urls).await
    })?;
    let mut wrong = None;
    for (url, effect) in urls.iter().zip(effects) {
        let sentence = sentence(url.as_str(), &effect);
        match effect {
            DistinctOrder::Queued { .. } | DistinctOrder::Done => say(&sentence),
            DistinctOrder::NotLeftOut(_) | DistinctOrder::NotVisited => wrong = Some(sentence),
        }
    }
    let directory = pasted(directory);
    match wrong {
        Some(sentence) => Err(usage(sentence).with_remedy(format!(
            "`crawler duplicates {directory}` lists the duplicates"
        ))),
        None => {
            say(&format!("continue with `crawler --out {directory}`"));
            Ok(())
        }
    }
}

/// Returns the clusters in the order of their first duplicates. A page that only repeats its own
/// capture in an earlier crawl does not form a cluster.
fn clusters(state: &Path) -> Result<Vec<Cluster>, StoreFault> {
    let (mut clusters, mut places) = (Vec::new(), HashMap::new());
    for row in journal::rows(state)? {
        let row = row?;
        let Some(original) = row.duplicate_of.as_ref().filter(|url| **url != row.url) else {
            continue;
        };
        let place = *places
            .entry((original.key(), row.of_earlier))
            .or_insert_with(|| {
                clusters.push(Cluster {
                    members: vec![original.as_str().into()],
                });
                clusters.len() - 1
            });
        clusters[place].members.push(row.url.as_str().into());
    }
    Ok(clusters)
}

impl Cluster {
    fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Json => output::json_line(out, self),
            Format::Table => {
                let members: Vec<_> = self.members.iter().map(|url| printable(url)).collect();
                writeln!(out, "{:>6}  {}", members.len(), members.join("  "))
            }
        }
    }
}

impl<'a> Duplicate<'a> {
    fn of(row: &'a VisitRecord) -> Option<Self> {
        // A new version of a page is not a duplicate.
        let original = row
            .duplicate_of
            .as_ref()
            .filter(|_| row.fate.is_duplicate())?;
        Some(Self {
            url: row.url.as_str(),
            verdict: row.fate.as_str(),
            duplicate_of: original.as_str(),
            distance: row.distance,
            resemblance: row.resemblance,
            kept: row.kept,
            reason: row.reason_text(),
        })
    }

    fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Json => output::json_line(out, self),
            Format::Table => writeln!(
                out,
                "{}  is {} {}: {}",
                printable(self.url),
                if self.verdict == "exact-duplicate" {
                    "the same as"
                } else {
                    "nearly"
                },
                printable(self.duplicate_of),
                printable(self.reason.as_deref().unwrap_or_default())
            ),
        }
    }
}
