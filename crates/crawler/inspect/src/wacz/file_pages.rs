//! The pages of any crawler's WARC file, with titles read from the pages themselves.

use std::path::Path;

use corpus::{Document, Documents, InputOptions, Page as Content, Reader};
use messages::SlowProgress;
use rayon::prelude::*;
use settings::machine::usual_temp_dir;
use settings::read_again::BATCH;
use sinks::wacz::{Page, WaczFault};
use sinks::warc::date;
use web::Timestamp;

use super::PackError;
use settings::input::document_reader;

/// A page that was read.
struct ReadPage {
    url: String,
    at: Timestamp,
    title: Option<String>,
    text: Option<String>,
}

/// Lists the HTML pages of a file: responses that represent a page, and resources. Damaged places
/// were reported when the file was indexed.
pub(super) fn list(
    path: &Path,
    with_text: bool,
    progress: &mut SlowProgress,
    add: &mut dyn FnMut(&Page<'_>) -> Result<(), WaczFault>,
) -> Result<(), PackError> {
    let options = InputOptions::new(usual_temp_dir());
    let documents = Documents::below(&[path.to_owned()], &options).map_err(PackError::Corpus)?;
    let mut documents = documents.filter_map(Result::ok);
    let reader = document_reader(false);
    loop {
        let batch: Vec<Document> = documents.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let pages: Vec<_> = batch
            .into_par_iter()
            .map(|document| read(&reader, document, with_text))
            .collect();
        for page in pages {
            progress.step();
            if let Some(page) = page {
                add(&Page {
                    url: &page.url,
                    at: page.at,
                    title: page.title.as_deref(),
                    text: page.text.as_deref(),
                })?;
            }
        }
    }
}

fn read(reader: &Reader, document: Document, with_text: bool) -> Option<ReadPage> {
    let is_web = ["http:", "https:"]
        .iter()
        .any(|scheme| document.id.starts_with(scheme));
    let at = date(document.date.as_deref()?)?;
    match reader.read(&document.content) {
        Content::Document(page) if is_web && page.media.is_page() => Some(ReadPage {
            title: page.title.clone(),
            text: with_text.then(|| page.full_text().to_owned()),
            url: document.id.into_string(),
            at,
        }),
        _ => None,
    }
}
