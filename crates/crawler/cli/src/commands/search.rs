//! `crawler search`: finds pages by words, best first. It reads the index as last committed, so it
//! works while the crawl runs.

use std::io::{self, Write};

use inspect::search::{SearchHit, Wanted, hits};
use messages::{CommandError, printable};
use search::Snippet;
use settings::crawl_directory;

use crate::args::SearchArgs;
use crate::args::store::StoreArg;
use crate::output;

/// Columns of CSV.
const COLUMNS: &[&str] = &[
    "url",
    "title",
    "score",
    "date",
    "language",
    "snippet",
    "warc_file",
    "warc_offset",
];

pub(crate) fn run(args: &SearchArgs) -> Result<(), CommandError> {
    let (first, second) = (args.directory.as_ref(), args.query.as_ref());
    let (directory, query) = StoreArg::default().directory_and_name(first, second, "QUERY")?;
    let found = hits(&Wanted {
        directory: &directory.map_or_else(crawl_directory::default_crawl, Ok)?,
        query: &query,
        limit: args.limit,
        offset: args.offset,
        snippets: args.snippets.is_on(),
        duplicates: args.duplicates,
    })?;
    output::list(&args.list, COLUMNS, |list| {
        if found.is_empty() {
            list.line("no page found")?;
        }
        let mut numbered = (args.offset + 1..).zip(&found);
        numbered.try_for_each(|(number, hit)| list.write(hit, |out| write(hit, number, out)))
    })
}

fn write(hit: &SearchHit, number: usize, out: &mut dyn Write) -> io::Result<()> {
    let title = hit.title.as_deref().unwrap_or("(without a title)");
    writeln!(out, "{number:>3}. {}", printable(title))?;
    let language = hit.language.as_deref().unwrap_or("-");
    let day = hit.date.get(..10).unwrap_or(&hit.date);
    writeln!(
        out,
        "     {}  {day}  {}  {:.2}",
        printable(&hit.url),
        printable(language),
        hit.score
    )?;
    if let Some(cut) = hit.cut.as_ref().filter(|cut| !cut.text.is_empty()) {
        writeln!(out, "     {}", printable(&marked(cut)))?;
    }
    for duplicate in hit.duplicates.iter().flatten() {
        let (verdict, url) = (duplicate.verdict, printable(&duplicate.url));
        writeln!(out, "     {verdict}: {url}")?;
    }
    Ok(())
}

/// Marks the matches of a snippet with brackets. Colours would need control characters, which are
/// escaped on terminals.
fn marked(cut: &Snippet) -> String {
    let mut text = String::from(if cut.cut_before { "… " } else { "" });
    let mut at = 0;
    for place in &cut.found {
        text.push_str(&cut.text[at..place.start]);
        text.push('[');
        text.push_str(&cut.text[place.clone()]);
        text.push(']');
        at = place.end;
    }
    text.push_str(&cut.text[at..]);
    if cut.cut_behind {
        text.push_str(" …");
    }
    text
}
