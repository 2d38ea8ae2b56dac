//! A page of the crawl: its text and its links, read from the archive.

use inspect::frames;
use inspect::why::Explanation;
use journal::VisitRecord;
use messages::{CommandError, usage};
use serde::Serialize;
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory};

use crate::arguments::{LinksArgs, PageArgs};
use crate::crawls::Crawls;
use crate::excerpt::{self, Answer, object};

/// A link of a page, with the fields of `crawler export --links`.
#[derive(Serialize)]
struct PageLink<'a> {
    target: &'a str,
    anchor: &'a str,
    rel: &'a str,
    kind: &'static str,
}

/// Returns the decision on a URL as `crawler why --format json` does, and a part of its text.
pub(crate) fn page(crawls: &Crawls, asked: &PageArgs) -> Result<Answer, CommandError> {
    let explained = Explanation::of(&crawls.directory, &asked.url)?;
    let mut answer = object(&explained.answer())?;
    // The blocks that differ from an original may be as long as both texts.
    answer.remove("blocks");
    let settings = Settings::of_crawl(&crawls.directory)?;
    let read = match &explained.visit {
        Some(visit) => text(&settings, visit),
        None => Err("the page was not visited".to_owned()),
    };
    match read {
        Ok(text) => answer.extend(excerpt::text(&text, asked.offset)),
        Err(reason) => answer.extend([("no_text".to_owned(), reason.into())]),
    }
    Ok(answer)
}

/// Lists the links of an archived page.
pub(crate) fn links(crawls: &Crawls, asked: &LinksArgs) -> Result<Answer, CommandError> {
    let explained = Explanation::of(&crawls.directory, &asked.url)?;
    let visit = explained.visit.filter(VisitRecord::has_page);
    let visit = visit.ok_or_else(|| {
        let missing = usage(format!("{} is not archived", asked.url));
        missing.with_remedy("call the tool page with this URL for the reason")
    })?;
    let settings = Settings::of_crawl(&crawls.directory)?;
    let document = ArchivedPages::of(&settings)
        .read(&visit)
        .map_err(usage)?
        .document;
    let links = document
        .links
        .iter()
        .skip(asked.offset)
        .map(|link| PageLink {
            target: link.url.as_str(),
            anchor: &link.anchor,
            rel: &link.rel,
            kind: link.kind.as_str(),
        });
    excerpt::list("links", links, asked.offset, asked.limit)
}

/// Returns the text of a visited page: as Markdown if it is HTML, without the lines that the pages
/// of its host share.
fn text(settings: &Settings, visit: &VisitRecord) -> Result<String, String> {
    let mut pages = ArchivedPages::of(settings);
    if !visit.has_page() {
        let kept = pages.duplicate_text(visit)?.map(|duplicate| duplicate.text);
        let missing = match &visit.duplicate_of {
            Some(original) => format!("it repeats {original}: read that page"),
            None => "its verdict is the reason".to_owned(),
        };
        return kept.ok_or_else(|| format!("the page is not archived; {missing}"));
    }
    let rules = &mut pages.archive.rules;
    rules.limits.markdown = true;
    let state = crawl_directory::state(&settings.out);
    rules.shared_lines = Some(frames::shared_lines(&state));
    let document = pages.read(visit)?.document;
    let markdown = document.markdown().map(str::to_owned);
    Ok(markdown.unwrap_or(document.text))
}
