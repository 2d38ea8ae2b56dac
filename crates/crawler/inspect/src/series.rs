//! A page that compares crawls of the same site over time, for `crawler changes --html`.
//!
//! Each journal is read once for the comparison, although each crawl of a series may have been run
//! against all earlier ones. Memory grows with the URLs of all crawls, as in `crawler changes`.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use facts::changes::{Change, ChangeKind, Changes};
use messages::{CommandError, counted, pasted, usage};
use settings::{Settings, crawl_directory};
use statistics::CrawlStatistics;
use web_ui::{ChangedWords, ComparedCrawl, CrawlChanges, ListedChange, SeriesReport, caps};

use crate::report::title;

/// Maximum number of crawls on a page.
pub const MAX_CRAWLS: usize = 50;

/// Compares each crawl with the crawl that began before it, regardless of the given order.
///
/// # Errors
/// [`CommandError`] if one of the crawls cannot be read, or there are more than [`MAX_CRAWLS`].
pub fn compare(directories: &[&Path]) -> Result<SeriesReport, CommandError> {
    if directories.len() > MAX_CRAWLS {
        let crawls = counted(directories.len() as u64, "crawl");
        return Err(usage(format!(
            "a page compares at most {MAX_CRAWLS} crawls, got {crawls}"
        ))
        .with_remedy("name fewer crawls, for example the newest ones"));
    }
    let read = directories.iter().map(|directory| read(directory));
    let mut crawls: Vec<(PathBuf, ComparedCrawl)> = read.collect::<Result<_, _>>()?;
    crawls.sort_by_key(|(_, crawl)| crawl.begun_at);
    let mut so_far: Option<Changes> = None;
    for later in 1..crawls.len() {
        let (old, new) = (&crawls[later - 1].0, &crawls[later].0);
        let mut changes = match so_far.take() {
            None => Changes::between(old, new, false)?.with_max_texts(caps::CHANGES),
            Some(earlier) => earlier.advance(new)?,
        };
        let is_newest = later + 1 == crawls.len();
        let command = format!("crawler changes {} {}", pasted(old), pasted(new));
        crawls[later].1.changes = Some(of_pair(&mut changes, command, is_newest)?);
        so_far = Some(changes);
    }
    let newest = crawls
        .last()
        .map(|(directory, _)| Settings::of_crawl(directory));
    Ok(SeriesReport {
        title: newest.transpose()?.as_ref().map(title).unwrap_or_default(),
        crawls: crawls.into_iter().map(|(_, crawl)| crawl).collect(),
    })
}

/// Reads the counts of a crawl.
fn read(directory: &Path) -> Result<(PathBuf, ComparedCrawl), CommandError> {
    let state = crawl_directory::state_of(directory)?;
    let (statistics, _) = CrawlStatistics::read(&state)?;
    let crawl = ComparedCrawl {
        directory: directory.display().to_string(),
        begun_at: statistics.counts().begun_at,
        pages: statistics.totals().pages,
        failed: statistics.totals().failed,
        changes: None,
    };
    Ok((directory.to_owned(), crawl))
}

/// Returns the changes of two crawls, on request with the words that changed.
fn of_pair(
    changes: &mut Changes,
    command: String,
    with_words: bool,
) -> Result<CrawlChanges, CommandError> {
    let mut pair = CrawlChanges {
        command,
        ..CrawlChanges::default()
    };
    let Ok(()) = changes.each(|change| {
        let list = match change.kind {
            ChangeKind::New => &mut pair.new,
            ChangeKind::Changed => &mut pair.changed,
            ChangeKind::Moved => &mut pair.moved,
            ChangeKind::Gone => &mut pair.gone,
            ChangeKind::Unchanged => {
                pair.unchanged += 1;
                return Ok::<_, Infallible>(());
            }
            ChangeKind::Unknown => {
                pair.unknown += 1;
                return Ok(());
            }
        };
        list.add(|| listed(change, with_words));
        Ok(())
    })?;
    Ok(pair)
}

fn listed(change: &Change<'_>, with_words: bool) -> ListedChange {
    let texts = change.text.as_ref().filter(|_| with_words);
    ListedChange {
        url: change.url.to_owned(),
        from: change.from.map(str::to_owned),
        resemblance: change.resemblance,
        reason: change.reason.clone(),
        words: texts.map(|text| {
            let texts = &text.compared;
            ChangedWords::of(&texts.difference, &texts.before, &texts.now)
        }),
    }
}
