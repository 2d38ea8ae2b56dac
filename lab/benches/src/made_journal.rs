//! A generated journal: each page is discovered on the page before it, leased, admitted if it is
//! new, and settled. Six in ten are new, three repeat one of 50,000 originals, one fails.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use disk::SystemDisk;
use journal::{
    DiscoveredUrl, Fate, FinishedVisit, Journal, Reason, Record, SEGMENT_BYTES, SettledVisit,
    VisitRecord,
};
use neardup::{
    BAG_BYTES, BagSketch, Fingerprint, HashKey, PageSignature, SKETCH_BYTES, Sketch, TextSignature,
};
use web::{CanonicalForm, Pace, PageUrl, Timestamp};

type Failure = Box<dyn Error>;

/// Returns the URL of a page.
pub(crate) fn url(page: u64, hosts: u64) -> Result<PageUrl, Failure> {
    let (host, section) = (page % hosts, page / hosts % 40);
    let text = format!("https://www.host-{host}.example/section-{section}/article-{page}.html");
    Ok(PageUrl::parse(&text, &CanonicalForm::default())?)
}

/// Writes the journal of this number of visits below a directory. Returns its length in bytes.
///
/// # Errors
/// Those of the journal.
pub(crate) fn write(directory: &Path, visits: u64, hosts: u64) -> Result<u64, Failure> {
    let journal = directory.join("journal");
    std::fs::create_dir_all(&journal)?;
    let disk = Arc::new(SystemDisk);
    let journal = Journal::open(disk, &journal, HashKey::new(7), SEGMENT_BYTES)?;
    let begun = Timestamp::from_millis(1_790_000_000_000);
    journal.append(&Record::Begun {
        at: begun,
        features: "word:1".to_owned(),
    })?;
    let first = DiscoveredUrl::new(url(0, hosts)?, 0, None);
    journal.append(&Record::Discovered {
        first: 0,
        finds: vec![first],
    })?;
    for page in 0..visits {
        let at = Timestamp::from_millis(begun.as_millis() + page * 20);
        let via = url(page.saturating_sub(1), hosts)?;
        let found = DiscoveredUrl::new(url(page, hosts)?, 3, Some(via));
        journal.append(&Record::Leased {
            sequences: vec![page],
        })?;
        let record = visit(found, page, at, hosts)?;
        if record.fate == Fate::Unique {
            let signature = signature(page);
            journal.append(&Record::Admitted {
                page: record.page(),
                signature: Box::new(signature),
            })?;
        }
        let next = DiscoveredUrl::new(url(page + 1, hosts)?, 3, Some(record.url.clone()));
        journal.append(&Record::Settled(SettledVisit {
            sequence: page,
            priority: 0,
            first: page + 1,
            pace: Pace::from(at),
            visit: FinishedVisit {
                finds: vec![next],
                ..FinishedVisit::new(record)
            },
        }))?;
    }
    Ok(journal.end())
}

/// Returns a signature of the usual size; its bits are of no interest here.
fn signature(page: u64) -> PageSignature {
    let byte = page as u8;
    PageSignature {
        payload: page.into(),
        text: Some(Box::new(TextSignature {
            digest: page.into(),
            words: 500,
            main_content: None,
            fingerprint: Fingerprint::new(page),
            sketch: Some(Sketch::from_bytes(&[byte; SKETCH_BYTES])),
            bag: Some(BagSketch::from_bytes(&[byte; BAG_BYTES])),
            title_terms: None,
        })),
    }
}

fn visit(
    found: DiscoveredUrl,
    page: u64,
    at: Timestamp,
    hosts: u64,
) -> Result<VisitRecord, Failure> {
    let fate = match page % 10 {
        0..6 => Fate::Unique,
        6..8 => Fate::NearDuplicate,
        8 => Fate::ExactDuplicate,
        _ => Fate::Failed,
    };
    let mut visit = VisitRecord::new(found, fate, at);
    visit.status = Some(if fate == Fate::Failed { 404 } else { 200 });
    visit.content_type = Some("text/html".to_owned());
    visit.bytes = 20_000 + page % 1_000;
    if fate == Fate::Failed {
        visit.reason = Some(Reason::said("HTTP status 404"));
        return Ok(visit);
    }
    visit.charset = Some("utf-8".to_owned());
    visit.language = Some("en".to_owned());
    visit.title = Some(format!("The article with the number {page}"));
    visit.fingerprint = Some(Fingerprint::new(page));
    visit.payload = Some(page.into());
    (visit.warc_file, visit.warc_offset) =
        (Some("crawl-00000.warc.gz".to_owned()), Some(page * 9_000));
    if fate.is_duplicate() {
        visit.duplicate_of = Some(url(page * page % 50_000, hosts)?);
        visit.distance = Some((page % 4) as u32);
        visit.resemblance = Some(0.8 + (page % 20) as f64 / 100.0);
        visit.reason = Some(Reason::said("resemblance 0.91, 2 bits apart"));
    }
    Ok(visit)
}
