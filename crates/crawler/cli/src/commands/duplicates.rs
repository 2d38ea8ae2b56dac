//! `crawler duplicates`: lists pages that repeat an earlier one, with the original, the distance
//! and the resemblance. Reads the journal, so it works while the crawl runs. `--diff` compares a
//! duplicate with its original ([`shown_pair`]).

mod shown_pair;

use std::io::{self, Write};
use std::path::Path;

use export::List;
use inspect::duplicates::{self, Cluster, Duplicate};
use messages::{CommandError, pasted, printable, say, usage};
use serde_json::json;
use settings::input::parse_url;
use settings::{Settings, crawl_directory};
use setup::control::actions::sentence;
use setup::crawl_store::apply;
use setup::shared::{OpenCrawl, Refused};
use store::DistinctEffect;
use web::PageUrl;

use crate::args::DuplicatesArgs;
use crate::output;

/// Columns of CSV.
const COLUMNS: &[&str] = &[
    "url",
    "verdict",
    "duplicate_of",
    "distance",
    "resemblance",
    "kept",
    "reason",
];

pub(crate) fn run(args: &DuplicatesArgs) -> Result<(), CommandError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), args.store.store.as_ref())?;
    let directory = crawl.directory();
    let state = crawl_directory::state_of(directory)?;
    if !args.distinct.is_empty() {
        crawl.refuse_for_replica("--distinct", Refused::Writes)?;
        return declare_distinct(directory, &args.distinct);
    }
    if let Some(url) = &args.diff {
        let format = args.list.without_list("--diff")?;
        crawl.refuse_for_replica("--diff", Refused::ReadsArchive)?;
        return shown_pair::show(directory, url, format);
    }
    if args.clusters {
        let clusters = duplicates::clusters(&state)?;
        return output::list(&args.list, &["original", "url"], |list| {
            clusters
                .iter()
                .try_for_each(|one| write_cluster(one, args.list.needs_rows(), list))
        });
    }
    let mut visits = journal::visits(&state)?;
    let mut read = Ok(());
    let listed = output::list(&args.list, COLUMNS, |list| {
        for visit in &mut visits {
            let visit = match visit {
                Ok(visit) => visit,
                // A file of a part of the list gets no name.
                Err(fault) => {
                    let error = io::Error::other(fault.to_string());
                    read = Err(fault);
                    return Err(error);
                }
            };
            if let Some(duplicate) = Duplicate::of(&visit) {
                list.write(&duplicate, |out| write(&duplicate, out))?;
            }
        }
        Ok(())
    });
    read?;
    listed
}

/// Requeues pages that the user declares distinct.
fn declare_distinct(directory: &Path, distinct: &[String]) -> Result<(), CommandError> {
    let form = Settings::of_crawl(directory)?.canonical_form();
    let urls = distinct.iter().map(|url| parse_url(url, &form));
    let urls: Vec<PageUrl> = urls.collect::<Result<_, _>>()?;
    let quoted: Vec<String> = urls.iter().map(|url| format!("\"{url}\"")).collect();
    let line = format!("distinct = [{}]", quoted.join(", "));
    let effects = apply(directory, &line, async |store| {
        store.declare_distinct(&urls).await
    })?;
    let mut wrong = None;
    for (url, effect) in urls.iter().zip(effects) {
        let sentence = sentence(url.as_str(), &effect);
        match effect {
            DistinctEffect::Queued { .. } | DistinctEffect::Done => say(&sentence),
            DistinctEffect::Archived(_) | DistinctEffect::NotVisited => wrong = Some(sentence),
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

/// Writes a cluster, on request with a row per member.
fn write_cluster(cluster: &Cluster, by_member: bool, list: &mut List<'_>) -> io::Result<()> {
    if by_member {
        let mut members = cluster.members.iter();
        let original = cluster.members.first();
        return members.try_for_each(|url| {
            list.write(&json!({"original": original, "url": url}), |_| Ok(()))
        });
    }
    list.write(cluster, |out| {
        let members: Vec<_> = cluster.members.iter().map(|url| printable(url)).collect();
        writeln!(out, "{:>6}  {}", members.len(), members.join("  "))
    })
}

fn write(duplicate: &Duplicate<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{}  is {} {}: {}",
        printable(duplicate.url),
        if duplicate.verdict == "exact-duplicate" {
            "the same as"
        } else {
            "nearly"
        },
        printable(duplicate.duplicate_of),
        printable(duplicate.reason.as_deref().unwrap_or_default())
    )
}
