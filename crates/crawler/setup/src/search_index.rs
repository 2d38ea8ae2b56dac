//! The search index of a crawl: opened in agreement with the archive, and built from it.
//!
//! The archive is authoritative. Entries beyond its commit point are removed, and missing entries
//! are added by the same code as during a crawl. An unusable index is quarantined, with a warning.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use corpus::{MAX_DOCUMENT, exchange};
use journal::Fate;
use messages::{CommandError, SlowProgress, fault, pasted, printable, remedy_of, say};
use policy::Policy;
use search::{IndexFault, IndexOptions, IndexPage, Searchable, Writer};
use settings::rules::index_rules;
use settings::{Settings, crawl_directory, machine};
use sinks::warc::{ReadFault, Record, WarcReader, WarcStream, is_foreign, locate, name_of};
use sinks::{ArchiveEnd, IndexText, Sink};
use store::EmbeddedStore;
use web::{Clock, Exchange};

/// Bytes of text between two commits while the index is rebuilt. A kill loses at most this.
const COMMIT_EVERY: usize = 256 << 20;

/// Bytes of a record that are held in memory; the rest of a body is spooled.
const HELD: usize = 256 << 10;

/// Maximum number of segments filled at a time. Merges, in one thread, must keep up.
const MAX_SEGMENTS: usize = 8;

/// Returns the options for writing the index of a crawl. Half of the processors fill segments:
/// indexing a page costs about as much as the rest of its life.
pub fn options(settings: &Settings) -> IndexOptions {
    IndexOptions {
        directory: crawl_directory::search_index(&settings.out),
        memory: settings.index_memory.0,
        segments: NonZeroUsize::new((machine::cores() / 2).min(MAX_SEGMENTS))
            .unwrap_or(NonZeroUsize::MIN),
        rules: index_rules(settings),
    }
}

/// Wraps the archive's sink with the index, unless the index is off. Must be called before the
/// first write after the archive was opened.
pub fn over(
    archive: Arc<dyn Sink>,
    settings: &Settings,
    policy: &Policy,
    store: &EmbeddedStore,
    clock: &Clock,
) -> Result<Arc<dyn Sink>, CommandError> {
    let directory = crawl_directory::archive(&settings.out);
    let settled = crawl::commit_point(store, &directory).map_err(|error| fault(&error))?;
    let broken = |error: IndexFault| cli_error_of(&error, &settings.out);
    let options = options(settings);
    if settings.no_index && !search::exists(&options.directory) {
        return Ok(archive);
    }
    let mut index = open(&options, settled.as_ref(), clock).map_err(broken)?;
    if settings.no_index {
        // New records will take the place of records that were cut off. The entries of the old
        // records must not stay.
        let covered = index.covered().cloned();
        index.close(covered).map_err(broken)?;
        return Ok(archive);
    }
    catch_up(&mut index, &directory, policy, settled)?;
    Ok(Arc::new(Searchable::over(archive, index, clock.clone())))
}

/// Opens or creates the index. An unusable index is quarantined.
fn open(
    options: &IndexOptions,
    settled: Option<&ArchiveEnd>,
    clock: &Clock,
) -> Result<Writer, IndexFault> {
    let directory = &options.directory;
    let cannot = |source| IndexFault::Io {
        directory: directory.clone(),
        source,
    };
    match Writer::open(options, settled) {
        Err(IndexFault::Missing { .. }) if !directory.exists() => {}
        // A kill may leave an index without entries. It contains nothing to lose, so there is no
        // warning.
        Err(IndexFault::Missing { .. }) => std::fs::remove_dir_all(directory).map_err(cannot)?,
        Err(damage @ (IndexFault::Damaged { .. } | IndexFault::OtherFormat { .. })) => {
            let aside = crawl_directory::quarantine_path(directory, "unusable", clock.now());
            std::fs::rename(directory, &aside).map_err(cannot)?;
            say(&format!(
                "warning: {}; it is rebuilt from the archive, and the damaged index is kept in {}",
                printable(&damage.to_string()),
                aside.display()
            ));
        }
        opened => return opened,
    }
    Writer::create(options)
}

/// Indexes the archive after the end of the index, up to `settled` or the archive's end.
pub fn catch_up(
    index: &mut Writer,
    archive: &Path,
    policy: &Policy,
    settled: Option<ArchiveEnd>,
) -> Result<u64, CommandError> {
    let covered = index.covered().cloned();
    if settled == covered {
        return Ok(0);
    }
    let mut progress = SlowProgress::new("pages read again for the search index");
    let (mut pages, mut bytes) = (0, 0);
    let which = policy.index.unwrap_or_default();
    let crawl = archive.parent().unwrap_or(archive).to_owned();
    let broken = |error: IndexFault| cli_error_of(&error, &crawl);
    let mut end = None;
    each_page(archive, covered.as_ref(), policy, |page| {
        end = Some(page.end.clone());
        if !which.has(page.fate) {
            return Ok(());
        }
        let rules = &policy.reading;
        let document = reading::document_here(rules, &page.exchange);
        let text = document.and_then(|document| IndexText::of(document, rules.main_content));
        let Some(text) = text else {
            return Ok(());
        };
        if bytes > COMMIT_EVERY {
            bytes = 0;
            let before = ArchiveEnd {
                file: page.file.clone(),
                end: page.start,
            };
            index.commit(Some(before)).map_err(broken)?;
        }
        bytes += text.text.len();
        pages += 1;
        progress.step();
        let page = IndexPage {
            url: page.exchange.url,
            at: page.exchange.started,
            file: page.file.as_str().into(),
            offset: page.offset,
            text,
        };
        index.add(page).map_err(broken)
    })?;
    let end = settled.or(end).or(covered);
    index.commit(end).map_err(broken)?;
    Ok(pages)
}

/// An archived page with its payload, or with its DOM in place of the payload.
struct ArchivedPage {
    exchange: Exchange,
    fate: Fate,
    file: String,
    /// Offset of the page's record.
    start: u64,
    /// Offset of the record with its content.
    offset: u64,
    /// True if the record of the page has its payload.
    is_whole: bool,
    /// End of its last record seen so far.
    end: ArchiveEnd,
    id: String,
}

/// Calls `each` with the pages of an archive after `after`. A page is a `response` with a status of
/// 200 to 299, or its DOM; its verdict is in the `metadata` record at the end of its visit.
/// Other responses are redirects and sub-requests.
fn each_page(
    directory: &Path,
    after: Option<&ArchiveEnd>,
    policy: &Policy,
    mut each: impl FnMut(ArchivedPage) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let mut files = crawl_directory::archive_files(directory).map_err(|error| fault(&error))?;
    let mut from = 0;
    if let Some(ArchiveEnd { file, end }) = after {
        from = *end;
        let mut names = files.iter();
        let place = names.position(|path| crawl_directory::is_named(path, file));
        // Entries of a file that is gone are kept. Its place in the order of files is unknown.
        files.drain(..place.unwrap_or(0));
        if place.is_none() {
            from = 0;
        }
    }
    let (foreign, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_foreign(path));
    if !foreign.is_empty() {
        let visits = foreign_visits(directory)?;
        for path in &foreign {
            each_page_of_foreign(path, after, policy, &visits, &mut each)?;
        }
        // These files come before all of ours.
        from = 0;
    }
    for path in &files {
        let read = each_page_of(path, from, policy, &mut each)?;
        if let Err(damage) = read {
            let torn = matches!(damage, ReadFault::TornTail { .. }) && files.last() == Some(path);
            if !torn {
                say(&format!(
                    "warning: {}; the rest of this file cannot be searched",
                    printable(&damage.to_string())
                ));
            }
        }
        from = 0;
    }
    Ok(())
}

fn each_page_of(
    path: &Path,
    from: u64,
    policy: &Policy,
    each: &mut impl FnMut(ArchivedPage) -> Result<(), CommandError>,
) -> Result<Result<(), ReadFault>, CommandError> {
    let file = name_of(path).unwrap_or_default().to_owned();
    let mut reader = match WarcReader::open_at(path, from) {
        Ok(reader) => reader.spooling_in(beside(path), MAX_DOCUMENT),
        Err(damage) => return Ok(Err(damage)),
    };
    let form = &policy.reading.canonical;
    let mut responses: Vec<ArchivedPage> = Vec::new();
    loop {
        let record = match reader.next_record(HELD) {
            Ok(Some(record)) => record,
            ended => return Ok(ended.map(|_end| ())),
        };
        match record.kind() {
            "response" | "revisit" => {
                let exchange = record.response(form);
                responses.extend(exchange.and_then(|exchange| page_with(&record, exchange, &file)));
            }
            "conversion" => {
                let of = record.field("WARC-Refers-To");
                let page = responses
                    .iter_mut()
                    .find(|page| Some(page.id.as_str()) == of);
                if let Some((page, dom)) = page.zip(record.dom(form)) {
                    page.exchange = page.exchange.with_dom(dom.body);
                    page.offset = record.offset;
                }
            }
            "metadata" => {
                let of = record.field("WARC-Concurrent-To");
                let mut responses = std::mem::take(&mut responses).into_iter();
                if let Some(mut page) = responses.find(|page| Some(page.id.as_str()) == of) {
                    page.fate = fate(&record.block);
                    page.end.end = record.offset + record.length;
                    if page.is_whole {
                        each(page)?;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Fates of the pages in other crawlers' files, by place.
type ForeignVisits = HashMap<(String, u64), Fate>;

/// Returns the fates of pages in other crawlers' files. These are only in the journal, not in the
/// archive.
fn foreign_visits(archive: &Path) -> Result<ForeignVisits, CommandError> {
    let state = crawl_directory::state(archive.parent().unwrap_or(archive));
    let mut visits = HashMap::new();
    for visit in journal::visits(&state).map_err(|error| fault(&error))? {
        let visit = visit.map_err(|error| fault(&error))?;
        if let (Some(file), Some(offset)) = (visit.warc_file, visit.warc_offset)
            && visit.fate.is_page()
            && is_foreign(&locate(archive, &file))
        {
            visits.insert((file, offset), visit.fate);
        }
    }
    Ok(visits)
}

/// Calls `each` with the pages of another crawler's file that visits name. Damage in the file was
/// reported when the visits were made.
fn each_page_of_foreign(
    path: &Path,
    after: Option<&ArchiveEnd>,
    policy: &Policy,
    visits: &ForeignVisits,
    each: &mut impl FnMut(ArchivedPage) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let file = name_of(path).unwrap_or_default();
    let from = after
        .filter(|after| after.file == file)
        .map_or(0, |after| after.end);
    let stream = WarcStream::open(path).map_err(|error| fault(&error))?;
    let mut stream = stream.spooling_in(beside(path), MAX_DOCUMENT);
    loop {
        let record = match stream.next_record(HELD) {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(()),
            Err(ReadFault::Broken { .. }) => continue,
            Err(error) => return Err(fault(&error)),
        };
        let fate = visits.get(&(file.to_owned(), record.offset));
        if let Some(fate) = fate
            && record.addressable
            && record.offset >= from
            && let Some(exchange) = exchange(&record, &policy.reading.canonical)
            && let Some(page) = page_with(&record, exchange, file)
        {
            each(ArchivedPage {
                fate: *fate,
                ..page
            })?;
        }
    }
}

/// Returns the spool directory for a reader of this file.
fn beside(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

fn page_with(record: &Record, exchange: Exchange, file: &str) -> Option<ArchivedPage> {
    (200..300).contains(&exchange.status).then(|| ArchivedPage {
        exchange,
        fate: Fate::Unique,
        file: file.to_owned(),
        start: record.offset,
        offset: record.offset,
        is_whole: record.kind() != "revisit",
        end: ArchiveEnd {
            file: file.to_owned(),
            end: record.offset + record.length,
        },
        id: record.id().to_owned(),
    })
}

/// Returns the verdict in a `metadata` record, or `Unique` without a verdict.
fn fate(block: &[u8]) -> Fate {
    let text = String::from_utf8_lossy(block);
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let verdict = fields.find(|(name, _)| name.eq_ignore_ascii_case("verdict"));
    let fate = verdict.and_then(|(_, word)| Fate::of_word(word.trim()));
    fate.unwrap_or(Fate::Unique)
}

/// Converts the error and adds its remedy.
pub fn cli_error_of(error: &IndexFault, crawl: &Path) -> CommandError {
    let shown = pasted(crawl);
    fault(error).with_remedy(match error {
        IndexFault::Missing { .. }
        | IndexFault::OtherFormat { .. }
        | IndexFault::Damaged { .. } => {
            format!("rebuild it from the archive with `crawler reindex {shown}`")
        }
        IndexFault::InUse { .. } => "wait until it ends, or interrupt it".to_owned(),
        IndexFault::Io { .. } => remedy_of(error, crawl),
    })
}

/// Returns the end of an archive on disk; `None` for an archive without files.
pub fn end_of(archive: &Path) -> Result<Option<ArchiveEnd>, CommandError> {
    let files = crawl_directory::archive_files(archive).map_err(|error| fault(&error))?;
    let Some((path, file)) = files.last().and_then(|path| Some((path, name_of(path)?))) else {
        return Ok(None);
    };
    let end = std::fs::metadata(path)
        .map_err(|error| fault(&error))?
        .len();
    Ok(Some(ArchiveEnd {
        file: file.to_owned(),
        end,
    }))
}

#[cfg(test)]
mod tests;
