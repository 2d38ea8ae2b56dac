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
    let (directory, url) = args.store.directory_and_name(first, second, "URL")?;
    let crawl = OpenCrawl::open(directory.as_deref(), args.store.store.as_ref())?;
    let explained = Explanation::of(crawl.directory(), &url)?;
    let answer = explained.answer();
    output::to_stdout(|out| match args.format {
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
    let (visit, original) = (explained.visit.as_ref(), explained.original.as_ref());
    let place = |visit: &VisitRecord| {
        let (file, offset) = visit.warc_file.as_ref().zip(visit.warc_offset)?;
        Some(format!("{file} at {offset}"))
    };
    let mut lines = vec![
        column("url", Some(answer.url)),
        column("verdict", Some(answer.verdict)),
        column("reason", Some(answer.reason)),
    ];
    lines.extend(of_topic.into_iter().flatten());
    lines.extend([
        column("link", answer.link_check),
        column("canonical", answer.canonical),
        column("title", visit.and_then(|visit| visit.title.as_ref())),
        column("status", visit.and_then(|visit| visit.status)),
        column(
            "final url",
            visit.and_then(|visit| visit.final_url.as_ref()),
        ),
        column("found on", visit.and_then(|visit| visit.via.as_ref())),
        column("fetched", visit.map(|visit| visit.fetched_at)),
        column("fingerprint", visit.and_then(|visit| visit.fingerprint)),
        // If a page was not archived, the archive contains a record about its visit.
        column("archived", visit.filter(|visit| visit.kept).and_then(place)),
        column("noted", visit.filter(|visit| !visit.kept).and_then(place)),
        column(
            "original",
            visit.and_then(|visit| visit.duplicate_of.as_ref()),
        ),
        column("its title", original.and_then(|visit| visit.title.as_ref())),
        column(
            "its fingerprint",
            original.and_then(|visit| visit.fingerprint),
        ),
        column("it is archived", original.and_then(place)),
    ]);
    lines
}
