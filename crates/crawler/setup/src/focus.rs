//! The focus of a crawl with a topic.

use std::collections::HashSet;
use std::sync::Arc;

use corpus::ArchivedPage;
use crawl::{Focus, TopicOfSeeds};
use disk::Disk;
use messages::{CommandError, printable, say};
use neardup::HashKey;
use reading::page_text;
use settings::crawl_topic::{
    CrawlTopic, TopicSource, read_words, threshold, write_seeds, write_words,
};
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory};
use topic::GrowingTopic;
use web::{Media, PageUrl};

/// Writes the topic when the crawl begins, and returns its focus. `key` is the key of the
/// crawl's signatures.
pub fn focus(
    mut topic: CrawlTopic,
    settings: &Settings,
    seeds: &[PageUrl],
    key: HashKey,
    disk: &Arc<dyn Disk>,
) -> Result<Focus, CommandError> {
    let state = crawl_directory::state(&settings.out);
    let to_come = match &mut topic.source {
        TopicSource::Fixed(_) => seeds.len(),
        TopicSource::OfSeeds(growing) => catch_up(growing, settings, seeds)?,
    };
    topic.store(&state, settings, &**disk)?;
    let words = read_words(&state)?.unwrap_or_default();
    let threshold = threshold(settings);
    let focus = match topic.source {
        TopicSource::Fixed(topic) => {
            let topic = topic.with_threshold(threshold).hashed_under(key);
            Focus::new(&topic, settings.off_topic, words).with_seeds(to_come)
        }
        TopicSource::OfSeeds(growing) => {
            let (disk, state) = (Arc::clone(disk), state.clone());
            let keep = move |growing: &GrowingTopic| write_seeds(growing, &state, &*disk);
            let of_seeds = TopicOfSeeds::new(growing, to_come, keep);
            let of_seeds = of_seeds.with_threshold(threshold).hashed_under(key);
            Focus::of_seeds(of_seeds, settings.off_topic, words)
        }
    };
    let disk = Arc::clone(disk);
    Ok(focus.kept_by(move |words| write_words(words, &state, &*disk)))
}

/// Returns the number of seeds whose visits have not ended. Adds visited seeds that are not
/// examples yet, if their pages are archived. After `crawler rebuild` without the old state, these
/// are all visited seeds; otherwise, only seeds whose pages are without words.
fn catch_up(
    growing: &mut GrowingTopic,
    settings: &Settings,
    seeds: &[PageUrl],
) -> Result<usize, CommandError> {
    if growing.is_complete() {
        return Ok(0);
    }
    let mut to_come: HashSet<_> = seeds.iter().map(PageUrl::key).collect();
    let pages = ArchivedPages::of(settings);
    for visit in journal::visits(&crawl_directory::state(&settings.out))? {
        let visit = visit?;
        to_come.remove(&visit.url.key());
        let is_seed = visit.depth == 0 && visit.via.is_none();
        let url = visit.final_url.as_ref().unwrap_or(&visit.url);
        if !is_seed || !visit.has_page() || growing.is_done_with(url.as_str()) {
            continue;
        }
        match pages.read(&visit) {
            Ok(ArchivedPage { document, .. }) if document.media == Media::Html => {
                let text = page_text(&document, pages.archive.rules.main_content);
                growing.add(url.as_str(), &text);
            }
            Ok(_) => {}
            Err(trouble) => say(&format!(
                "warning: the seed {url} is not used for the topic: {}",
                printable(&trouble)
            )),
        }
    }
    Ok(to_come.len())
}
