//! `crawler similar`: finds kept pages that are similar to a kept page or to a file, or similar
//! documents and fingerprints in files ([`files`]).

mod files;

use std::path::Path;

use corpus::is_standard_input;
use corpus::named_fingerprints::is_named_fingerprints;
use corpus::similar::is_url;
use inspect::similar::{self, ByTexts, Limits, Wanted};
use messages::{CommandError, printable, usage};
use settings::Settings;
use settings::crawl_directory::{self, archive_files};
use settings::input::{document_reader, parse_url, unreadable};
use setup::shared::OpenCrawl;
use store::EmbeddedStore;

use crate::args::SimilarArgs;
use crate::output;

pub(crate) fn run(args: &SimilarArgs) -> Result<(), CommandError> {
    for (option, share) in [
        ("resemblance", args.resemblance),
        ("containment", args.containment),
    ] {
        if let Some(share) = share
            && !(0.0..=1.0).contains(&share)
        {
            return Err(usage(format!(
                "--{option} must be between 0 and 1, got {share}"
            )));
        }
    }
    let (first, second) = (args.directory.as_ref(), args.what.as_ref());
    let (directory, what) = args
        .store
        .directory_and_name(first, second, "URL or file")?;
    let what = what.as_str();
    let Some(within) = &directory else {
        if args.containment.is_some() {
            let error = usage("--containment reads archives, but a store does not contain any");
            return Err(error.with_remedy("give the directory of a node, or its archive"));
        }
        let crawl = OpenCrawl::open(None, args.store.store.as_ref())?;
        return pages(args, what, &crawl);
    };
    let is_crawl = EmbeddedStore::exists(&crawl_directory::state(within));
    let is_there = is_standard_input(within) || within.exists();
    if is_named_fingerprints(within) {
        files::near_fingerprints(args, within, what)
    } else if is_crawl && args.containment.is_some() {
        let archive = crawl_directory::archive(within);
        let archive = archive_files(&archive).map_err(unreadable(&archive))?;
        let reads_main = Settings::of_crawl(within)?.main_content.is_on();
        files::like_documents(args, &archive, what, document_reader(reads_main))
    } else if args.containment.is_none() && (is_crawl || is_url(what) || !is_there) {
        pages(
            args,
            what,
            &OpenCrawl::open(Some(within), args.store.store.as_ref())?,
        )
    } else {
        let within = std::slice::from_ref(within);
        files::like_documents(args, within, what, document_reader(true))
    }
}

/// Lists pages of a crawl.
fn pages(args: &SimilarArgs, what: &str, crawl: &OpenCrawl) -> Result<(), CommandError> {
    let state = crawl_directory::state_of(crawl.directory())?;
    let settings = Settings::of_crawl(crawl.directory())?;
    if args.features.is_given() {
        let message = "pages of a crawl are always compared with the features of that crawl";
        let remedy = "omit --features, --weights, --ties, --stop-words, --frequencies and --bits";
        return Err(usage(message).with_remedy(remedy));
    }
    let limits = Limits {
        distance: args.distance.unwrap_or(u64::BITS),
        resemblance: args.resemblance,
        hits: args.most(),
    };
    let hits = match is_url(what) {
        true => {
            let url = parse_url(what, &settings.canonical_form())?;
            similar::hits(
                &Wanted::Page(&url, &crawl.shown()),
                &state,
                &settings,
                limits,
            )?
        }
        false => {
            let document = corpus::only_document(Path::new(what), &args.input.options(None));
            let document = document.map_err(|error| {
                CommandError::of_usage(&error)
                    .with_remedy("give a file, or a URL that begins with http:// or https://")
            })?;
            similar::hits(&Wanted::Document(&document), &state, &settings, limits)?
        }
    };
    let columns = &["url", "verdict", "distance", "resemblance"];
    output::list(&args.list, columns, |list| {
        for hit in &hits {
            list.write(hit, |out| {
                writeln!(
                    out,
                    "{:.4}  {:>2} bits  {:<15}  {}{}",
                    hit.resemblance,
                    hit.distance,
                    hit.verdict,
                    printable(&hit.url),
                    ByTexts::shown(hit.by_texts.as_ref())
                )
            })?;
        }
        Ok(())
    })
}
