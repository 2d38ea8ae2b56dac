//! Decisions on a document and similar ones by their texts, as a crawl decides.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use comparison::{ComparedPage, Decision, Frames, decide};
use journal::VisitRecord;
use messages::{CommandError, printable};
use serde::Serialize;
use settings::Settings;
use settings::read_again::ArchivedPages;
use web::PageUrl;

use super::Hit;
use crate::frames::learned_frames;

/// The decision by the texts.
#[derive(Serialize)]
pub struct ByTexts {
    /// `repeat`, `view`, `contains`, `distinct` or `undecided`.
    texts: &'static str,
    /// The difference that makes them distinct.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
}

impl ByTexts {
    /// Returns the words of a decision.
    pub fn of(decision: &Decision) -> Self {
        Self {
            texts: decision.outcome.as_str(),
            difference: decision.reason.as_ref().map(ToString::to_string),
        }
    }

    /// Returns the text that follows a hit in a table.
    pub fn shown(by_texts: Option<&Self>) -> String {
        by_texts.map_or_else(String::new, |said| match &said.difference {
            Some(difference) => format!("  ({}: {})", said.texts, printable(difference)),
            None => format!("  ({})", said.texts),
        })
    }
}

/// Decides on each hit whose page is in the archive. Decides on no hit if the page in question is
/// not in the archive. Unreadable pages are named on standard error.
pub(super) fn decide_each(
    hits: &mut [Hit],
    page: &PageUrl,
    state: &Path,
    settings: &Settings,
) -> Result<(), CommandError> {
    let archived = ArchivedPages::of(settings);
    // The replica of a crawl in a shared store has no archive.
    if !archived.archive.directory.is_dir() {
        return Ok(());
    }
    let mut urls: HashSet<&str> = hits.iter().map(|hit| hit.url.as_str()).collect();
    urls.insert(page.as_str());
    let mut visits: HashMap<String, VisitRecord> = HashMap::new();
    for visit in journal::visits(state)? {
        let visit = visit?;
        if urls.contains(visit.url.as_str()) {
            visits.insert(visit.url.to_string(), visit);
        }
    }
    let main_content = archived.archive.rules.main_content;
    let compared = |url: &str| -> Option<ComparedPage> {
        let visit = visits.get(url).filter(|visit| visit.has_page())?;
        let url = visit.final_url.as_ref().unwrap_or(&visit.url).as_str();
        match archived.read(visit) {
            Ok(page) => Some(reading::compared_page(url, &page.document, main_content)),
            Err(trouble) => {
                archived.count_unread(visit, &trouble);
                None
            }
        }
    };
    let Some(own) = compared(page.as_str()) else {
        return Ok(());
    };
    let learned = learned_frames(state);
    for hit in hits {
        let (Some(visit), Some(other)) = (visits.get(&hit.url), compared(&hit.url)) else {
            continue;
        };
        let frames = Frames {
            page: learned.of(&page.host()),
            original: learned.of(&visit.url.host()),
            common: Some(&learned.common),
        };
        hit.by_texts = Some(ByTexts::of(&decide(&own, &other, frames, false)));
    }
    Ok(())
}
