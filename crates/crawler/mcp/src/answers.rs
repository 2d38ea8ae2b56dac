//! Answers about a crawl, by the functions behind the commands: fields have the names that
//! `--format json` has.

use corpus::{Content, Document};
use inspect::changes::{Change, ChangeKind, Changes};
use inspect::search::{self, Wanted};
use inspect::similar;
use inspect::status::Status;
use messages::{CommandError, pasted, usage};
use serde_json::Value;
use settings::input::parse_url;
use settings::{Settings, crawl_directory};

use crate::arguments::{ChangesArgs, NoArgs, SearchArgs, SimilarArgs};
use crate::crawls::Crawls;
use crate::excerpt::{self, Answer, MAX_BYTES, MAX_ENTRIES, json, object};

/// Maximum size of a change, in bytes; a larger one is listed without the words that changed.
const MAX_CHANGE: usize = 4 << 10;
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
    let kinds = ChangeKind::ALL.map(ChangeKind::as_str);
    if let Some(wanted) = &asked.change
        && !kinds.contains(&wanted.as_str())
    {
        let unknown = usage(format!("{wanted:?} is no kind of change"));
        return Err(unknown.with_remedy(format!("the kinds are {}", kinds.join(", "))));
    }
    let mut changes = Changes::between(against, &crawls.directory, false)?;
    let (mut listed, mut counts, mut position) = (Vec::new(), Answer::new(), 0);
    let given = changes.each(|change: &Change<'_>| -> Result<(), CommandError> {
        let kind = change.kind.as_str();
        let count = counts.get(kind).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(kind.to_owned(), (count + 1).into());
        let is_wanted = match &asked.change {
            Some(wanted) => wanted == kind,
            None => kind != "unchanged",
        };
        if is_wanted {
            position += 1;
            if position > asked.offset && listed.len() <= MAX_ENTRIES {
                listed.push(shortened(json(change)?));
            }
        }
        Ok(())
    });
    given??;
    let mut answer = excerpt::list("changes", listed, asked.offset, asked.limit)?;
    answer.insert("counts".to_owned(), counts.into());
    Ok(answer)
}

/// Removes the words of a change that is too large.
fn shortened(mut change: Value) -> Value {
    if change.to_string().len() > MAX_CHANGE
        && let Some(fields) = change.as_object_mut()
    {
        fields.remove("added");
        fields.remove("removed");
        let reason = format!("the words that changed exceed {MAX_CHANGE} bytes");
        fields.insert("reason".to_owned(), reason.into());
    }
    change
}

const _: () = assert!(MAX_CHANGE < MAX_BYTES, "a list has room for a change");
