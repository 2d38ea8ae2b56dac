//! `crawler why`: explains which rule decided on a URL.

use inspect::why::{Answer, Explanation, TopicPart};
use journal::VisitRecord;
use messages::CommandError;
use setup::shared::OpenCrawl;

use super::column;
use crate::args::WhyArgs;
use crate::block_diff;
use crate::output::{self, Format};

pub(crate) fn run(args: &WhyArgs) -> Result<(), CommandError> {
    let (first, second) = (args.directory.as_ref(), args.url.as_ref());
    let (directory, url) = args.store.directory_and_name(first, second)?;
    let crawl = OpenCrawl::open(directory.as_deref(), args.store.store.as_ref())?;
    let explained = Explanation::of(crawl.directory(), &url)?;
    let answer = explained.answer();
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
