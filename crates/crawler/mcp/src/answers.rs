//! Answers about a crawl, by the functions behind the commands: fields have the names that
//! `--format json` has.

use corpus::{Content, Document};
use inspect::changes::ChangeList;
use inspect::search::{self, Wanted};
use inspect::similar;
use inspect::status::Status;
use messages::{CommandError, pasted, usage};
use settings::input::parse_url;
use settings::{Settings, crawl_directory};

use crate::arguments::{ChangesArgs, NoArgs, SearchArgs, SimilarArgs};
use crate::crawls::Crawls;
use crate::excerpt::{self, Answer, MAX_ENTRIES, json, object};

/// Maximum number of hosts in a status that are down.
const MAX_HOSTS: usize = 50;

/// Finds pages by words, as `crawler search` does.
pub(crate) fn search(crawls: &Crawls, asked: &SearchArgs) -> Result<Answer, CommandError> {
    let limit = asked.limit.clamp(1, MAX_ENTRIES);
    let hits = search::hits(&Wanted {
        directory: &crawls.directory,
        query: &asked.query,
        // One more than wanted: its existence is the reason for a next offset.
        limit: limit + 1,
        offset: asked.offset,
        snippets: true,
        duplicates: false,
    });
    excerpt::list("hits", hits?, asked.offset, limit)
}

/// Finds kept pages that are similar to a page or to a text, as `crawler similar` does.
pub(crate) fn similar(crawls: &Crawls, asked: &SimilarArgs) -> Result<Answer, CommandError> {
    let state = crawl_directory::state_of(&crawls.directory)?;
    let settings = Settings::of_crawl(&crawls.directory)?;
    let limits = similar::Limits {
        distance: u64::BITS,
        resemblance: None,
        hits: asked.offset.saturating_add(MAX_ENTRIES + 1),
    };
    let hits = match (&asked.url, &asked.text) {
        (Some(url), None) => {
            let url = parse_url(url, &settings.canonical_form())?;
            let shown = pasted(&crawls.directory);
            let page = similar::Wanted::Page(&url, &shown);
            similar::hits(&page, &state, &settings, limits)
        }
        (None, Some(text)) => {
            let document = Document {
                id: "text".into(),
                date: None,
                content: Content::Text {
                    text: text.clone(),
                    title: None,
                    heading: None,
                },
            };
            similar::hits(
                &similar::Wanted::Document(&document),
                &state,
                &settings,
                limits,
            )
        }
        _ => return Err(usage("give either url or text, not both")),
    };
    let hits = hits?.into_iter().skip(asked.offset);
    excerpt::list("pages", hits, asked.offset, asked.limit)
}

/// Returns the counts of the crawl, as `crawler status` does.
pub(crate) fn status(crawls: &Crawls, _: &NoArgs) -> Result<Answer, CommandError> {
    let directory = &crawls.directory;
    let state = crawl_directory::state_of(directory)?;
    let mut status = Status::read(directory, &state)?;
    while status.unreachable_hosts.len() > MAX_HOSTS {
        status.unreachable_hosts.pop_last();
    }
    status.leftovers.truncate(MAX_HOSTS);
    object(&status)
}

/// Lists the changes since the earlier crawl, as `crawler changes` does, without unchanged pages.
pub(crate) fn changes(crawls: &Crawls, asked: &ChangesArgs) -> Result<Answer, CommandError> {
    let Some(against) = &crawls.against else {
        return Err(usage("the server was started without --against OLD"));
    };
    // One more than wanted: its existence is the reason for a next offset.
    let (kind, most) = (asked.change.as_deref(), MAX_ENTRIES + 1);
    let list = ChangeList::between(against, &crawls.directory, kind, asked.offset, most)?;
    let mut answer = excerpt::list("changes", list.listed, asked.offset, asked.limit)?;
    answer.insert("counts".to_owned(), json(&list.counts)?);
    Ok(answer)
}
