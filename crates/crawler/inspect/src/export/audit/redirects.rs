//! The redirects of a crawl, hop by hop, and the chains that they form.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use corpus::PageArchive;
use export::{AUDIT_REDIRECTS, AuditTable, AuditWriter, ExportFault, Value, Visit};
use serde::{Deserialize, Serialize};
use web::{PageUrl, UrlKey};

use super::entry_log::EntryLog;
use super::known_urls::KnownUrls;

/// Maximum number of redirects that a chain is followed for.
const MAX_CHAIN: u32 = 100;

/// A URL that redirects.
#[derive(Serialize, Deserialize)]
pub(super) struct Redirect {
    url: PageUrl,
    status: u16,
    target: PageUrl,
}

/// The redirects of a crawl. Memory: about 40 bytes per redirect.
pub(super) struct Redirects {
    log: EntryLog<Redirect>,
    /// The number of each redirect in the log, and its target.
    by_url: HashMap<UrlKey, (usize, UrlKey)>,
}

/// The end of a chain.
struct ChainEnd {
    redirects: u32,
    /// The last redirect; `None` if the chain is a loop.
    last: Option<usize>,
}

/// Reads the redirects of a visit from the archive, except a page's redirect to itself, which sets
/// a cookie.
pub(super) fn of_visit(archive: &PageArchive, visit: &Visit) -> Result<Vec<Redirect>, String> {
    let record = &visit.record;
    let is_redirect = |status: u16| (300..400).contains(&status);
    if record.details.redirects == 0 && !record.status.is_some_and(is_redirect) {
        return Ok(Vec::new());
    }
    let place = record.warc_file.as_deref().zip(record.warc_offset);
    let Some(((file, page), from)) = place.zip(visit.records_from) else {
        return Ok(Vec::new());
    };
    let page_url = record
        .fate
        .is_page()
        .then(|| record.final_url.as_ref().unwrap_or(&record.url));
    let exchanges = archive.redirects(file, from, page)?.into_iter();
    let redirects = exchanges.filter_map(|exchange| {
        let target = exchange.location()?;
        Some(Redirect {
            target: exchange.url.join(&target, &archive.rules.canonical).ok()?,
            status: exchange.status,
            url: exchange.url,
        })
    });
    Ok(redirects
        .filter(|redirect| Some(&redirect.url) != page_url)
        .collect())
}

impl Redirects {
    pub(super) fn in_directory(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            log: EntryLog::in_directory(directory)?,
            by_url: HashMap::new(),
        })
    }

    /// Adds a redirect, unless its URL has one already.
    pub(super) fn add(&mut self, redirect: &Redirect, urls: &mut KnownUrls) -> io::Result<()> {
        let key = redirect.url.key();
        if !self.by_url.contains_key(&key) {
            let number = self.log.add(redirect)?;
            self.by_url.insert(key, (number, redirect.target.key()));
            urls.add_redirect(&redirect.url, redirect.status);
        }
        Ok(())
    }

    /// Writes all redirects. Their final targets count as reached if pages link to the redirect.
    pub(super) fn write<W: Write + Send>(
        &self,
        urls: &mut KnownUrls,
        out: &mut AuditWriter<W>,
    ) -> Result<(), ExportFault> {
        for redirect in self.log.iter() {
            let redirect = redirect?;
            let chain = self.chain(&redirect);
            let last = chain.last.map(|number| self.log.read(number)).transpose()?;
            let target = last.as_ref().map(|last| &last.target);
            let inlinks = urls.get(&redirect.url).map_or(0, |url| url.inlinks);
            let reached = target.filter(|_| inlinks > 0);
            if let Some(page) = reached.and_then(|target| urls.get_mut(target)) {
                page.is_reached = true;
            }
            let status = |url: &PageUrl| {
                let status = urls.get(url).and_then(|url| url.status());
                status.map(|status| Value::Number(status.into()))
            };
            let fields: [Option<Value<'_>>; AUDIT_REDIRECTS.columns.len()] = [
                Some(Value::Text(redirect.url.as_str())),
                Some(Value::Number(redirect.status.into())),
                Some(Value::Text(redirect.target.as_str())),
                status(&redirect.target),
                Some(Value::Number(chain.redirects.into())),
                Some(Value::Bool(chain.last.is_none())),
                target.map(|url| Value::Text(url.as_str())),
                target.and_then(status),
                Some(Value::Number(inlinks.into())),
            ];
            out.write(AuditTable::Redirects, &fields)?;
        }
        Ok(())
    }

    /// Follows the redirects from `first` on.
    fn chain(&self, first: &Redirect) -> ChainEnd {
        let mut seen = HashSet::from([first.url.key()]);
        let mut last = self.by_url.get(&first.url.key()).map(|(number, _)| *number);
        let mut target = first.target.key();
        let mut redirects = 1;
        while redirects < MAX_CHAIN {
            if !seen.insert(target) {
                last = None;
                break;
            }
            let Some((number, next)) = self.by_url.get(&target) else {
                break;
            };
            (last, target) = (Some(*number), *next);
            redirects += 1;
        }
        ChainEnd { redirects, last }
    }
}
