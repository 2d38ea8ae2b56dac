//! `crawler why`: explains which rule decided on a URL.

use export::VisitRow;
use inspect::why::{Explanation, TopicPart};
use journal::VisitRecord;
use messages::CommandError;
use serde::Serialize;
use setup::shared::OpenCrawl;

use super::column;
use crate::args::WhyArgs;
use crate::block_diff::{self, PrintedBlock};
use crate::output::{self, Format};

#[derive(Serialize)]
struct Answer<'a> {
    url: &'a str,
    /// `unique`, `exact-duplicate`, … as in the export; `redirect-target`, `queued` or
    /// `not-queued`.
    verdict: &'static str,
    reason: &'a str,
    /// The page's canonical URL, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<&'a str>,
    /// The topic's part, in a crawl with a topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a TopicPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<VisitRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<VisitRow<'a>>,
    /// The differing blocks of a near duplicate and its original, as in `duplicates --diff`; absent
    /// unless both texts are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<PrintedBlock>>,
}

pub(crate) fn run(args: &WhyArgs) -> Result<(), CommandError> {
    let (first, second) = (args.directory.as_ref(), args.url.as_ref());
    let (directory, url) = args.store.directory_and_name(first, second)?;
    let crawl = OpenCrawl::open(directory.as_deref(), args.store.store.as_ref())?;
    let mut explained = Explanation::of(crawl.directory(), &url)?;
    let blocks = explained.blocks.take();
    let row = explained.row.as_ref();
    let answer = Answer {
        url: explained.url.as_str(),
        verdict: explained.verdict,
        reason: &explained.reason,
        canonical: row.and_then(|row| Some(row.canonical.as_ref()?.as_str())),
        topic: explained.topic.as_ref(),
        page: row.map(VisitRow),
        original: explained.original.as_ref().map(VisitRow),
        blocks: blocks.map(|blocks| block_diff::printed(blocks, false)),
    };
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &answer),
        Format::Table => {
            output::columns(out, &lines(&answer, &explained))?;
            let blocks = answer.blocks.as_deref().unwrap_or_default();
            block_diff::write(blocks, ("the original", "the page"), out)
        }
    })
}

fn lines(answer: &Answer<'_>, explained: &Explanation) -> Vec<(&'static str, Option<String>)> {
    let of_topic = answer.topic.map(TopicPart::lines);
    let (row, original) = (explained.row.as_ref(), explained.original.as_ref());
    let place = |row: &VisitRecord| {
        let (file, offset) = row.warc_file.as_ref().zip(row.warc_offset)?;
        Some(format!("{file} at {offset}"))
    };
    let mut lines = vec![
        column("url", Some(answer.url)),
        column("verdict", Some(answer.verdict)),
        column("reason", Some(answer.reason)),
    ];
    lines.extend(of_topic.into_iter().flatten());
    lines.extend([
        column("canonical", answer.canonical),
        column("title", row.and_then(|row| row.title.as_ref())),
        column("status", row.and_then(|row| row.status)),
        column("final url", row.and_then(|row| row.final_url.as_ref())),
        column("found on", row.and_then(|row| row.via.as_ref())),
        column("fetched", row.map(|row| row.fetched_at)),
        column("fingerprint", row.and_then(|row| row.fingerprint)),
        // If a page was not archived, the archive contains a record about its visit.
        column("archived", row.filter(|row| row.kept).and_then(place)),
        column("noted", row.filter(|row| !row.kept).and_then(place)),
        column("original", row.and_then(|row| row.duplicate_of.as_ref())),
        column("its title", original.and_then(|row| row.title.as_ref())),
        column("its fingerprint", original.and_then(|row| row.fingerprint)),
        column("it is archived", original.and_then(place)),
    ]);
    lines
}
