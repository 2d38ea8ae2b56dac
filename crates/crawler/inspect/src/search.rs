//! Pages found by words, best first, for `crawler search`. The index is read as last committed, so
//! this works while the crawl runs.
//!
//! The text is not in the index: snippets are taken from the archived record. Duplicates of a hit
//! are visits of the journal that name it as their original. The journal is only read with
//! `--duplicates`.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;

use journal::StoreFault;
use messages::{CommandError, pasted, printable, say, usage};
use search::{Finder, Hit, IndexFault, MAX_HITS, Query, Snippet, Snippets};
use serde::Serialize;
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory};
use setup::search_index;
use web::UrlKey;

/// A page that was found.
#[derive(Serialize)]
pub struct SearchHit {
    /// URL of the page.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// How well it fits.
    pub score: f32,
    /// Time of its visit.
    pub date: String,
    /// Its language.
    pub language: Option<String>,
    /// The part of its text that contains the words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// Ranges in the snippet, each with its start and end, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<Vec<[usize; 2]>>,
    /// Archive file with the page, or with its DOM.
    pub warc_file: String,
    /// Place in that file.
    pub warc_offset: u64,
    /// Its duplicates, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<Vec<Duplicate>>,
    /// The snippet with its matches.
    #[serde(skip)]
    pub cut: Option<Snippet>,
}

/// A duplicate of the hit.
#[derive(Serialize)]
pub struct Duplicate {
    /// URL of the page.
    pub url: String,
    /// The verdict.
    pub verdict: &'static str,
    /// Number of differing fingerprint bits.
    pub distance: Option<u32>,
    /// Estimated resemblance.
    pub resemblance: Option<f64>,
}

/// What to search for.
pub struct Wanted<'a> {
    /// Directory of the crawl.
    pub directory: &'a Path,
    /// The query.
    pub query: &'a str,
    /// Maximum number of hits.
    pub limit: usize,
    /// Number of hits that are skipped.
    pub offset: usize,
    /// True if hits have the part of their text that contains the words.
    pub snippets: bool,
    /// True if hits have their duplicates.
    pub duplicates: bool,
}

/// Returns the pages that are wanted, best first.
pub fn hits(args: &Wanted<'_>) -> Result<Vec<SearchHit>, CommandError> {
    let query = Query::parse(args.query)
        .map_err(|error| usage(error.to_string()).with_remedy(error.reason.remedy()))?;
    if args.limit.saturating_add(args.offset) > MAX_HITS {
        let (limit, offset) = (args.limit, args.offset);
        return Err(usage(format!(
            "--limit {limit} plus --offset {offset} exceeds {MAX_HITS}"
        ))
        .with_remedy(format!("at most {MAX_HITS} hits can be listed")));
    }
    let state = crawl_directory::any_state_of(args.directory)?;
    let threads = available_parallelism().map_or(1, NonZeroUsize::get);
    let finder = match Finder::open(&crawl_directory::search_index(args.directory)) {
        Err(missing @ IndexFault::Missing { .. }) => {
            without_index(&missing, args.directory)?;
            None
        }
        opened => Some(opened.map_err(|error| broken(&error, args))?),
    };
    let hits = match finder {
        Some(finder) => finder
            .with_threads(threads)
            .and_then(|finder| finder.search(&query, args.limit, args.offset))
            .map_err(|error| broken(&error, args))?,
        None => Vec::new(),
    };
    let hits = hits.into_iter();
    let mut found: Vec<SearchHit> = hits.map(SearchHit::of).collect();
    if args.snippets {
        let settings = Settings::of_crawl(args.directory)?;
        let archive = ArchivedPages::of(&settings).archive;
        let snippets = Snippets::of(&query);
        for hit in &mut found {
            let text = archive.indexed_text_at(&hit.warc_file, hit.warc_offset);
            hit.show(snippets.cut(&text.unwrap_or_default()));
        }
    }
    if args.duplicates {
        add_duplicates(&mut found, &state)?;
    }
    Ok(found)
}

fn broken(error: &IndexFault, args: &Wanted<'_>) -> CommandError {
    search_index::cli_error_of(error, args.directory)
}

/// Explains why a crawl has no index. If the crawl has not committed a page yet, that is not an
/// error. Otherwise the crawl ran without an index, or lost it.
fn without_index(missing: &IndexFault, directory: &Path) -> Result<(), CommandError> {
    let shown = pasted(directory);
    let remedy = format!("build it from the archive with `crawler reindex {shown}`");
    if search::exists(&crawl_directory::search_index(directory)) {
        say(&format!(
            "nothing committed yet: a crawl commits its search index about once a minute and at \
             its end; {}",
            printable(&remedy)
        ));
        return Ok(());
    }
    let reason = match Settings::of_crawl(directory)?.no_index {
        true => ": the crawl was run with --no-index",
        false => "",
    };
    Err(usage(format!("{missing}{reason}")).with_remedy(remedy))
}

impl SearchHit {
    fn of(hit: Hit) -> Self {
        Self {
            url: hit.url,
            title: hit.title,
            score: hit.score,
            date: hit.at.to_string(),
            language: hit.language,
            snippet: None,
            highlights: None,
            warc_file: hit.location.file,
            warc_offset: hit.location.offset,
            duplicates: None,
            cut: None,
        }
    }

    fn show(&mut self, cut: Snippet) {
        let ranges = cut.highlights().into_iter();
        let ranges = ranges.map(|range| [range.start, range.end]);
        self.highlights = Some(ranges.collect());
        self.snippet = Some(cut.text.clone());
        self.cut = Some(cut);
    }
}

/// Adds the duplicates of the hits from the journal. In the journal, an original precedes its
/// duplicates.
fn add_duplicates(found: &mut [SearchHit], state: &Path) -> Result<(), StoreFault> {
    let mut by_place = HashMap::new();
    for (number, hit) in found.iter_mut().enumerate() {
        hit.duplicates = Some(Vec::new());
        by_place.insert((hit.warc_file.clone(), hit.warc_offset), number);
    }
    let mut by_page: HashMap<UrlKey, usize> = HashMap::new();
    for visit in journal::visits(state)? {
        let visit = visit?;
        if let Some((file, offset)) = visit.content_place()
            && let Some(number) = by_place.get(&(file.to_owned(), offset))
        {
            by_page.insert(visit.url.key(), *number);
        }
        let original = visit
            .duplicate_of
            .as_ref()
            .filter(|url| **url != visit.url && !visit.of_earlier);
        let hit = original.and_then(|url| by_page.get(&url.key()));
        if let Some(known) = hit.and_then(|number| found[*number].duplicates.as_mut()) {
            known.push(Duplicate {
                url: visit.url.to_string(),
                verdict: visit.fate.as_str(),
                distance: visit.distance,
                resemblance: visit.resemblance,
            });
        }
    }
    Ok(())
}
